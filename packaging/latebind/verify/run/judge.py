"""What a consumer program reports, in one form for every language; and the judgement of it. Runs nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from latebind.errors import InputError
from latebind.model import Cell, Outcome, State

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from latebind.verify.plan.scenarios import Scenario
    from latebind.verify.run.stage import Stage

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


class Seen(msgspec.Struct, frozen=True):
    """What driver.py saw of the consumer's process."""

    path: tuple[str, ...]
    """sys.path."""
    libraries: tuple[str, ...]
    """Every library that was mapped."""
    variables: tuple[str, ...]
    """Names of the environment variables."""
    user: int
    """The effective user, -1 where there is none."""


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
    roots: Iterable[str],
    *,
    values: Mapping[str, str],
    reference: frozenset[str] | None = None,
    at_least: int = 1,
    binds: Sequence[str] | None = None,
    seen: Seen | None = None,
    base: str = "",
    runtime: Sequence[str] = (),
) -> Outcome:
    """Whether a consumer did what its scenario expects.

    `roots` are the folders that every library of the packages and the runtime must lie in; `values` fill the
    placeholders of `row.says`; `reference` are the cases that the runtime's own API passes: failing another is no
    failure. Fewer than `at_least` that pass are too few, whatever else. One of the versions `binds` must be bound, by
    default the cell's; () is any. `seen` is the process as the driver saw it, which may use the interpreter's own
    folder `base` and the system's besides; but files of the runtime, whose names are the globs `runtime`, must come
    from `roots`.
    """
    inside = tuple(roots)
    wanted = _Wanted(
        row=row, versions=(cell.version,) if binds is None else tuple(binds), reference=reference, at_least=at_least
    )
    loading = _negative(row, smoke, values) if row.negative else _unloaded(smoke)
    computing = [] if row.negative else _miscomputed(smoke, wanted, quiet=bool(loading))
    if not row.negative:
        loading += _misplaced(cell, smoke, inside, wanted, quiet=bool(loading or computing))
    if seen is not None:
        loading += _unclean(seen, inside, base, runtime)
    if loading or computing:
        stage: Stage = "load" if loading else "inference"
        return Outcome(cell=cell, state=State.FAILED, reason="\n".join(loading + computing), facts={"stage": stage})
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """What a positive scenario asks for, as judge() was told."""

    row: Scenario
    versions: tuple[str, ...]
    reference: frozenset[str] | None
    at_least: int


def _unloaded(smoke: Smoke) -> list[str]:
    """That the consumer could load nothing, or did not end as one does."""
    if smoke.status in (ALL_PASSED, SOME_FAILED) and not smoke.error:
        return []
    return [f"ended with status {smoke.status}: {smoke.error or smoke.output[-500:]}"]


def _miscomputed(smoke: Smoke, wanted: _Wanted, *, quiet: bool) -> list[str]:
    """Cases that were lost; `quiet` about cases that are lacking, when it is known why."""
    reference = wanted.reference
    lost = [row for row in smoke.failed if reference is None or row[0] in reference]
    problems = [f"{name}: {message}" for name, message in lost[:_SHOWN_FAILURES]]
    if len(lost) > _SHOWN_FAILURES:
        problems.append(f"and {len(lost) - _SHOWN_FAILURES} more")
    if problems or quiet:
        return problems
    if len(smoke.passed) < wanted.at_least:
        return [f"{len(smoke.passed)} models were computed as expected, at least {wanted.at_least} should be"]
    absent = (reference or frozenset()) - set(smoke.passed) - {name for name, _ in smoke.failed}
    if absent and not wanted.row.sample:
        return [f"{len(absent)} models were never tried, {min(absent)} among them"]
    return []


def _misplaced(cell: Cell, smoke: Smoke, roots: Sequence[str], wanted: _Wanted, *, quiet: bool) -> list[str]:
    """Something else was loaded than should be; `quiet` about the version when there is a reason for a wrong one."""
    problems = []
    fits = smoke.runtime_version in wanted.versions if wanted.versions else bool(smoke.runtime_version)
    if not quiet and not fits:
        expected = " or ".join(wanted.versions) or "one that says its version"
        problems.append(f"bound runtime {smoke.runtime_version or 'of no version'}, expected {expected}")
    if cell.target.startswith("linux") and cell.runtime and not smoke.libraries:
        problems.append("the consumer did not say which libraries it had loaded")
    return problems + _strangers(smoke.libraries, roots)


def _strangers(libraries: Sequence[str], roots: Sequence[str]) -> list[str]:
    """Libraries that came from outside the environment."""
    inside = _inside(roots)
    return [f"{path} was loaded from outside {roots[0]}" for path in libraries if not path.startswith(inside)]


def _inside(roots: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for root in roots for name in {root, str(Path(root).resolve())})


_SYSTEM = ("/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/", "/System/", "c:\\windows\\")
_LEAKS = ("LD_PRELOAD", "DYLD_INSERT_LIBRARIES", "VIRTUAL_ENV", "CONDA_PREFIX")


def _unclean(seen: Seen, roots: Sequence[str], base: str, runtime: Sequence[str]) -> list[str]:
    """What a clean environment would not have: strange places on sys.path, strange libraries, strange variables."""
    inside = (*_inside((*roots, base)), *_SYSTEM)
    problems = [f"{path} was mapped, from outside {roots[0]}" for path in seen.libraries if not _is_in(path, inside)]
    problems += [
        f"{path}, a file of the runtime, was mapped from outside {roots[0]}"
        for path in seen.libraries
        if any(fnmatch(re.split(r"[\\/]", path)[-1].lower(), glob) for glob in runtime)
        and not path.startswith(_inside(roots))
    ]
    problems += [f"{path} was on sys.path" for path in seen.path if path and not _is_in(path, inside)]
    leaks = [name for name in seen.variables if name.startswith("PYTHON") or name in _LEAKS]
    return problems + [f"the variable {name} was set" for name in leaks]


def _is_in(path: str, inside: Sequence[str]) -> bool:
    return path.startswith(tuple(inside)) or path.lower().startswith(_SYSTEM)


def _negative(row: Scenario, smoke: Smoke, values: Mapping[str, str]) -> list[str]:
    if smoke.status != NOTHING_LOADED or not smoke.error:
        return [f"loading was expected to fail, but the consumer ended with status {smoke.status}"]
    wanted = [text.format_map(values) for text in row.says]
    lower = smoke.error.lower()
    return [f'the sentence lacks "{text}": {smoke.error}' for text in wanted if text.lower() not in lower]
