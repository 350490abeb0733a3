"""Clean Python environments: made and filled by uv, or by virtualenv and pip where there is no uv."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from latebind.errors import NotRun, ToolError
from latebind.run import run, which
from latebind.verify.index import installer_environment

if TYPE_CHECKING:
    from collections.abc import Sequence

_TIME_LIMIT = 600.0
_ANSWER_LIMIT = 120.0
PINNED = re.compile(r"^[A-Za-z0-9._-]+==([^\s;]+)", re.MULTILINE)
_SILENT = (
    "Failed to establish a new connection",
    "Failed to fetch",
    "Request failed",
    "Temporary failure",
    "error sending",
)
_ABSENT = ("No solution found", "No matching distribution", "not found in the package registry")


class Installer(Protocol):
    """What fills an environment."""

    @property
    def name(self) -> str:
        """`uv` or `virtualenv`."""

    def create(self, folder: Path, python: Path, log: Path) -> None:
        """Make an empty environment for an interpreter."""

    def install(  # the four things that an installation is
        self, folder: Path, wanted: Sequence[str], *, links: Path | None = None, ours: Sequence[str] = (), log: Path
    ) -> None:
        """Install from the index, and from the files in `links`, whose distributions `ours` come from no cache.

        Raises NotRun `no-distribution` when the index has no such thing for this interpreter.
        """

    def resolve(self, wanted: str, python: Path) -> str:
        """The version that the index has for a requirement and an interpreter.

        Raises NotRun: `no-distribution` when there is none, `no-index` when the index does not answer.
        """

    def unpack(self, wanted: str, folder: Path, platform: str, log: Path) -> None:
        """Unpack one wheel for a platform (`aarch64`, `x86_64`) into a folder, without what it depends on.

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
    """uv beside this Python or on PATH; None without it."""
    beside = Path(sys.executable).parent / ("uv.exe" if sys.platform == "win32" else "uv")
    return beside if beside.is_file() else which("uv")


def python_of(folder: Path) -> Path:
    """The interpreter of an environment."""
    return folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def consumer_environment(folder: Path, home: Path) -> dict[str, str]:
    """What a program inside an environment may see: nothing of the caller's but what the system itself needs."""
    system = {key: os.environ[key] for key in ("SYSTEMROOT", "TEMP", "TMP") if key in os.environ}
    path = [str(python_of(folder).parent), *([] if sys.platform == "win32" else ["/usr/bin", "/bin"])]
    return {**system, "PATH": os.pathsep.join(path), "HOME": str(home), "LANG": "C.UTF-8"}


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
        more = ["--find-links", str(links)] if links else []
        # uv knows a wheel in a folder by its name, and would give back an earlier build of the same version.
        more += [word for name in ours for word in ("--refresh-package", name)]
        argv: list[str | Path] = [
            self.uv,
            "pip",
            "install",
            "--python",
            python_of(folder),
            "--only-binary",
            ":all:",
            *more,
            *wanted,
        ]
        run_installer(argv, self._environment(), log)

    def unpack(self, wanted: str, folder: Path, platform: str, log: Path) -> None:
        argv: list[str | Path] = [self.uv, "pip", "install", "--no-deps", "--only-binary", ":all:", "--target", folder]
        argv += ["--python-platform", f"{platform}-manylinux_2_28", "--python", sys.executable, wanted]
        run_installer(argv, self._environment(), log)

    def resolve(self, wanted: str, python: Path) -> str:
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
            output = ask_index([*argv, "--python", python, file], self._environment(), wanted)
        match = PINNED.search(output)
        if match is None:
            raise NotRun("no-distribution", f"the index has no {wanted}")
        return match[1]

    def _environment(self) -> dict[str, str]:
        return installer_environment(self.home)


@dataclass(frozen=True, slots=True)
class _Virtualenv:
    home: Path
    name: str = "virtualenv"

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

    def unpack(self, wanted: str, folder: Path, platform: str, log: Path) -> None:
        scratch = folder.with_name(f"{folder.name}.env")
        self.create(scratch, Path(sys.executable), log)
        argv: list[str | Path] = [python_of(scratch), "-m", "pip", "install", "--no-deps", "--only-binary", ":all:"]
        argv += ["--target", folder, *(f"--platform=manylinux_2_{minor}_{platform}" for minor in (28, 27, 17)), wanted]
        run_installer(argv, installer_environment(self.home), log)

    def resolve(self, wanted: str, python: Path) -> str:
        scratch, report = self.home / "resolver", self.home / "resolved.json"
        if not python_of(scratch).is_file():
            self.create(scratch, python, self.home / "resolver.log")
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
        ask_index(
            [*argv, "--only-binary", ":all:", "--report", report, wanted], installer_environment(self.home), wanted
        )
        return str(json.loads(report.read_text("utf-8"))["install"][0]["metadata"]["version"])


def ask_index(argv: Sequence[str | Path], environment: dict[str, str], wanted: str) -> str:
    """What an installer says that the index has.

    Raises NotRun: `no-distribution`, or `no-index` when the index does not answer.
    """
    try:
        return run(argv, env=environment, timeout=_ANSWER_LIMIT).output
    except ToolError as error:
        if any(words in error.message for words in _ABSENT) and not any(words in error.message for words in _SILENT):
            raise NotRun("no-distribution", f"the index has no {wanted} for this Python") from error
        raise NotRun("no-index", f"the package index does not answer: {error.message}") from error


def run_installer(argv: Sequence[str | Path], environment: dict[str, str], log: Path) -> None:
    """Let an installer work. Raises NotRun `no-distribution` when nothing fits, ToolError when it fails otherwise."""
    try:
        run(argv, env=environment, timeout=_TIME_LIMIT, log=log)
    except ToolError as error:
        if any(words in error.message for words in _ABSENT):
            raise NotRun("no-distribution", f"the index has nothing that fits: {error.message}") from error
        raise
