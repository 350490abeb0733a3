"""Clean Python environments: made and filled by uv, or by virtualenv and pip where there is no uv."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import sys
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from latebind.errors import NotRun, ToolError
from latebind.system.run import run, which
from latebind.tables.targets import host_rid
from latebind.verify.plan.index import installer_environment
from latebind.verify.plan.platforms import NEWEST_MACOS, pip_platforms, uv_platform

if TYPE_CHECKING:
    from collections.abc import Sequence

    from latebind.model import Rid

_TIME_LIMIT = 600.0
_ANSWER_LIMIT = 120.0
PINNED = re.compile(r"^[A-Za-z0-9._-]+==([^\s;]+)", re.MULTILINE)
_SILENT = (
    "Could not fetch URL",
    "Connection broken",
    "Failed to establish a new connection",
    "Failed to fetch",
    "Received some unexpected",
    "Request failed",
    "Temporary failure",
    "Unsupported `Content-Type`",
    "error sending",
    "ran past its limit",
    "returned a 401",
    "returned a 403",
)
"""What uv and pip say when the index does not answer, or answers nothing that an index would."""
_ABSENT = ("No solution found", "No matching distribution", "not found in the package registry")


class Installer(Protocol):
    """What fills an environment."""

    @property
    def name(self) -> str:
        """`uv` or `virtualenv`."""

    @property
    def home(self) -> Path:
        """Where its own scratch files lie."""

    def create(self, folder: Path, python: Path, log: Path) -> None:
        """Make an empty environment for an interpreter."""

    def install(  # the four things that an installation is
        self, folder: Path, wanted: Sequence[str], *, links: Path | None = None, ours: Sequence[str] = (), log: Path
    ) -> None:
        """Install from the index, and from the files in `links`, whose distributions `ours` come from no cache.

        Raises NotRun `no-distribution` when the index has no such thing for this interpreter.
        """

    def fill(  # noqa: PLR0913  # as `install`, and where to
        self, folder: Path, wanted: Sequence[str], python: Path, *,
        links: Path | None = None, ours: Sequence[str] = (), log: Path,
    ) -> None:  # fmt: skip
        """As `pip install --target` into a folder, for an interpreter that knows nothing of it.

        Raises NotRun as `install` does.
        """

    def resolve(self, wanted: str, python: Path, rid: Rid | None = None, minor: str = "") -> str:
        """The version that the index has for a requirement and an interpreter.

        `rid` asks for another target than this machine's, `minor` for another Python (`3.12`) than `python`.

        Raises NotRun: `no-distribution` when there is none, `no-index` when the index does not answer.
        """

    def unpack(self, wanted: str, folder: Path, rid: Rid, log: Path) -> None:
        """Unpack one wheel for a target into a folder, without what it depends on.

        Raises NotRun as `install` does.
        """


def installer(home: Path) -> Installer:
    """uv when it is there (beside this Python or on PATH), else virtualenv.

    Raises ToolError when neither is.
    """
    uv = find_uv()
    if uv is not None:
        return _Uv(uv, home)
    if importlib.util.find_spec("virtualenv"):
        return _Virtualenv(home)
    raise ToolError("neither uv nor virtualenv is here", advice='Run: pip install "latebind[verify]"')


def find_uv() -> Path | None:
    """The uv beside this Python, else the one on PATH."""
    beside = Path(sys.executable).parent / ("uv.exe" if sys.platform == "win32" else "uv")
    return beside if beside.is_file() else which("uv")


def python_of(folder: Path) -> Path:
    """The interpreter of an environment."""
    return folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def consumer_environment(python: Path, home: Path) -> dict[str, str]:
    """What a program may see that an interpreter runs: nothing of the caller's but what the system itself needs."""
    system = {key: os.environ[key] for key in ("SYSTEMROOT", "TEMP", "TMP") if key in os.environ}
    path = [str(python.parent), *([] if sys.platform == "win32" else ["/usr/bin", "/bin"])]
    return {**system, "PATH": os.pathsep.join(path), "HOME": str(home), "LANG": "C.UTF-8"}


def local_words(links: Path | None, ours: Sequence[str]) -> list[str]:
    """uv's words for the files of a folder, whose distributions `ours` come from no cache."""
    more = ["--find-links", str(links)] if links else []
    # uv knows a wheel in a folder by its name, and would give back an earlier build of the same version.
    return more + [word for name in ours for word in ("--refresh-package", name)]


