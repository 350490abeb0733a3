"""The page about custom operators: its code is compiled, and registered in the oldest and the newest runtime."""

import base64
import re
import shutil
import sys

import onnx
import pytest
from onnx import TensorProto, helper

from latebind.tables.messages import find_section
from tests.conftest import ROOT
from tests.support.running import run_checked, run_program

pytestmark = pytest.mark.slow

PAGE = (ROOT / "docs/howto/custom-operators.md").read_text("utf-8")
OLDEST, OLD = "1.16.3", "1.19.2"
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


def block(first):
    """The block of code on the page that begins with a comment."""
    (found,) = re.findall(rf"```cpp\n(// {re.escape(first)}.*?)```", PAGE, re.DOTALL)
    return found


@pytest.fixture(scope="module")
def model():
    """One node of demo::Twice, which every runtime reads."""
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy"]
    node = helper.make_node("Twice", ["x"], ["y"], domain="demo")
    domains = [helper.make_opsetid("", 15), helper.make_opsetid("demo", 1)]
    made = helper.make_model(helper.make_graph([node], "g", ends[:1], ends[1:]), opset_imports=domains, ir_version=8)
    onnx.checker.check_model(made)
    return base64.b64encode(made.SerializeToString()).decode()


@pytest.fixture(scope="module")
def pythons(tmp_path_factory):
    """A Python with each runtime."""

    def make(version):
        folder = tmp_path_factory.mktemp("python")
        python = folder / "bin/python"
        run_checked(sys.executable, "-m", "uv", "venv", "-q", "--python", sys.executable, folder)
        wanted = f"onnxruntime=={version}" if version else "onnxruntime"
        numpy = "numpy<2" if version == OLDEST else "numpy"
        ended = run_program(sys.executable, "-m", "uv", "pip", "install", "-q", "--python", python, wanted, numpy)
        if ended.returncode:
            pytest.skip(f"not run: the package index cannot be reached: {ended.stderr[-200:]}")
        return python

    return {version: make(version) for version in (OLDEST, OLD, "")}


@pytest.fixture
def compiled(tmp_path, official_header):
    """Compiles the page's operator with another header in place of the page's; the library."""
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("not run: there is no C++ compiler")

    def compile_with(header, *changes):
        source = block("ops.cc")
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


def test_the_code_of_the_page_runs_with_the_oldest_and_the_newest_runtime(compiled, model, pythons):
    library = compiled(block("ort_floor.h"))
    for python in pythons.values():
        assert run_checked(python, "-c", RUN, library, model).strip() == "[2.0, 2.0]"


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ((), "demo needs ONNX Runtime 1.21 or newer; this is 1.19.2"),
        ([("GetApi(ORT_API_VERSION)", "GetApi(19)")], "Unsupported version '21' in custom op 'Twice"),
        ([("if (!ort) return Refuse(base);", "")], "The requested API version [21] is not available"),
    ],
    ids=["the page's own words", "the operator's version", "unchecked"],
)
def test_a_library_for_a_newer_runtime_is_refused(compiled, model, pythons, changes, says):
    library = compiled(PLAIN, *changes)
    ended = run_program(pythons[OLD], "-c", RUN, library, model)
    assert ended.returncode != 0
    assert says in ended.stdout + ended.stderr
    assert run_checked(pythons[""], "-c", RUN, library, model).strip() == "[2.0, 2.0]"
    if "demo" not in says:
        assert find_section(says) is not None


def test_headers_that_call_the_runtime_themselves_fail_in_python(compiled, model, pythons):
    library = compiled("#include <onnxruntime_cxx_api.h>\n", ("Ort::InitApi(ort);", ""))
    ended = run_program(pythons[""], "-c", RUN, library, model)
    assert "undefined symbol: OrtGetApiBase" in ended.stderr
    audited = run_program(sys.executable, "-m", "latebind", "audit", library)
    assert (audited.returncode, "LB810" in audited.stdout) == (1, True)
