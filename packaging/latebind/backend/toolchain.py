"""Chooses who compiles: zig for any target from any machine, or the machine's own compiler for its own target."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from latebind.backend.errors import BuildError, InputError, NotRun, ToolError
from latebind.backend.host import can_compile, find_host
from latebind.backend.programs import list_packaged, which_all
from latebind.backend.run import run
from latebind.backend.targets import Target
from latebind.backend.zig import ZIG_REQUIREMENT, find_zig, zig_toolchain

BUILD_PROGRAMS = {"cmake": "cmake>=3.30", "ninja": "ninja>=1.10"}
"""The programs that every build needs, each with what supplies it."""
TOOLCHAIN_VARIABLE = "LATEBIND_TOOLCHAIN"
"""With it, the user who installs a package chooses the compiler: a value of `toolchain` in latebind.toml."""
TOOLCHAINS = ("host", "zig")
_START_LIMIT = 60.0
"""Seconds for a program to print its version."""


class Toolchain(Protocol):
    """What the native build needs to know of a compiler."""

    @property
    def name(self) -> str:
        """`zig` or `host`."""

    def identity(self) -> str:
        """Name and version, for people and manifests."""

    def fingerprint(self) -> str:
        """Everything about the toolchain that affects its output; part of a build's key."""

    def configure(self, target: Target, floor: str, folder: Path) -> list[str]:
        """CMake arguments for a target; files that they need are written to `folder`."""

    def symbols(self, target: Target, folder: Path, build_root: Path) -> list[str]:
        """CMake arguments that keep this machine out of debug information; files that they need go to `folder`.

        `build_root` is the folder of everything that builds make.
        """

    def import_library(self, definition: Path, target: Target) -> Path:
        """The import library of a module definition file, written next to it, for a Windows target.

        Raises BuildError or ToolError.
        """

    def environment(self, tree: Path) -> Mapping[str, str]:
        """The environment in which CMake and the compiler run for a build tree."""

    def folders(self, tree: Path) -> tuple[Path, ...]:
        """Folders of the compiler's own files, which may be in a project's checkout."""

    def finish(self, target: Target, folder: Path) -> None:
        """Complete what the linker leaves out of the files in a folder, so that equal inputs give equal bytes."""

    def first_use(
        self, target: Target, floor: str, tree: Path, sources: Iterable[Path]
    ) -> AbstractContextManager[None]:
        """Announces work that the compiler does once per user, and remembers that it is done when the block ends."""


def toolchain(name: str, target: Target) -> Toolchain:
    """The toolchain of that name, found on this machine.

    Raises NotRun `no-compiler` when it is not there or cannot build for the target; the message says what to do.
    """
    return find_host(target) if name == "host" else zig_toolchain(target)


def installers_toolchain(configured: str, target: Target, sources: Iterable[Path], *, is_sdist: bool) -> str:
    """The toolchain of a build that an installer started: the one of LATEBIND_TOOLCHAIN, else `configured`.

    An sdist that names none itself is built with the machine's own compiler where there is one: zig would be a download
    of 100 MB. Raises InputError for another value of the variable, NotRun if it names a compiler that is not there.
    """
    chosen = os.environ.get(TOOLCHAIN_VARIABLE, "")
    if chosen and chosen not in TOOLCHAINS:
        raise InputError(
            f"{chosen!r} is not a toolchain",
            where=TOOLCHAIN_VARIABLE,
            advice="Set it to host (this machine's own compiler) or zig, or unset it.",
        )
    if chosen == "host":
        try:
            find_host(target)
        except NotRun as error:
            advice = f"Install a C compiler, name it in CC, or set {TOOLCHAIN_VARIABLE}=zig."
            raise NotRun(error.reason, error.message, advice=advice) from None
    return chosen or ("host" if is_sdist and can_compile(target, sources) else configured)


def missing_requirements(name: str) -> list[str]:
    """The distributions that supply what this machine lacks to build with a toolchain."""
    missing = [requirement for needed, requirement in BUILD_PROGRAMS.items() if program(needed) is None]
    return [*missing, ZIG_REQUIREMENT] if name == "zig" and find_zig() is None else missing


def program(name: str) -> Path | None:
    """A program of this Python's wheels, next to this Python, or on PATH; the first that starts.

    CMake's wheel puts a script next to Python that starts Python, which starts CMake. In the isolated build of an
    installer, such scripts of the wheels outside cannot import their package.
    """
    scripts = Path(sys.executable).parent
    inside = list_packaged(name, f"data/bin/{name}") if Path(sysconfig.get_path("scripts")) == scripts else ()
    candidates = (*inside, scripts / (f"{name}.exe" if sys.platform == "win32" else name), *which_all(name))
    return next((path for path in dict.fromkeys(candidates) if path.is_file() and _starts(path)), None)


def _starts(path: Path) -> bool:
    try:
        return run([path, "--version"], check=False, timeout=_START_LIMIT).returncode == 0
    except ToolError:
        return False


def require(name: str) -> Path:
    """One of BUILD_PROGRAMS. Raises BuildError with the command that installs it."""
    path = program(name)
    if path is None:
        names = '" "'.join(missing_requirements("host"))
        raise BuildError(f"{name} is not installed", advice=f'Run: pip install "{names}"')
    return path
