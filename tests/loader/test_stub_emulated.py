"""The stub on Windows by wine and on other processors' Linux by qemu: its machine code, and real runtimes."""

import dataclasses
import os
import re
import shutil
import sys

import pytest

from ci.machines import qemu, wine, wine_arm64
from ci.machines.emulator import Limits
from ci.machines.macos import machine as macos
from tests.loader.test_functions_stub import build_program
from tests.support.building import LOADER_TESTS as HERE
from tests.support.building import ROOT, build
from tests.support.emulated import (
    ORT_VERSIONS,
    WHEEL_PLATFORMS,
    Emulated,
    cache,
    configure_cross,
    fetch_runtime,
    onnx_sum,
)
from tests.support.needs import available, official_header
from tests.support.running import run_checked

pytestmark = [pytest.mark.emulated, pytest.mark.slow]
SYSTEMS = {
    "linux-arm64": (qemu, "", ".so", str, "libonnxruntime.so.*"),
    "linux-arm": (qemu, "", ".so", str, "libonnxruntime.so.1.21"),
    "linux-riscv64": (qemu, "", ".so", str, "libonnxruntime.so.1.21"),
    "win-x64": (wine, ".exe", ".dll", wine.windows_path, "onnxruntime.dll"),
    "win-arm64": (wine_arm64, ".exe", ".dll", wine.windows_path, "onnxruntime.dll"),
    "osx-arm64": (macos, "", ".dylib", str, ""),
    "osx-x64": (macos, "", ".dylib", str, ""),
}
NO_RUNTIME = {
    "win-arm64": "not run: ONNX Runtime for Windows arm64 never returns from its unwinder under qemu",
    **dict.fromkeys(macos.KINDS, "not run: the emulated macOS has no C++ library, only what our own code calls"),
}


@pytest.fixture(scope="module", params=SYSTEMS)
def system(request, shared_folder, tmp_path_factory):
    """The programs of one system, and that system's name."""
    maker, suffix, library_suffix, name_of, _ = SYSTEMS[request.param]
    folder = tmp_path_factory.mktemp(request.param)
    include = official_header(shared_folder).parent
    folder_name = f"{request.param}-{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}"
    arguments = (request.param,) if maker in (qemu, macos) else ()
    emulator = available(maker.prepare, cache() / folder_name, Limits(seconds=300), *arguments)
    defines = (f"-Dlatebind_DIR={ROOT / 'loader'}", f"-DORT_INCLUDE={include}")
    configure_cross(HERE / "stub", folder, request.param, *defines)
    build(folder)
    if hasattr(emulator, "start"):
        emulator.start()
    yield Emulated(folder, emulator, suffix, library_suffix, name_of), request.param
    emulator.close()


def runtime_of(emulated, rid, version):
    """The runtime of the wheel for a target, or Debian's where there is no wheel."""
    if rid in NO_RUNTIME:
        pytest.skip(NO_RUNTIME[rid])
    glob = SYSTEMS[rid][-1]
    if rid not in WHEEL_PLATFORMS:
        return next(emulated.emulator.root.glob(f"usr/lib/*/{glob}"))
    return next(fetch_runtime(rid, version).glob(glob))


def run(system, name, *arguments, **env):
    """How a program ended and what it printed."""
    converted = [system.name_of(argument) if isinstance(argument, os.PathLike) else argument for argument in arguments]
    environment = {key: system.name_of(value) for key, value in env.items()}
    done = system.emulator.run(system.program(name), *converted, env=environment, cwd=None, feed=b"")
    return done.returncode, done.stdout.decode().replace("\r\n", "\n")


def test_functions_of_a_c_library_reach_it_or_give_what_was_declared(system, latebind, tmp_path):
    emulated, rid = system
    program = build_program(latebind, tmp_path, rid)

    def answer(*arguments, **env):
        environment = {key: emulated.name_of(value) for key, value in env.items()}
        done = emulated.emulator.run(program, *arguments, env=environment, cwd=None, feed=b"")
        return done.returncode, done.stdout.decode().replace("\r\n", "\n")

    assert answer("stops", MANY_LIB_PATH=tmp_path / "2") == (0, "status 0: fine\nwrong 0\nnew 0\navailable 1 1\n\n")
    status, text = answer("stops")
    assert status != 0
    assert text.startswith("status 7: Many is not available: LATEBIND_ON_MISSING=print\n")
    assert "\nnew -1\navailable 0 0\nMany was not found in" in text
    assert "many_newer is not in this copy of Many; 1.0.1 is bound" in answer(MANY_LIB_PATH=tmp_path / "1")[1]


