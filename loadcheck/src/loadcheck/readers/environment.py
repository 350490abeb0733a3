"""Reads a Python environment: its distributions and their native files. No program of it runs."""

from __future__ import annotations

import csv
import mmap
import os
import platform
import posixpath
import re
import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from loadcheck.binary import read_images, sniff
from loadcheck.errors import InputError
from loadcheck.readers.contents import Contents, File
from loadcheck.readers.imports import find_installed_imports, list_outside_imports, read_code
from loadcheck.readers.record import read_metadata

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

_NATIVE = re.compile(r"\.(?:so(?:\.[\w.]+)?|dylib|dll|pyd)$", re.IGNORECASE)
_VERSION = re.compile(r"python(3\.\d+)t?(?:\.exe)?$")
_LAYOUTS = ("lib/python3*/*-packages", "lib64/python3*/*-packages", "lib/python3/dist-packages", "Lib/site-packages")
_HOMES = ("lib", "lib64", "bin", "Library/bin", "DLLs")
"""Where environments of conda, and Python itself, have libraries that no distribution lists."""
LOADER_FOLDERS = (
    *("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib"),
    *(f"{parent}/{platform.machine()}-linux-gnu" for parent in ("/lib", "/usr/lib")),
    str(Path(os.environ.get("SYSTEMROOT", "C:/Windows"), "System32")),
)
"""Where loaders look that were told of no other folder; those of other systems are missing here."""
_CACHE = Path("/etc/ld.so.cache")
"""Which libraries glibc's ldconfig has found."""
_FROM_FILE = re.compile(r"\$\{?ORIGIN\}?|@loader_path")
_PROCESSORS = {"amd64": "x86_64", "arm64": "aarch64"}
_LARGEST_TEXT = 64 * 1024**2
_ADVICE = "Name a virtual environment, its Python or a site-packages folder: loadcheck env .venv"


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """A distribution of an environment."""

    name: str
    version: str
    info: Path = Path()
    """Its folder dist-info."""
    requires: tuple[str, ...] = ()
    files: frozenset[str] = frozenset()
    """The native files that it has installed."""

    @property
    def folder(self) -> Path:
        """The folder below which its files are."""
        return self.info.parent

    def __str__(self) -> str:
        """`torch 2.13.0`."""
        return f"{self.name} {self.version}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """What is installed for one Python."""

    installed: tuple[Installed, ...]
    python: str
    """Its version: `3.11`; "" if no path tells."""
    of_loader: frozenset[str]
    """The names of libraries that loaders find for any file of the environment, in lower case.

    They are in the environment's own folders, or in those of this machine's loader.
    """
    searched: frozenset[str]
    """The same of libraries in folders to which a search path of some file leads."""
    machine: tuple[str, str]
    """The binary format and the processor of this machine, whose loader's folders were read."""


def find_folders(python: Path) -> tuple[Path, ...]:
    """The folders from which a Python imports distributions. Raises InputError if there are none.

    `python` is an environment, its Python, or such a folder itself.
    """
    if not python.exists():
        raise InputError("no such file or folder", where=str(python), advice=_ADVICE)
    if python.is_dir() and python.name.endswith("-packages"):
        return (python,)
    prefixes = [python] if python.is_dir() else [_above(python), _above(python.resolve())]
    version = _VERSION.search(python.resolve().name) if python.is_file() else None
    for prefix in prefixes:
        if folders := _list_folders(prefix, version[1] if version else "*"):
            return tuple({folder.resolve(): folder for folder in folders}.values())
    raise InputError("has no site-packages folder", where=str(python), advice=_ADVICE)


def _above(python: Path) -> Path:
    """The folder of an environment: Python is in bin/ or Scripts/, but for that of Windows itself."""
    return python.parent.parent if python.parent.name in ("bin", "Scripts") else python.parent


def _list_folders(prefix: Path, version: str) -> list[Path]:
    patterns = (layout.replace("python3*", f"python{version}".replace("python*", "python3*")) for layout in _LAYOUTS)
    folders = [folder for pattern in patterns for folder in sorted(prefix.glob(pattern))]
    with suppress(OSError):
        config = (prefix / "pyvenv.cfg").read_text(encoding="utf-8", errors="replace")
        rows = (line.partition("=") for line in config.splitlines())
        fields = {key.strip(): value.strip() for key, _, value in rows}
        if fields.get("include-system-site-packages", "").lower() == "true" and fields.get("home"):
            folders += _list_folders(Path(fields["home"]).parent, version)
    return folders


def read_environment(path: Path, lost: Mapping[str, str], about_to_read: Callable[[str], None]) -> Contents:
    """The distributions of an environment, with their native files; those in `lost`, which ended a reader, unread.

    Raises InputError if it has no site-packages.
    """
    folders = find_folders(path)
    installed: dict[str, Installed] = {}
    files: dict[str, File] = {}
    for folder in folders:
        for info in sorted(folder.glob("*.dist-info")):
            distribution = _read_distribution(info)
            if distribution and distribution.name not in installed:  # the first one on sys.path is imported
                installed[distribution.name] = distribution
                for name in sorted(distribution.files):
                    about_to_read(name)
                    unread = File(name=name, size=0, died=lost[name]) if name in lost else None
                    files.setdefault(name, unread or _read_file(folder, name))
    python = next((match[1] for folder in folders if (match := re.search(r"python(3\.\d+)", str(folder)))), "")
    environment = Environment(
        installed=tuple(installed.values()),
        python=python,
        of_loader=_list_others(folders) | _list_of_loader() | _list_searched(folders, files.values(), inside=False),
        searched=_list_searched(folders, files.values(), inside=True),
        machine=_find_machine(),
    )
    native = (file for _, file in sorted(files.items()) if file.format or file.died)
    return Contents(path=path, kind="environment", files=tuple(native), environment=environment)


