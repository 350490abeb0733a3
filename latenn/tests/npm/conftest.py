"""Applications that use latenn's npm packages."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from c.building import build_latenn

from latebind.ecosystems.npm.pack import render_module
from tests.support.building import ROOT, needed_compiler
from tests.support.needs import require_programs
from tests.support.programs import run_checked, run_program

CORE = ROOT / "latenn" / "npm" / "core"


@pytest.fixture
def open_folder():
    """A folder that every user may enter, which pytest's own are not."""
    with tempfile.TemporaryDirectory(prefix="latebind-test-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


@pytest.fixture
def start():
    """Runs a program in JavaScript in a folder, as this user or as another."""
    (node,) = require_programs("node")

    def start_node(folder, program, *arguments, user=None, flags=(), timeout=60, **variables):
        environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", **variables}
        identity = {} if user is None else {"user": user, "group": user, "extra_groups": []}
        command = [node, *flags, "-e", program, *map(str, arguments)]
        captured = {"capture_output": True, "text": True, "timeout": timeout}
        return subprocess.run(command, check=False, cwd=folder, env=environment, **captured, **identity)

    return start_node


@pytest.fixture(scope="session")
def koffi(kept_builds):
    """The node_modules with the package that calls C; npm keeps it for all runs."""
    require_programs("npm")
    folder = kept_builds / "koffi"
    folder.mkdir(exist_ok=True)
    with (kept_builds / "koffi.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "node_modules" / "koffi").is_dir():
            (folder / "package.json").write_text("{}")
            ended = run_program("npm", "install", "--ignore-scripts", "--no-audit", "koffi@^3", cwd=folder)
            if ended.returncode:
                pytest.skip(f"not run: the npm registry cannot be reached: {ended.stderr[-300:]}")
    return folder / "node_modules"


@dataclass(frozen=True)
class Binding:
    """An application with `@latenn/core` installed, and a backend outside of it that gives back what it is given."""

    folder: Path
    backend: Path
    model: Path
    preload: str


def find_sanitizer():
    """The library that a program must preload which loads others that are built with AddressSanitizer."""
    file = run_checked(needed_compiler(), "-print-file-name=libasan.so").strip()
    if not Path(file).is_absolute():
        pytest.skip("not run: the compiler has no libasan.so: apt-get install gcc")
    return file


@pytest.fixture
def install(koffi, kept_builds, tmp_path):
    """Installs `@latenn/core` with libraries that are built with sanitizers, or without."""

    def install_core(sanitizers=""):
        programs = build_latenn(kept_builds, sanitizers)
        folder = tmp_path / "app"
        shutil.copytree(koffi, folder / "node_modules", symlinks=True)
        scope = folder / "node_modules" / "@latenn"
        shutil.copytree(CORE, scope / "core")
        (scope / "core" / "package.json").write_text('{"main": "index.cjs"}')
        files = {"linux-x64": ("@latenn/core-linux-x64", "liblatenn_core.so")}
        for name in ("latebind.cjs", "latebind-trusted.cjs"):
            (scope / "core" / name).write_bytes(render_module(f"{name}.j2", "@latenn/core", "1.0.0", files))
        (scope / "core-linux-x64").mkdir()
        (scope / "core-linux-x64" / "package.json").write_text('{"version": "1.0.0"}')
        shutil.copy(programs.folder / "latenn" / "liblatenn_core.so", scope / "core-linux-x64")
        model = tmp_path / "model.onnx"
        model.write_bytes(b"\x08anything")
        backend = programs.folder / "backends" / "liblatenn_backend_echo.so"
        return Binding(folder, backend, model, find_sanitizer() if "address" in programs.sanitizers else "")

    return install_core


@pytest.fixture
def binding(install):
    return install()


@pytest.fixture
def answer(start):
    """What a program in JavaScript gives: the JSON that is its last expression."""

    def answer_of(folder, program, *arguments, **options):
        ended = start(folder, f"console.log(JSON.stringify((() => {{{program}}})()))", *arguments, **options)
        assert ended.returncode == 0, (ended.returncode, ended.stdout[-2000:], ended.stderr[-4000:])
        return json.loads(ended.stdout)

    return answer_of
