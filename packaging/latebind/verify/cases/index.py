"""The package index: what it is asked, and which versions it has for each target."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.version import Version

from latebind.errors import NotRun
from latebind.system.parallel import each
from loadcheck.model import Rid

if TYPE_CHECKING:
    from latebind.verify.cases.installers import Installer

BELOW_FLOOR = "<"
"""Stands for the newest release below the floor."""
_PYTHONS = tuple(f"3.{minor}" for minor in range(8, 16))
"""The CPythons that wheels of a runtime may be for."""
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
    npm: bool = False
    """Whether npm's registry is asked."""
    prereleases: bool = False
    """With the entry `latest`: whether the newest pre-release is another answer, if it is newer."""


Registry = Callable[[Question, Path], tuple[str, ...]]
"""Answers a question from another registry, with a folder for its programs. Raises NotRun."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What the index answered, in ascending order of versions, and why it has nothing for the other questions."""

    found: Mapping[Question, tuple[str, ...]] = field(default_factory=dict)
    trouble: Mapping[Question, NotRun] = field(default_factory=dict)

    def find_oldest(self, question: Question) -> str:
        """The oldest version from the minimum on, "" where there is none."""
        return next(iter(self.found.get(replace(question, entry="minimum"), ())), "")


def ask(
    questions: Iterable[Question],
    installer: Installer,
    python: Path,
    jobs: int = 0,
    npm: Registry | None = None,
) -> Answers:
    """Ask the index all questions in parallel; `npm` answers those for its registry."""
    unique = sorted(set(questions))
    answers = each(lambda question: _ask(question, installer, python, npm), unique, jobs=jobs)
    versions = {
        question: answer for question, answer in zip(unique, answers, strict=True) if not isinstance(answer, NotRun)
    }
    trouble = {question: answer for question, answer in zip(unique, answers, strict=True) if isinstance(answer, NotRun)}
    return Answers(found=versions, trouble=trouble)


def _ask(question: Question, installer: Installer, python: Path, npm: Registry | None) -> tuple[str, ...] | NotRun:
    try:
        if question.npm and npm is not None:
            return npm(question, installer.home)
        if question.entry == EACH_MINOR:
            return tuple(_minors(question, _resolve_latest(question, installer, python), installer, python))
        return (_resolve_newest if question.prereleases else _resolve)(question, installer, python)
    except NotRun as error:
        return error


def _resolve_latest(question: Question, installer: Installer, python: Path) -> str:
    """The newest version for a target. Raises NotRun, also where that is older than the minimum."""
    latest = installer.resolve(question.distribution, python, question.target, question.python)
    if Version(latest) < Version(question.minimum):
        why = f"the newest {question.distribution} that the index has for {question.target} is {latest}"
        raise NotRun("no-distribution", f"{why}, but {question.minimum} or newer is needed")
    return latest


def _resolve_newest(question: Question, installer: Installer, python: Path) -> tuple[str, ...]:
    """The latest version, and a newer pre-release: uv and pip take one where a specifier matches nothing else."""
    latest = _resolve_latest(question, installer, python)
    try:
        return latest, installer.resolve(f"{question.distribution}>{latest}", python, question.target, question.python)
    except NotRun as error:
        if error.reason == "no-distribution":
            return (latest,)
        raise


def _resolve(question: Question, installer: Installer, python: Path) -> tuple[str]:
    """The version for a question. Raises NotRun.

    Where the index has no wheel of the minimum for a target, whatever the CPython, the minimum is the first minor
    version that has one: nobody can install an older one there.
    """
    if question.entry == "latest":
        return (_resolve_latest(question, installer, python),)
    try:
        return (installer.resolve(requirement(question), python, question.target, question.python),)
    except NotRun as error:
        others = (other for other in _PYTHONS if other != question.python)
        is_for_another = (_has_minimum(question, other, installer, python) for other in others)
        if error.reason != "no-distribution" or question.entry != "minimum" or any(is_for_another):
            raise
        latest = _resolve_latest(question, installer, python)
        first = next(iter(_minors(question, latest, installer, python)), "")
        if not first:
            raise
        return (first,)


def _has_minimum(question: Question, other: str, installer: Installer, python: Path) -> bool:
    """Whether the index has the minimum for another CPython."""
    try:
        return bool(installer.resolve(requirement(question), python, question.target, other))
    except NotRun:
        return False


def _minors(question: Question, latest: str, installer: Installer, python: Path) -> Iterable[str]:
    """The newest release of each minor version, without those that were never released or not for this target."""
    first, last = Version(question.minimum), Version(latest)
    if first.major != last.major:
        return
    for minor in range(first.minor, last.minor):
        minor_requirement = f"{question.distribution}=={first.major}.{minor}.*,>={question.minimum}"
        try:
            yield installer.resolve(minor_requirement, python, question.target, question.python)
        except NotRun as error:
            if error.reason != "no-distribution":
                raise
    yield latest


def requirement(question: Question) -> str:
    """The requirement to resolve: `onnxruntime==1.19.*,>=1.19` for the minimum."""
    name = question.distribution
    if question.entry == BELOW_FLOOR:
        return f"{name}<{question.minimum}"
    if question.entry == "minimum":
        floor = Version(question.minimum)
        return f"{name}=={floor.major}.{floor.minor}.*,>={question.minimum}"
    return f"{name}=={question.entry}"


def raised_minimum(version: str) -> str:
    """A minimum just above a version: 1.31.1 -> 1.32."""
    parsed = Version(version)
    return f"{parsed.major}.{parsed.minor + 1}"
