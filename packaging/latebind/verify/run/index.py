"""The package index: what it is asked, and which versions it has for each target."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from packaging.version import Version

from latebind.backend.targets import Rid
from latebind.errors import NotRun
from latebind.system.parallel import each
from latebind.verify.run.installers import PYTHONS, Installer

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
    """The minor version of the interpreter: `3.11`; "" where only the library in the wheel matters, for any CPython."""
    npm: bool = False
    """Whether npm's registry is asked."""
    prereleases: bool = False
    """With the entry `latest`: whether the newest pre-release is another answer, if it is newer."""


class ForOtherPythons(NotRun):
    """The index has a version, but not for the interpreter."""

    def __init__(self, question: Question, pythons: tuple[str, ...]) -> None:
        some = f"{pythons[-1]} to {pythons[0]}" if pythons[1:] else pythons[0]
        lacking = f"the index has no {requirement(question)} for Python {question.python}, only for {some}"
        super().__init__("no-distribution", lacking)
        self.pythons = pythons
        """Those that it is for, the newest first."""


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

    def list_other_pythons(self) -> tuple[str, ...]:
        """The CPythons that the index has versions for which it lacks for the ones that were asked about."""
        troubles = (trouble for trouble in self.trouble.values() if isinstance(trouble, ForOtherPythons))
        return tuple(dict.fromkeys(python for trouble in troubles for python in trouble.pythons))

    def merge(self, others: Answers) -> Answers:
        """These answers and others, to other questions."""
        return Answers(found={**self.found, **others.found}, trouble={**self.trouble, **others.trouble})


def ask(
    questions: Iterable[Question],
    installer: Installer,
    python: Path,
    jobs: int = 0,
    npm: Registry | None = None,
) -> Answers:
    """Ask the index all questions in parallel; `npm` answers those for its registry."""
    unique = sorted(set(questions))
    results = each(lambda question: _ask(_Asked(question, installer, python), npm), unique, jobs=jobs)
    answers = dict(zip(unique, results, strict=True))
    return Answers(
        found={question: answer for question, answer in answers.items() if not isinstance(answer, NotRun)},
        trouble={question: answer for question, answer in answers.items() if isinstance(answer, NotRun)},
    )


def describe_older_latest(answers: Answers, more: Callable[[Question], Answers]) -> Iterator[str]:
    """A note for each latest version that a newer one follows, which has no wheel for the interpreter."""
    for question, versions in answers.found.items():
        if question.entry != "latest" or question.npm or not question.python:
            continue
        any_python = replace(question, python="", prereleases=False)
        newest = (answers.found.get(any_python) or more(any_python).found.get(any_python, versions))[0]
        if Version(newest) > Version(versions[0]):
            yield (
                f"note: {question.distribution} {versions[0]} is the latest for Python {question.python} on "
                f"{question.target}; {newest} has no wheel for it\n"
                "  help: to verify with the newest, install latebind with a newer Python"
            )


def _ask(asked: _Asked, npm: Registry | None) -> tuple[str, ...] | NotRun:
    try:
        return npm(asked.question, asked.installer.home) if asked.question.npm and npm is not None else asked.answer()
    except NotRun as error:
        return error


class _Asked(NamedTuple):
    """A question to the index of wheels. What finds a version raises NotRun."""

    question: Question
    installer: Installer
    python: Path

    def answer(self) -> tuple[str, ...]:
        """The versions for the question.

        Where the index has no wheel of the minimum for a target, whatever the CPython, the minimum is the first minor
        version that has one: nobody can install an older one there.
        """
        question = self.question
        if question.entry == EACH_MINOR:
            return tuple(self._list_minors())
        if question.entry == "latest":
            latest = self._resolve_latest()
            # A specifier that names a pre-release admits pre-releases (PEP 440).
            newer = self._find(f"{question.distribution}>{latest},>=0.dev0") if question.prereleases else ""
            return (latest, newer) if newer else (latest,)
        try:
            return (self._resolve(requirement(question)),)
        except NotRun as error:
            if error.reason != "no-distribution" or question.entry != "minimum":
                raise
            others = (other for other in reversed(PYTHONS) if question.python and other != question.python)
            if found := tuple(other for other in others if self._find(requirement(question), other)):
                raise ForOtherPythons(question, found) from error
            if first := next(self._list_minors(), ""):
                return (first,)
            raise

    def _list_minors(self) -> Iterator[str]:
        """The newest release of each minor version, without those that were never released or not for this target."""
        question, latest = self.question, self._resolve_latest()
        first, last = Version(question.minimum), Version(latest)
        if first.major == last.major:
            minors = (f"{first.major}.{minor}" for minor in range(first.minor, last.minor))
            found = (self._find(f"{question.distribution}=={minor}.*,>={question.minimum}") for minor in minors)
            yield from filter(None, chain(found, [latest]))

    def _resolve_latest(self) -> str:
        """The newest version for the target, if that is not older than the minimum."""
        question = self.question
        latest = self._resolve(question.distribution)
        if Version(latest) < Version(question.minimum):
            why = f"the newest {question.distribution} that the index has for {question.target} is {latest}"
            raise NotRun("no-distribution", f"{why}, but {question.minimum} or newer is needed")
        return latest

    def _find(self, wanted: str, minor: str = "") -> str:
        """The version for a requirement and a CPython; "" where the index has none."""
        try:
            return self._resolve(wanted, minor)
        except NotRun as error:
            if error.reason != "no-distribution":
                raise
            return ""

    def _resolve(self, wanted: str, minor: str = "") -> str:
        """The version for a requirement and a CPython; without one, what the newest gets. Raises NotRun."""
        if named := minor or self.question.python:
            return self.installer.resolve(wanted, self.python, self.question.target, named)
        if found := next(filter(None, (self._find(wanted, python) for python in reversed(PYTHONS))), ""):
            return found
        raise NotRun("no-distribution", f"the index has no {wanted} for this target")


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
