"""What a scenario asks of a process around a project's program in C: latebind's own main() calls the program's."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from latebind.errors import InputError, NotRun
from latebind.tables.targets import target
from latebind.verify.run.native import build_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from latebind.verify.run.bench import Bench
    from latebind.verify.run.protocol import ConsumerResult

_CMAKE = Path(__file__).parent.parent / "actions" / "actions.cmake"
_LIST = "latebind-actions.txt"
_ADVICE = (
    "If it may, also in several threads at once, write in its CMakeLists.txt: "
    "set_target_properties(consumer PROPERTIES LATEBIND_REENTRANT TRUE)"
)
_RUNS = {"--fork": 3}
"""How often main() is called; in threads, as often as the word after the action says."""


def build_program(bench: Bench, source: Path, tree: Path, *defines: str) -> Path:
    """The program of a project's CMake project, for the test case's machine and with what its scenario asks of it.

    Raises as build_for() does, and NotRun `no-main` for a program that cannot do what the scenario asks.
    """
    floor, action = bench.config.floor(target(bench.case.target)), bench.situation.action[:1]
    include = (f"-DCMAKE_PROJECT_INCLUDE={_CMAKE.as_posix()}",) if action else ()
    program = build_for(bench.machine, floor, source, tree, *defines, *include, log=bench.log)
    file = tree / _LIST
    able = file.read_text("utf-8").split(";") if file.is_file() else []
    if not set(action) <= set(able):
        what = "does not say that its main() may be called several times" if able else "has no main()"
        raise NotRun("no-main", f"the program in C {what}", advice=_ADVICE if able else "")
    return program


def list_further_results(bench: Bench, result: Path) -> Iterator[Path]:
    """The results of the runs after the first one."""
    name, value = (*bench.situation.action, "", "")[:2]
    number = int(value) if name == "--threads" else _RUNS.get(name, 1)
    yield from (result.with_name(f"{result.name}.{index}") for index in range(1, number))


def compare_runs(first: ConsumerResult, others: list[ConsumerResult]) -> None:
    """Raises InputError when a run ended in another way than the first one."""
    for number, other in enumerate(others, 1):
        if (other.passed, other.message, other.version) != (first.passed, first.message, first.version):
            cases = "; ".join(f"{one.name}: {one.message}" for one in other.failed)
            why = other.message or cases or "its result differs"
            raise InputError(f"run {number} of the program in one process ended in another way than run 0: {why}")
