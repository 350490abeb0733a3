"""Judges a consumer's run: whether it did what its scenario expects. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.version import Version

from latebind.backend.targets import target
from latebind.model import Case, Outcome, State
from latebind.text import ending, is_crash, plural
from latebind.verify.run.protocol import (
    ALL_PASSED,
    NOTHING_LOADED,
    SOME_FAILED,
    ConsumerRun,
    Recorded,
    SeenProcess,
    with_output,
)

if TYPE_CHECKING:
    from latebind.verify.declared import Scenario
    from latebind.verify.run.trial import Phase, Trial

_SHOWN_FAILURES = 5
_AT_EXIT = "A destructor, an exit handler or a thread that still runs crashes while the process ends."
_SYSTEM = ("/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/", "/System/", "c:\\windows\\")
_WORKING = ("", ".")
"""How sys.path has the working folder; PEX writes it as a dot."""
_LEAKS = ("VIRTUAL_ENV", "CONDA_PREFIX")


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """What a test case asks of its consumer."""

    scenario: Scenario
    roots: tuple[str, ...]
    """The folders that every library of the packages and the runtime must come from."""
    values: Mapping[str, str] = field(default_factory=dict)
    """What fills the placeholders of `scenario.says`."""
    reference: frozenset[str] | None = None
    """The cases that the runtime's own API passes, without some that passed here, too; None where that is unknown.

    Failing another one does not count.
    """
    at_least: int = 1
    """How many cases must pass."""
    is_sample: bool = False
    """Whether the consumer was asked for a sample of the cases only."""
    binds: tuple[str, ...] = ()
    """The runtime versions that may be bound; () for any."""
    has_version: bool = True
    """Whether the runtime reports its version."""
    copies: int = 0
    """How many copies of the runtime the process may have; 0 for any number."""
    base: str = ""
    """The interpreter's own folder, which its process may use as well as the system's."""
    runtime: tuple[str, ...] = ()
    """Globs of the runtime's file names: these must come from `roots` even where others need not."""


def judge(case: Case, expectation: Expectation, ended: ConsumerRun, seen: SeenProcess | None = None) -> Outcome:
    """Whether a consumer did what is expected; `seen` is its process as the driver saw it."""
    if expectation.scenario.negative:
        loading, computing = _check_refusal(expectation, ended), []
    else:
        loading = _find_load_failures(ended)
        computing = _find_failed_cases(ended, expectation, quiet=bool(loading))
        loading += _find_misplaced(case, ended, expectation, quiet=bool(loading or computing))
    if seen is not None:
        loading += _find_leftovers(seen, expectation, target(case.target).preload)
    if loading or computing:
        phase: Phase = "load" if loading else "inference"
        return Outcome(case=case, state=State.FAILED, reason="\n".join(loading + computing), facts={"phase": phase})
    if expectation.scenario.negative:
        message = ended.result.message
        return Outcome(case=case, state=State.PASSED, summary=f'message: "{message}"', facts={"message": message})
    return _summarize(case, expectation, ended)


def expect(trial: Trial, ended: ConsumerRun, library: str, *roots: Path) -> Expectation:
    """What a test case asks of its consumer; `library` is the runtime's file as the consumer has it."""
    return Expectation(
        scenario=trial.scenario,
        roots=tuple(map(str, roots)),
        values=trial.values(library),
        reference=trial.reference(ended.result),
        at_least=trial.at_least(),
        is_sample=bool(trial.sample),
        binds=tuple(map(trial.shorten, trial.binds())),
        has_version=trial.has_version,
        copies=trial.situation.copies,
    )


def judge_program(trial: Trial, ended: ConsumerRun, library: str = "", *folders: Path) -> Outcome:
    """Judge a program whose libraries come from the test case's folder or `folders`.

    What it leaves out on purpose is listed in the report.
    """
    expected = expect(trial, ended, library, trial.work, *folders)
    if expected.reference is not None:
        expected = replace(expected, reference=expected.reference - set(ended.result.out_of_scope))
    return judge(trial.case, expected, ended)


def _summarize(case: Case, expectation: Expectation, ended: ConsumerRun) -> Outcome:
    result = ended.result
    facts: dict[str, object] = {
        "passed": len(result.passed),
        "runtime_version": result.version,
        "out_of_scope": dict(result.out_of_scope),
    }
    summary = f"{plural(len(result.passed), 'case')} passed"
    if result.failed:  # a failure that counts would have been reported
        facts["excused"] = sorted(failure.name for failure in result.failed)
        verb = "fails" if len(result.failed) == 1 else "fail"
        summary += f", {len(result.failed):,} also {verb} through the runtime's own API"
    if result.newest is not None:
        facts["newest"] = {"function": result.newest.function, "since": result.newest.since}
        summary += _newest(result.newest, expectation.values)
    return Outcome(case=case, state=State.PASSED, summary=summary, facts=facts)


def _newest(call: Recorded, values: Mapping[str, str]) -> str:
    """What a call says about the minimum; "" where they agree, or only an older runtime is needed than any has."""
    needed, minimum = Version(call.since), Version(values["minimum"])
    if needed > minimum:
        return f"; {call.function} needs {values['title']} {call.since}, but the minimum is {minimum}"
    if Version(values["floor"]) <= needed < minimum:
        return f"; the code calls nothing newer than {values['title']} {call.since}, but the minimum is {minimum}"
    return ""


