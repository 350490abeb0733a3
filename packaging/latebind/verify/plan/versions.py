"""Which versions of a runtime there are, as the index says: for a target, an interpreter and a distribution."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from packaging.version import Version

from latebind.errors import NotRun
from latebind.system.parallel import each

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from latebind.model import Rid
    from latebind.verify.plan.installers import Installer

BELOW_FLOOR = "<"
"""Stands for the newest release below the floor."""
EACH_MINOR = "each-minor"
"""Stands for the newest release of each minor version between the floor and the latest."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Question:
    """What the index is asked: `entry` is `minimum`, `latest`, BELOW_FLOOR, EACH_MINOR or a version."""

    distribution: str
    minimum: str
    entry: str
    target: Rid
    python: str
    """The minor version of the interpreter: `3.11`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What the index answered, in ascending order of versions, and why it has nothing for the other questions."""

    found: Mapping[Question, tuple[str, ...]] = field(default_factory=dict)
    trouble: Mapping[Question, NotRun] = field(default_factory=dict)


def ask(questions: Iterable[Question], installer: Installer, python: Path, jobs: int = 0) -> Answers:
    """Ask the index all questions at once."""
    rows = sorted(set(questions))
    answers = each(lambda row: _asked(row, installer, python), rows, jobs=jobs)
    found = {row: answer for row, answer in zip(rows, answers, strict=True) if not isinstance(answer, NotRun)}
    trouble = {row: answer for row, answer in zip(rows, answers, strict=True) if isinstance(answer, NotRun)}
    return Answers(found=found, trouble=trouble)


def _asked(row: Question, installer: Installer, python: Path) -> tuple[str, ...] | NotRun:
    try:
        if row.entry != EACH_MINOR:
            return (installer.resolve(requirement(row), python, row.target, row.python),)
        latest = installer.resolve(row.distribution, python, row.target, row.python)
        return tuple(_minors(row, latest, installer, python))
    except NotRun as error:
        return error


def _minors(row: Question, latest: str, installer: Installer, python: Path) -> Iterable[str]:
    """The newest release of each minor version; versions that were never released, or not for this target, are none."""
    first, last = Version(row.minimum), Version(latest)
    if first.major != last.major:
        return
    for minor in range(first.minor, last.minor):
        wanted = f"{row.distribution}=={first.major}.{minor}.*,>={row.minimum}"
        try:
            yield installer.resolve(wanted, python, row.target, row.python)
        except NotRun as error:
            if error.reason != "no-distribution":
                raise
    yield latest


def requirement(row: Question) -> str:
    """What to ask the index for: `onnxruntime==1.19.*,>=1.19` for the minimum, `onnxruntime` for the latest."""
    name = row.distribution
    if row.entry == "latest":
        return name
    if row.entry == BELOW_FLOOR:
        return f"{name}<{row.minimum}"
    if row.entry == "minimum":
        floor = Version(row.minimum)
        return f"{name}=={floor.major}.{floor.minor}.*,>={row.minimum}"
    return f"{name}=={row.entry}"


def raised_minimum(version: str) -> str:
    """A floor just above a version: 1.31.1 -> 1.32."""
    parsed = Version(version)
    return f"{parsed.major}.{parsed.minor + 1}"