@dataclass(frozen=True, slots=True)
class _Uv:
    uv: Path
    home: Path
    name: str = "uv"

    def create(self, folder: Path, python: Path, log: Path) -> None:
        run([self.uv, "venv", "--no-project", "--no-config", "--python", python, folder],
            env=self._environment(), timeout=_TIME_LIMIT, log=log)  # fmt: skip

    def install(
        self, folder: Path, wanted: Sequence[str], *, links: Path | None = None, ours: Sequence[str] = (), log: Path
    ) -> None:
        argv: list[str | Path] = [self.uv, "pip", "install", "--python", python_of(folder), "--only-binary", ":all:"]
        run_installer([*argv, *local_words(links, ours), *wanted], self._environment(), log)

    def fill(  # noqa: PLR0913  # as the protocol says
        self, folder: Path, wanted: Sequence[str], python: Path, *,
        links: Path | None = None, ours: Sequence[str] = (), log: Path,
    ) -> None:  # fmt: skip
        argv: list[str | Path] = [self.uv, "pip", "install", "--target", folder, "--python", python]
        argv += ["--only-binary", ":all:", *local_words(links, ours), *wanted]
        run_installer(argv, self._environment(), log)

    def unpack(self, wanted: str, folder: Path, rid: Rid, log: Path) -> None:
        argv: list[str | Path] = [self.uv, "pip", "install", "--no-deps", "--only-binary", ":all:", "--target", folder]
        argv += ["--python-platform", uv_platform(rid), "--python", sys.executable, wanted]
        run_installer(argv, self._environment(), log)

    def resolve(self, wanted: str, python: Path, rid: Rid | None = None, minor: str = "") -> str:
        other = ["--python-platform", uv_platform(rid)] if rid not in (None, host_rid()) else []
        other += ["--python-version", minor] if minor else []
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "wanted.in"
            file.write_text(f"{wanted}\n", encoding="utf-8")
            argv: list[str | Path] = [
                self.uv,
                "pip",
                "compile",
                "--no-deps",
                "--no-header",
                "--no-annotate",
                "--only-binary",
                ":all:",
            ]
            output = ask_index([*argv, *other, "--python", python, file], self._environment(), wanted)
        match = PINNED.search(output)
        if match is None:
            raise NotRun("no-distribution", f"the index has no {wanted}")
        return match[1]

    def _environment(self) -> dict[str, str]:
        return {**installer_environment(self.home), "MACOSX_DEPLOYMENT_TARGET": NEWEST_MACOS}


@dataclass(frozen=True, slots=True)
class _Virtualenv:
    home: Path
    name: str = "virtualenv"
    lock: threading.Lock = field(default_factory=threading.Lock, compare=False)

    def create(self, folder: Path, python: Path, log: Path) -> None:
        argv: list[str | Path] = [sys.executable, "-m", "virtualenv", "--no-vcs-ignore", "--python", python, folder]
        run(argv, env=installer_environment(self.home), timeout=_TIME_LIMIT, log=log)

    def install(
        self, folder: Path, wanted: Sequence[str], *, links: Path | None = None, ours: Sequence[str] = (), log: Path
    ) -> None:
        del ours  # pip caches no local files
        more = ["--find-links", str(links)] if links else []
        argv: list[str | Path] = [python_of(folder), "-m", "pip", "install", "--only-binary", ":all:", *more, *wanted]
        run_installer(argv, installer_environment(self.home), log)

    def fill(  # noqa: PLR0913  # as the protocol says
        self, folder: Path, wanted: Sequence[str], python: Path, *,
        links: Path | None = None, ours: Sequence[str] = (), log: Path,
    ) -> None:  # fmt: skip
        del ours
        argv: list[str | Path] = [python, "-m", "pip", "install", "--target", folder, "--only-binary", ":all:"]
        argv += ["--find-links", str(links)] if links else []
        run_installer([*argv, *wanted], installer_environment(self.home), log)

    def unpack(self, wanted: str, folder: Path, rid: Rid, log: Path) -> None:
        scratch = folder.with_name(f"{folder.name}.env")
        self.create(scratch, Path(sys.executable), log)
        argv: list[str | Path] = [python_of(scratch), "-m", "pip", "install", "--no-deps", "--only-binary", ":all:"]
        argv += ["--target", folder, *(f"--platform={name}" for name in pip_platforms(rid)), wanted]
        run_installer(argv, installer_environment(self.home), log)

    def resolve(self, wanted: str, python: Path, rid: Rid | None = None, minor: str = "") -> str:
        scratch = self.home / "resolver"
        with self.lock:
            if not python_of(scratch).is_file():
                self.create(scratch, python, self.home / "resolver.log")
        with tempfile.TemporaryDirectory(dir=self.home) as folder:
            return self._resolved(wanted, scratch, Path(folder), rid, minor)

    def _resolved(self, wanted: str, scratch: Path, folder: Path, rid: Rid | None, minor: str) -> str:
        other = [f"--platform={name}" for name in pip_platforms(rid)] if rid not in (None, host_rid()) and rid else []
        other += [f"--python-version={minor}"] if minor else []
        other += [f"--target={folder}"] if other else []
        report = folder / "resolved.json"
        argv: list[str | Path] = [
            python_of(scratch),
            "-m",
            "pip",
            "install",
            "--dry-run",
            "--ignore-installed",
            "--no-deps",
            "--quiet",
        ]
        argv += [*other, "--only-binary", ":all:", "--report", report, wanted]
        ask_index(argv, installer_environment(self.home), wanted)
        return str(json.loads(report.read_text("utf-8"))["install"][0]["metadata"]["version"])


def ask_index(argv: Sequence[str | Path], environment: dict[str, str], wanted: str) -> str:
    """What the index answers."""
    try:
        return run(argv, env=environment, timeout=_ANSWER_LIMIT).output
    except ToolError as error:
        if _is_absent(error):
            raise NotRun("no-distribution", f"the index has no {wanted} for this Python") from error
        raise NotRun("no-index", f"the package index does not answer: {error.message}") from error


def run_installer(argv: Sequence[str | Path], environment: dict[str, str], log: Path) -> None:
    """Run an installer.

    Raises NotRun: `no-distribution` when the index has nothing that fits, `no-index` when it does not answer; else
    ToolError.
    """
    try:
        run(argv, env=environment, timeout=_TIME_LIMIT, log=log)
    except ToolError as error:
        if _is_absent(error):
            raise NotRun("no-distribution", f"the index has nothing that fits: {error.message}") from error
        if _is_silent(error):
            raise NotRun("no-index", f"the package index does not answer: {error.message}") from error
        raise


def _is_absent(error: ToolError) -> bool:
    return any(words in error.message for words in _ABSENT) and not _is_silent(error)


def _is_silent(error: ToolError) -> bool:
    return any(words in error.message for words in _SILENT)
