"""The runtimes of a project whose packages are verified, and which scenarios each of them can have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from latebind.tables.targets import other_processor
from latebind.verify.cases.consumer import find_consumer, name_consumers
from latebind.verify.cases.index import EACH_MINOR
from latebind.verify.cases.scenarios import SCENARIOS, Scenario

if TYPE_CHECKING:
    from collections.abc import Collection

    from latebind.config.config import Config
    from latebind.config.ep import EpConfig
    from latebind.config.runtime import RuntimeUse
    from latebind.config.verification import VerifyOwn
    from loadcheck.model import Rid

_USUAL = ("minimum", EACH_MINOR, "latest")
"""The versions of a runtime that are verified when the configuration names none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A runtime of the project, or none, with what the configuration says about it."""

    runtime: RuntimeUse | None
    package: str
    """The package that binds it; the first one where none does."""
    needed: RuntimeUse | None
    """The runtime without which that package is not made for a target."""
    is_loaded: bool
    """Whether that package requires another one, and so loads it."""
    installs_runtime: bool
    """Whether that package's wheel requires the runtime, or has extras that install it."""
    provider: EpConfig | None
    settings: VerifyOwn
    entries: tuple[str, ...]
    """The versions to verify, as the configuration has them."""
    consumers: frozenset[str]
    """Who of the scenarios' consumers has a program, and a package for it."""
    is_first: bool
    """Whether it is the first one: the ids of test cases without a version name the others."""


def list_subjects(config: Config, rid: Rid) -> list[Subject]:
    """The runtimes of a project with what the configuration says about each; one without a runtime if it binds none."""
    names = {name for scenario in SCENARIOS for name in name_consumers(scenario.consumers)}
    first = config.document.runtime[:1]
    return [
        Subject(
            runtime=runtime,
            package=(package := config.package_of(runtime, rid)),
            needed=config.runtime_of(package),
            is_loaded=bool(config.packages[package].requires),
            installs_runtime=bool((wheel := config.packages[package].wheel) and wheel.installs_runtime),
            provider=config.provider(runtime),
            settings=config.verification_of(runtime),
            entries=config.document.verify.runtimes.get(runtime.name if runtime else "", _USUAL),
            consumers=frozenset(name for name in names if find_consumer(name).is_wanted(config, runtime)),
            is_first=runtime in (None, *first),
        )
        for runtime in config.document.runtime or (None,)
    ]


def can_have(subject: Subject, scenario: Scenario, rid: Rid, glue: Collection[str]) -> bool:
    """Whether a project can have a scenario at all: a test case that could never run would block the gate for good."""
    runtime, ep = subject.runtime, subject.provider
    if scenario.glue:  # the machine asks for it, not the project
        return rid in glue and subject.is_first
    if runtime is None:
        return scenario.without_runtime
    if ep is not None and not scenario.provider:
        return False
    if scenario.name not in (subject.settings.scenarios or (scenario.name,)):
        return False
    if scenario.synthetic and not runtime.has_text:
        return False
    able = {
        "": True,
        "code that binds": not runtime.drop_in,  # a stub knows no package, and takes no minimum from its host
        "a GPU distribution": "gpu" in runtime.traits.python.extras and runtime.traits.python.is_supplied("gpu", rid),
        "a wheel that installs the runtime": subject.installs_runtime,
        "a package that another one loads": subject.is_loaded,
        "an execution provider": ep is not None,
        "another processor": other_processor(rid) is not None,
        "a supplier's files": scenario.supplier in runtime.traits.files,
    }
    return able[scenario.needs]


def is_supplied(runtime: RuntimeUse | None, scenario: Scenario, consumer: str, rid: Rid) -> bool:
    """Whether a consumer can get the runtime: one that no NuGet feed has must be named.

    All but applications of npm get it from a wheel, or a folder that is made of one.
    """
    if runtime is None:
        return True
    supply = runtime.traits.python
    if scenario.versions != "none" and supply.extras and not supply.is_supplied(supply.extra, rid):
        return False
    who = find_consumer(consumer)
    if not scenario.computes or who.finds_any or who.find_runtime(runtime):
        return True
    return scenario.named and who.ask_registry is None
