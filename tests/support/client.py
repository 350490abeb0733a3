"""The projects in tests/clients/: copies them, packs them, and reads what came out.

`tiny` is a whole small project: one C library, a wheel and a nupkg.
"""

from __future__ import annotations

import os
import shutil
import sys
import tarfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

from latebind.backend.stage import Stage
from latebind.backend.targets import target
from latebind.config.project import read_project
from latebind.native.builds import stage_target
from latebind.pack.make import PackResult, pack
from tests.support.running import run_checked

CLIENTS = Path(__file__).parent.with_name("clients")
BASES = {
    "portable": "tiny",
    "sdk": "portable",
    "module": "tiny",
    "thing": "tiny",
    "exceptions": "sdk",
    "drop-in": "tiny",
}
"""Clients that have only the files in which they differ from another."""


def read_client(name: str, path: str) -> str:
    """The text of one file of a client."""
    return find_files(name)[path].read_text("utf-8")


def find_files(name: str) -> dict[str, Path]:
    """The files of a client, by their place in the project."""
    base = find_files(BASES[name]) if name in BASES else {}
    files = (path for path in sorted((CLIENTS / name).rglob("*")) if path.is_file())
    return {**base, **{path.relative_to(CLIENTS / name).as_posix(): path for path in files}}


def copy_client(name: str, to: Path, **changed: str) -> Path:
    """Copy the project below `to`; `changed` has other texts for files, by the stem of their name in small letters."""
    stems = {place: path.stem.lower() for place, path in find_files(name).items()}
    assert changed.keys() <= set(stems.values()), f"{name} has no file for each of {', '.join(changed)}"
    texts = {place: changed.get(stem, read_client(name, place)) for place, stem in stems.items()}
    return write_files(to, texts)


CONFIG = read_client("tiny", "latebind.toml")
CMAKE = read_client("tiny", "native/CMakeLists.txt")
SOURCE = read_client("tiny", "native/tiny.c")
PYPROJECT = read_client("tiny", "python/tiny/pyproject.toml")
PORTABLE_CMAKE = read_client("portable", "native/CMakeLists.txt")
PORTABLE_SOURCE = read_client("portable", "native/tiny.c")
BOUND = (
    CONFIG.replace("exports = [", 'runtime = "onnxruntime"\nexports = [')
    + '\n[[runtime]]\npreset = "onnxruntime"\nminimum = "1.20"\n'
)
"""The same with a package that binds ONNX Runtime."""


MODEL = "CAgSADo3Cg4KAXgKAXgSAXkiA0FkZBIBZ1oQCgF4EgsKCQgBEgUKAxIBTmIQCgF5EgsKCQgBEgUKAxIBTkIECgAQEQ=="
"""y = x + x, for numbers of 32 bits; ONNX in Base64."""
SEVERAL = CLIENTS / "several" / "latebind.toml"
"""A configuration with packages of each kind and several runtimes, for tests that build nothing of it."""


def write_client(folder: Path, **changed: str) -> Path:
    """Copy the project `tiny`."""
    return copy_client("tiny", folder, **changed)


def write_files(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def write_portable(folder: Path, rids: list[str], npm: str = "") -> Path:
    """The project for those targets, in C and CMake that name no platform."""
    config = CONFIG.replace('["linux-x64"]', str(rids)) + (f'npm = {{ name = "{npm}" }}\n' if npm else "")
    return copy_client("portable", folder, latebind=config)


def stage_project(folder: Path, rid: str = "linux-x64", workdir: Path | None = None) -> Stage:
    """What building a project for a target makes."""
    return stage_target(read_project(folder / "latebind.toml", workdir or folder), target(rid))


def pack_project(folder: Path, *rids: str, workdir: Path | None = None) -> PackResult:
    """What packing a project makes, for all its targets unless some are named."""
    file, workdir = folder / "latebind.toml", workdir or folder
    project = read_project(file if file.exists() else folder / "pyproject.toml", workdir)
    return pack(project, rids or project.config.document.targets.include)


def copy_packed(source: Path, folder: Path) -> None:
    """Give a project what another copy of it has built and packed."""
    for name in ("stage", "dist"):
        shutil.copytree(source / name, folder / name)


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
    return max(out.glob("*.whl"), key=lambda wheel: wheel.stat().st_mtime_ns)
