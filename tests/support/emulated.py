"""The C test programs built by zig for another system and run there by an emulator; must not judge what they answer."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pathlib
import sys
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from onnx import TensorProto, helper

from ci.machines import wine, wine_arm64
from ci.machines.emulator import Limits
from ci.machines.macos import machine as macos
from latebind.backend.targets import target
from latebind.backend.toolchain import toolchain
from latebind.backend.zig import find_zig
from latebind.verify.run.machine import NOT_SUPPORTED
from tests.support.building import LOADER_TESTS, build, program, tree_name
from tests.support.needs import available
from tests.support.programs import run_checked, run_program

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator
    from types import ModuleType

# What ONNX Runtime itself says under wine, which has no DXGI. All else on stderr is ours and must not be.
NO_DXGI = b"Failed to create DXGI factory.\r\n"
WINDOWS = {"win-x64": wine, "win-arm64": wine_arm64}
FLOORS = {"glibc": "2.28", "musl": "1.2", "darwin": "11.0", "ucrt": ""}
ORT_VERSIONS = ("1.19.2", "1.31.1")  # the floor, and a recent one; slow tests have the latest
RUNTIME_NAMES = {".dll": "onnxruntime.dll", ".so": "libonnxruntime.so.1", ".dylib": "libonnxruntime.1.25.3.dylib"}
WHEEL_PLATFORMS = {
    "win-x64": ["win_amd64"],
    "win-arm64": ["win_arm64"],
    "linux-x64": [f"manylinux_2_{glibc}_x86_64" for glibc in (28, 27, 17, 12)],
    "linux-arm64": ["manylinux_2_28_aarch64", "manylinux_2_27_aarch64"],
}


FEED = "input x 1 2 1 3 0000803f0000004000004040\ncompute\noutputs\nreport\n"
SUM = "0000c03f0000204000006040"
"""1.5, 2.5, 3.5: what `onnx_sum` makes of the 1, 2, 3 of FEED."""


def cache() -> pathlib.Path:
    """Where downloads and prefixes stay from one run to the next."""
    base = os.environ.get("XDG_CACHE_HOME") or str(pathlib.Path.home() / ".cache")
    folder = pathlib.Path(base) / "latebind-tests"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def configure_cross(source: pathlib.Path, tree: pathlib.Path, rid: str, *arguments: str) -> None:
    """Configure a CMake project for a target, with the toolchain that `latebind build` uses."""
    cmake, ninja = program("cmake"), program("ninja")
    if not cmake or not ninja or find_zig() is None:
        pytest.skip("not run: cmake, ninja or zig is missing: pip install cmake ninja ziglang")
    properties = target(rid)
    chosen = toolchain("zig", properties)
    tree.mkdir(parents=True, exist_ok=True)
    options = chosen.configure(properties, FLOORS[properties.libc], tree)
    command = [cmake, "-S", str(source), "-B", str(tree), "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja}"]
    run_checked(*command, *options, *arguments, env=dict(chosen.environment(tree)))


def build_cross(shared: pathlib.Path, rid: str, *arguments: str, source: pathlib.Path = LOADER_TESTS) -> pathlib.Path:
    """Build the test programs in `source` for a target unless another worker has. `arguments` are more of CMake's."""
    folder = shared / f"{tree_name(source)}-{rid}"
    folder.mkdir(exist_ok=True)
    with (shared / f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "done").exists():
            configure_cross(source, folder, rid, *arguments)
            build(folder)
            (folder / "done").touch()
    return folder


def fetch_runtime(rid: str, version: str) -> pathlib.Path:
    """The folder of a real ONNX Runtime for a target, from its wheel. Skips where there is none."""
    return fetch_wheel(rid, "onnxruntime", version) / "onnxruntime" / "capi"


