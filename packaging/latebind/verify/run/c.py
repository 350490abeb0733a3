"""Runs a C consumer's cell: a CMake project that takes header and library out of the unpacked nupkgs."""

from __future__ import annotations

import os
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from latebind.errors import InputError, NotRun
from latebind.model import Outcome, State
from latebind.system.limits import CELL_LIMITS
from latebind.system.run import run, which
from latebind.verify.run.dotnet import ASSEMBLED, clean_environment, feed_of
from latebind.verify.run.judge import judge, read_python
from latebind.verify.run.stage import failing_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from latebind.verify.run.bench import Bench

PROGRAM = "consumer"
"""The executable that the project's CMakeLists.txt makes."""

_COMPILERS = ("cc", "gcc", "clang")
_TIME_LIMIT = 600.0


def run_c_cell(bench: Bench) -> Outcome:
    """Unpack, configure, compile, run and judge.

    Raises NotRun without CMake or a compiler (`no-compiler`) or without the nupkgs, StageError when building fails and
    when the consumer ended without writing its result.
    """
    cases = bench.data()
    source = bench.config.root / bench.config.document.verify.c
    with failing_at("install"):
        packages = unpack(feed_of(bench), bench.work / "packages")
        program = build(source, packages, bench.cell.target, bench.work / "build", log=bench.log)
    result = bench.work / "result.json"
    argv: list[str | Path] = [program, cases, result, packages, *bench.consumer_words()]
    with failing_at("load"):
        ended = run(argv, cwd=bench.work, env=clean_environment(), check=False, log=bench.log, limits=CELL_LIMITS)
        if not result.is_file():
            told = f"the consumer ended with status {ended.returncode} and wrote no result: {ended.output[-2000:]}"
            raise InputError(told, where=str(program))
        smoke = read_python(ended.returncode, ended.output, result.read_bytes())
    reference = bench.reference()
    outcome = judge(
        bench.cell,
        bench.scenario,
        smoke,
        [str(bench.work)],
        values=bench.values(),
        # What the program leaves out on purpose is listed in the report.
        reference=None if reference is None else reference - set(smoke.out_of_scope),
        at_least=bench.at_least(),
        binds=bench.binds(),
    )
    if outcome.state is not State.PASSED or not bench.cell.version:
        return outcome
    return replace(outcome, facts={**outcome.facts, "runtime_package": ASSEMBLED})


def unpack(packages: Sequence[Path], folder: Path) -> Path:
    """Unpack each package into a folder of its id in lower case, without the version."""
    for package in packages:
        with zipfile.ZipFile(package) as archive:
            nuspec = next((name for name in archive.namelist() if name.endswith(".nuspec") and "/" not in name), "")
            if not nuspec:
                raise InputError("the package has no nuspec", where=str(package))
            archive.extractall(folder / nuspec.removesuffix(".nuspec").lower())
    return folder


def build(source: Path, packages: Path, rid: str, tree: Path, *, log: Path | None = None) -> Path:
    """Configure and compile the consumer against unpacked packages. Raises NotRun, ToolError."""
    beside = Path(sys.executable).parent
    path = os.pathsep.join([os.environ.get("PATH", ""), str(beside)])
    cmake = which("cmake", path=path)
    if cmake is None or not any(which(name, path=path) for name in _COMPILERS):
        raise NotRun("no-compiler", "a C program cannot be built without CMake and a C compiler on PATH")
    environment = {**clean_environment(), "PATH": path}
    generator = ["-G", "Ninja"] if which("ninja", path=path) else []
    defines = [f"-DPACKAGES={packages}", f"-DRID={rid}", "-DCMAKE_BUILD_TYPE=Release"]
    configure: list[str | Path] = [cmake, "-S", source, "-B", tree, *generator, *defines]
    run(configure, env=environment, timeout=_TIME_LIMIT, log=log)
    run([cmake, "--build", tree], env=environment, timeout=_TIME_LIMIT, log=log)
    return tree / PROGRAM
