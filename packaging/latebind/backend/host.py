"""The machine's own compiler, for the targets that it builds for."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from latebind.backend.errors import BuildError, NotRun
from latebind.backend.programs import which
from latebind.backend.run import run
from latebind.backend.targets import Target, host_rid, targets

if TYPE_CHECKING:
    from latebind.backend.toolchain import Toolchain


@dataclass(frozen=True, slots=True)
class _Host:
    compiler: Path
    name: str = "host"

    def identity(self) -> str:
        arguments = [] if self.compiler.stem.lower() == "cl" else ["--version"]  # MSVC's prints its version unasked
        return f"host {compiler_version(self.compiler, *arguments)}"

    def configure(self, target: Target, floor: str, folder: Path) -> list[str]:  # noqa: ARG002  # it needs no files
        chosen = [f"-DCMAKE_C_COMPILER={self.compiler}"]
        if target.osx_architecture:  # elsewhere the floor is the machine's own, which the audit compares
            chosen += [f"-DCMAKE_OSX_ARCHITECTURES={target.osx_architecture}", f"-DCMAKE_OSX_DEPLOYMENT_TARGET={floor}"]
        return chosen if any(name in os.environ for name in _LAUNCHERS) else [*chosen, *launchers()]

    def symbols(self, target: Target, folder: Path, build_root: Path) -> list[str]:  # noqa: ARG002  # it needs no files
        return [f"-DLATEBIND_PREFIX_MAP={build_root}=build"]

    def fingerprint(self) -> str:
        steering = [f"{key}={value}" for key, value in sorted(os.environ.items()) if steers(key)]
        return "\0".join([self.identity(), str(self.compiler.resolve()), *steering])

    def import_library(self, definition: Path, target: Target) -> Path:
        raise BuildError(
            f"{self.compiler.name} makes no import libraries for {target.rid}",
            where=str(definition),
            advice=f'Write toolchain = "zig" below [targets.{target.rid}].',
        )

    def environment(self, tree: Path) -> Mapping[str, str]:  # noqa: ARG002  # the host's compiler keeps nothing
        return dict(os.environ)

    def folders(self, tree: Path) -> tuple[Path, ...]:  # noqa: ARG002  # they are the system's
        return ()

    def finish(self, *_: object) -> None:
        """A machine's own linker writes whole files."""

    def first_use(self, *_: object) -> AbstractContextManager[None]:
        return nullcontext()


def launchers(first: Sequence[str] = ()) -> list[str]:
    """CMake arguments for the launchers of each language: `first`, and ccache if it is on PATH.

    sccache is not taken by itself: it starts a server, and does not know `zig cc` (0.16).
    """
    ccache = which("ccache")
    programs = [*first, *([ccache.as_posix()] if ccache else [])]
    return [f"-DCMAKE_{language}_COMPILER_LAUNCHER={';'.join(programs)}" for language in ("C", "CXX") if programs]


@cache
def compiler_version(compiler: Path, *arguments: str) -> str:
    """The first line of a compiler's version; each compiler is asked once."""
    return "".join(run([compiler, *arguments], timeout=60).output.strip().splitlines()[:1])


def steers(key: str) -> bool:
    """Whether a variable changes a compiler's output: part of the key for the host's compiler, removed for zig."""
    return key in _COMPILER_VARIABLES or (key.startswith("CMAKE_") and key not in _HARMLESS)


_COMPILER_VARIABLES = frozenset({
    *("CC", "CXX", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "AR", "RANLIB"),
    *("CPATH", "C_INCLUDE_PATH", "LIBRARY_PATH"),
    *("CL", "_CL_", "LINK", "_LINK_", "INCLUDE", "LIB", "LIBPATH"),
    *("SDKROOT", "MACOSX_DEPLOYMENT_TARGET", "ARCHFLAGS"),
})  # fmt: skip
_LAUNCHERS = ("CMAKE_C_COMPILER_LAUNCHER", "CMAKE_CXX_COMPILER_LAUNCHER")
"""The user's own, which CMake reads."""
_HARMLESS = frozenset({"CMAKE_BUILD_PARALLEL_LEVEL", "CMAKE_COLOR_DIAGNOSTICS", "CMAKE_PREFIX_PATH"})


_CXX = frozenset({".cc", ".cpp", ".cxx", ".c++", ".cppm", ".ixx", ".mm"})
_CXX_COMPILERS = ("c++", "g++", "clang++")


def has_cxx(sources: Iterable[Path]) -> bool:
    """Whether there are C++ files among the sources."""
    return any(path.suffix.lower() in _CXX for path in sources)


def can_compile(target: Target, sources: Iterable[Path]) -> bool:
    """Whether this machine has a compiler of its own for the target, and one for C++ if the sources need it."""
    try:
        find_host(target)
    except NotRun:
        return False
    if sys.platform == "win32" or not has_cxx(sources):  # cl and clang-cl compile both
        return True
    compilers = [os.environ["CXX"]] if os.environ.get("CXX") else _CXX_COMPILERS
    return any(which(name) for name in compilers)


def find_host(target: Target) -> Toolchain:
    """The machine's own compiler. Raises NotRun `no-compiler` when there is none for the target."""
    own_rids = own_targets()
    if target.rid not in own_rids:
        raise NotRun(
            "no-compiler",
            f"the machine's own compiler builds for {' and '.join(own_rids)}, not for {target.rid}",
            advice=f'Write toolchain = "zig" below [targets.{target.rid}], or build it on {target.rid} and '
            "import the stage: latebind stage --import FOLDER.",
        )
    names = ("cl", "clang-cl", "clang", "gcc") if sys.platform == "win32" else ("cc", "gcc", "clang")
    compilers = [os.environ["CC"]] if os.environ.get("CC") else names
    for name in compilers:
        path = which(name)
        if path:
            return _Host(path)
    if " " in compilers[0]:
        advice = "Set CC to one program, and write flags into CFLAGS."
        raise NotRun("no-compiler", f"CC is {compilers[0]!r}, which is not one program", advice=advice)
    raise NotRun(
        "no-compiler",
        f"no C compiler ({', '.join(compilers)}) is on PATH",
        advice=f'{target.compiler_advice}, or write toolchain = "zig" below [targets.{target.rid}].',
    )


def own_targets() -> tuple[str, ...]:
    """What the machine's own compiler builds for: both processors with Xcode, the prompt's with MSVC."""
    host = host_rid()
    host_target = targets().get(host)
    if host_target is not None and host_target.osx_architecture:
        return tuple(sorted(rid for rid, other in targets().items() if other.osx_architecture))
    prompt = os.environ.get("VSCMD_ARG_TGT_ARCH", "")
    return (f"win-{prompt}",) if host_target is not None and host_target.dlltool_machine and prompt else (host,)
