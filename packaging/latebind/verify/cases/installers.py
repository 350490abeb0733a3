"""Makes and fills clean Python environments: with uv, or with virtualenv and pip where there is no uv."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import sys
import tempfile
import threading
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol

from latebind.errors import NotRun, ToolError
from latebind.system.programs import which
from latebind.system.run import run
from latebind.system.tree import link_or_copy
from latebind.tables.targets import host_rid, like_host, target, targets
from latebind.verify.cases.index import ask_index, ask_uv, installer_environment, is_set_offline, run_installer
from loadcheck.archive import write_text
from loadcheck.model import Rid

if TYPE_CHECKING:
    from latebind.verify.cases.machine import Machine

NEWEST_MACOS = "26.0"
"""Wheels for older ones fit, too. Which macOS a runtime's wheels need differs from version to version."""
_TIME_LIMIT = 600.0
_BINARY = ("--only-binary", ":all:")
_PINNED = re.compile(r"^[A-Za-z0-9._-]+==([^\s;]+)", re.MULTILINE)
_MANYLINUX = re.compile(r"manylinux_(\d+_\d+)_(\w+)")
_ADVICE = 'Run: pip install "latebind[verify]"'


def _start_offline() -> threading.Event:
    """Set from the start when the caller's UV_OFFLINE is true, by uv's words for it."""
    event = threading.Event()
    if is_set_offline():
        event.set()
    return event


class Installer(Protocol):
    """Makes and fills environments."""

    @property
    def name(self) -> str:
        """`uv` or `virtualenv`."""

    @property
    def home(self) -> Path:
        """Where its own scratch files are."""

    def create(self, folder: Path, python: Path, log: Path) -> None:
        """Make an empty environment for an interpreter."""

    def install(  # noqa: PLR0913  # what an installation is
        self, folder: Path, requirements: Sequence[str], *,
        into: Path | None = None, links: Path | None = None, ours: Sequence[str] = (), log: Path,
    ) -> None:  # fmt: skip
        """Install from the index, and from the files in `links`, whose distributions `ours` come from no cache.

        With `into`, as `pip install --target` into that folder. Raises NotRun `no-distribution` when the index has no
        such thing for the environment's interpreter.
        """

    def resolve(self, requirement: str, python: Path, rid: Rid | None = None, minor: str = "") -> str:
        """The version that the index has for a requirement and an interpreter.

        `rid` asks for another target than this machine's, `minor` for another Python (`3.12`) than `python`.

        Raises NotRun: `no-distribution` when there is none, `no-index` when the index does not answer.
        """

    def unpack(self, requirement: str, folder: Path, rid: Rid, log: Path) -> None:
        """Unpack one wheel for a target into a folder, without its dependencies. Raises NotRun as `install` does."""


def installer(home: Path) -> Installer:
    """uv when it is there (next to this Python or on PATH), otherwise virtualenv. Raises ToolError without both."""
    if (uv := find_uv()) is not None:
        return Uv(uv, home)
    if importlib.util.find_spec("virtualenv"):
        return Virtualenv(home)
    raise ToolError("neither uv nor virtualenv is installed", advice=_ADVICE)


def foreign_installer(machine: Machine, home: Path) -> Installer:
    """Makes and fills environments of a machine of another target. Raises NotRun `no-machine` without uv."""
    if (uv := find_uv()) is None:
        raise NotRun("no-machine", f"installing packages for {machine.rid} from here needs uv", advice=_ADVICE)
    return ForeignUv(uv, home, machine=machine)


def find_uv() -> Path | None:
    """The uv next to this Python, otherwise the one on PATH."""
    neighbour = Path(sys.executable).parent / f"uv{like_host().program_suffix}"
    return neighbour if neighbour.is_file() else which("uv")


def python_of(folder: Path) -> Path:
    """The interpreter of an environment on this machine."""
    return folder / like_host().python


def consumer_environment(python: Path, home: Path) -> dict[str, str]:
    """The environment of a program that an interpreter runs: of the caller's only what the system itself needs."""
    system = {key: os.environ[key] for key in ("SYSTEMROOT", "TEMP", "TMP") if key in os.environ}
    path = [str(python.parent), *like_host().system_path]
    return {**system, "PATH": os.pathsep.join(path), "HOME": str(home), "LANG": "C.UTF-8"}


