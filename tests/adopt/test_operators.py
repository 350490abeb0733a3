"""`latebind adopt` on libraries of custom operators: ONNX Runtime passes its functions, so no stub is planned."""

import shutil
import sys

import pytest

from tests.support import needs
from tests.support.client import copy_client, edit
from tests.support.running import assert_refused, assert_success, run_checked

pytestmark = pytest.mark.builds

SAYS = "libvoice.so: exports RegisterCustomOps: ONNX Runtime passes its functions to it, so no stub is needed"
NEXT = "next: link nothing"
RIGHT = "libvoice.so: exports RegisterCustomOps, and needs nothing of ONNX Runtime but what it gets there"
REGISTERS = """
__attribute__((visibility("default"))) const char* RegisterCustomOps(void* options, const OrtApiBase* base) {
  return options ? voice_version() : base->GetVersionString();
}
"""
CONFIGURATION = """
[project]
name = "voice"
version = "1.0.0"
license = "MIT"
authors = ["Someone"]
[native]
source = "."
[[runtime]]
preset = "onnxruntime"
minimum = "1.19"
[targets]
include = ["linux-x64"]
[package.voice]
component = "Unspecified"
runtime = "onnxruntime"
exports = ["RegisterCustomOps", "voice_version"]
nuget = { id = "Voice" }
"""
IN_CPP = """
#include <onnxruntime_cxx_api.h>
extern "C" __attribute__((visibility("default"))) OrtStatus* RegisterCustomOps(OrtSessionOptions* options,
                                                                               const OrtApiBase*) {
  Ort::CustomOpDomain domain{"demo"};
  Ort::UnownedSessionOptions(options).Add(domain);
  return nullptr;
}
"""


@pytest.fixture
def project(tmp_path):
    return copy_client("voice", tmp_path / "voice")


@pytest.fixture
def operators(project):
    """Code in C that calls the runtime's entry itself."""
    edit(project / "voice.c", "GetVersionString(); }\n", f"GetVersionString(); }}\n{REGISTERS}")
    return project


def lines_of(latebind, *words):
    return assert_success(latebind("adopt", *words)).splitlines()


def test_code_that_calls_the_entry_itself_is_told_so(latebind, operators):
    lines = lines_of(latebind, operators)
    assert SAYS in lines
    assert "left: with -DORT_API_MANUAL_INIT, the code still calls OrtGetApiBase()" in lines[-2]
    assert lines[-1].startswith(NEXT)
    assert "CMakeLists.txt:5" in lines[-1]
    assert not [line for line in lines if "drop_in" in line or "latebind stub" in line]


def test_apply_writes_nothing_into_it(latebind, operators):
    lines_of(latebind, operators, "--apply")
    assert not (operators / "latebind.toml").exists()


def test_headers_that_call_the_entry_for_the_code_are_tried_without(latebind, project, tmp_path):
    header = needs.official_header(tmp_path / "ort")
    edit(project / "CMakeLists.txt", "LANGUAGES C)", "LANGUAGES CXX)\ninclude_directories(include)")
    edit(project / "CMakeLists.txt", "voice.c)", "voice.cpp)")
    (project / "voice.cpp").write_text(IN_CPP, "utf-8")
    shutil.copytree(header.parent, project / "include")
    lines = lines_of(latebind, project)
    assert SAYS in lines
    assert lines[-2] == "tried: with -DORT_API_MANUAL_INIT, it asks for no function of ONNX Runtime"


def test_what_was_built_is_told_the_same(latebind, operators, tmp_path):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("not run: there is no C compiler")
    runtime, library = tmp_path / "libonnxruntime.so.1", tmp_path / "libvoice.so"
    (tmp_path / "entry.c").write_text("const void* OrtGetApiBase(void) { return 0; }\n", "utf-8")
    run_checked(compiler, "-shared", "-o", runtime, tmp_path / "entry.c", "-Wl,-soname,libonnxruntime.so.1")
    run_checked(compiler, "-shared", "-fPIC", "-o", library, operators / "voice.c", runtime)
    lines = lines_of(latebind, library)
    assert SAYS in lines
    assert lines[-1].startswith(NEXT)


def test_an_entry_that_nothing_links_is_told_the_same(latebind, operators, tmp_path):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("not run: there is no C compiler")
    library = tmp_path / "libvoice.so"
    run_checked(compiler, "-shared", "-fPIC", "-o", library, operators / "voice.c")
    lines = lines_of(latebind, library)
    assert SAYS in lines
    assert lines[-1].startswith(NEXT)


def test_a_build_that_lacks_the_entry_says_the_same(latebind, operators):
    edit(operators / "CMakeLists.txt", "target_link_libraries(voice PRIVATE onnxruntime::onnxruntime)\n", "")
    edit(operators / "CMakeLists.txt", "find_package(onnxruntime 1.20 REQUIRED)\n", "")
    (operators / "latebind.toml").write_text(CONFIGURATION, "utf-8")
    assert_refused(latebind("-C", operators, "build"), "OrtGetApiBase", "RegisterCustomOps()", "ort_floor.h")


def test_a_library_that_uses_what_it_gets_links_nothing_to_adopt(latebind, operators, tmp_path):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("not run: there is no C compiler")
    edit(operators / "voice.c", "return OrtGetApiBase()->GetVersionString();", 'return "";')
    library = tmp_path / "libvoice.so"
    run_checked(compiler, "-shared", "-fPIC", "-o", library, operators / "voice.c")
    assert lines_of(latebind, library)[0] == RIGHT
    audited = run_checked(sys.executable, "-m", "latebind", "audit", library)
    assert "0 errors, 0 warnings" in audited
