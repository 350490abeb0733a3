"""Machines on which cells run: this one, and those that a file says how to reach from here; starts nothing.

A machine of another target is a command that goes before a program and its arguments, a Python of that target, and the
names that files of ours have there. docs/verify.md describes the file.
"""

from __future__ import annotations

import os
import platform
import re
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath
from typing import TYPE_CHECKING

import msgspec

from latebind.errors import InputError
from latebind.model import Rid
from latebind.tables.targets import host_rid, target, targets

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

VARIABLE = "LATEBIND_MACHINES"
FOLDER = ".machines"
ADVICE = "docs/verify.md says what a machine file holds; python ci/machines.py DEST makes some."
_VERSION = re.compile(r"3\.\d+\.\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Something that runs programs of a target, and a CPython of that target."""

    rid: Rid
    title: str
    """What reports call it: `wine 8.0 with CPython 3.11.9`, never the name of a system that it only resembles."""
    command: tuple[str, ...] = ()
    """Goes before a program and its arguments; hands environment, folder and status through; ends all of it."""
    python: Path
    """The interpreter, by its path here."""
    python_version: str
    path_prefix: str = ""
    """What absolute paths of ours begin with there, backslashes following; "" where they are the same."""
    platforms: tuple[str, ...] = ()
    """Platform tags of the wheels that its Python installs, the newest first; () on this machine, which knows."""
    jobs: int = 0
    """How many programs it runs at once; 0 for as many as this machine has processors."""
    constraints: tuple[str, ...] = ()
    """Requirements that hold back what is known not to run there: `numpy<2.1`."""

    @property
    def is_host(self) -> bool:
        """Whether it is this very machine."""
        return not self.command

    @property
    def base(self) -> Path:
        """The folder that the interpreter and the libraries of its system lie in."""
        return self.python.parent if self._is_windows else self.python.parents[2]

    def argv(self, program: Path, *words: str | Path) -> list[str]:
        """The command line here that runs a program there. Words that are paths are translated."""
        return [*self.command, str(program), *(self.path(word) if isinstance(word, Path) else word for word in words)]

    def path(self, path: Path) -> str:
        """The name that a file of ours has there."""
        if not self.path_prefix:
            return str(path)
        return self.path_prefix + str(PureWindowsPath(path.absolute()))

    def local(self, name: str) -> Path:
        """The file of ours that has that name there; a name of its own files, which we do not have, stays as it is."""
        if not self.path_prefix or not name.lower().startswith(self.path_prefix.lower()):
            return Path(name)
        return Path(name[len(self.path_prefix) :].replace("\\", "/"))

    def python_of(self, environment: Path) -> Path:
        """The interpreter of a virtual environment for it."""
        return environment / ("Scripts/python.exe" if self._is_windows else "bin/python")

    def site_packages(self, environment: Path) -> Path:
        """Where a virtual environment for it has its packages."""
        minor = ".".join(self.python_version.split(".")[:2])
        return environment / ("Lib/site-packages" if self._is_windows else f"lib/python{minor}/site-packages")

    @property
    def _is_windows(self) -> bool:
        return target(self.rid).system == "windows"


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A machine file as it is written."""

    rid: str
    title: str
    command: tuple[str, ...]
    python: str
    python_version: str
    platforms: tuple[str, ...]
    path_prefix: str = ""
    jobs: int = 0
    constraints: tuple[str, ...] = ()


def host_machine(python: Path) -> Machine:
    """This machine, with the interpreter that environments are made for."""
    return Machine(rid=host_rid(), title=platform.platform(), python=python, python_version=platform.python_version())


def machines_folder(given: Path | None, workdir: Path) -> Path | None:
    """The folder of machine files: the one given, LATEBIND_MACHINES, `.machines` in the working folder, or none.

    Raises InputError when one is named and is not there.
    """
    named = given or (Path(os.environ[VARIABLE]) if os.environ.get(VARIABLE) else None)
    if named is not None and not named.is_dir():
        origin = "--machines" if given else VARIABLE
        raise InputError(f"{origin} names a folder that is not there", where=str(named), advice=ADVICE)
    usual = workdir / FOLDER
    return named or (usual if usual.is_dir() else None)


def machines(folder: Path | None) -> Mapping[Rid, Machine]:
    """The machines that a folder's files describe, by target.

    Raises InputError for a file that is none, that names what is not there, or whose target another has already.
    """
    found: dict[Rid, Machine] = {}
    for file in sorted(folder.glob("*.toml")) if folder else ():
        machine = _read(file)
        if machine.rid in found:
            raise InputError(f"another file describes {machine.rid}, too", where=str(file), advice="Keep one of them.")
        found[machine.rid] = machine
    return found


def _read(file: Path) -> Machine:
    try:
        row = msgspec.toml.decode(file.read_bytes(), type=_File)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=str(file)) from error
    except (msgspec.DecodeError, UnicodeDecodeError, ValueError, RecursionError) as error:
        raise InputError(f"not a machine file: {error}", where=str(file), advice=ADVICE) from error
    problems = tuple(_problems(row))
    if problems:
        raise InputError("; ".join(problems), where=str(file), advice=ADVICE)
    values = {**msgspec.structs.asdict(row), "rid": Rid(row.rid), "python": Path(row.python)}
    return Machine(**values)


def _problems(row: _File) -> Iterator[str]:
    """What is wrong with a file beyond its form."""
    if Rid(row.rid) not in targets():
        yield f"rid: {row.rid} is not a target; known are {', '.join(targets())}"
    if not row.command:
        yield "command: it is empty, and only this machine's own programs run without one"
    if not row.platforms:
        yield "platforms: it is empty; no wheel would install"
    if not _VERSION.fullmatch(row.python_version):
        yield f"python_version: {row.python_version} is not of the form 3.11.9"
    if row.jobs < 0:
        yield f"jobs: {row.jobs} is less than 0"
    if not Path(row.python).is_absolute():
        yield f"python: {row.python} is not an absolute path"
    elif not Path(row.python).is_file():
        yield f"python: {row.python} is not there; the machine was moved or removed"
