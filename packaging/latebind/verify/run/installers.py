"""Makes and fills clean Python environments with uv, and asks the package index through it."""

from __future__ import annotations

import os
import re
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.requirements import Requirement

from latebind.backend.cache import callers_home
from latebind.backend.files import write_text
from latebind.backend.programs import which
from latebind.backend.targets import Rid, host_rid, like_host, target, targets
from latebind.backend.tree import link_or_copy
from latebind.errors import NotRun, ToolError
from latebind.system.log import LOG
from latebind.system.run import run

if TYPE_CHECKING:
    from latebind.verify.run.machine import Machine

UV_REQUIREMENT = "uv>=0.8.16"
"""The first uv with a name for each target's platform."""
PYTHONS = tuple(f"3.{minor}" for minor in range(8, 16))
"""The CPythons that wheels of a runtime may be for."""
NEWEST_MACOS = "26.0"
"""Wheels for older ones fit, too. Which macOS a runtime's wheels need differs from version to version."""
_CREATE_LIMIT, _INSTALL_LIMIT, _ANSWER_LIMIT = 600.0, 600.0, 120.0
_BINARY = ("--only-binary", ":all:")
_PINNED = re.compile(r"^[A-Za-z0-9._-]+==([^\s;]+)", re.MULTILINE)
_MANYLINUX = re.compile(r"manylinux_(\d+_\d+)_(\w+)")
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "requests_ca_bundle", "curl_ca_bundle")
"""Settings of the way to an index, in lower case."""
_URL = re.compile(r"https?://[^\s()'\"`]+")
_OF_PIP = {"UV_DEFAULT_INDEX": "PIP_INDEX_URL", "UV_FIND_LINKS": "PIP_FIND_LINKS"}
"""pip's settings that uv has under another name."""
_WORDS: Mapping[str, tuple[str, ...]] = {
    "no-index": (
        "Failed to fetch",
        "Received some unexpected",
        "Request failed",
        "Temporary failure",
        "Unsupported `Content-Type`",
        "error sending",
        "ran past its limit",
        "returned a 401",
        "returned a 403",
    ),
    "no-distribution": ("No solution found", "not found in the package registry"),
}
"""What uv prints when the index does not answer, and when it has nothing that fits; the first match counts.

It exits with 1 for either, and has no other form of its errors.
"""


def installer_environment(home: Path) -> dict[str, str]:
    """The environment of uv: the caller's settings for the index; other settings and files below `home`.

    pip's own settings for the index are given to uv under uv's names, so that one setting serves both. Downloads are
    cached where the caller's uv caches them, or below `home` when that is not writable.
    """
    settings = {
        key: value for key, value in os.environ.items() if key.startswith(("UV_", "SSL_")) or key.lower() in PROXIES
    }
    settings |= {uv: os.environ[pip] for uv, pip in _OF_PIP.items() if pip in os.environ and uv not in settings}
    cache = Path(os.environ.get("XDG_CACHE_HOME") or callers_home() / ".cache")
    settings.setdefault("UV_CACHE_DIR", str((cache if is_writable(cache) else home / "cache") / "uv"))
    system = {key: os.environ[key] for key in ("SYSTEMROOT", "TEMP", "TMP", "TMPDIR") if key in os.environ}
    fixed = {"HOME": str(home), "UV_NO_PROGRESS": "1", "UV_PYTHON_DOWNLOADS": "never"}
    return {**settings, **system, **fixed, "PATH": os.environ.get("PATH", "")}


def consumer_environment(python: Path, home: Path) -> dict[str, str]:
    """The environment of a program that an interpreter runs: of the caller's only what the system itself needs."""
    system = {key: os.environ[key] for key in ("SYSTEMROOT", "TEMP", "TMP") if key in os.environ}
    path = [str(python.parent), *like_host().system_path]
    return {**system, "PATH": os.pathsep.join(path), "HOME": str(home), "LANG": "C.UTF-8"}


def clean_environment() -> dict[str, str]:
    """The caller's, without what changes how .NET and the system's loader search."""
    return {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("LD_", "DYLD_", "NUGET_", "MONO_", "PYTHON")) and not key.endswith("_LIB_PATH")
    }


def is_writable(folder: Path) -> bool:
    """Whether files can be made in a folder, or the folder in its first ancestor that exists."""
    existing = next((path for path in (folder, *folder.parents) if os.access(path, os.F_OK)), folder)
    return existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)


def _is_set_offline() -> bool:
    """Whether the caller's UV_OFFLINE keeps uv from the network, by the words that uv takes for true."""
    return os.environ.get("UV_OFFLINE", "").lower() in {"1", "on", "t", "true", "y", "yes"}


