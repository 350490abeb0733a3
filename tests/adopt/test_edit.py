"""What becomes of link lines, packages, installs and calls; everything else stays as it was."""

import pytest
from latebind.adopt.cmake import commands
from latebind.adopt.edit import edit_c, edit_cmake
from latebind.adopt.find import variables

BOUND = "latebind_add_runtime(a onnxruntime)\nlatebind_hardening(a)"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("target_link_libraries(a PRIVATE onnxruntime)", f"find_package(latebind CONFIG REQUIRED)\n{BOUND}"),
        (
            "find_package(latebind)\ntarget_link_libraries(a PUBLIC m PRIVATE onnxruntime::onnxruntime z)",
            f"find_package(latebind)\ntarget_link_libraries(a PUBLIC m PRIVATE z)\n{BOUND}",
        ),
        (
            "find_package(latebind)\ntarget_link_libraries(a PRIVATE -lonnxruntime PUBLIC m)",
            f"find_package(latebind)\ntarget_link_libraries(a PUBLIC m)\n{BOUND}",
        ),
        (
            "find_package(OpenVINO REQUIRED)\ntarget_link_libraries(a openvino::runtime::c)",
            "find_package(latebind CONFIG REQUIRED)\nlatebind_add_runtime(a openvino)\nlatebind_hardening(a)",
        ),
        (
            "find_package(latebind)\ntarget_link_libraries(a ${ONNXRUNTIME_LIB} /opt/lib/libonnxruntime.so)",
            f"find_package(latebind)\n{BOUND}",
        ),
        (
            "find_package(latebind)\n  target_link_libraries(a onnxruntime) # why\n",
            "find_package(latebind)\n  latebind_add_runtime(a onnxruntime)\n  latebind_hardening(a) # why\n",
        ),
        ("install(TARGETS a DESTINATION lib)", "install(TARGETS a COMPONENT a DESTINATION lib)"),
        ("install(TARGETS a COMPONENT mine)", "install(TARGETS a COMPONENT mine)"),
        ("install(TARGETS a b DESTINATION lib)", "install(TARGETS a b DESTINATION lib)"),
        ("target_link_libraries(a my_onnxruntime_helper)", "target_link_libraries(a my_onnxruntime_helper)"),
        ("# target_link_libraries(a onnxruntime)", "# target_link_libraries(a onnxruntime)"),
    ],
)
def test_a_cmake_file(before, after):
    edited = edit_cmake(before, ["a"] if "install" in before else [], "a")
    assert edited == after
    assert edit_cmake(edited, [], "a") == edited


def test_a_variable_is_the_runtime_that_it_was_set_to():
    text = (
        "find_package(latebind)\nfind_library(RT NAMES onnxruntime HINTS /opt)\nset(ALL ${RT})\n"
        "set(ROOT /opt/onnxruntime/x)\nfind_library(M m HINTS /opt/onnxruntime)\n"
    )
    known = variables(commands(text))
    assert known == {"${RT}": "onnxruntime", "${ALL}": "onnxruntime"}
    edited = edit_cmake(text + "target_link_libraries(a ${ALL} ${M})", [], "a", known)
    assert edited == f"{text}target_link_libraries(a ${{M}})\n{BOUND}"


def test_a_library_that_was_not_installed_is_installed_as_a_component():
    edited = edit_cmake("target_link_libraries(a onnxruntime)\n", ["a"], "part")
    assert edited.endswith("latebind_hardening(a)\ninstall(TARGETS a COMPONENT part)\n")


def test_a_c_file_calls_the_binding_and_is_changed_once():
    before = (
        '#include "onnxruntime_c_api.h"\n#ifdef X\n#include <x.h>\n#endif\nint f(void) { return !OrtGetApiBase(); }\n'
    )
    edited = edit_c(before)
    assert "return !latebind_ort_base();" in edited
    assert edited.index("lb_binding latebind_ort") < edited.index("#ifdef X")
    assert edit_c(edited) == edited


@pytest.mark.parametrize("text", ["int f(void);\n", "#include <a.h>\nint f(void);\n", "OrtGetApiBase();\n"])
def test_a_c_file_without_call_or_headers_stays(text):
    assert edit_c(text) == text
