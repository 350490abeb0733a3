"""What becomes of installs; everything else stays as it was."""

import pytest

from latebind.adopt.cmake import commands
from latebind.adopt.edit import Lines, edit_cmake
from latebind.adopt.find import variables

DONE = "install(TARGETS a COMPONENT a)\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("install(TARGETS a DESTINATION lib)", "install(TARGETS a COMPONENT a DESTINATION lib)"),
        ("install(TARGETS a COMPONENT mine)", "install(TARGETS a COMPONENT mine)"),
        ("install(TARGETS a b DESTINATION lib)", "install(TARGETS a b DESTINATION lib)"),
        (
            "install(TARGETS a)\ninstall(FILES a.h inc/b.hpp DESTINATION api)\n",
            "install(TARGETS a COMPONENT a)\ninstall(FILES a.h inc/b.hpp DESTINATION api COMPONENT a)\n",
        ),
        (
            f'{DONE}install(DIRECTORY inc/ TYPE INCLUDE FILES_MATCHING PATTERN "*.h")',
            f'{DONE}install(DIRECTORY inc/ TYPE INCLUDE COMPONENT a FILES_MATCHING PATTERN "*.h")',
        ),
        (
            DONE + "install(FILES ${HEADERS} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})",
            DONE + "install(FILES ${HEADERS} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT a)",
        ),
        (f"{DONE}install(FILES a.h DESTINATION include COMPONENT dev)",) * 2,
        (f"{DONE}install(FILES a.cmake DESTINATION lib/cmake)",) * 2,
        (f"{DONE}install(DIRECTORY share/ DESTINATION share)",) * 2,
        ("install(X)\ntarget_link_libraries(a my_openvino_helper)",) * 2,
        ("install(X)\n# target_link_libraries(a openvino)",) * 2,
        (
            "install(X)\n  target_link_libraries(a PRIVATE openvino) # why\n",
            "install(X)\n  target_link_libraries(a PRIVATE openvino)\n  install(TARGETS a COMPONENT a) # why\n",
        ),
    ],
)
def test_a_cmake_file(before, after):
    edited = edit_cmake(before, ["a"] if "install" in before else [], "a")
    assert edited == after
    assert edit_cmake(edited, [], "a") == edited


def test_a_variable_is_the_runtime_that_it_was_set_to():
    text = (
        "find_package(latebind)\nfind_library(RT NAMES openvino HINTS /opt)\nset(ALL ${RT})\n"
        "set(ROOT /opt/openvino/x)\nfind_library(M m HINTS /opt/openvino)\n"
    )
    values = variables(commands(text))
    assert values == {"${RT}": "openvino", "${ALL}": "openvino"}
    linked = f"{text}target_link_libraries(a ${{ALL}} ${{M}})"
    assert edit_cmake(linked, ["a"], "a", values) == f"{linked}\ninstall(TARGETS a COMPONENT a)"


def test_headers_that_cmake_does_not_install_here_stay():
    text = f"{DONE}if(APART)\n  install(FILES a.h DESTINATION include)\nendif()\n"
    assert "include COMPONENT a" in edit_cmake(text, ["a"], "a")
    assert edit_cmake(text, ["a"], "a", lines=Lines(ran={1, 2})) == text
    assert "include COMPONENT a" in edit_cmake(text, ["a"], "a", lines=Lines(ran={1, 2, 3}))


def test_a_library_that_was_not_installed_is_installed_as_a_component():
    edited = edit_cmake("target_link_libraries(a onnxruntime)\n", ["a"], "part")
    assert edited.endswith("(a onnxruntime)\ninstall(TARGETS a COMPONENT part)\n")


@pytest.mark.parametrize("module", ["pybind11_add_module(m m.cpp)", "add_library(m MODULE m.cpp)"])
def test_a_module_gets_the_destination_that_cmake_wants(module):
    edited = edit_cmake(f"{module}\ntarget_link_libraries(m onnxruntime)\n", ["m"], "part")
    assert edited.endswith("\ninstall(TARGETS m COMPONENT part LIBRARY DESTINATION lib)\n")


def test_a_library_that_only_one_system_links_is_installed_on_all():
    made = "add_library(a SHARED a.c)\n"
    linked = "if(WIN32)\n  target_link_libraries(a onnxruntime)\nendif()\n"
    assert edit_cmake(made + linked, ["a"], "a") == f"{made}install(TARGETS a COMPONENT a)\n{linked}"


def test_a_library_that_only_one_system_has_is_installed_there():
    text = "if(WIN32)\n  add_library(a SHARED a.c)\n  target_link_libraries(a onnxruntime)\nendif()\n"
    edited = edit_cmake(text, ["a"], "a")
    assert "  target_link_libraries(a onnxruntime)\n  install(TARGETS a COMPONENT a)\nendif" in edited
