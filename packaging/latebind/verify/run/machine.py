"""Machines that test cases run on: this one, and those of other targets that a file describes.

A machine of another target is a command that goes before a program and its arguments, a Python of that target, and the
names that our files have there. One of the level glue has no Python. docs/verify.md describes the file.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PureWindowsPath

import msgspec

from latebind.backend.targets import Rid, host_rid, target, targets
from latebind.errors import InputError, NotRun, ToolError
from latebind.model import Level  # msgspec reads the types
from latebind.system.emulation import find_emulator
from latebind.system.parallel import each
from latebind.system.run import run
from latebind.text import DOCS
from latebind.verify.run.installers import consumer_environment

MACHINES_VARIABLE = "LATEBIND_MACHINES"
_FOLDER = ".machines"
_ADVICE = f"Write one file for each machine, as {DOCS}/verify.md#machines describes."
_PROBE = "import sys; print('%d.%d.%d' % sys.version_info[:3])"
_PROBE_LIMIT = 120.0
NOT_SUPPORTED = 125
"""The exit status of a machine's command that cannot run the program at all, as of docker: *not run*."""
_VERSION = re.compile(r"3\.\d+\.\d+")


class Machine(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A machine that runs programs of a target, and a CPython of that target; its file has these keys."""

    rid: Rid
    title: str
    """Its name in reports: `wine 8.0 with CPython 3.11.9`, never the name of a system that it only resembles."""
    command: tuple[str, ...] = ()
    """Goes before a program and its arguments; passes environment, folder and status on; ends what it started."""
    python: Path = Path()
    """The interpreter, by its path here; none on a machine of the level glue."""
    python_version: str = ""
    path_prefix: str = ""
    """The prefix of our absolute paths there, followed by backslashes; "" where they are the same."""
    platforms: tuple[str, ...] = ()
    """Platform tags of the wheels that its Python installs, the newest first; () on this machine, which knows."""
    jobs: int = 0
    """How many programs it runs at once; 0 for this machine's CPU count."""
    constraints: tuple[str, ...] = ()
    """Requirements that exclude what is known not to run there: `numpy<2.1`."""
    level: Level = "emulated"
    """What passing there proves: `real` for the system itself, reached by a command."""

    @property
    def is_host(self) -> bool:
        """Whether it is this very machine."""
        return not self.command

    @property
    def base(self) -> Path:
        """The folder of the interpreter and the libraries of its system."""
        return self.python.parents[target(self.rid).python_home]

    def argv(self, program: Path, *arguments: str | Path) -> list[str]:
        """The command line here that runs a program there. Words that are paths are translated."""
        return [
            *self.command,
            str(program),
            *(self.path(argument) if isinstance(argument, Path) else argument for argument in arguments),
        ]

    def path(self, path: Path) -> str:
        """The name of one of our files there."""
        if not self.path_prefix:
            return str(path)
        return self.path_prefix + str(PureWindowsPath(path.absolute()))

    def local(self, name: str) -> Path:
        """Our file with that name there; names of the machine's own files stay as they are."""
        if not self.path_prefix or not name.lower().startswith(self.path_prefix.lower()):
            return Path(name)
        return Path(name[len(self.path_prefix) :].replace("\\", "/"))

    def python_of(self, environment: Path) -> Path:
        """The interpreter of a virtual environment for it."""
        return environment / target(self.rid).python

    def site_packages(self, environment: Path) -> Path:
        """The folder of packages in a virtual environment for it."""
        minor = ".".join(self.python_version.split(".")[:2])
        return environment / target(self.rid).site_packages.format(minor=minor)


def host_machine(python: Path) -> Machine:
    """This machine, with the interpreter that environments are made for."""
    emulator = find_emulator()
    return Machine(
        rid=host_rid(),
        title=platform.platform() + (f", run by {emulator}" if emulator else ""),
        python=python,
        python_version=platform.python_version(),
        level="emulated" if emulator else "real",
    )


def machines_folder(folder: Path | None, workdir: Path) -> Path | None:
    """The folder of machine files: the one given, LATEBIND_MACHINES, `.machines` in the working folder, or none.

    Raises InputError when the one that is named does not exist.
    """
    named = folder or (Path(os.environ[MACHINES_VARIABLE]) if os.environ.get(MACHINES_VARIABLE) else None)
    if named is not None and not named.is_dir():
        origin = "--machines" if folder else MACHINES_VARIABLE
        raise InputError(f"{origin} does not name an existing folder", where=str(named), advice=_ADVICE)
    usual = workdir / _FOLDER
    return named or (usual if usual.is_dir() else None)


def machines(folder: Path | None) -> Mapping[Rid, Machine]:
    """The machines that a folder's files describe, by target.

    Raises InputError for an invalid file, one that names files that do not exist, and a second one for a target.
    """
    by_rid: dict[Rid, Machine] = {}
    for file in sorted(folder.glob("*.toml")) if folder else ():
        machine = _read(file)
        if machine.rid in by_rid:
            raise InputError(f"another file also describes {machine.rid}", where=str(file), advice="Keep one of them.")
        by_rid[machine.rid] = machine
    return by_rid


def _read(file: Path) -> Machine:
    try:
        machine = msgspec.toml.decode(file.read_bytes(), type=Machine, dec_hook=lambda type_, value: type_(value))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=str(file)) from error
    except (msgspec.DecodeError, UnicodeDecodeError, ValueError, RecursionError) as error:
        raise InputError(f"not a machine file: {error}", where=str(file), advice=_ADVICE) from error
    problems = tuple(_problems(machine))
    if problems:
        raise InputError("; ".join(problems), where=str(file), advice=_ADVICE)
    return machine


