"""The package index: how installers reach it, what it is asked, and which versions it has for each target."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.version import Version

from latebind.errors import NotRun, ToolError
from latebind.system.cache import callers_home
from latebind.system.log import LOG
from latebind.system.parallel import each
from latebind.system.run import run
from loadcheck.model import Rid

if TYPE_CHECKING:
    from latebind.verify.cases.installers import Installer

_INSTALL_LIMIT, _ANSWER_LIMIT = 600.0, 120.0
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "requests_ca_bundle", "curl_ca_bundle")
"""Settings of the way to an index, in lower case."""
_URL = re.compile(r"https?://[^\s()'\"`]+")
_SAME = (("PIP_INDEX_URL", "UV_DEFAULT_INDEX"), ("PIP_FIND_LINKS", "UV_FIND_LINKS"))
_WORDS: Mapping[str, tuple[str, ...]] = {
    "no-index": (
        "Could not fetch URL",
        "Connection broken",
        "Failed to establish a new connection",
        "Failed to fetch",
        "Received some unexpected",
        "Request failed",
        "Temporary failure",
        "Unsupported `Content-Type`",
        "error sending",
        "ran past its limit",
        "returned a 401",
        "returned a 403",
    ),
    "no-distribution": ("No solution found", "No matching distribution", "not found in the package registry"),
}
"""What uv and pip print when the index does not answer, and when it has nothing that fits; the first match counts.

Both exit with 1 for either, and have no other form of their errors.
"""


# ---- reaching it ---------------------------------------------------------------------------------------------------


def installer_environment(home: Path) -> dict[str, str]:
    """The environment of an installer: the caller's settings for the index; other settings and files below `home`.

    pip's own settings for the index are given to uv under uv's names, so that one setting serves both. Downloads are
    cached where the caller's uv and pip cache theirs, or below `home` when that is not writable.
    """
    settings = {
        key: value
        for key, value in os.environ.items()
        if key.startswith(("UV_", "PIP_", "SSL_")) or key.lower() in PROXIES
    }
    settings |= {uv: settings[pip] for pip, uv in _SAME if pip in settings and uv not in settings}
    cache = Path(os.environ.get("XDG_CACHE_HOME") or callers_home() / ".cache")
    cache = cache if is_writable(cache) else home / "cache"
    settings.setdefault("UV_CACHE_DIR", str(cache / "uv"))
    settings.setdefault("PIP_CACHE_DIR", str(cache / "pip"))
    system = {key: os.environ[key] for key in ("SYSTEMROOT", "TEMP", "TMP", "TMPDIR") if key in os.environ}
    fixed = {"HOME": str(home), "UV_NO_PROGRESS": "1", "UV_PYTHON_DOWNLOADS": "never", "PIP_NO_INPUT": "1"}
    return {**settings, **system, **fixed, "PATH": os.environ.get("PATH", "")}


def is_set_offline() -> bool:
    """Whether the caller's UV_OFFLINE keeps uv from the network, by the words that uv takes for true."""
    return os.environ.get("UV_OFFLINE", "").lower() in {"1", "on", "t", "true", "y", "yes"}


def is_writable(folder: Path) -> bool:
    """Whether files can be made in a folder, or the folder in its first ancestor that exists."""
    existing = next((path for path in (folder, *folder.parents) if os.access(path, os.F_OK)), folder)
    return existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)


def ask_index(argv: Sequence[str | Path], environment: Mapping[str, str], requirement: str) -> str:
    """What an installer prints when it only resolves. Raises NotRun `no-distribution` or `no-index`."""
    try:
        return run(argv, env=environment, timeout=_ANSWER_LIMIT).output
    except ToolError as error:
        if _reason(error) == "no-distribution":
            raise NotRun("no-distribution", f"the index has no {requirement} for this target and Python") from error
        raise _no_answer(error) from error


def ask_uv(
    argv: Sequence[str | Path], environment: Mapping[str, str], requirement: str, offline: threading.Event
) -> str:
    """What uv resolves: from the index, or from its cache when the index does not answer; then `offline` is set.

    Raises NotRun as `ask_index` does.
    """
    was_offline = offline.is_set()
    try:
        return ask_index(argv, environment, requirement)
    except NotRun as error:
        if was_offline:
            why = "UV_OFFLINE is set" if is_set_offline() else "the package index gave no usable answer"
            raise NotRun("no-index", f"{why}, and uv's cache has no {requirement}") from error
        if error.reason != "no-index":
            raise
        unanswered = error
    try:
        answer = ask_index(argv, {**environment, "UV_OFFLINE": "1"}, requirement)
    except NotRun:
        raise unanswered from None
    if not offline.is_set():
        offline.set()
        LOG.say(f"{unanswered.message.partition(': ')[0]}; using only what uv has cached")
    return answer


def run_installer(argv: Sequence[str | Path], environment: dict[str, str], log: Path) -> None:
    """Run an installer. Raises NotRun `no-distribution` or `no-index`, otherwise ToolError."""
    try:
        run(argv, env=environment, timeout=_INSTALL_LIMIT, log=log)
    except ToolError as error:
        reason = _reason(error)
        if not reason:
            raise
        if is_set_offline() and Path(argv[0]).stem == "uv":
            raise NotRun("no-index", f"UV_OFFLINE is set, and uv's cache lacks a package: {error.message}") from error
        if reason == "no-index":
            raise _no_answer(error) from error
        raise NotRun(reason, f"the index has nothing that fits: {error.message}") from error


def _no_answer(error: ToolError) -> NotRun:
    asked = _URL.search(error.message)
    return NotRun("no-index", f"{asked[0] if asked else 'the package index'} gave no usable answer: {error.message}")


def _reason(error: ToolError) -> str:
    return next(
        (reason for reason, phrases in _WORDS.items() if any(phrase in error.message for phrase in phrases)), ""
    )


# ---- asking it -----------------------------------------------------------------------------------------------------

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