def _start_offline() -> threading.Event:
    event = threading.Event()
    if _is_set_offline():
        event.set()
    return event


def installer(home: Path) -> Installer:
    """uv, for environments of this machine. Raises ToolError without uv, and for one that is too old."""
    if (uv := find_uv()) is None:
        raise ToolError("uv is not installed", advice='Run: pip install "latebind[verify]"')
    version = run([uv, "--version"], timeout=_ANSWER_LIMIT).output.split()[1]
    if not Requirement(UV_REQUIREMENT).specifier.contains(version, prereleases=True):
        advice = f'Run: pip install "{UV_REQUIREMENT}"'
        raise ToolError(f"is {version}, but {UV_REQUIREMENT} is needed", where=str(uv), advice=advice)
    return Installer(uv, home)


def foreign_installer(machine: Machine, tool: Installer) -> Installer:
    """The uv of another installer, for environments of a machine of another target."""
    return _ForeignInstaller(tool.uv, tool.home, machine=machine)


def find_uv() -> Path | None:
    """The uv next to this Python, otherwise the one on PATH."""
    neighbour = Path(sys.executable).parent / f"uv{like_host().program_suffix}"
    return neighbour if neighbour.is_file() else which("uv")


def python_of(folder: Path) -> Path:
    """The interpreter of an environment on this machine."""
    return folder / like_host().python


