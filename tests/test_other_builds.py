"""The recipes for other build systems: each is built as its page shows it, audited, and run with two runtimes."""

import os
import re
import shutil
import sys

import pytest

from tests.conftest import ROOT
from tests.programs import assert_success, run_checked, run_program

PAGE = (ROOT / "docs/howto/other-builds.md").read_text("utf-8")
FILE = re.compile(r"^`([^`\n]+)`[^\n]*:\n\n```\w+\n(.*?)^```", re.MULTILINE | re.DOTALL)
RUNTIMES = ("onnxruntime==1.19.2", "onnxruntime")
C = """
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
typedef struct { const void *(*GetApi)(uint32_t); const char *(*GetVersionString)(void); } OrtApiBase;
extern const OrtApiBase *OrtGetApiBase(void);
static PyObject *version(PyObject *self, PyObject *args) {
  (void)self; (void)args;
  return PyUnicode_FromString(OrtGetApiBase()->GetVersionString());
}
static PyMethodDef methods[] = {{"version", version, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "engine", NULL, -1, methods, NULL, NULL, NULL, NULL};
PyMODINIT_FUNC PyInit_engine(void) { return PyModule_Create(&module); }
"""
RUST = """
use std::ffi::{c_char, c_void};
#[repr(C)]
struct OrtApiBase { get_api: *const c_void, version: extern "C" fn() -> *const c_char }
extern "C" { fn OrtGetApiBase() -> *const OrtApiBase; }
#[no_mangle]
pub extern "C" fn engine_version() -> *const c_char { unsafe { ((*OrtGetApiBase()).version)() } }
"""
CALLS = {
    "scikit-build-core": "import engine; print(engine.version())",
    "meson-python": "import engine; print(engine.version())",
    "maturin": "from engine import ffi, lib; print(ffi.string(lib.engine_version()).decode())",
}
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="not run: the recipes are tried on Linux"),
]


def write_recipe(name, folder):
    section = PAGE.partition(f"## {name}\n")[2].partition("\n## ")[0]
    for file, text in FILE.findall(section):
        (folder / file).write_text(text, "utf-8")
    if name == "maturin":
        (folder / "src").mkdir()
        (folder / "src/lib.rs").write_text(RUST, "utf-8")
    else:
        (folder / "engine.c").write_text(C, "utf-8")


def make_environment(folder, *requirements):
    """The interpreter of a new environment, or a skip where the index has not everything."""
    for arguments in (["venv", folder], ["pip", "install", "--quiet", "--python", folder, *requirements]):
        done = run_program(sys.executable, "-m", "uv", *arguments)
        if done.returncode:
            pytest.skip(f"not run: {requirements} cannot be installed: {done.stderr.strip()[-200:]}")
    return folder / "bin/python"


@pytest.mark.parametrize("name", CALLS)
def test_a_recipe_gives_a_wheel_that_binds_late(latebind, tmp_path, name):
    if name == "maturin" and not shutil.which("cargo"):
        pytest.skip("not run: cargo is not on PATH: apt-get install cargo")
    project = tmp_path / "project"
    project.mkdir()
    write_recipe(name, project)
    environment = dict(os.environ)
    if name == "maturin":
        assert_success(latebind("stub", "onnxruntime", "--output", tmp_path / "stubs"))
        (stub,) = (tmp_path / "stubs").iterdir()
        environment["LATEBIND_STUB"] = str(stub)
    else:
        assert_success(latebind("stub", "onnxruntime", "--source", "--output", project / "third_party/latebind"))
    builder = make_environment(tmp_path / "builder", "build", "pip")
    run_checked(builder, "-m", "build", "--wheel", "--outdir", tmp_path / "dist", project, env=environment)
    (wheel,) = (tmp_path / "dist").iterdir()
    assert " 0 errors, 0 warnings" in assert_success(latebind("audit", "--profile", "runtime", wheel))
    printed = [
        run_checked(make_environment(tmp_path / str(index), wheel, runtime), "-c", CALLS[name]).strip()
        for index, runtime in enumerate(RUNTIMES)
    ]
    assert printed[0] == "1.19.2"
    assert printed[1] > printed[0]


AUDIT = """
import sys
from pathlib import Path
from cibuildwheel.audit import run_audit
from cibuildwheel.options import CommandLineArguments, compute_options
arguments = CommandLineArguments.defaults()
arguments.package_dir = Path(sys.argv[1])
options = compute_options("linux", arguments, {})
chosen = options.build_options("cp311-manylinux_x86_64")
run_audit(tmp_dir=Path(sys.argv[2]), build_options=chosen, wheel=Path(sys.argv[3]))
"""


def test_cibuildwheel_runs_the_audit_of_the_page(tmp_path, packed_once):
    (text,) = (text for name, text in FILE.findall(PAGE.partition("## cibuildwheel\n")[2].partition("\n## ")[0]))
    project = tmp_path / "project"
    project.mkdir()
    text = (
        text.replace('["latebind"]', f'["{ROOT.as_posix()}/loadcheck", "{ROOT.as_posix()}"]')
        + 'build-frontend = "build[uv]"\n'
    )
    (project / "pyproject.toml").write_text(text, "utf-8")
    (tmp_path / "audit.py").write_text(AUDIT, "utf-8")
    python = make_environment(tmp_path / "peer", "cibuildwheel==4.3.3", "uv")
    run = (python, tmp_path / "audit.py", project, tmp_path)
    (wheel,) = (packed_once / "dist").glob("*.whl")
    audited = run_program(*run, wheel, cwd=project)
    assert audited.returncode == 0, audited.stdout + audited.stderr
    assert "0 errors" in audited.stdout
    false_tag = tmp_path / re.sub(r"[^-]+\.whl$", "win_amd64.whl", wheel.name)
    shutil.copyfile(wheel, false_tag)
    refused = run_program(*run, false_tag, cwd=project)
    assert refused.returncode != 0
    assert "Audit command failed" in refused.stdout + refused.stderr