def test_arguments_and_results_of_every_kind_go_through_a_trampoline(system):
    assert run(system[0], "calls") == (0, "right\n")


def test_vectors_of_every_size_go_through_a_trampoline(system):
    emulated, rid = system
    status, printed = run(emulated, "vectors")
    assert (status, printed[-6:]) == (0, "right\n"), printed
    if rid.endswith("-arm64"):
        assert printed.startswith("q ")


@pytest.mark.parametrize("system", ["linux-arm64"], indirect=True)
@pytest.mark.parametrize(
    ("cpu", "sizes"),
    [
        ("cortex-a57", "q"),
        ("max,sve=off", "q"),
        ("max,sve128=on,sve256=off,sve512=off", "q z16"),
        ("max,sve256=on,sve512=off", "q z32"),
        ("max,sve512=on", "q z64"),
    ],
)
def test_vectors_of_sve_go_through_a_trampoline_in_every_size(system, cpu, sizes):
    emulated, _ = system
    emulator = dataclasses.replace(emulated.emulator, cpu=cpu)
    changed = dataclasses.replace(emulated, emulator=emulator)
    assert run(changed, "vectors") == (0, f"{sizes} right\n")


@pytest.mark.parametrize("system", ["win-x64"], indirect=True)
def test_trampolines_for_visual_c_do_the_same(system, tmp_path):
    """Assembled by LLVM's reader of the same language, and linked with the test program by zig."""
    emulated, _ = system
    names = ("llvm-ml", *(f"llvm-ml-{version}" for version in range(14, 30)))
    assembler = next((path for name in names if (path := shutil.which(name))), None)
    if assembler is None:
        pytest.skip("not run: there is no llvm-ml here: apt-get install llvm")
    code, source = tmp_path / "trampolines.obj", ROOT / "loader" / "src"
    run_checked(assembler, "-m64", "-c", "-Fo", code, source / "trampolines_x64.asm")
    zig = [sys.executable, "-m", "ziglang", "cc", "-target", "x86_64-windows-gnu"]
    compiler = [*zig, "-DLATEBIND_MASM", f"-I{source}"]
    for name in ("calls", "vectors"):
        program = emulated.folder / f"masm-{name}.exe"
        run_checked(*compiler, HERE / "stub" / f"{name}.c", source / "trampolines.c", code, "-o", program)
        status, printed = run(emulated, program.stem)
        assert (status, printed[-6:]) == (0, "right\n"), printed


@pytest.mark.parametrize("version", ORT_VERSIONS)
def test_programs_run_unchanged_and_every_slot_is_the_runtimes_own(system, version, tmp_path):
    emulated, rid = system
    if rid not in WHEEL_PLATFORMS and version != ORT_VERSIONS[0]:
        pytest.skip("not run: Debian 13 has one version of ONNX Runtime for this processor")
    runtime, model = runtime_of(emulated, rid, version), onnx_sum(tmp_path / "sum.onnx")
    version = runtime.resolve().name.partition(".so.")[2] if rid not in WHEEL_PLATFORMS else version
    assert run(emulated, "user", model, ONNXRUNTIME_LIB_PATH=runtime) == (0, f"right with {version}\n")
    assert run(emulated, "user_c", ONNXRUNTIME_LIB_PATH=runtime) == (0, f"right with {version}\n")
    lines = run(emulated, "slots", runtime)[1].splitlines()
    assert re.fullmatch(r"same \d{3}", lines[-1])
    assert not [line for line in lines if line.startswith("other")]


def test_without_a_runtime_the_programs_own_error_says_why(system, tmp_path):
    if system[1] in macos.KINDS:
        pytest.skip(NO_RUNTIME[system[1]])
    # Debian has one for some of these processors, which another test put where the system looks.
    status, output = run(system[0], "user", "no-model", ONNXRUNTIME_LIB_PATH=tmp_path / "none")
    assert status == 1
    assert output.startswith("Ort::Exception 1: ONNX Runtime was not found")
