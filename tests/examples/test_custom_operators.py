"""`latebind new --kind custom-op` and the page about it: the code is registered in the oldest and newest runtimes."""

import base64
import re
import shutil
import sys

import onnx
import pytest
from onnx import TensorProto, helper

from latebind.adopt.new import operators_files
from latebind.tables.messages import find_section
from tests.conftest import ROOT
from tests.examples.conftest import run
from tests.support.running import make_environment, run_checked, run_program

pytestmark = pytest.mark.slow

PAGE = (ROOT / "docs/howto/custom-operators.md").read_text("utf-8")
SHOWN = re.findall(r'```\w+ title="([^"]+)"\n(.*?)```', PAGE, re.DOTALL)
FILES = operators_files("demo", "Someone")
FLOOR, OPS = FILES["native/ort_floor.h"], FILES["native/demo.cc"]
OLDEST, OLD, NEWEST = "1.16.3", "1.19.2", ""
RUN = """\
import base64, sys
import numpy, onnxruntime
options = onnxruntime.SessionOptions()
options.register_custom_ops_library(sys.argv[1])
session = onnxruntime.InferenceSession(base64.b64decode(sys.argv[2]), options, providers=["CPUExecutionProvider"])
print(session.run(None, {"x": numpy.ones(2, numpy.float32)})[0].tolist())
"""
PLAIN = "#define ORT_API_MANUAL_INIT\n#include <onnxruntime_cxx_api.h>\n"
"""What a library includes that asks for the version of its headers."""


def make_model(name="Scale", **attributes):
    """One node of demo::Scale or another one, which every runtime reads, as an argument."""
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy"]
    node = helper.make_node(name, ["x"], ["y"], domain="demo", **attributes)
    domains = [helper.make_opsetid("", 15), helper.make_opsetid("demo", 1)]
    made = helper.make_model(helper.make_graph([node], "g", ends[:1], ends[1:]), opset_imports=domains, ir_version=8)
    onnx.checker.check_model(made)
    return base64.b64encode(made.SerializeToString()).decode()


DOUBLES, LACKS = make_model(factor=2.0), make_model()


@pytest.fixture(scope="module")
def pythons(tmp_path_factory):
    """A Python with each runtime."""

    wanted = {
        OLDEST: (f"onnxruntime=={OLDEST}", "numpy<2"),
        OLD: (f"onnxruntime=={OLD}", "numpy"),
        NEWEST: ("onnxruntime", "numpy"),
    }
    folder = tmp_path_factory.mktemp("pythons")
    return {version: make_environment(folder / (version or "newest"), *names) for version, names in wanted.items()}


@pytest.fixture
def compiled(tmp_path, official_header):
    """Compiles the page's operator with another header in place of the page's; the library."""
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("not run: there is no C++ compiler")

    def compile_with(header, *changes):
        source = OPS
        for old, new in changes:
            assert old in source
            source = source.replace(old, new)
        (tmp_path / "ort_floor.h").write_text(f"#pragma once\n{header}", "utf-8")
        (tmp_path / "ops.cc").write_text(source, "utf-8")
        library = tmp_path / "libops.so"
        options = ("-std=c++17", "-shared", "-fPIC", "-O1", f"-I{official_header.parent}", f"-I{tmp_path}")
        run_checked(compiler, *options, "-o", library, tmp_path / "ops.cc", "-Wl,-z,nodelete")
        return library

    return compile_with


def doubles(python, library):
    return run_checked(python, "-c", RUN, library, DOUBLES).strip() == "[2.0, 2.0]"


def refused(python, library, model=DOUBLES):
    """What is printed when it does not run; nothing crashes."""
    ended = run_program(python, "-c", RUN, library, model)
    assert ended.returncode == 1
    return ended.stdout + ended.stderr


@pytest.mark.parametrize(("name", "text"), SHOWN, ids=range(len(SHOWN)))
def test_what_the_page_shows_is_in_the_project(name, text):
    assert text in FILES[name]


