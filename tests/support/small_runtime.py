"""The small runtime in tests/support/runtime and latebind's host in C, built for a system and run there."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from ci.machines.macos import machine as macos
from tests.support.building import ROOT, build, configure, needed_compiler, runtime_library
from tests.support.emulated import build_cross, emulate_macos, emulate_windows
from tests.support.needs import official_header
from tests.support.programs import run_program

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SOURCE = ROOT / "tests" / "support" / "runtime"
NATIVE, REAL = "linux-x64", "linux-x64 with ONNX Runtime"
"""This system, with the small runtime and with the real one: both must answer alike."""
GLUE = ("osx-arm64", "osx-x64", "win-arm64")
SYSTEMS = [REAL, NATIVE, *(pytest.param(rid, marks=pytest.mark.emulated) for rid in GLUE)]
only_small = pytest.mark.parametrize("host", SYSTEMS[1:], indirect=True)
"""For tests that choose the runtime's version. The real one has one; tests/examples has it with faulty providers."""
VERSION = "SMALL_RUNTIME"
"""The variable that names the version of the small runtime."""
_NAMES = {"linux": "libonnxruntime.so", "osx": "libonnxruntime.dylib", "win": "onnxruntime.dll"}


@dataclass(frozen=True)
class Host:
    """A system and its runtime. `emulator` runs its programs; None is this system."""

    rid: str
    tree: Path
    """Where the small runtime and latebind's host were built."""
    runtime: Path
    emulated: Any = None

    @property
    def suffix(self) -> str:
        """How the names of its programs end."""
        return ".exe" if self.rid.startswith("win") else ""

    def name(self, path: Path) -> str:
        """What a file of this system is called there."""
        return self.emulated.name_of(path) if self.emulated else str(path)

    def run(self, program: Path, *arguments: Any, **environment: str) -> tuple[int, str, str]:
        """How a program ended, and what it printed; paths among its words are translated."""
        words = [self.name(word) if isinstance(word, os.PathLike) else str(word) for word in arguments]
        if self.emulated:
            done = self.emulated.emulator.run(program, *words, env=environment, cwd=None, feed=b"")
            printed = [text.decode().replace("\r\n", "\n") for text in (done.stdout, done.stderr)]
            return done.returncode, printed[0], printed[1]
        clean = {key: value for key, value in os.environ.items() if key != VERSION}
        ended = run_program(program, *words, env={**clean, **environment}, timeout=120)
        return ended.returncode, ended.stdout, ended.stderr


@contextlib.contextmanager
def open_host(system: str, shared: Path) -> Iterator[Host]:
    """A host with the runtime that `system` names. Skips where something is missing."""
    include = f"-DORT_INCLUDE={official_header(shared, 'newest').parent}"
    rid = system.partition(" ")[0]
    name = _NAMES[rid.partition("-")[0]]
    if rid == NATIVE:
        tree = shared / f"small-runtime-{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}"
        configure(SOURCE, tree, needed_compiler(shared), include)
        build(tree)
        real = runtime_library()
        if system == REAL and real is None:
            pytest.skip("not run: onnxruntime is not installed: pip install onnxruntime")
        yield Host(rid, tree, real if system == REAL and real else tree / name)
        return
    tree = build_cross(shared, rid, include, source=SOURCE)
    emulate = emulate_macos(shared, rid, SOURCE) if rid in macos.KINDS else emulate_windows(shared, SOURCE, rid)
    with emulate as emulated:
        yield Host(rid, tree, tree / name, emulated)
