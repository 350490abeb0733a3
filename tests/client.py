"""A whole small project for tests: one C library, a wheel and a nupkg, written to a folder of the test's."""

from __future__ import annotations

import os
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from latebind.build.native import stage_target
from latebind.build.pack import pack
from latebind.config.file import load
from latebind.tables.targets import target

from tests.programs import run_checked

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from latebind.build.pack import PackResult

CONFIG = """\
[project]
name = "tiny"
version = "1.2.3"
description = "Adds numbers"
license = "MIT"
authors = ["Somebody"]

[native]
source = "native"

[targets]
include = ["linux-x64"]
glibc = "2.28"

[package.tiny]
component = "tiny"
exports = ["tiny_*"]
wheel = { source = "python/tiny" }
nuget = { id = "Tiny" }
"""

BOUND = (
    CONFIG.replace("exports = [", 'runtime = "onnxruntime"\nexports = [')
    + '\n[[runtime]]\npreset = "onnxruntime"\nminimum = "1.20"\n'
)
"""The same with a package that binds ONNX Runtime."""

CMAKE = """\
cmake_minimum_required(VERSION 3.20)
project(tiny C)
add_library(tiny SHARED tiny.c)
set_target_properties(tiny PROPERTIES C_VISIBILITY_PRESET hidden)
target_link_options(tiny PRIVATE -Wl,-z,relro,-z,now -s)
target_compile_options(tiny PRIVATE -ffile-prefix-map=${CMAKE_SOURCE_DIR}=.)
install(TARGETS tiny LIBRARY DESTINATION lib COMPONENT tiny)
"""

SOURCE = """\
__attribute__((visibility("default"))) int tiny_add(int a, int b);
int tiny_add(int a, int b) { return a + b; }
"""

PORTABLE_CMAKE = """\
cmake_minimum_required(VERSION 3.20)
project(tiny C)
add_library(tiny SHARED tiny.c)
set_target_properties(tiny PROPERTIES C_VISIBILITY_PRESET hidden INSTALL_RPATH "")
target_compile_options(tiny PRIVATE -ffile-prefix-map=${CMAKE_SOURCE_DIR}=. -ffile-prefix-map=${CMAKE_BINARY_DIR}=.)
target_link_options(tiny PRIVATE -s)
install(TARGETS tiny COMPONENT tiny)
"""

PORTABLE_SOURCE = """\
#include <stdio.h>
#ifdef _WIN32
__declspec(dllexport)
#else
__attribute__((visibility("default")))
#endif
int tiny_add(int a, int b) { return printf("%d\\n", a) + b; }
"""

PYPROJECT = """\
[build-system]
requires = ["hatchling", "latebind>=0.1"]
build-backend = "hatchling.build"

[project]
name = "tiny"
requires-python = ">=3.10"
license = "MIT"
license-files = ["LICENSE"]
dynamic = ["version", "dependencies", "optional-dependencies"]

[tool.hatch.build]
ignore-vcs = true

[tool.hatch.metadata.hooks.latebind]
package = "tiny"

[tool.hatch.build.hooks.latebind]
package = "tiny"

[tool.hatch.build.targets.wheel]
packages = ["src/tiny"]

[tool.hatch.build.targets.sdist]
only-include = ["src", "LICENSE"]
"""

FILES = {
    "latebind.toml": CONFIG,
    "native/CMakeLists.txt": CMAKE,
    "native/tiny.c": SOURCE,
    "python/tiny/pyproject.toml": PYPROJECT,
    "python/tiny/LICENSE": "MIT\n",
    "python/tiny/src/tiny/__init__.py": '"""Adds numbers."""\n',
}


def write_client(folder: Path, **changed: str) -> Path:
    """Write the project below `folder`; `changed` replaces whole files by the last part of their name's stem."""
    return write_files(folder, {name: changed.get(Path(name).stem.lower(), text) for name, text in FILES.items()})


def write_files(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def write_portable(folder: Path, rids: list[str], npm: str = "") -> Path:
    """The project for those targets, in C and CMake that name no platform."""
    config = CONFIG.replace('["linux-x64"]', str(rids)) + (f'npm = {{ name = "{npm}" }}\n' if npm else "")
    return write_client(folder, latebind=config, cmakelists=PORTABLE_CMAKE, tiny=PORTABLE_SOURCE)


def pack_project(folder: Path, *rids: str, workdir: Path | None = None) -> PackResult:
    """What packing a project makes, for all its targets unless some are named."""
    file, workdir = folder / "latebind.toml", workdir or folder
    config = load(file if file.exists() else folder / "pyproject.toml")
    stages = [stage_target(config, target(rid), workdir) for rid in rids or config.document.targets.include]
    return pack(config, stages, workdir, workdir / "dist")


def hashes(result: PackResult) -> dict[str, str]:
    return {artifact.path.name: artifact.sha256 for artifact in result.artifacts}


def by_kind(result: PackResult) -> dict[str, Path]:
    return {artifact.kind: artifact.path for artifact in result.artifacts}


def members(package: Path) -> dict[str, bytes]:
    if package.suffix in (".tgz", ".gz"):
        with tarfile.open(package) as tar:
            return {member.name: file.read() for member in tar if (file := tar.extractfile(member))}
    with zipfile.ZipFile(package) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def member(package: Path, suffix: str) -> bytes:
    """The one member whose name ends so."""
    (name,) = [name for name in members(package) if name.endswith(suffix)]
    return members(package)[name]


def rewritten(
    package: Path,
    folder: Path,
    change: Callable[[str, bytes], tuple[str, bytes] | None] = lambda *entry: entry,
    add: Sequence[tuple[str, bytes]] = (),
) -> Path:
    """The package in another folder with each (name, data) put through `change`, None leaves it out, and more."""
    entries = [*(change(name, data) for name, data in members(package).items()), *add]
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / package.name, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry in entries:
            if entry is not None:
                archive.writestr(*entry)
    return folder / package.name


def edit(file: Path, old: str, new: str, count: int = -1) -> None:
    """Replace words that a file must have."""
    text = file.read_text("utf-8")
    assert old in text, f"{file} has no {old!r}"
    file.write_text(text.replace(old, new, count), encoding="utf-8")


def built_wheel(source: Path, out: Path, *arguments: str) -> Path:
    """The wheel that `python -m build` makes of a folder, without isolation; `words` are more of its arguments."""
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "-x", *arguments, "--outdir", out, source]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("LATEBIND")}
    run_checked(*command, env=environment)
    (wheel,) = out.glob("*.whl")
    return wheel
