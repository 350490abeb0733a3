"""Who compiles: zig for any target from any machine, or the machine's own compiler for its own target."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from latebind.errors import BuildError, NotRun
from latebind.system.archive import write_text
from latebind.system.run import run, which
from latebind.tables.targets import host_rid, zig_triple
from latebind.templates import render

if TYPE_CHECKING:
    from collections.abc import Mapping

    from latebind.model import Target

ZIG_REQUIREMENT = "ziglang==0.17.0"
"""Pinned: another zig makes other bytes."""
CMAKE_REQUIREMENT = "cmake>=3.25"
NINJA_REQUIREMENT = "ninja>=1.10"

_CMAKE_SYSTEM = {"linux": "Linux", "macos": "Darwin", "windows": "Windows"}
_DLLTOOL_MACHINE = {"x86_64": "i386:x86-64", "aarch64": "arm64"}


class Toolchain(Protocol):
    """What the native build needs to know of a compiler."""

    @property
    def name(self) -> str:
        """`zig` or `host`."""

    def identity(self) -> str:
        """Name and version, for people and manifests."""

    def fingerprint(self) -> str:
        """All of the toolchain that decides what comes out; part of what a build is keyed by."""

    def configure(self, target: Target, floor: str, folder: Path) -> list[str]:
        """CMake arguments for a target; files that they need are written to `folder`."""

    def symbols(self, target: Target, folder: Path, made: Path) -> list[str]:
        """CMake arguments that keep this machine out of debug information; files that they need go to `folder`.

        `made` is the folder of all that is made for builds.
        """

    def import_library(self, definition: Path, target: Target) -> Path:
        """The import library of a module definition file, made beside it, for a Windows target.

        Raises BuildError or ToolError.
        """

    def environment(self, scratch: Path) -> Mapping[str, str]:
        """The environment that CMake and the compiler run in; `scratch` is a folder for what they keep."""


def toolchain(name: str, target: Target) -> Toolchain:
    """The toolchain of that name, found on this machine.

    Raises NotRun `no-compiler` when it is not there or cannot build for the target; the message says what to do.
    """
    if name == "host":
        return _host(target)
    zig = find_zig()
    if zig is None:
        raise NotRun(
            "no-compiler",
            f"zig, which compiles for {target.rid}, is not on this machine",
            advice=f'Run: pip install "{ZIG_REQUIREMENT}"; or write toolchain = "host" below [targets.{target.rid}].',
        )
    return _Zig(zig)


def missing_requirements(name: str) -> list[str]:
    """The distributions that supply what this machine lacks to build with a toolchain."""
    wanted = [] if program("cmake") else [CMAKE_REQUIREMENT]
    wanted += [] if program("ninja") else [NINJA_REQUIREMENT]
    wanted += [ZIG_REQUIREMENT] if name == "zig" and find_zig() is None else []
    return wanted


def program(name: str) -> Path | None:
    """A program beside this Python (where wheels put theirs), on Python's path (build environments), or on PATH."""
    suffix = ".exe" if sys.platform == "win32" else ""
    beside = Path(sys.executable).parent / f"{name}{suffix}"
    return beside if beside.is_file() else which(name)


def require(name: str, requirement: str) -> Path:
    """A program that the build cannot do without. Raises BuildError with the command that brings it."""
    found = program(name)
    if found is None:
        raise BuildError(f"{name} is not on this machine", advice=f'Run: pip install "{requirement}"')
    return found


def find_zig() -> Path | None:
    """zig of the `ziglang` distribution, else of PATH; None without either."""
    spec = importlib.util.find_spec("ziglang")
    if spec is not None and spec.submodule_search_locations:
        for place in spec.submodule_search_locations:
            zig = Path(place) / ("zig.exe" if sys.platform == "win32" else "zig")
            if zig.is_file():
                return zig
    return which("zig")


@dataclass(frozen=True, slots=True)
class _Zig:
    zig: Path
    name: str = "zig"

    def identity(self) -> str:
        return f"zig {_version(self.zig, 'version')}"

    def configure(self, target: Target, floor: str, folder: Path) -> list[str]:
        wrappers = {tool: self._wrapper(tool, folder) for tool in ("ar", "ranlib", "rc")}
        file = folder / "toolchain.cmake"
        text = render(
            "toolchain.cmake.j2",
            system=target.system,
            system_name=_CMAKE_SYSTEM[target.system],
            processor=target.arch,
            triple=zig_triple(target, floor),
            zig=self.zig,
            wrappers=wrappers,
        )
        if not file.is_file() or file.read_text("utf-8") != text:
            write_text(file, text)
        return [f"-DCMAKE_TOOLCHAIN_FILE={file}"]

    def symbols(self, target: Target, folder: Path, made: Path) -> list[str]:
        maps = f"-DLATEBIND_PREFIX_MAP={self.zig.resolve().parent}=zig;{made}=build"
        if target.system != "linux":
            return [maps]
        script = folder / "symbols.ld"
        write_text(script, render("symbols.ld.j2"))
        return [maps, f"-DLATEBIND_SYMBOLS_SCRIPT={script}"]

    def fingerprint(self) -> str:
        return self.identity()

    def import_library(self, definition: Path, target: Target) -> Path:
        library = definition.with_suffix(".lib")
        machine = _DLLTOOL_MACHINE[target.arch]
        run([self.zig, "dlltool", "-m", machine, "-d", definition, "-l", library], timeout=60)
        return library

    def environment(self, scratch: Path) -> Mapping[str, str]:
        kept = {key: value for key, value in os.environ.items() if not _steers(key)}
        if not any(kept.get(key) for key in ("HOME", "XDG_CACHE_HOME", "ZIG_GLOBAL_CACHE_DIR", "LOCALAPPDATA")):
            kept["ZIG_GLOBAL_CACHE_DIR"] = str(scratch / "zig-cache")
        return kept

    def _wrapper(self, tool: str, folder: Path) -> Path:
        """CMake takes one path for ar, ranlib and rc; zig has them as subcommands."""
        windows = sys.platform == "win32"
        file = folder / (f"zig-{tool}.cmd" if windows else f"zig-{tool}")
        text = f'@"{self.zig}" {tool} %*\n' if windows else f'#!/bin/sh\nexec "{self.zig}" {tool} "$@"\n'
        if not file.is_file() or file.read_text("utf-8") != text:
            write_text(file, text)
            file.chmod(0o755)
        return file


