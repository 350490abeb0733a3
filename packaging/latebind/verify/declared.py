"""What verification is made of: scenarios, their situations, consumers, and a test case that both make.

`cases/scenarios.py` declares the scenarios, and each ecosystem its consumers in `consumer.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from latebind.config.config import Config
from latebind.config.runtime import RuntimeUse
from latebind.model import Case, Outcome
from latebind.registry import collect
from latebind.tables.presets import SYSTEMS
from loadcheck import Kind, System

if TYPE_CHECKING:
    from latebind.errors import NotRun
    from latebind.verify.run.index import Registry
    from latebind.verify.run.trial import Trial

PYTHON, DOTNET = "python", "dotnet-build"
SAMPLE = 25
"""How many cases a consumer computes where another test case computes all of them."""

Need = Literal[
    "",
    "code that binds",
    "a GPU distribution",
    "a wheel that installs the runtime",
    "a package that another one loads",
    "another processor",
    "an execution provider",
    "a supplier's files",
    "a runtime of several major versions",
    "a runtime that opens more libraries",
    "a runtime with a stand-in",
    "a version that can be changed",
    "a distribution",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What differs from: a clean environment, all packages, the runtime from the index, nothing else."""

    arguments: tuple[str, ...] = ()
    """Added to the consumer's command line."""
    action: tuple[str, ...] = ()
    """What the program that runs the consumer does: `--preload FILE`, `--threads 8` (driver.py, .NET consumers)."""
    environment: Mapping[str, str] = field(default_factory=dict)
    roots: tuple[Path, ...] = ()
    """Further folders that libraries may come from."""
    binds: tuple[str, ...] = ()
    """The runtime versions that may be bound, when not just the test case's; the first is the reference."""
    values: Mapping[str, str] = field(default_factory=dict)
    """What the expected error message may name."""
    spoil: Callable[[bytes], bytes] | None = None
    """What becomes of the installed runtime's library."""
    unreadable: bool = False
    """Whether nobody may read it."""
    lost: str = ""
    """A file next to it that is missing."""
    also: tuple[str, ...] = ()
    """Further distributions to install, as the index names them."""
    by_name: bool = False
    """Whether wheels are installed by name, with the runtime's extra if they have one, and not as files."""
    first: str = ""
    """A version of the runtime that is installed and tried before the test case's takes its place."""
    folder: str = "env"
    layout: str = "venv"
    """Where packages are, or which program holds them; of wheels (`ecosystems/wheel/layouts.py`)."""
    link_mode: str = ""
    """How uv gets files from its cache into the environment: `symlink`, `hardlink` or `copy`."""
    copies: int = 0
    """How many copies of the runtime a process may have at most; 0 for any number."""
    unprivileged: bool = False
    """Installed in a read-only folder, and used by a user who may not write there."""
    without: str = ""
    """The package of the project that is not installed."""

    @property
    def is_elsewhere(self) -> bool:
        """Whether what is installed is in another folder."""
        return self.folder != "env"

    @property
    def changes_files(self) -> bool:
        """Whether what is installed is in another folder, or broken."""
        return self.is_elsewhere or self.spoil is not None or self.unreadable or bool(self.lost)

    def break_files(self, libraries: Iterable[Path]) -> None:
        """Break the installed libraries of the runtime, if the situation asks for it."""
        libraries = tuple(libraries)
        for path in libraries if self.lost else ():
            (path.parent / self.lost).unlink(missing_ok=True)
        for path in libraries if self.spoil is not None or self.unreadable else ():
            data = path.read_bytes()
            path.unlink()  # it may be a link into a cache, or to what other test cases use
            path.write_bytes(self.spoil(data) if self.spoil is not None else data)
            if self.unreadable:
                path.chmod(0)


