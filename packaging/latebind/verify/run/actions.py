"""What a scenario asks of a process around a project's program in C: latebind's own main() calls the program's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from latebind.errors import InputError, NotRun
from latebind.tables.targets import target
from latebind.verify.run.native import build_for, find_built_program
from latebind.verify.run.supply import hash_parts

if TYPE_CHECKING:
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


def share_program(  # noqa: PLR0913  # what is made, and for whom
    bench: Bench,
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
        folder, tree = bench.work / bench.situation.folder, bench.work / "build"
        unpack(folder)
        build(folder, tree, bench.log)
    else:
        which = (bench.case.consumer, bench.case.target, packages)
        folder = bench.supply.share(hash_parts(*which), bench.log, lambda aside, _: unpack(aside))
        made = bench.supply.share(  # the folder of a tree may move: no program of it names one of its files
            hash_parts(*which, str(bool(bench.situation.action))),
            bench.log,
            lambda aside, log: build(folder, aside / "build", log),
        )
        tree = made / "build"
    _assert_able(bench, tree)
    return folder, find_built_program(source, tree)


def build_program(bench: Bench, source: Path, tree: Path, *defines: str, log: Path) -> None:
    """Build a project's CMake project for the test case's machine, with latebind's main() if the scenario needs it.

    Raises as build_for() does.
    """
    include = (f"-DCMAKE_PROJECT_INCLUDE={_CMAKE.as_posix()}",) if bench.situation.action else ()
    build_for(bench.machine, bench.config.floor(target(bench.case.target)), source, tree, *defines, *include, log=log)


def _assert_able(bench: Bench, tree: Path) -> None:
    file = tree / _LIST
    able = file.read_text("utf-8").split(";") if file.is_file() else []
    if not set(bench.situation.action[:1]) <= set(able):
        what = "does not say that its main() may be called several times" if able else "has no main()"
        raise NotRun("no-main", f"the program in C {what}", advice=_ADVICE if able else "")


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