@dataclass(frozen=True, slots=True)
class _Host:
    compiler: Path
    name: str = "host"

    def identity(self) -> str:
        words = [] if self.compiler.stem.lower() == "cl" else ["--version"]  # MSVC's says its version unasked
        return f"host {_version(self.compiler, *words)}"

    def configure(self, target: Target, floor: str, folder: Path) -> list[str]:  # noqa: ARG002  # it needs no files
        chosen = [f"-DCMAKE_C_COMPILER={self.compiler}"]
        if target.system == "macos":  # elsewhere the floor is the machine's own, which the audit compares
            arch = {"aarch64": "arm64"}.get(target.arch, target.arch)
            chosen += [f"-DCMAKE_OSX_ARCHITECTURES={arch}", f"-DCMAKE_OSX_DEPLOYMENT_TARGET={floor}"]
        return chosen

    def symbols(self, target: Target, folder: Path, made: Path) -> list[str]:  # noqa: ARG002  # it needs no files
        return [f"-DLATEBIND_PREFIX_MAP={made}=build"]

    def fingerprint(self) -> str:
        steering = [f"{key}={value}" for key, value in sorted(os.environ.items()) if _steers(key)]
        return "\0".join([self.identity(), str(self.compiler.resolve()), *steering])

    def import_library(self, definition: Path, target: Target) -> Path:
        raise BuildError(
            f"{self.compiler.name} makes no import libraries for {target.rid}",
            where=str(definition),
            advice=f'Write toolchain = "zig" below [targets.{target.rid}].',
        )

    def environment(self, scratch: Path) -> Mapping[str, str]:  # noqa: ARG002  # the host's compiler keeps nothing
        return dict(os.environ)


@cache
def _version(compiler: Path, *words: str) -> str:
    """The first line that a compiler says of its version; asked once, however many targets and keys want it."""
    return "".join(run([compiler, *words], timeout=60).output.strip().splitlines()[:1])


def _steers(key: str) -> bool:
    """Whether a variable changes what a compiler makes: for the machine's own it counts, and zig never sees it."""
    return key in _COMPILER_VARIABLES or (key.startswith("CMAKE_") and key not in _HARMLESS)


_COMPILER_VARIABLES = frozenset({
    *("CC", "CXX", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "AR", "RANLIB"),
    *("CPATH", "C_INCLUDE_PATH", "LIBRARY_PATH"),
    *("CL", "_CL_", "LINK", "_LINK_", "INCLUDE", "LIB", "LIBPATH"),
    *("SDKROOT", "MACOSX_DEPLOYMENT_TARGET", "ARCHFLAGS"),
})  # fmt: skip
_HARMLESS = frozenset({"CMAKE_BUILD_PARALLEL_LEVEL", "CMAKE_COLOR_DIAGNOSTICS", "CMAKE_PREFIX_PATH"})


def _host(target: Target) -> Toolchain:
    own = _own_targets()
    if target.rid not in own:
        raise NotRun(
            "no-compiler",
            f"the machine's own compiler builds for {' and '.join(own)}, not for {target.rid}",
            advice=f'Write toolchain = "zig" below [targets.{target.rid}], or build it on such a machine and bring its '
            "stage in: latebind stage --import FOLDER.",
        )
    names = ("cl", "clang-cl", "clang", "gcc") if sys.platform == "win32" else ("cc", "gcc", "clang")
    wanted = [os.environ["CC"]] if os.environ.get("CC") else names
    for name in wanted:
        found = shutil.which(name)
        if found:
            return _Host(Path(found))
    if " " in wanted[0]:
        advice = "Set CC to one program, and flags in CFLAGS."
        raise NotRun("no-compiler", f"CC is {wanted[0]!r}, which is not one program", advice=advice)
    raise NotRun(
        "no-compiler",
        f"no C compiler ({', '.join(wanted)}) is on PATH",
        advice=f'{_INSTALL[target.system]}, or write toolchain = "zig" below [targets.{target.rid}].',
    )


_INSTALL = {
    "linux": "Install one (Debian: apt install gcc)",
    "macos": "Install one (xcode-select --install)",
    "windows": "Run latebind from a Developer Command Prompt (vcvarsall.bat x64)",
}


def _own_targets() -> tuple[str, ...]:
    """What the machine's own compiler builds for: Xcode's for both processors, MSVC's for what its prompt says."""
    host = host_rid()
    if host.startswith("osx-"):
        return ("osx-arm64", "osx-x64")
    prompt = os.environ.get("VSCMD_ARG_TGT_ARCH", "")
    return (f"win-{prompt}",) if host.startswith("win-") and prompt else (host,)
