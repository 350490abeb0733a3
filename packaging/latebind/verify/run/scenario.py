"""What a scenario is: one way in which a package is tried, and what differs in it from a clean environment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from latebind.config.runtime import RuntimeUse
from loadcheck import System

if TYPE_CHECKING:
    from latebind.verify.run.trial import Trial

PYTHON, DOTNET = "python", "dotnet-build"
EVERY_SYSTEM: tuple[System, ...] = ("linux", "macos", "windows")
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
    systems: tuple[System, ...] = EVERY_SYSTEM
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