def _read_distribution(info: Path) -> Installed | None:
    """A distribution, or None if its METADATA cannot be read."""
    try:
        fields = read_metadata(_read_text(info / "METADATA"), str(info))
        name, version = fields["name"][0], fields["version"][0]
    except (OSError, InputError, KeyError, IndexError):
        return None
    return Installed(
        name=canonicalize_name(name),
        version=version,
        info=info,
        requires=fields.get("requires_dist", ()),
        files=frozenset(_list_native(info)),
    )


def _read_text(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_LARGEST_TEXT)


def _list_native(info: Path) -> Iterator[str]:
    """The native files of a distribution."""
    yield from filter(_NATIVE.search, _list_recorded(info))


def _list_recorded(info: Path) -> Iterator[str]:
    """The files of a distribution that are below the folder of its dist-info."""
    with suppress(OSError, csv.Error):
        for row in csv.reader(_read_text(info / "RECORD").decode("utf-8", "replace").splitlines()):
            name = posixpath.normpath(row[0].replace("\\", "/")) if row else ""
            if not name.startswith(("/", "..")):
                yield name


@lru_cache(maxsize=16)  # asked for each file of a distribution
def find_imports(installed: Installed) -> Mapping[str, str]:
    """The extension modules that importing a top-level name of a distribution loads, each with that name."""
    return find_installed_imports(installed.folder, installed.files, _list_code(installed))


@lru_cache(maxsize=16)
def find_outside(installed: Installed) -> frozenset[str]:
    """The names of other distributions that a distribution's Python code imports; "*" if not all are known."""
    codes = (read_code(installed.folder / name) for name in _list_code(installed))
    return list_outside_imports(codes, (*_list_code(installed), *installed.files))


def mentions(installed: Installed, word: str) -> bool:
    """Whether Python code of a distribution has a word, such as the name of a library that it may open itself."""
    sought = word.lower().encode()
    return any(sought in read_code(installed.folder / name).lower() for name in _list_code(installed))


@lru_cache(maxsize=16)
def _list_code(installed: Installed) -> tuple[str, ...]:
    return tuple(name for name in _list_recorded(installed.info) if name.endswith(".py"))


def _read_file(folder: Path, name: str) -> File:
    """A native file, mapped from the disk, since some have gigabytes."""
    try:
        with (folder / name).open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return File(name=name, size=len(data), format=sniff(data[:4096]), images=read_images(data, name))
    except (OSError, ValueError, InputError) as error:  # a file of no bytes cannot be mapped
        return File(name=name, size=0, problem=str(error))


def _find_machine() -> tuple[str, str]:
    """The binary format and the processor of this machine."""
    name = platform.machine().lower()
    return {"win32": "pe", "darwin": "macho"}.get(sys.platform, "elf"), _PROCESSORS.get(name, name)


def _list_searched(folders: tuple[Path, ...], files: Iterable[File], *, inside: bool) -> frozenset[str]:
    """The libraries in folders to which a search path of a file leads: in those of distributions, or in others."""
    places: set[Path] = set()
    for file in files:
        for path in {path for image in file.images for path in (*image.rpath, *image.runpath)}:
            places |= {Path(os.path.normpath(_place(path, (folder / file.name).parent))) for folder in folders}
    places = {each for each in places if any(map(each.is_relative_to, folders)) == inside and each.is_absolute()}
    return frozenset(path.name.lower() for place in places for path in _list_folder(place))


def _list_of_loader() -> frozenset[str]:
    """The libraries where this machine's loader looks for any program: by its cache and its folders."""
    searched = {Path(text) for text in (*LOADER_FOLDERS, *os.environ.get("LD_LIBRARY_PATH", "").split(":")) if text}
    names = {path.name.lower() for place in searched if place.is_absolute() for path in _list_folder(place)}
    with suppress(OSError):  # each path ends with a 0, and a name may be the end of a path
        paths = _CACHE.read_bytes().decode("ascii", "replace").lower().split("\0")
        names.update(posixpath.basename(path) for path in paths if ".so" in path)
    return frozenset(names)


def _place(path: str, folder: Path) -> Path:
    """The folder to which a search path of a file in a folder leads."""
    return Path(_FROM_FILE.sub(lambda _: str(folder), path))


def _list_folder(folder: Path) -> list[Path]:
    with suppress(OSError):
        return [path for path in folder.iterdir() if _NATIVE.search(path.name)]
    return []


def _list_others(folders: tuple[Path, ...]) -> frozenset[str]:
    prefixes = {parent for folder in folders for parent in folder.parents[:3]}
    names: set[str] = set()
    for prefix in prefixes:
        for home in _HOMES:
            names.update(path.name.lower() for path in _list_folder(prefix / home))
    return frozenset(names)
