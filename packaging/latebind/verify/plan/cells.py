"""Which cells there are: packages x targets x consumers x runtime versions x scenarios, as data; runs nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from latebind.model import Cell, Rid
from latebind.plan import unsupplied
from latebind.tables.targets import other_processor, target
from latebind.verify.plan.scenarios import C_NUPKG, PYTHON, SCENARIOS, Scenario
from latebind.verify.plan.versions import BELOW_FLOOR, EACH_MINOR, Answers, Question

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from latebind.config.config import Config
    from latebind.config.document import RuntimeUse

_WITHOUT_RUNTIME = frozenset({"works", "consumed", "files"})
"""What there is to try of a project that binds no runtime."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """How much is verified, and with what."""

    pythons: Mapping[Rid, str]
    """The minor version of the interpreter that each target's cells run with: `3.11`."""
    home: Rid
    """The target that this machine runs natively."""
    everything: bool = False
    """Also each minor version of the runtimes, their other distributions, and `others`."""
    others: tuple[str, ...] = ()
    """Further minor versions of CPython, tried on `home`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A cell with what it was expanded from: the runtime that it is about, and what the index was asked for it."""

    cell: Cell
    use: RuntimeUse | None
    """None for a project that binds no runtime."""
    question: Question | None
    """None for a cell without a runtime."""
    entry: str
    """The entry of [verify].runtimes whose data the cell computes: `minimum`, `latest`, a version."""
    python: str
    """The minor version of the interpreter: `3.11`."""
    entries: tuple[str, ...] = ("",)
    """All that the index was asked and answered with this cell's version; "" where it was not asked."""
    native_only: bool = False
    """Whether an emulated machine does not try it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """One line of the plan before the index has answered."""

    use: RuntimeUse | None
    scenario: Scenario
    consumer: str
    python: str
    entry: str
    """What the index is asked; "" for nothing."""
    distribution: str


def entries(config: Config, use: RuntimeUse, *, everything: bool) -> tuple[str, ...]:
    """The versions of a runtime that are verified, as the configuration writes them."""
    own = config.document.verify.runtimes.get(use.name, ("minimum", EACH_MINOR, "latest"))
    return own if everything else tuple(entry for entry in own if entry != EACH_MINOR) or ("latest",)


def questions(config: Config, rids: tuple[Rid, ...], scope: Scope) -> list[Question]:
    """All that the index must be asked before the cells are known."""
    return [
        question
        for rid in rids
        for row in _rows(config, rid, scope)
        if (question := _question(row, rid)) is not None and row.use is not None
    ] + [Question(distribution=use.known.python.distribution, minimum=use.minimum, entry="minimum",
                  target=rid, python=scope.pythons[rid])
         for rid in rids for use in config.document.runtime]  # fmt: skip


def expand(config: Config, rid: Rid, scope: Scope, answers: Answers) -> tuple[Planned, ...]:
    """All cells of a target, in the order of the table.

    An entry that the index has nothing for stays as it is written, so that its cells are listed as *not run*.
    """
    found: dict[str, Planned] = {}
    for row in _rows(config, rid, scope):
        for planned in _planned(config, row, rid, answers):
            known = found.get(planned.cell.id)
            # A version that is named by itself has data of its own; as one of all minor versions it has not.
            kept = planned if known is None or row.entry != EACH_MINOR else known
            before = known.entries if known is not None else ()
            found[planned.cell.id] = replace(kept, entries=tuple(dict.fromkeys((*before, row.entry))))
    return tuple(found.values())


def _rows(config: Config, rid: Rid, scope: Scope) -> Iterator[_Row]:
    system = target(rid).system
    for use in config.document.runtime or (None,):
        if unsupplied(config, config.package_of(use), rid):
            continue
        for scenario in SCENARIOS:
            if system not in scenario.systems or not _possible(config, use, scenario, rid):
                continue
            for consumer in scenario.consumers:
                if not _wanted(config, consumer) or not _supplied(use, scenario, consumer):
                    continue
                for entry in _entries(config, use, scenario, rid, scope):
                    yield _row(use, scenario, consumer, scope.pythons[rid], entry)
            if scenario.name == "works" and scope.everything and _wanted(config, PYTHON):
                yield from _more(config, use, scenario, rid, scope)


def _more(config: Config, use: RuntimeUse | None, works: Scenario, rid: Rid, scope: Scope) -> Iterator[_Row]:
    """Other interpreters, and other distributions of the runtime."""
    if rid == scope.home and not config.tried(use).native_only:
        for minor in scope.others:
            for entry in ("minimum", "latest") if use else ("",):
                yield _row(use, works, PYTHON, minor, entry)
    if use is not None:
        for name in list(use.known.python.extras.values())[1:]:
            yield _row(use, works, PYTHON, scope.pythons[rid], "latest", name)


def _row(  # noqa: PLR0913  # the coordinates of a cell
    use: RuntimeUse | None, scenario: Scenario, consumer: str, python: str, entry: str, distribution: str = ""
) -> _Row:
    ordinary = use.known.python.distribution if use else ""
    return _Row(
        use=use,
        scenario=scenario,
        consumer=consumer,
        python=python,
        entry=entry,
        distribution=distribution or ordinary,
    )


def _entries(config: Config, use: RuntimeUse | None, scenario: Scenario, rid: Rid, scope: Scope) -> tuple[str, ...]:
    """What the index is asked for a scenario. Without a runtime there is nothing to try but that it works."""
    if use is None or scenario.versions == "none":
        return ("",)
    if scenario.versions == "below":
        return (BELOW_FLOOR,) if use.known.floor else ()
    each_minor = config.document.verify.each_minor or config.document.targets.include[:1]
    own = entries(config, use, everything=scope.everything and rid in each_minor)
    return own if scenario.versions == "all" else own[-1:]


def _question(row: _Row, rid: Rid) -> Question | None:
    if row.use is None or not row.entry:
        return None
    # What is below the floor has no shared library; what is below a higher minimum may have one.
    minimum = row.use.known.floor if row.entry == BELOW_FLOOR else row.use.minimum
    return Question(distribution=row.distribution, minimum=minimum, entry=row.entry, target=rid, python=row.python)


def _planned(config: Config, row: _Row, rid: Rid, answers: Answers) -> Iterator[Planned]:
    question = _question(row, rid)
    own = entries(config, row.use, everything=False) if row.use else ("default",)
    entry = row.entry if row.entry in own else own[0] if row.entry == EACH_MINOR else own[-1]
    python = row.consumer == PYTHON
    for version in ("",) if question is None else answers.found.get(question, (row.entry,)):
        cell = Cell(
            kind="wheel" if python else "nupkg",
            target=rid,
            consumer=f"python{row.python}" if python else row.consumer,
            runtime=_named(config, row, question, row.distribution if python else _nuget(row.use, question)),
            version=version,
            scenario=row.scenario.name,
        )
        native_only = config.tried(row.use).native_only
        yield Planned(
            cell=cell, use=row.use, question=question, entry=entry, python=row.python, native_only=native_only
        )


def _nuget(use: RuntimeUse | None, question: Question | None) -> str:
    """The id of the runtime's package; its own name where applications take it from elsewhere."""
    if use is None:
        return ""
    return next(iter(use.known.nuget.ids), use.name if question is not None else "")


