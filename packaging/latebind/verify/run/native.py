"""Builds what is in C and C++: consumers, the stand-in for a runtime, and the library of another package.

With CMake for any target, by zig where that is not this machine, or with pkg-config for this machine's.
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from latebind.backend.programs import which
from latebind.backend.targets import Rid, target
from latebind.backend.toolchain import program, toolchain
from latebind.config.runtime import RuntimeUse
from latebind.errors import InputError, NotRun
from latebind.system.resources import folder as resource
from latebind.system.run import run
from latebind.templates import render
from latebind.verify.run.installers import clean_environment
from latebind.verify.run.shared import hash_parts

if TYPE_CHECKING:
    from latebind.verify.run.machine import Machine
    from latebind.verify.run.shared import Shared
    from latebind.verify.run.trial import Trial

STAND_IN_SOURCES = Path(__file__).parent.parent / "standin"
"""The stand-ins for runtimes: libraries of latebind's own for machines that run no real one."""
CONSUMER = "consumer"
"""The program that each of them makes."""
_COMPILERS = {"C": ("cc", "gcc", "clang"), "C++": ("c++", "g++", "clang++")}
_SUFFIXES = {"C": (".c",), "C++": (".cc", ".cpp", ".cxx")}
_TIME_LIMIT = 600.0
STOOD_IN = "a library of latebind's own stood in for the runtime"
_BESIDE = "beside"
_ACTIONS, _LIST = Path(__file__).parent.parent / "actions" / "actions.cmake", "latebind-actions.txt"
_ADVICE = (
    "If it may, also in several threads at once, write in its CMakeLists.txt: "
    "set_target_properties(consumer PROPERTIES LATEBIND_REENTRANT TRUE)"
)


def build_for(machine: Machine, floor: str, source: Path, tree: Path, *defines: str, log: Path | None = None) -> Path:
    """Build a CMake project for a machine; the program. Raises NotRun, ToolError, InputError."""
    build_tree(machine, floor, source, tree, *defines, log=log)
    return find_built_program(source, tree)


def build_tree(machine: Machine, floor: str, source: Path, tree: Path, *defines: str, log: Path | None = None) -> None:
    """Build any CMake project for a machine: by zig where this one has no compiler of its own, or a newer system."""
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
    language = "C++" if sources["C++"] else "C"
    compiler = _find_program(_COMPILERS[language])
    if compiler is None:
        names = ", ".join(_COMPILERS[language])
        raise NotRun("no-compiler", f"building a program in {language} needs a compiler on PATH: {names}")
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


def _find_program(names: Iterable[str]) -> Path | None:
    return next((path for name in names if (path := which(name)) is not None), None)


# ---- a project's program in C ----------------------------------------------------------------------------------------


def share_program(  # noqa: PLR0913  # what is made, and for whom
    trial: Trial,
    source: Path,
    packages: str,
    unpack: Callable[[Path], object],
    build: Callable[[Path, Path, Path], None],
    *,
    alone: bool,
) -> tuple[Path, Path]:
    """The folder that `unpack` fills, and the program that `build` makes: it gets that folder, a tree and a log.

    The test cases of a run with the same consumer and `packages` share both; one that is `alone` has its own.
    Raises what they raise, and NotRun `no-main` for a program that cannot do what the scenario asks.
    """
    if alone:
        folder, tree = trial.work / trial.situation.folder, trial.work / "build"
        unpack(folder)
        build(folder, tree, trial.log)
    else:
        which = (trial.case.consumer, trial.case.target, packages)
        folder = trial.shared.fill(hash_parts(*which), trial.log, lambda aside, _: unpack(aside))
        made = trial.shared.fill(  # the folder of a tree may move: no program of it names one of its files
            hash_parts(*which, str(bool(trial.situation.action))),
            trial.log,
            lambda aside, log: build(folder, aside / "build", log),
        )
        tree = made / "build"
    _assert_able(trial, tree)
    return folder, find_built_program(source, tree)


def build_program(trial: Trial, source: Path, tree: Path, *defines: str, log: Path) -> None:
    """Build a project's CMake project for the test case's machine, with latebind's main() if the scenario needs it.

    Raises as build_for() does.
    """
    include = (f"-DCMAKE_PROJECT_INCLUDE={_ACTIONS.as_posix()}",) if trial.situation.action else ()
    build_for(trial.machine, trial.config.floor(target(trial.case.target)), source, tree, *defines, *include, log=log)


def _assert_able(trial: Trial, tree: Path) -> None:
    file = tree / _LIST
    able = file.read_text("utf-8").split(";") if file.is_file() else []
    if not set(trial.situation.action[:1]) <= set(able):
        what = "does not say that its main() may be called several times" if able else "has no main()"
        raise NotRun("no-main", f"the program in C {what}", advice=_ADVICE if able else "")


# ---- what latebind itself brings to a test case ----------------------------------------------------------------------


def build_stand_in(shared: Shared, floor: str, runtime: RuntimeUse, version: str, rid: Rid) -> Path:
    """The library that says it is a version of the runtime, made once for a target. Raises NotRun without zig."""
    name = runtime.traits.plain_name(target(rid).system)
    folder = shared.folder / "stand-ins" / f"{runtime.name}-{version}-{rid}"
    with shared.once(folder) as aside:
        if aside is not None:
            tree = folder.with_name(f"{folder.name}.build")  # with_suffix() would cut the name at the version's dot
            shutil.rmtree(tree, ignore_errors=True)
            defines = (
                f"-DSTAND_IN={runtime.preset}", f"-DNAME={name}", f"-DVERSION={version}",
                f"-DLOADER={resource('loader')}",
            )  # fmt: skip
            build_library_for(rid, floor, STAND_IN_SOURCES, tree, *defines)
            shutil.move(tree / name, aside / name)
            shutil.rmtree(tree)
    return folder / name


def build_beside(shared: Shared, floor: str, machine: Machine) -> Path:
    """The library of a project that `latebind new` writes, once for a machine. Raises NotRun without a compiler."""
    folder = shared.folder / "stand-ins" / f"{_BESIDE}-{machine.rid}"
    with shared.once(folder) as aside:
        if aside is not None:
            for ending in ("c", "h"):
                text = render(f"new/library.{ending}.j2", name=_BESIDE, module=_BESIDE, macro=_BESIDE.upper())
                (aside / f"{_BESIDE}.{ending}").write_text(text, encoding="utf-8")
            defines = f"-DWRITTEN={aside}", f"-Dlatebind_DIR={resource('loader')}"
            build_tree(machine, floor, STAND_IN_SOURCES.with_name(_BESIDE), aside / "build", *defines)
    return folder / "build" / f"{_BESIDE}.dll"