def test_a_new_project_is_packed_audited_and_verified(installed_latebind, tmp_path, official_header, pythons):
    project = tmp_path / "demo"
    run(installed_latebind, "-C", tmp_path, "new", "demo", "--kind", "custom-op")
    shutil.copytree(official_header.parent, project / "native/include", dirs_exist_ok=True)
    run(installed_latebind, "-C", project, "pack", "--target", "linux-x64,win-x64,osx-arm64")
    assert " 0 errors, 0 warnings" in run(installed_latebind, "-C", project, "audit").stdout
    verified = run(installed_latebind, "-C", project, "verify", "--target", "linux-x64", "-k", "wheel").stdout
    assert " passed, 0 failed, 0 not run" in verified
    library = project / "stage/linux-x64/demo/lib/libdemo.so"
    for python in (pythons[OLD], pythons[NEWEST]):  # zig's C++ library is in it, another one in the runtime
        assert doubles(python, library)
        assert "factor" in refused(python, library, LACKS)


def test_the_code_runs_with_1_16_as_well(compiled, pythons):
    header = FLOOR.replace("ORT_API_VERSION 19", "ORT_API_VERSION 16")
    assert header != FLOOR
    library = compiled(header)
    for python in pythons.values():
        assert doubles(python, library)
        assert "factor" in refused(python, library, LACKS)


LITE = re.search(r"```cpp\n(static Ort::Status Twice.*?)```", PAGE, re.DOTALL)[1]
LITE_OP = """static const std::unique_ptr<Ort::Custom::OrtLiteCustomOp> lite{
        Ort::Custom::CreateLiteCustomOp("Twice", "CPUExecutionProvider", Twice)};
    domain.Add(lite.get());"""


def test_a_function_that_returns_a_status_is_an_operator_as_well(compiled, pythons):
    changes = (
        ("#include <string>", "#include <memory>\n#include <string>\n#include <onnxruntime_lite_custom_op.h>"),
        ("static OrtStatus* Refuse", f"{LITE}\nstatic OrtStatus* Refuse"),
        ("domain.Add(&op);", f"domain.Add(&op);\n    {LITE_OP}"),
    )
    library = compiled(FLOOR, *changes)
    for python in (pythons[OLD], pythons[NEWEST]):
        assert doubles(python, library)
        assert run_checked(python, "-c", RUN, library, make_model("Twice")).strip() == "[2.0, 2.0]"


def test_another_header_before_the_floor_is_an_error_of_the_compiler(compiled):
    with pytest.raises(AssertionError, match=r"include ort_floor\.h before any header of ONNX Runtime"):
        compiled(FLOOR, ('#include "ort_floor.h"', '#include <onnxruntime_cxx_api.h>\n#include "ort_floor.h"'))


def test_an_older_runtime_than_the_floor_is_named(compiled, pythons):
    said = refused(pythons[OLDEST], compiled(FLOOR))
    assert "demo needs ONNX Runtime 1.19 or newer; this is 1.16.3" in said


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ([("GetApi(ORT_API_VERSION)", "GetApi(19)")], "Unsupported version '21' in custom op 'Scale"),
        ([("if (!ort) return Refuse(base);", "")], "The requested API version [21] is not available"),
    ],
    ids=["the operator's version", "unchecked"],
)
def test_a_library_for_a_newer_runtime_is_refused(compiled, pythons, changes, says):
    library = compiled(PLAIN, *changes)
    ended = run_program(pythons[OLD], "-c", RUN, library, DOUBLES)
    assert ended.returncode != 0
    assert says in ended.stdout + ended.stderr
    assert find_section(says) is not None
    assert doubles(pythons[NEWEST], library)


def test_headers_that_call_the_runtime_themselves_fail_in_python(compiled, pythons):
    library = compiled("#include <onnxruntime_cxx_api.h>\n", ("Ort::InitApi(ort);", ""))
    assert "undefined symbol: OrtGetApiBase" in refused(pythons[NEWEST], library)
    audited = run_program(sys.executable, "-m", "latebind", "audit", library)
    assert (audited.returncode, "LB810" in audited.stdout) == (1, True)
    advised = run_checked(sys.executable, "-m", "latebind", "adopt", library)
    assert "exports RegisterCustomOps" in advised
    assert "ort_floor.h" in advised
