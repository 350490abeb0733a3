"""The consumers: who installs packages of one kind, and what the choice of test cases has to know of them.

Each ecosystem declares its own in `consumer.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

from latebind.config.config import Config
from latebind.config.runtime import RuntimeUse
from latebind.model import Case, CaseKind, Outcome
from latebind.registry import collect

if TYPE_CHECKING:
    from latebind.verify.run.index import Registry
    from latebind.verify.run.scenario import Scenario
    from latebind.verify.run.trial import Trial


@dataclass(frozen=True, slots=True, kw_only=True)
class Consumer:
    """Programs of users that are built and started in one way, or in ways that differ in layout only."""

    names: tuple[str, ...]
    """What test cases call them: `python`, `sdk-cmake`."""
    title: str = ""
    """What people call its platform: `Node.js`."""
    kind: CaseKind
    """What they install."""
    run: Callable[[Trial], Outcome]
    """Runs a test case. Raises NotRun, and LatebindError when something other than the packages failed."""
    further_kinds: tuple[CaseKind, ...] = ()
    """What else it installs of a package."""
    has_interpreters: bool = False
    """Whether each CPython is a consumer of its own, `python3.11`, on any machine; others are built where they run."""
    is_cross_built: bool = False
    """Whether it is built here for the machines of other targets."""
    names_runtime: bool = True
    """Whether it gets the name of the runtime where a project has several."""
    reads_commas: bool = True
    """Whether its tools can handle a comma in the name of a folder."""
    finds_any: bool = False
    """Whether it gets every runtime: from a wheel, or from a folder that is made of one."""
    table: str
    """The key of `[package.<name>]` with which a package becomes what it installs."""
    program: str = ""
    """The key of `[verify]` that names its program, without which there are no test cases; "" for latebind's own."""
    suits: Callable[[Config, RuntimeUse | None], bool] = lambda _config, _runtime: True
    """Whether test cases suit a project that has both."""
    find_runtime: Callable[[RuntimeUse], str]
    """The package that supplies the runtime, "" where none does."""
    installs_required: bool = False
    """Whether it installs what packages require, such as the runtime that their tables name."""
    group: Literal["", "applications", "layouts", "dotnet layouts", "files"] = ""
    """With what others scenarios name it; "" where they use its own names. Applications are tried in every scenario for
    them, and layouts with a sample, since only installing and starting differ. Of files, any machine with the tools
    builds an application for every target, and none runs it."""
    ask_registry: Registry | None = None
    """Asks the registry of its packages for versions of that package; None where the index of wheels is asked."""
    describe_tools: Callable[[Config], str] = lambda _config: ""
    """The versions of the tools here that decide how test cases end, as far as a project uses them."""
    find_install_words: Callable[[Config, str, RuntimeUse], tuple[str, str]] = lambda _config, _package, _runtime: (
        "",
        "",
    )
    """The command that installs a runtime for a package, and the same with what is installed; "" where unknown."""

    def is_wanted(self, config: Config, runtime: RuntimeUse | None) -> bool:
        """Whether a project has its program, and a package for it."""
        has_program = not self.program or config.document.verify.find_program(self.program) != ""
        has_package = any(getattr(package, self.table) for package in config.packages.values())
        return has_program and has_package and self.suits(config, runtime)

    def installs_runtime(self, config: Config, package: str) -> bool:
        """Whether a package requires the runtime's package, so that no application lacks the runtime."""
        tables = (getattr(config.packages[name], self.table) for name in config.list_needed_packages(package))
        return self.installs_required and any(table and table.runtime for table in tables)


def list_consumers() -> tuple[Consumer, ...]:
    """The consumers of all ecosystems."""
    return collect("consumer", "CONSUMERS")


def find_registry() -> Registry | None:
    """What asks the registry that is not the index of wheels; None without such a consumer."""
    return next((consumer.ask_registry for consumer in list_consumers() if consumer.ask_registry is not None), None)


def has_program(config: Config, kind: CaseKind) -> bool:
    """Whether a project has a program that uses packages of a kind."""
    keys = (consumer.program for consumer in list_consumers() if consumer.kind == kind)
    return any(key and config.document.verify.find_program(key) for key in keys)


def find_wanted(config: Config, runtime: RuntimeUse | None) -> Mapping[str, Consumer]:
    """The consumers that a project and a runtime of it are tried with, by name."""
    wanted = (consumer for consumer in list_consumers() if consumer.is_wanted(config, runtime))
    return {name: consumer for consumer in wanted for name in consumer.names}


def name_consumers(names: tuple[str, ...]) -> tuple[str, ...]:
    """The consumers of a scenario, each group by the names of its consumers."""
    groups: dict[str, list[str]] = {}
    for consumer in list_consumers():
        groups.setdefault(consumer.group, []).extend(consumer.names)
    return tuple(one for name in names for one in groups.get(name, [name]))


@cache
def find_consumer(name: str) -> Consumer:
    """The consumer with a name; interpreters with their version, too: `python3.11`."""
    consumers = {own: consumer for consumer in list_consumers() for own in consumer.names}
    return consumers.get(name) or next(
        consumer for consumer in consumers.values() if consumer.has_interpreters and name.startswith(consumer.names)
    )


def find_run(case: Case, scenario: Scenario) -> Callable[[Trial], Outcome]:
    """What runs a test case: its consumer, or latebind's own program in the consumer's place."""
    hosts: tuple[Callable[[Trial], Outcome], ...] = collect("consumer", "HOSTS")
    return hosts[0] if scenario.c_host else find_consumer(case.consumer).run