def fetch_wheel(rid: str, name: str, version: str) -> pathlib.Path:
    """The folder of an unpacked wheel for a target. Skips where there is none."""
    folder = cache() / f"{name}-{version}-{rid}"
    with (cache() / f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            aside = cache() / f".{folder.name}.part"
            aside.mkdir(exist_ok=True)
            platforms = [argument for name in WHEEL_PLATFORMS[rid] for argument in ("--platform", name)]
            command = [sys.executable, "-m", "pip", "download", "-q", *platforms, "--python-version", "3.11"]
            done = run_program(*command, "--only-binary=:all:", "--no-deps", "-d", aside, f"{name}=={version}")
            if done.returncode:
                pytest.skip(f"not run: no {name} {version} for {rid}: {done.stderr.strip()[-200:]}")
            (wheel,) = aside.glob("*.whl")
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(aside)
            wheel.unlink()
            aside.rename(folder)
    return folder


def onnx_sum(path: pathlib.Path) -> pathlib.Path:
    """Write a model that adds 0.5 to its input x."""
    half = helper.make_tensor("half", TensorProto.FLOAT, [1], [0.5])
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", 3]) for name in "xy")
    graph = helper.make_graph([helper.make_node("Add", ["x", "half"], ["y"])], "sum", [x], [y], initializer=[half])
    opsets = [helper.make_opsetid("", 17)]  # ONNX Runtime 1.19 reads these versions
    path.write_bytes(helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString())
    return path


@dataclass
class Emulated:
    """A built tree of test programs and what runs them. `name_of` says how they call a file of ours."""

    folder: pathlib.Path
    emulator: Any
    suffix: str
    library_suffix: str
    name_of: Callable[[pathlib.Path], str]

    @property
    def runtime_name(self) -> str:
        """What the runtime's file is called there."""
        return RUNTIME_NAMES[self.library_suffix]

    def stand_in(self, name: str) -> pathlib.Path:
        """One of the synthetic runtimes."""
        return self.folder / "stand-ins" / f"{name}{self.library_suffix}"

    def program(self, name: str) -> pathlib.Path:
        """A program of the tree; on Windows those that link the core are next to it."""
        path = self.folder / f"{name}{self.suffix}"
        return path if path.exists() else self.folder / "latenn" / path.name

    def run(
        self, name: str | pathlib.Path, *arguments: Any, environment: dict[str, str] | None = None, cwd=None, feed=""
    ) -> bytes:
        """Run a program of the tree, or one that was copied elsewhere; paths among its words are translated."""
        path = name if isinstance(name, pathlib.Path) else self.program(name)
        converted = [
            self.name_of(argument) if isinstance(argument, pathlib.Path) else str(argument) for argument in arguments
        ]
        done = self.emulator.run(path, *converted, env=environment or {}, cwd=cwd, feed=feed.encode())
        self.skip_if_lost(done)
        assert done.returncode == 0, (done.returncode, done.stdout[-2000:], done.stderr[-2000:])
        assert done.stderr.replace(NO_DXGI, b"") == b"", done.stderr[-2000:]
        return done.stdout

    def skip_if_lost(self, done: subprocess.CompletedProcess[bytes]) -> None:
        """Skip where this machine's wine is at fault: see wine_arm64.LOST_BLOCK. Our own code never writes x18:
        tests/loader/test_processors.py.
        """
        if isinstance(self.emulator, wine_arm64.WineArm64) and done.returncode == NOT_SUPPORTED:
            pytest.skip("not run: libraries of this wine for arm64 change the register x18, which ucrtbase.dll reads")

    def probe(self, *arguments: Any, program: str | pathlib.Path = "probe", **options: Any) -> dict[str, Any]:
        return json.loads(self.run(program, *arguments, **options))

    def runner(self, how: str, model: pathlib.Path | str, *arguments: Any, **options: Any) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.run("runner", how, model, *arguments, **options).splitlines()]


@contextlib.contextmanager
def emulate_windows(
    shared: pathlib.Path, source: pathlib.Path = LOADER_TESTS, rid: str = "win-x64"
) -> Iterator[Emulated]:
    """The test programs in `source` on Windows, by wine. Skips where there is none."""
    # Workers must not share one: a test fills the system folder, and who ends first ends the wineserver.
    machine = WINDOWS[rid]
    prefix = cache() / f"{machine.__name__.rpartition('.')[2]}-{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}"
    emulator = available(machine.prepare, prefix, Limits(seconds=120))
    folder = build_cross(shared, rid, source=source)
    if machine is wine:
        emulator.start()
    yield Emulated(folder, emulator, ".exe", ".dll", wine.windows_path)
    emulator.close()


@contextlib.contextmanager
def emulate_macos(shared: pathlib.Path, rid: str, source: pathlib.Path = LOADER_TESTS) -> Iterator[Emulated]:
    """The test programs in `source` on macOS: an emulated processor, and a dyld and a libSystem of ours."""
    emulator = available(macos.prepare, cache() / rid, Limits(seconds=120), rid)
    yield Emulated(build_cross(shared, rid, source=source), emulator, "", ".dylib", str)
    emulator.close()


@contextlib.contextmanager
def emulate_linux(
    shared: pathlib.Path, rid: str, machine: ModuleType, *arguments: str, source: pathlib.Path = LOADER_TESTS
) -> Iterator[Emulated]:
    """The test programs in `source` on another Linux, by a module of machines/. Skips where there is none."""
    emulator = available(machine.prepare, cache() / machine.__name__.rpartition(".")[2], Limits(seconds=120))
    yield Emulated(build_cross(shared, rid, *arguments, source=source), emulator, "", ".so", str)
    emulator.close()