ORDINARY = Situation()
SetUp: TypeAlias = "Callable[[Trial, RuntimeUse], Situation]"
"""Makes a scenario's situation. Raises NotRun when this machine lacks what it takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One way in which a package is tried.

    A negative scenario expects that loading fails and that the error message holds every part of `says`, in which
    placeholders such as {minimum}, {title}, {dist}, {path} and {version} are replaced (`Trial.values()`).
    """

    name: str
    title: str
    set_up: SetUp | Situation = ORDINARY
    """What differs from a clean environment with the packages and the runtime in it."""
    says: tuple[str, ...] = ()
    versions: Literal["all", "latest", "below", "none"] = "latest"
    """Which runtime versions it is tried with: all that are configured, the last, the newest below the floor (of an
    execution provider: below its minimum, and its excepted ones)."""
    consumers: tuple[str, ...] = (PYTHON, DOTNET)
    """Their names, and groups of them (`Consumer.group`)."""
    systems: tuple[System, ...] = SYSTEMS
    """Where it exists at all; elsewhere there is no such test case."""
    needs: Need = ""
    """What the project, its runtime or its target must have; without it there is no such test case."""
    required: Literal["no", "where it is tried", "for every target", "in place of others"] = "no"
    """Whether the gate asks for it when the configuration does not say; the last: where no other shows computing."""
    emulated: bool = True
    """Whether an emulated machine can run it; otherwise it is *not run* there."""
    computes: bool = True
    """Whether the consumer runs; otherwise its files are checked."""
    sandboxed: bool = False
    """Whether it changes the system itself, which only an emulated one may suffer."""
    named: bool = False
    """Whether the consumer gets the runtime's path, so that none has to be installed."""
    synthetic: bool = False
    """Whether a compiled stand-in takes the runtime's place, since no real package can show it."""
    provider: bool = False
    """Whether an execution provider is tried in it, which never looks for a runtime itself."""
    script: str = ""
    """A Python consumer of latebind's own, which runs instead of the project's."""
    c_host: bool = False
    """Whether latebind's own program in C runs instead of the project's consumer (`HOSTS`, in an ecosystem)."""
    without_runtime: bool = False
    """Whether a project that binds no runtime is tried in it."""
    widened: bool = False
    """Whether `--all` adds other interpreters and other distributions of the runtime."""
    loads_alone: bool = False
    """Whether each native library of the wheels is also loaded alone, and must change nothing in the process."""
    glue: bool = False
    """Whether it exists only for machines of the level glue, which run no runtime."""
    of_sources: bool = False
    """Whether it is about sources, which are the same for all targets: this machine tries it for its own, whatever
    scenarios a project chooses."""
    in_c: tuple[System, ...] = ()
    """Where those machines try it, too: with programs in C, and a stand-in for the runtime (`standin/`)."""
    rare: bool = False
    """Whether only `--all` tries it."""
    supplier: str = ""
    """The supplier of the runtime whose file names and folders are tried, as the runtime's preset calls it."""
    slow: bool = False
    """Whether it takes so long that it starts before the others."""

    @property
    def negative(self) -> bool:
        """Whether a failure is expected."""
        return bool(self.says)

    @property
    def proves(self) -> bool:
        """Whether passing shows that something was loaded and computed."""
        return self.computes and not self.negative

    @property
    def sample(self) -> int:
        """How many cases are computed, evenly spread; 0 for all of them."""
        return 0 if self.versions == "all" else SAMPLE


@dataclass(frozen=True, slots=True, kw_only=True)
class Consumer:
    """Programs of users that are built and started in one way, or in ways that differ in layout only."""

    names: tuple[str, ...]
    """What test cases call them: `python`, `sdk-cmake`."""
    title: str = ""
    """What people call its platform: `Node.js`."""
    kind: Kind
    """What they install."""
    run: Callable[[Trial], Outcome]
    """Runs a test case. Raises NotRun, and LatebindError when something other than the packages failed."""
    further_kinds: tuple[Kind, ...] = ()
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfiguredCase:
    """A test case, the runtime that it is about, and what the index has of it."""

    case: Case
    bound_runtime: RuntimeUse | None
    """None for a project that binds no runtime."""
    package: str
    """The package that binds the runtime; the first one where none does."""
    python: str
    """The minor version of the interpreter: `3.11`."""
    oldest: str
    """The oldest supported version of the runtime that there is for the target; "" for none."""
    trouble: NotRun | None
    """Why the index has no version."""
    entries: tuple[str, ...] = ("",)
    """Everything that the index was asked and answered with this test case's version; "" where it was not asked."""
    native_only: bool
    """Whether an emulated machine does not try it."""
    stands_in: bool
    """Whether a stand-in takes the runtime's place."""


def list_consumers() -> tuple[Consumer, ...]:
    """The consumers of all ecosystems."""
    return collect("consumer", "CONSUMERS")


def find_registry() -> Registry | None:
    """What asks the registry that is not the index of wheels; None without such a consumer."""
    return next((consumer.ask_registry for consumer in list_consumers() if consumer.ask_registry is not None), None)


def has_program(config: Config, kind: Kind) -> bool:
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
