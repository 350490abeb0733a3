"""What a consumer program reports, in one form for every language; and the judgement of it. Runs nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from latebind.errors import InputError
from latebind.model import Cell, Outcome, State

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from latebind.verify.cells import Scenario

ALL_PASSED, SOME_FAILED, NOTHING_LOADED = 0, 1, 3
"""Exit status of a consumer; the last when it could not load any model."""
_SHOWN_FAILURES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Smoke:
    """How a consumer ended."""

    status: int
    output: str
    passed: tuple[str, ...] = ()
    failed: tuple[tuple[str, str], ...] = ()
    """(name, message)."""
    out_of_scope: Mapping[str, str] = field(default_factory=dict)
    libraries: tuple[str, ...] = ()
    """Files of the packages and the runtime that were mapped into the process."""
    runtime_version: str = ""
    error: str = ""
    """The sentence that a user saw when nothing could be loaded."""


class _Failure(msgspec.Struct, frozen=True):
    name: str
    message: str


class _Error(msgspec.Struct, frozen=True):
    message: str


class _Report(msgspec.Struct, frozen=True):
    version: str = ""


class _Document(msgspec.Struct, frozen=True):
    """The JSON that a Python consumer writes; docs/verify.md describes it."""

    passed: tuple[str, ...] = ()
    failed: tuple[_Failure, ...] = ()
    out_of_scope: dict[str, str] = msgspec.field(default_factory=dict)
    libraries: tuple[str, ...] = ()
    report: _Report | None = None
    error: _Error | None = None


def read_python(status: int, output: str, raw: bytes) -> Smoke:
    """A Smoke from what a Python consumer wrote.

    Raises InputError, with the place, when it is not what a consumer must write.
    """
    try:
        document = msgspec.json.decode(raw, type=_Document)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        message = f"the consumer's result is not as it should be: {error}"
        raise InputError(message, advice="docs/verify.md says what a consumer writes.") from error
    return Smoke(
        status=status,
        output=output,
        passed=document.passed,
        failed=tuple((row.name, row.message) for row in document.failed),
        out_of_scope=document.out_of_scope,
        libraries=document.libraries,
        runtime_version=document.report.version if document.report else "",
        error=document.error.message if document.error else "",
    )


def judge(  # noqa: PLR0913  # a cell, what is expected of it, what was seen
    cell: Cell,
    row: Scenario,
    smoke: Smoke,
    root: Path,
    *,
    values: Mapping[str, str],
    reference: frozenset[str] | None = None,
    at_least: int = 1,
) -> Outcome:
    """Whether a consumer did what its scenario expects.

    `root` is the folder that every mapped library must lie in; `values` fill the placeholders of `row.says`;
    `reference` are the cases that the runtime's own API passes: failing another is no failure. Fewer than `at_least`
    that pass are too few, whatever else.
    """
    problems = _negative(row, smoke, values) if row.negative else _positive(cell, smoke, root, reference, at_least)
    if problems:
        return Outcome(cell=cell, state=State.FAILED, reason="\n".join(problems))
    if row.negative:
        return Outcome(cell=cell, state=State.PASSED, summary=f'says: "{smoke.error}"', facts={"sentence": smoke.error})
    facts: dict[str, object] = {
        "passed": len(smoke.passed),
        "runtime_version": smoke.runtime_version,
        "out_of_scope": dict(smoke.out_of_scope),
    }
    summary = f"{len(smoke.passed)} models agree"
    if reference is not None:
        facts["reference_passed"] = len(reference)
        facts["beyond_reference"] = sorted(set(smoke.passed) - reference)
        summary += f", {len(reference)} through the runtime's own API"
    return Outcome(cell=cell, state=State.PASSED, summary=summary, facts=facts)


def _positive(cell: Cell, smoke: Smoke, root: Path, reference: frozenset[str] | None, at_least: int) -> list[str]:
    problems = []
    if smoke.status not in (ALL_PASSED, SOME_FAILED) or smoke.error:
        problems.append(f"ended with status {smoke.status}: {smoke.error or smoke.output[-500:]}")
    lost = [row for row in smoke.failed if reference is None or row[0] in reference]
    problems += [f"{name}: {message}" for name, message in lost[:_SHOWN_FAILURES]]
    if len(lost) > _SHOWN_FAILURES:
        problems.append(f"and {len(lost) - _SHOWN_FAILURES} more")
    if len(smoke.passed) < at_least and not problems:
        problems.append(f"{len(smoke.passed)} models were computed as expected, at least {at_least} should be")
    absent = (reference or frozenset()) - set(smoke.passed) - {name for name, _ in smoke.failed}
    if absent and not problems:
        problems.append(f"{len(absent)} models were never tried, {min(absent)} among them")
    if not problems and smoke.runtime_version != cell.version:
        problems.append(f"bound runtime {smoke.runtime_version or 'of no version'}, expected {cell.version}")
    if cell.target.startswith("linux") and cell.runtime and not smoke.libraries:
        problems.append("the consumer did not say which libraries it had loaded")
    return problems + _strangers(smoke.libraries, root)


def _strangers(libraries: Sequence[str], root: Path) -> list[str]:
    """Libraries that came from outside the environment."""
    inside = (str(root), str(root.resolve()))
    return [f"{path} was loaded from outside {root}" for path in libraries if not path.startswith(inside)]


def _negative(row: Scenario, smoke: Smoke, values: Mapping[str, str]) -> list[str]:
    if smoke.status != NOTHING_LOADED or not smoke.error:
        return [f"loading was expected to fail, but the consumer ended with status {smoke.status}"]
    wanted = [text.format_map(values) for text in row.says]
    lower = smoke.error.lower()
    return [f'the sentence lacks "{text}": {smoke.error}' for text in wanted if text.lower() not in lower]
