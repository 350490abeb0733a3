"""What becomes of link lines, packages, installs and calls; everything else stays as it was."""

import pytest
from latebind.adopt.cmake import commands
from latebind.adopt.edit import edit_cmake
from latebind.adopt.find import variables

BOUND = "latebind_add_runtime(a openvino)\nlatebind_hardening(a)"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("target_link_libraries(a PRIVATE openvino)", f"find_package(latebind CONFIG REQUIRED)\n{BOUND}"),
        (
            "find_package(latebind)\ntarget_link_libraries(a PUBLIC m PRIVATE openvino::runtime z)",
            f"find_package(latebind)\ntarget_link_libraries(a PUBLIC m PRIVATE z)\n{BOUND}",
        ),
        (
            "find_package(latebind)\ntarget_link_libraries(a PRIVATE -lopenvino PUBLIC m)",
            f"find_package(latebind)\ntarget_link_libraries(a PUBLIC m)\n{BOUND}",
        ),
        (
            "find_package(OpenVINO REQUIRED)\ntarget_link_libraries(a openvino::runtime::c)",
            "find_package(latebind CONFIG REQUIRED)\nlatebind_add_runtime(a openvino)\nlatebind_hardening(a)",
        ),
        (
            "find_package(latebind)\ntarget_link_libraries(a ${OPENVINO_LIB} /opt/lib/libopenvino.so)",
            f"find_package(latebind)\n{BOUND}",
        ),
        (
            "find_package(latebind)\n  target_link_libraries(a openvino) # why\n",
            "find_package(latebind)\n  latebind_add_runtime(a openvino)\n  latebind_hardening(a) # why\n",
        ),
        ("install(TARGETS a DESTINATION lib)", "install(TARGETS a COMPONENT a DESTINATION lib)"),
        ("install(TARGETS a COMPONENT mine)", "install(TARGETS a COMPONENT mine)"),
        ("install(TARGETS a b DESTINATION lib)", "install(TARGETS a b DESTINATION lib)"),
        ("target_link_libraries(a my_openvino_helper)", "target_link_libraries(a my_openvino_helper)"),
        ("# target_link_libraries(a openvino)", "# target_link_libraries(a openvino)"),
        ("find_package(onnxruntime)\ntarget_link_libraries(a onnxruntime)",) * 2,  # it has a stub
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
    known = variables(commands(text))
    assert known == {"${RT}": "openvino", "${ALL}": "openvino"}
    edited = edit_cmake(text + "target_link_libraries(a ${ALL} ${M})", [], "a", known)
    assert edited == f"{text}target_link_libraries(a ${{M}})\n{BOUND}"


def test_a_library_that_was_not_installed_is_installed_as_a_component():
    edited = edit_cmake("target_link_libraries(a onnxruntime)\n", ["a"], "part")
    assert edited.endswith("(a onnxruntime)\ninstall(TARGETS a COMPONENT part)\n")
