"""Builds the C test programs once for all workers of a run, and runs them; must not judge what they answer."""

from __future__ import annotations

import fcntl
import importlib.metadata
import json
import os
import pathlib
import shutil
import subprocess
import sys
from dataclasses import dataclass

import pytest

from tests.support.programs import run_checked

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOADER_TESTS = ROOT / "tests" / "loader"
LEAKS = ROOT / "tests" / "support" / "native" / "leaks.txt"
"""Leaks of the runtime's own, once per process."""
NOISE = ("ONNXRUNTIME_LIB_PATH", "LATENN_BACKEND", "LD_PRELOAD", "LD_LIBRARY_PATH")


def program(name: str) -> str | None:
    beside = pathlib.Path(sys.executable).with_name(name)
    return str(beside) if beside.exists() else shutil.which(name)


def zig_wrapper(folder: pathlib.Path) -> str | None:
    """Give a file that CMake can call as one compiler; None where the ziglang package is missing."""
    try:
        importlib.metadata.distribution("ziglang")
    except importlib.metadata.PackageNotFoundError:
        return None
    wrapper = folder / "zig-cc"
    wrapper.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ziglang cc "$@"\n')
    wrapper.chmod(0o755)
    return str(wrapper)


def system_compiler() -> str | None:
    return next((path for name in ("cc", "gcc", "clang") if (path := shutil.which(name))), None)


def needed_compiler(folder: pathlib.Path | None = None) -> str:
    """The machine's own compiler, or zig where a folder for its wrapper is given. Skips where there is none."""
    compiler = system_compiler() or (zig_wrapper(folder) if folder else None)
    return compiler or pytest.skip("not run: there is no C compiler here: apt-get install gcc")


def configure(source: pathlib.Path, build: pathlib.Path, compiler: str, *arguments: str) -> None:
    cmake, ninja = program("cmake"), program("ninja")
    if not cmake or not ninja:
        pytest.skip(f"not run: {'ninja' if cmake else 'cmake'} is missing: pip install cmake ninja")
    command = [cmake, "-S", str(source), "-B", str(build), "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja}"]
    run_checked(*command, f"-DCMAKE_C_COMPILER={compiler}", "-DCMAKE_C_LINKER_DEPFILE_SUPPORTED=FALSE", *arguments)


def build(folder: pathlib.Path, *targets: str) -> None:
    chosen = ["--target", *targets] if targets else []
    run_checked(program("cmake") or "cmake", "--build", folder, *chosen)


def tree_name(source: pathlib.Path) -> str:
    """What the folder is called that a project of this repository is built in."""
    return "-".join(source.relative_to(ROOT).parts)


@dataclass(frozen=True)
class Programs:
    """A built tree of test programs."""

    folder: pathlib.Path
    sanitizers: str
    name_of = staticmethod(str)
    runtime_name = "libonnxruntime.so.1"

    def stand_in(self, name: str) -> pathlib.Path:
        return self.folder / "stand-ins" / f"{name}.so"

    def run(
        self,
        program: str | os.PathLike[str],
        *arguments: str | bytes | os.PathLike[str],
        environment: dict[str, str | bytes] | None = None,
        feed: str = "",
        **options,
    ) -> subprocess.CompletedProcess[bytes]:
        clean = {key: value for key, value in os.environ.items() if key not in NOISE}
        clean["ASAN_OPTIONS"] = "detect_leaks=1:abort_on_error=0"
        clean["LSAN_OPTIONS"] = f"suppressions={LEAKS}:print_suppressions=0"
        done = subprocess.run(
            [os.fspath(self.folder / program), *(os.fspath(argument) for argument in arguments)],
            env={**clean, **(environment or {})},
            input=feed.encode(),
            capture_output=True,
            timeout=120,
            check=False,
            **options,
        )
        assert done.returncode == 0, (done.returncode, done.stdout[-3000:], done.stderr[-6000:])
        assert done.stderr == b"", done.stderr[-6000:]  # nothing is ever printed
        return done

    def probe(self, *arguments, program="probe", **options) -> dict:
        done = self.run(program, *arguments, **options)
        return json.loads(done.stdout)

    def runner(self, how, model, *arguments, feed="", **options) -> list[dict]:
        done = self.run("runner", how, model, *arguments, feed=feed, **options)
        return [json.loads(line) for line in done.stdout.splitlines()]


def build_programs(parent: pathlib.Path, sanitizers: str, source: pathlib.Path = LOADER_TESTS) -> Programs:
    """Build of the programs in `source` what changed; the lock is the kernel's, so a killed worker frees it."""
    folder = parent / f"{tree_name(source)}-{sanitizers.replace(',', '-') or 'plain'}"
    folder.mkdir(exist_ok=True)
    with (parent / f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if system_compiler() is None and sanitizers:
            sanitizers = "undefined"  # zig has no runtime for the others
        configure(source, folder, needed_compiler(parent), f"-Dsanitizers={sanitizers}")
        build(folder)
    return Programs(folder, sanitizers)


def runtime_library() -> pathlib.Path | None:
    """Find the shared library of the installed ONNX Runtime by its metadata, without importing it."""
    for name in ("onnxruntime", "onnxruntime-gpu"):
        try:
            files = importlib.metadata.files(name) or []
        except importlib.metadata.PackageNotFoundError:
            continue
        for file in files:
            if file.name.startswith("libonnxruntime.so."):
                return pathlib.Path(str(file.locate()))
    return None