def _named(config: Config, row: _Row, question: Question | None, name: str) -> str:
    """The runtime as a cell's id has it: where none is installed, it tells the first from the others."""
    return name if question is not None or row.use not in (None, *config.document.runtime[:1]) else ""


def _possible(config: Config, use: RuntimeUse | None, scenario: Scenario, rid: Rid) -> bool:
    """Whether a project can have a scenario at all: a cell that could never run would block the gate for good."""
    if use is None:
        return scenario.name in _WITHOUT_RUNTIME
    if scenario.name not in (config.tried(use).scenarios or (scenario.name,)):
        return False
    if scenario.synthetic and not use.has_text:
        return False
    able = {
        "a GPU distribution": "gpu" in use.known.python.extras,
        "a package that another one loads": bool(config.packages[config.package_of(use)].requires),
        "another processor": other_processor(rid) is not None,
    }
    return not scenario.needs or able[scenario.needs]


def _supplied(use: RuntimeUse | None, scenario: Scenario, consumer: str) -> bool:
    """Whether a consumer can get the runtime: one that is on no feed of NuGet's must be named."""
    if use is None or consumer == PYTHON or not scenario.computes:
        return True
    return bool(use.known.nuget.ids) or scenario.named


def _wanted(config: Config, consumer: str) -> bool:
    """Whether there is a consumer of that kind, and a package for it."""
    verify, packages = config.document.verify, config.packages.values()
    if consumer == PYTHON:
        return bool(verify.python) and any(package.wheel is not None for package in packages)
    script = verify.c if consumer == C_NUPKG else verify.dotnet
    return bool(script) and any(package.nuget is not None for package in packages)
