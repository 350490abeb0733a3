"""WAMR's wasi-nn backends are built from its unchanged tree against stubs, and run with the oldest and newest runtime.

LATEBIND_WAMR may name a checkout; without one, GitHub is asked for the commit below.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from loadcheck.facts import read_image
from tests.conftest import ROOT
from tests.examples.conftest import run
from tests.support.running import make_environment, run_program

COMMIT = "646b5a9bc"
ONNX, OPENVINO = ("onnx", "relu.onnx"), ("openvino", "relu.xml", "relu.bin")
RIGHT = "0 0 1 2, 16 bytes\n"
pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="not run: iwasm is built for Linux")]
TWICE = """
import ctypes, sys
lib = ctypes.CDLL("./libiwasm.so", mode=ctypes.RTLD_GLOBAL)
for name in ("wasm_runtime_load", "wasm_runtime_instantiate"):
    getattr(lib, name).restype = ctypes.c_void_p
texts = lambda *words: (ctypes.c_char_p * len(words))(*(word.encode() for word in words))
code, why = open("relu.wasm", "rb").read(), ctypes.create_string_buffer(200)
assert lib.wasm_runtime_init()
kept = []
for words in (("relu", "onnx", "relu.onnx"), ("relu", "openvino", "relu.xml", "relu.bin")):
    bytes_, argv, folders = ctypes.create_string_buffer(code, len(code)), texts(*words), texts(".")
    module = ctypes.c_void_p(lib.wasm_runtime_load(bytes_, len(code), why, 200))
    lib.wasm_runtime_set_wasi_args(module, folders, 1, None, 0, None, 0, argv, len(words))
    instance = ctypes.c_void_p(lib.wasm_runtime_instantiate(module, 65536, 65536, why, 200))
    assert lib.wasm_application_execute_main(instance, len(words), argv), why.value
    kept += [bytes_, argv, folders, instance]  # both stay while the other runs