@dataclass(frozen=True, slots=True)
class Installer:
    """Makes and fills environments with uv."""

    uv: Path
    home: Path
    """Where its own scratch files are."""
    offline: threading.Event = field(default_factory=_start_offline, compare=False)
    """Set by UV_OFFLINE, or when the index did not answer and uv's cache did: then, only the cache is asked."""
    link_mode: str = ""  # UV_LINK_MODE
    cached: set[tuple[str, ...]] = field(default_factory=set, compare=False)
    """Requirements that were installed before."""
    first: threading.Lock = field(default_factory=threading.Lock, compare=False)
    """For what uv's cache may lack: two processes that need the same wheel would both download and keep it."""

    def create(self, folder: Path, python: Path, log: Path) -> None:
        """Make an empty environment for an interpreter."""
        argv: list[str | Path] = [self.uv, "venv", "--no-project", "--no-config", "--python", python, folder]
        run(argv, env=self._environment(), timeout=_CREATE_LIMIT, log=log)

    def install(  # noqa: PLR0913  # what an installation is
        self, folder: Path, requirements: Sequence[str], *,
        into: Path | None = None, links: Path | None = None, ours: Sequence[str] = (), log: Path,
    ) -> None:  # fmt: skip
        """Install from the index, and from the files in `links`, whose distributions `ours` come from no cache.

        With `into`, as `pip install --target` into that folder. Raises NotRun `no-distribution` when the index has no
        such thing for the environment's interpreter.
        """
        # The option would replace the caller's own folders.
        places = (links, *re.split(r"[\s,]+", self._environment().get("UV_FIND_LINKS", ""))) if links else ()
        more: list[str | Path] = [argument for place in places if place for argument in ("--find-links", place)]
        # uv knows a wheel in a folder by its name, and would give back an earlier build of the same version.
        if ours and self.offline.is_set():  # uv refuses to refresh then
            run([self.uv, "cache", "clean", *ours], env=self._environment(), timeout=_CREATE_LIMIT, log=log)
        else:
            more += [argument for name in ours for argument in ("--refresh-package", name)]
        with tempfile.TemporaryDirectory() as scratch:
            argv: list[str | Path] = [*_BINARY, *self._place(folder, into, Path(scratch)), *more]
            self._fetch(argv, tuple(requirements), log)

    def unpack(self, requirement: str, folder: Path, rid: Rid, log: Path, *, for_any: bool = False) -> None:
        """Unpack one wheel for a target into a folder, without its dependencies. Raises NotRun as `install` does.

        It is for this CPython; with `for_any`, if there is none, for the newest that the index has it for.
        """
        argv: list[str | Path] = ["--no-deps", *_BINARY, "--target", folder, *_uv_platform(rid)]
        newest_first: list[list[str | Path]] = [["--python-version", minor] for minor in reversed(PYTHONS)]
        choices = [self._python(Path(sys.executable)), *(newest_first if for_any else ())]
        for choice in choices[:-1]:
            try:
                return self._fetch([*argv, *choice], (requirement,), log)
            except NotRun as error:
                if error.reason != "no-distribution":
                    raise
        return self._fetch([*argv, *choices[-1]], (requirement,), log)

    def install_from(self, registry: str, folder: Path, requirements: Sequence[str], log: Path) -> None:
        """Install from another index, too. Raises NotRun as `install` does."""
        argv: list[str | Path] = [
            self.uv,
            "pip",
            "install",
            "--python",
            python_of(folder),
            "--index",
            registry,
            *requirements,
        ]
        _install(argv, installer_environment(self.home), log)

    def resolve(self, requirement: str, python: Path, rid: Rid | None = None, minor: str = "") -> str:
        """The version that the index has for a requirement and an interpreter.

        `rid` asks for another target than this machine's, `minor` for another Python (`3.12`) than `python`.

        Raises NotRun: `no-distribution` when there is none, `no-index` when the index does not answer.
        """
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "wanted.in"
            file.write_text(f"{requirement}\n", encoding="utf-8")
            argv: list[str | Path] = [self.uv, "pip", "compile", "--no-deps", "--no-header", "--no-annotate", *_BINARY]
            argv += [*self._platform(rid, minor, Path(folder)), *self._python(python), file]
            match = _PINNED.search(self._ask(argv, requirement))
        if match is None:
            raise NotRun("no-distribution", f"the index has no {requirement}")
        return match[1]

    def pin(self, wanted: str, python: Path) -> str:
        """A requirement pinned to the index's current version, so that a newer release is tried."""
        if "==" in wanted:
            return wanted
        try:
            return f"{re.split(r'[<>=!~; ]', wanted, maxsplit=1)[0]}=={self.resolve(wanted, python)}"
        except NotRun:  # the test cases will report what is wrong with the index
            return wanted

    def _fetch(self, argv: Sequence[str | Path], requirements: tuple[str, ...], log: Path) -> None:
        with nullcontext() if requirements in self.cached else self.first:
            _install([self.uv, "pip", "install", *argv, *requirements], self._environment(), log)
            self.cached.add(requirements)

    def _ask(self, argv: Sequence[str | Path], requirement: str) -> str:
        """What uv resolves: from the index, or from its cache when the index does not answer; then, it is offline."""
        was_offline, environment = self.offline.is_set(), self._environment()
        try:
            return _resolve(argv, environment, requirement)
        except NotRun as error:
            if was_offline:
                why = "UV_OFFLINE is set" if _is_set_offline() else "the package index gave no usable answer"
                raise NotRun("no-index", f"{why}, and uv's cache has no {requirement}") from error
            if error.reason != "no-index":
                raise
            unanswered = error
        try:
            answer = _resolve(argv, {**environment, "UV_OFFLINE": "1"}, requirement)
        except NotRun:
            raise unanswered from None
        if not self.offline.is_set():
            self.offline.set()
            LOG.say(f"{unanswered.message.partition(': ')[0]}; using only what uv has cached")
        return answer

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
class _ForeignInstaller(Installer):
    """For environments of a machine of another target, which are laid out and filled from here.

    `python -m venv` starts the environment's own Python, which an emulator may not be able to do. A virtual environment
    is a pyvenv.cfg above an interpreter (CPython's module `site`), so it is written.
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


def _resolve(argv: Sequence[str | Path], environment: Mapping[str, str], requirement: str) -> str:
    """What uv prints when it only resolves. Raises NotRun `no-distribution` or `no-index`."""
    try:
        return run(argv, env=environment, timeout=_ANSWER_LIMIT).output
    except ToolError as error:
        if _reason(error) == "no-distribution":
            raise NotRun("no-distribution", f"the index has no {requirement} for this target and Python") from error
        raise _no_answer(error) from error


def _install(argv: Sequence[str | Path], environment: Mapping[str, str], log: Path) -> None:
    """Raises NotRun `no-distribution` or `no-index`, otherwise ToolError."""
    try:
        run(argv, env=environment, timeout=_INSTALL_LIMIT, log=log)
    except ToolError as error:
        reason = _reason(error)
        if not reason:
            raise
        if _is_set_offline():
            raise NotRun("no-index", f"UV_OFFLINE is set, and uv's cache lacks a package: {error.message}") from error
        if reason == "no-index":
            raise _no_answer(error) from error
        raise NotRun(reason, f"the index has nothing that fits: {error.message}") from error


def _no_answer(error: ToolError) -> NotRun:
    asked = _URL.search(error.message)
    return NotRun("no-index", f"{asked[0] if asked else 'the package index'} gave no usable answer: {error.message}")


def _reason(error: ToolError) -> str:
    return next(
        (reason for reason, phrases in _WORDS.items() if any(phrase in error.message for phrase in phrases)), ""
    )