def _problems(machine: Machine) -> Iterator[str]:
    """What is wrong with the values of a file."""
    if machine.rid not in targets():
        yield f"rid: {machine.rid} is not a target; use one of {', '.join(targets())}"
    if not machine.command:
        yield "command: must not be empty"
    if machine.jobs < 0:
        yield f"jobs: {machine.jobs} is less than 0"
    if machine.level == "glue":
        if machine.python != Path():
            yield "python: not allowed for a machine of the level glue"
        return
    if not machine.platforms:
        yield "platforms: must not be empty; otherwise no wheel can be installed on the machine"
    if not _VERSION.fullmatch(machine.python_version):
        yield f"python_version: {machine.python_version} is not of the form 3.11.9"
    if not machine.python.is_absolute():
        yield f"python: {machine.python} is not an absolute path"
    elif not machine.python.is_file():
        yield f"python: {machine.python} is not a file; the machine may have been moved or removed"


def unusable(described: Iterable[Machine], home: Path) -> Mapping[Rid, NotRun]:
    """Why machines cannot be used, by target: their Python does not start, or is not the one that the file states.

    An emulator that was removed would make all of its test cases fail, which shows nothing about the packages.
    """
    candidates = tuple(described)
    answers = each(lambda machine: _trouble(machine, home), candidates)
    return {machine.rid: trouble for machine, trouble in zip(candidates, answers, strict=True) if trouble is not None}


def _trouble(machine: Machine, home: Path) -> NotRun | None:
    if machine.level == "glue":
        return None
    advice = f"Fix its file, or set the machine up again: {DOCS}/verify.md#machines"
    argv = machine.argv(machine.python, "-I", "-c", _PROBE)
    try:
        output = run(argv, cwd=home, env=consumer_environment(machine.python, home), timeout=_PROBE_LIMIT).output
    except ToolError as error:
        return NotRun("no-machine", f"{machine.title} does not run: {error.message}", advice=advice)
    printed = output.split()
    if machine.python_version in printed:  # an emulator may print warnings around it
        return None
    seen = " ".join(printed)[-200:] or "nothing"
    stated = machine.python_version
    text = f"CPython of {machine.title} printed {seen} as its version, but the machine's file states {stated}"
    return NotRun("no-machine", text, advice=advice)