print(open("/proc/self/maps").read())
"""


@pytest.fixture(scope="module")
def wamr(tmp_path_factory):
    named = os.environ.get("LATEBIND_WAMR")
    if named:
        return Path(named)
    folder = tmp_path_factory.mktemp("wamr")
    address = "https://github.com/bytecodealliance/wasm-micro-runtime"
    for command in (["clone", "-q", "--filter=blob:none", address, folder], ["-C", folder, "checkout", "-q", COMMIT]):
        done = run_program("git", *command)
        if done.returncode:
            pytest.skip(
                f"not run: WAMR cannot be had, and LATEBIND_WAMR names no checkout: {done.stderr.strip()[-200:]}"
            )
    return folder


@pytest.fixture(scope="module")
def built(wamr, tmp_path_factory, official_header):
    """What examples/wasi-nn/build.sh makes, with nothing of the tree changed."""
    folder = tmp_path_factory.mktemp("built") / "out"
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    before = run_program("git", "-C", wamr, "status", "--porcelain").stdout
    subprocess.run(
        [ROOT / "examples/wasi-nn/build.sh", wamr, folder], check=True, timeout=900,
        env={**os.environ, "PATH": path, "ONNXRUNTIME_HEADERS": str(official_header.parent)},
    )  # fmt: skip
    assert run_program("git", "-C", wamr, "status", "--porcelain").stdout == before
    return folder


@pytest.fixture(scope="module")
def environments(tmp_path_factory):
    """Environments with the oldest runtimes that the stubs take, with the newest, and with none."""
    folder = tmp_path_factory.mktemp("environments")
    wanted = {
        "oldest": ("onnxruntime==1.19.*", "openvino==2025.1.*"),
        "newest": ("onnxruntime", "openvino"),
        "none": ("packaging",),
    }
    return {name: make_environment(folder / name, *requirements).parents[1] for name, requirements in wanted.items()}


def iwasm(folder, environment, *words):
    """The exit status, and what relu.wasm and the host print; WAMR prints a text after it freed it."""
    env = {**os.environ, "LD_LIBRARY_PATH": str(folder), "VIRTUAL_ENV": str(environment)}
    done = subprocess.run(
        [folder / "iwasm", "--dir=.", folder / "relu.wasm", *words],
        cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout.decode("utf-8", "replace")


@pytest.mark.parametrize("backend", ["onnx", "openvino"])
def test_no_backend_needs_its_runtime(built, backend):
    library = built / f"libwasi_nn_{backend}.so"
    needed = set(read_image(library.read_bytes(), library.name).needed)
    assert needed <= {"libiwasm.so.2", "libc.so.6", "libstdc++.so.6", "libgcc_s.so.1"}


@pytest.mark.parametrize("version", ["oldest", "newest"])
@pytest.mark.parametrize("words", [ONNX, OPENVINO], ids=["onnx", "openvino"])
def test_a_wasm_program_computes_with_the_installed_runtime(built, environments, version, words):
    status, printed = iwasm(built, environments[version], *words)
    assert (status, RIGHT in printed) == (0, True)
    assert "get_output of another: error" in printed


@pytest.mark.parametrize(
    ("words", "package"), [(ONNX, "onnxruntime>=1.19"), (OPENVINO, "openvino>=2025.1")], ids=["onnx", "openvino"]
)
def test_without_a_runtime_the_program_gets_an_error_and_the_host_says_what_to_install(
    built, environments, words, package
):
    status, printed = iwasm(built, environments["none"], *words)
    assert (status, f"{words[0]}: load: error 5\n" in printed) == (5, True)  # wasi-nn's runtime_error
    assert f'pip install "{package}"' in printed


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        (("onnx", "relu.xml"), "load: error 2"),  # bytes that are no model
        (("4", "relu.onnx"), "load: error 2"),  # TensorFlow Lite, which was not built
        ((*ONNX, *OPENVINO), "openvino: load: error 6"),  # WAMR gives a module one backend
        (("onnx", "--by-name", "nowhere.onnx"), "load_by_name: error"),
    ],
)
def test_each_fault_has_an_error(built, environments, words, printed):
    status, output = iwasm(built, environments["newest"], *words)
    assert printed in output
    assert status != 0


@pytest.mark.parametrize("words", [("onnx", "--by-name", "relu.onnx"), ("openvino", "--by-name", "relu.xml")])
def test_a_backend_reads_a_model_by_its_name(built, environments, tmp_path, words):
    """WAMR takes the first backend that it finds, so that only one is there."""
    folder = tmp_path / "one"
    other = {"onnx": "openvino", "openvino": "onnx"}[words[0]]
    shutil.copytree(built, folder, symlinks=True, ignore=shutil.ignore_patterns("CMakeFiles", "stubs", f"*nn_{other}*"))
    status, printed = iwasm(folder, environments["newest"], *words)
    assert (status, RIGHT in printed) == (0, True)


def test_two_backends_work_in_one_process(built, environments):
    env = {**os.environ, "LD_LIBRARY_PATH": str(built), "VIRTUAL_ENV": str(environments["newest"])}
    done = subprocess.run(
        [sys.executable, "-c", TWICE], cwd=built, env=env, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.count(RIGHT) == 2, done.stderr[-2000:]
    assert "libonnxruntime.so" in done.stdout
    assert "libopenvino_c.so" in done.stdout


def test_its_packages_are_packed_audited_and_verified(installed_latebind, wamr, example, official_header):
    """A wheel for WAMR and one for each backend, from the same unchanged tree."""
    project = example("wasi-nn")
    shutil.copytree(wamr, project / "native/wamr", ignore=shutil.ignore_patterns(".git"))
    shutil.copytree(official_header.parent, project / "native/include")
    run(installed_latebind, "headers", "openvino", "2025.1", "--output", project / "native/include")
    run(installed_latebind, "-C", project, "pack", "--target", "linux-x64")
    assert ": 0 errors, " in run(installed_latebind, "-C", project, "audit").stdout
    shown = run(installed_latebind, "-C", project, "verify", "--target", "linux-x64", "-k", "wheel").stdout
    assert re.search(r"\b12 passed, 0 failed, 0 not run", shown)
