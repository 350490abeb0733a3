"""Runs the steps of a rehearsal in order, and reports each with its time; the first failure ends it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from latebind.errors import InputError, LatebindError, NotRun
from latebind.rehearse.steps import STEPS, Rehearsing, Step
from loadcheck.text import shorten

PASSED, NOT_RUN, FAILED = "passed", "not run", "FAILED"
_DETAIL = 160
"""The longest reason, in one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepResult:
    """How one part of a step ended."""

    step: str
    part: str
    outcome: str
    detail: str
    seconds: float


class RehearsalError(LatebindError):
    """A step failed, so the release would."""

    exit_status = 1


def rehearse(state: Rehearsing, show: Callable[[StepResult], None], steps: Sequence[Step] = STEPS) -> list[StepResult]:
    """Run all steps. `show` gets each result as soon as there is one.

    Raises RehearsalError with the step that failed, where, why, and what to do next; InputError for a release folder
    that is not there, or that a rehearsal replaces.
    """
    if state.release:
        _check_place(state.release, state.folder)
        state.empty_folder()
    results: list[StepResult] = []
    with state.running:
        for step in steps:
            if step.makes_release and state.release:
                continue
            for part, work in step.parts(state):
                started = time.monotonic()
                outcome, detail, failure = _run_part(step, part, work)
                seconds = round(time.monotonic() - started, 1)
                results.append(StepResult(step=step.name, part=part, outcome=outcome, detail=detail, seconds=seconds))
                show(results[-1])
                if failure is not None:
                    raise failure
    return results


def _check_place(release: Path, folder: Path) -> None:
    if release.is_relative_to(folder):
        advice = "Move it to another place first."
        raise InputError(f"is in {folder}, which each rehearsal empties", where=str(release), advice=advice)
    if not release.is_dir():
        raise InputError("is not a folder", where=str(release), advice="Name the folder of a release.")


def _run_part(step: Step, part: str, work: Callable[[], str]) -> tuple[str, str, RehearsalError | None]:
    """The outcome, what was found, and the error of a failure."""
    try:
        return PASSED, work(), None
    except NotRun as reason:
        return NOT_RUN, shorten(reason.message.replace("\n", " "), _DETAIL), None
    except LatebindError as error:
        text = f"the rehearsal failed in the step {step.name} ({part}), so {step.meaning}: {error.message}"
        return FAILED, "", RehearsalError(text, where=error.where, advice=error.advice)