@dataclass(frozen=True, slots=True)
class Uv:
    """uv, for environments of this machine."""

    uv: Path
    home: Path
    offline: threading.Event = field(default_factory=_start_offline, compare=False)
    """Set by UV_OFFLINE, or when the index did not answer and uv's cache did: then, only the cache is asked."""
    link_mode: str = ""  # UV_LINK_MODE
    cached: set[tuple[str, ...]] = field(default_factory=set, compare=False)
    """Requirements that were installed before."""
    first: threading.Lock = field(default_factory=threading.Lock, compare=False)
    """For what uv's cache may lack: two processes that need the same wheel would both download and keep it."""
    name: ClassVar[str] = "uv"

    def create(self, folder: Path, python: Path, log: Path) -> None:
        """Make an empty environment for an interpreter."""
        argv: list[str | Path] = [self.uv, "venv", "--no-project", "--no-config", "--python", python, folder]
        run(argv, env=self._environment(), timeout=_TIME_LIMIT, log=log)

    def install(  # noqa: PLR0913  # as the protocol has it
        self, folder: Path, requirements: Sequence[str], *,
        into: Path | None = None, links: Path | None = None, ours: Sequence[str] = (), log: Path,
    ) -> None:  # fmt: skip
        """See Installer."""
        more: list[str | Path] = ["--find-links", links] if links else []
        # uv knows a wheel in a folder by its name, and would give back an earlier build of the same version.
        if ours and self.offline.is_set():  # uv refuses to refresh then
            run([self.uv, "cache", "clean", *ours], env=self._environment(), timeout=_TIME_LIMIT, log=log)
        else:
            more += [argument for name in ours for argument in ("--refresh-package", name)]
        with tempfile.TemporaryDirectory() as scratch:
            argv: list[str | Path] = [self.uv, "pip", "install", *_BINARY, *self._place(folder, into, Path(scratch))]
            self._fetch([*argv, *more], tuple(requirements), log)

    def unpack(self, requirement: str, folder: Path, rid: Rid, log: Path) -> None:
        """See Installer."""
        argv: list[str | Path] = [self.uv, "pip", "install", "--no-deps", *_BINARY, "--target", folder]
        argv += [*_uv_platform(rid), *self._python(Path(sys.executable))]
        self._fetch(argv, (requirement,), log)

    def _fetch(self, argv: Sequence[str | Path], requirements: tuple[str, ...], log: Path) -> None:
        with nullcontext() if requirements in self.cached else self.first:
            run_installer([*argv, *requirements], self._environment(), log)
            self.cached.add(requirements)

    def resolve(self, requirement: str, python: Path, rid: Rid | None = None, minor: str = "") -> str:
        """See Installer."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "wanted.in"
            file.write_text(f"{requirement}\n", encoding="utf-8")
            argv: list[str | Path] = [self.uv, "pip", "compile", "--no-deps", "--no-header", "--no-annotate", *_BINARY]
            argv += [*self._platform(rid, minor, Path(folder)), *self._python(python), file]
            match = _PINNED.search(ask_uv(argv, self._environment(), requirement, self.offline))
        if match is None:
            raise NotRun("no-distribution", f"the index has no {requirement}")
        return match[1]

    def _place(self, folder: Path, into: Path | None, _scratch: Path) -> list[str | Path]:
        return ["--python", python_of(folder), *(("--target", into) if into else ())]

    def _python(self, python: Path) -> list[str | Path]:
        return ["--python", python]

    def _platform(self, rid: Rid | None, minor: str, _scratch: Path) -> list[str | Path]:
        other = _uv_platform(rid) if rid and rid != host_rid() else ()
        return [*other, *(("--python-version", minor) if minor else ())]

    def _environment(self) -> dict[str, str]:
        given = {"UV_OFFLINE": "1" * self.offline.is_set(), "UV_LINK_MODE": self.link_mode}
        own = {"MACOSX_DEPLOYMENT_TARGET": NEWEST_MACOS, **{name: text for name, text in given.items() if text}}
        return installer_environment(self.home) | own


@dataclass(frozen=True, slots=True)
class ForeignUv(Uv):
    """uv, for environments of a machine of another target, which are laid out and filled from here.

    `python -m venv` starts the environment's own Python, which an emulator may not be able to do. A virtual environment
    is a pyvenv.cfg above an interpreter (CPython's module `site`), so it is written. pip cannot fill it: it decides by
    this machine's system which dependencies another one needs.
    """

    machine: Machine = field(kw_only=True)

    def create(self, folder: Path, python: Path, log: Path) -> None:
        """Write an empty environment for the machine's own interpreter."""
        del python, log
        machine = self.machine
        interpreter = machine.python_of(folder)
        interpreter.parent.mkdir(parents=True, exist_ok=True)
        machine.site_packages(folder).mkdir(parents=True, exist_ok=True)
        if interpreter.suffix == ".exe":
            for path in machine.python.parent.iterdir():
                if path.suffix.lower() in {".exe", ".dll"}:
                    link_or_copy(path, interpreter.parent / path.name)
        else:
            interpreter.symlink_to(machine.python)
        home = f"home = {machine.path(machine.python.parent)}"
        settings = [home, "include-system-site-packages = false", f"version = {machine.python_version}"]
        write_text(folder / "pyvenv.cfg", "\n".join(settings) + "\n")

    def _place(self, folder: Path, into: Path | None, scratch: Path) -> list[str | Path]:
        where = into or self.machine.site_packages(folder)
        return ["--target", where, *self._python(where), *self._platform(None, "", scratch)]

    def _python(self, python: Path) -> list[str | Path]:
        del python
        return ["--python-version", self.machine.python_version]

    def _platform(self, rid: Rid | None, minor: str, scratch: Path) -> list[str | Path]:
        del rid, minor
        file = scratch / "constraints.txt"
        file.write_text("".join(f"{line}\n" for line in self.machine.constraints), encoding="utf-8")
        return ["--python-platform", uv_platform(self.machine), "--constraint", file]


def _uv_platform(rid: Rid) -> tuple[str, str]:
    """uv's option for another target. Raises NotRun `no-distribution` where uv has no name for it."""
    name = target(rid).uv_platform
    if not name:
        raise NotRun("no-distribution", f"uv cannot look for wheels for {rid}")
    return "--python-platform", name


def uv_platform(machine: Machine) -> str:
    """uv's name of the newest platform that the machine's Python installs wheels for.

    Raises NotRun `no-machine` for a tag that uv has no name for.
    """
    tag = machine.platforms[0]
    match = _MANYLINUX.fullmatch(tag)
    platform_by_tag = {platform.wheel_tag: platform.uv_platform for platform in targets().values()}
    name = f"{match[2]}-manylinux_{match[1]}" if match else platform_by_tag.get(tag)
    if name is None:
        raise NotRun("no-machine", f"uv knows no platform for {tag}, the newest wheel tag of {machine.title}")
    return name


@dataclass(frozen=True, slots=True)
class Virtualenv:
    """virtualenv and pip."""

    home: Path
    name: ClassVar[str] = "virtualenv"
    lock: threading.Lock = field(default_factory=threading.Lock, compare=False)

    def create(self, folder: Path, python: Path, log: Path) -> None:
        """See Installer."""
        argv: list[str | Path] = [sys.executable, "-m", "virtualenv", "--no-vcs-ignore", "--python", python, folder]
        run(argv, env=installer_environment(self.home), timeout=_TIME_LIMIT, log=log)

    def install(  # noqa: PLR0913  # as the protocol has it
        self, folder: Path, requirements: Sequence[str], *,
        into: Path | None = None, links: Path | None = None, ours: Sequence[str] = (), log: Path,
    ) -> None:  # fmt: skip
        """See Installer."""
        del ours  # pip caches no local files
        more: list[str | Path] = ["--target", into] if into else []
        more += ["--find-links", links] if links else []
        argv: list[str | Path] = [python_of(folder), "-m", "pip", "install", *_BINARY, *more, *requirements]
        run_installer(argv, installer_environment(self.home), log)

    def unpack(self, requirement: str, folder: Path, rid: Rid, log: Path) -> None:
        """See Installer."""
        scratch = folder.with_name(f"{folder.name}.env")
        self.create(scratch, Path(sys.executable), log)
        argv: list[str | Path] = [python_of(scratch), "-m", "pip", "install", "--no-deps", *_BINARY, "--target", folder]
        run_installer([*argv, *_pip_platforms(rid), requirement], installer_environment(self.home), log)

    def resolve(self, requirement: str, python: Path, rid: Rid | None = None, minor: str = "") -> str:
        """See Installer."""
        scratch = self.home / "resolver"
        with self.lock:
            if not python_of(scratch).is_file():
                self.create(scratch, python, self.home / "resolver.log")
        other = _pip_platforms(rid) if rid not in (None, host_rid()) and rid else []
        other += [f"--python-version={minor}"] if minor else []
        with tempfile.TemporaryDirectory(dir=self.home) as folder:
            report = Path(folder) / "resolved.json"
            argv: list[str | Path] = [python_of(scratch), "-m", "pip", "install", "--dry-run", "--ignore-installed"]
            argv += ["--no-deps", *_BINARY, "--quiet", *other, *([f"--target={folder}"] if other else [])]
            argv += ["--report", report, requirement]
            ask_index(argv, installer_environment(self.home), requirement)
            return str(json.loads(report.read_text("utf-8"))["install"][0]["metadata"]["version"])


def _pip_platforms(rid: Rid) -> list[str]:
    """pip's words for a target's wheels, newest platforms first; every one counts."""
    names = target(rid).pip_platforms
    newest = range(int(NEWEST_MACOS.split(".", maxsplit=1)[0]), 10, -1)
    every = [name.format(macos=major) for major in newest for name in names]
    return [f"--platform={name}" for name in dict.fromkeys(every)]