def _find_load_failures(ended: ConsumerRun) -> list[str]:
    """That the consumer could load nothing, or ended in another way than a consumer does."""
    if ended.status in (ALL_PASSED, SOME_FAILED) and not ended.result.message:
        return []
    if is_crash(ended.status) and ended.result.has_cases:
        return [with_output(f"{ending(ended.status)} after it had written its result", ended.output), _AT_EXIT]
    text = ending(ended.status)
    return [f"{text}: {ended.result.message}" if ended.result.message else with_output(text, ended.output)]


def _find_failed_cases(ended: ConsumerRun, expectation: Expectation, *, quiet: bool) -> list[str]:
    """Cases that failed or are missing; `quiet` about missing ones when the reason is known."""
    reference, passed, failed = expectation.reference, ended.result.passed, ended.result.failed
    lost = [failure for failure in failed if reference is None or failure.name in reference]
    problems = [f"{failure.name}: {failure.message}" for failure in lost[:_SHOWN_FAILURES]]
    if len(lost) > _SHOWN_FAILURES:
        problems.append(f"and {len(lost) - _SHOWN_FAILURES} more")
    if problems or quiet:
        return problems
    if len(passed) < expectation.at_least:
        return [f"{plural(len(passed), 'case')} passed, but at least {expectation.at_least:,} must pass"]
    absent = (reference or frozenset()) - set(passed) - {failure.name for failure in failed}
    if absent and not expectation.is_sample:
        return [f"{plural(len(absent), 'case')} {'was' if len(absent) == 1 else 'were'} never tried: {min(absent)}"]
    return []


def _find_misplaced(case: Case, ended: ConsumerRun, expectation: Expectation, *, quiet: bool) -> list[str]:
    """That another runtime or library was loaded; `quiet` about the version when the reason is known."""
    problems, version = [], ended.result.version
    fits = version in expectation.binds if expectation.binds else bool(version) or not expectation.has_version
    if not quiet and not fits:
        expected = " or ".join(expectation.binds) or "one that reports its version"
        problems.append(f"bound runtime {version or 'of unknown version'}, expected {expected}")
    copies = ended.result.report.copies if ended.result.report else 0
    if copies > expectation.copies > 0:
        problems.append(f"{copies} copies of the runtime are loaded, expected {expectation.copies}")
    if target(case.target).lists_libraries and case.runtime and not ended.result.libraries:
        problems.append("the consumer did not report which libraries it had loaded")
    inside = _inside(expectation.roots)
    strangers = [path for path in ended.result.libraries if not _is_below(path, inside)]
    return problems + [f"{path} was loaded from outside {expectation.roots[0]}" for path in strangers]


def _inside(roots: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for root in roots for name in {root, str(Path(root).resolve())})


def _find_leftovers(seen: SeenProcess, expectation: Expectation, preload: str) -> list[str]:
    """What a clean environment would not have: foreign entries of sys.path, libraries, variables."""
    inside_roots, root = _inside(expectation.roots), expectation.roots[0]
    inside = (*inside_roots, *(_inside((expectation.base,)) if expectation.base else ()))
    problems = [f"{path} was mapped, from outside {root}" for path in seen.libraries if not _is_in(path, inside)]
    problems += [
        f"{path}, a file of the runtime, was mapped from outside {root}"
        for path in seen.libraries
        if any(fnmatch(re.split(r"[\\/]", path)[-1].lower(), glob) for glob in expectation.runtime)
        and not _is_below(path, inside_roots)
    ]
    problems += [f"{path} was on sys.path" for path in seen.path if path not in _WORKING and not _is_in(path, inside)]
    leaks = [name for name in seen.variables if name.startswith("PYTHON") or name in (*_LEAKS, preload)]
    return problems + [f"the variable {name} was set" for name in leaks]


def _is_in(path: str, inside: Sequence[str]) -> bool:
    return _is_below(path, inside) or any(text.startswith(_SYSTEM) for text in (path, path.lower()))


def _is_below(path: str, folders: Sequence[str]) -> bool:
    """Whether a path is one of the folders, or in one: `/environment2` is not in `/environment`."""
    starts = (folder.rstrip("/\\") for folder in folders)
    return path in folders or any(path.startswith((f"{start}/", f"{start}\\")) for start in starts)


def _check_refusal(expectation: Expectation, ended: ConsumerRun) -> list[str]:
    message = ended.result.message
    if ended.status != NOTHING_LOADED:
        return [f"loading was expected to fail, but the consumer {ending(ended.status)}"]
    if not message:
        return [f"the consumer {ending(ended.status)}, but its result has no error message"]
    says = [text for text in expectation.scenario.says if expectation.has_version or "{minimum}" not in text]
    texts = [text.format_map(expectation.values) for text in says]
    lower, short = message.lower(), expectation.values.get("short", "").lower()
    if short and short in lower:  # a function of the library gives no longer text, lb_<name>_message() gives all
        return []
    return [f'the error message lacks "{text}": {message}' for text in texts if text.lower() not in lower]
