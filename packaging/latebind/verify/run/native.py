"""Builds consumers in C and C++: with CMake for any target, or with pkg-config for this machine's."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from latebind.compilers.choose import program, toolchain
from latebind.errors import InputError, NotRun
from latebind.system.programs import which
from latebind.system.run import run
from latebind.tables.targets import target
from loadcheck.model import Rid

if TYPE_CHECKING:
    from latebind.verify.cases.machine import Machine

CONSUMER = "consumer"
"""The program that each of them makes."""
_COMPILERS = {"C": ("cc", "gcc", "clang"), "C++": ("c++", "g++", "clang++")}
_SUFFIXES = {"C": (".c",), "C++": (".cc", ".cpp", ".cxx")}
_TIME_LIMIT = 600.0


def clean_environment() -> dict[str, str]:
    """The caller's, without what changes how .NET and the system's loader search."""
    return {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("LD_", "DYLD_", "NUGET_", "MONO_", "PYTHON")) and not key.endswith("_LIB_PATH")
    }


def build_for(machine: Machine, floor: str, source: Path, tree: Path, *defines: str, log: Path | None = None) -> Path:
    """Build a CMake project for a machine; the program. Raises NotRun, ToolError, InputError."""
    build_tree(machine, floor, source, tree, *defines, log=log)
    return find_built_program(source, tree)


def build_tree(machine: Machine, floor: str, source: Path, tree: Path, *defines: str, log: Path | None = None) -> None:
    """The same for any project: by zig where this machine has no compiler of its own, or a newer system."""
    if machine.is_host and _find_program(_COMPILERS["C"]) is not None:
        _run_cmake(source, tree, defines, clean_environment(), log)
    else:
        build_library_for(machine.rid, floor, source, tree, *defines, log=log)


def build_library_for(rid: Rid, floor: str, source: Path, tree: Path, *defines: str, log: Path | None = None) -> None:
    """Build a CMake project for a target by zig. Raises NotRun, ToolError."""
    platform, zig = target(rid), toolchain("zig", target(rid))
    tree.mkdir(parents=True)
    _run_cmake(source, tree, [*zig.configure(platform, floor, tree), *defines], zig.environment(tree), log)


def build_with_pkg_config(source: Path, tree: Path, prefix: Path, *, log: Path | None = None) -> Path:
    """The program of a folder's sources, linked with every module of a prefix. Raises NotRun, ToolError."""
    asked = _find_program(("pkg-config", "pkgconf"))
    if asked is None:
        raise NotRun("no-compiler", "there is no pkg-config on PATH")
    sources = {language: [path for path in sorted(source.iterdir()) if path.suffix in endings]
               for language, endings in _SUFFIXES.items()}  # fmt: skip
    compiler = _own_compiler("C++" if sources["C++"] else "C")
    folder = library_folder(prefix) / "pkgconfig"
    environment = {**clean_environment(), "PKG_CONFIG_LIBDIR": str(folder), "PKG_CONFIG_PATH": ""}
    modules = sorted(path.stem for path in folder.glob("*.pc"))
    flags = shlex.split(run([asked, "--cflags", "--libs", *modules], env=environment, timeout=_TIME_LIMIT).output)
    tree.mkdir(parents=True)
    arguments: list[str | Path] = ["-o", tree / CONSUMER, *flags, f"-Wl,-rpath,{folder.parent}", "-lm"]
    run([compiler, *sources["C"], *sources["C++"], *arguments], env=environment, timeout=_TIME_LIMIT, log=log)
    return tree / CONSUMER


def library_folder(prefix: Path) -> Path:
    """The folder of libraries in an SDK archive: lib, lib64 or lib/<triplet>."""
    return next((path.parent for path in sorted(prefix.glob("lib*/**/pkgconfig"))), prefix / "lib")


def _run_cmake(
    source: Path, tree: Path, defines: Iterable[str], environment: Mapping[str, str], log: Path | None
) -> None:
    cmake, ninja = program("cmake"), program("ninja")
    if cmake is None:
        raise NotRun("no-compiler", "building a program in C needs CMake on PATH")
    generator = ["-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja}"] if ninja else []
    configure: list[str | Path] = [cmake, "-S", source, "-B", tree, *generator, "-DCMAKE_BUILD_TYPE=Release", *defines]
    run(configure, env=environment, timeout=_TIME_LIMIT, log=log)
    run([cmake, "--build", tree], env=environment, timeout=_TIME_LIMIT, log=log)


def find_built_program(source: Path, tree: Path) -> Path:
    """The program in a build tree. Raises InputError where there is none."""
    for name in (CONSUMER, f"{CONSUMER}.exe"):
        if (tree / name).is_file():
            return tree / name
    raise InputError(
        f"does not build a program named {CONSUMER}", where=str(source), advice=f"Write: add_executable({CONSUMER} ...)"
    )


def _own_compiler(language: str) -> Path:
    compiler = _find_program(_COMPILERS[language])
    if compiler is None:
        names = ", ".join(_COMPILERS[language])
        raise NotRun("no-compiler", f"building a program in {language} needs a compiler on PATH: {names}")
    return compiler


def _find_program(names: Iterable[str]) -> Path | None:
    return next((path for name in names if (path := which(name)) is not None), None)
