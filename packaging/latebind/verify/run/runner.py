"""Which function runs a test case. Each ecosystem declares its own in `consumer.py`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from latebind.registry import collect
from latebind.verify.cases.consumer import find_consumer

if TYPE_CHECKING:
    from collections.abc import Callable

    from latebind.model import Case, Outcome
    from latebind.verify.cases.scenarios import Scenario
    from latebind.verify.run.bench import Bench


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """Runs the test cases of some consumers."""

    names: tuple[str, ...]
    run: Callable[[Bench], Outcome]
    takes: Callable[[Scenario], bool] = lambda scenario: not scenario.c_host
    """Whether it runs a scenario; by default all but those with a program of our own in C."""


def find_runner(case: Case, scenario: Scenario) -> Callable[[Bench], Outcome]:
    """The function that runs a test case."""
    names = set(find_consumer(case.consumer).names)
    runners: tuple[Runner, ...] = collect("consumer", "RUNNERS")
    return next(runner.run for runner in runners if names.intersection(runner.names) and runner.takes(scenario))
