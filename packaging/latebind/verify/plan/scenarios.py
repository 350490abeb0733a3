"""The ways in which a package is tried, as a table; what each one sets up is in situations.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from latebind.verify.plan.layouts import LAYOUTS, RUNNING

if TYPE_CHECKING:
    from latebind.model import System

PYTHON, DOTNET = "python", "dotnet-build"
C_NUPKG = "c-nupkg"
"""A C program that takes header and library out of the nupkgs."""
FILES = tuple(row.name for row in LAYOUTS if row.start == "nothing")
"""Consumers that any machine with an SDK can try, whatever the target: they are made and not run."""
_BOTH = (PYTHON, DOTNET)
_UNIX: tuple[System, ...] = ("linux", "macos")
_ALL: tuple[System, ...] = ("linux", "macos", "windows")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One way in which a package is tried.

    A negative scenario expects that loading fails and that the sentence holds every part of `says`, in which
    placeholders such as {minimum}, {title}, {dist}, {path} and {version} are replaced (`Bench.values()`).
    """

    name: str
    title: str
    says: tuple[str, ...] = ()
    versions: Literal["all", "latest", "below", "none"] = "latest"
    """Which runtime versions it is tried with: all that are configured, the last, the newest below the floor."""
    consumers: tuple[str, ...] = _BOTH
    systems: tuple[System, ...] = _ALL
    """Where it exists at all; elsewhere there is no such cell."""
    emulated: bool = True
    """Whether an emulated machine can hold it; else the cell is *not run* there."""
    computes: bool = True
    """Whether the consumer runs; without, its files are looked at."""
    sandboxed: bool = False
    """Whether it changes the system itself, which only an emulated one may suffer."""
    named: bool = False
    """Whether the consumer is told where the runtime is, so that none has to be installed."""
    synthetic: bool = False
    """Whether a compiled stand-in takes the runtime's place, since no real package can show it."""
    needs: Literal["", "a GPU distribution", "a package that another one loads", "another processor"] = ""
    """What the project, its runtime or its target must have; without it there is no such cell."""

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
        return 0 if self.versions == "all" else 25


SCENARIOS: tuple[Scenario, ...] = (
    Scenario(name="works", title="loads and computes what is expected", versions="all",
             consumers=_BOTH),
    Scenario(name="consumed", title="loads and computes a sample in every way in which an application takes packages",
             consumers=(*(name for name in RUNNING if name != DOTNET), C_NUPKG)),
    Scenario(name="files", title="an application for the target gets its files, and no others", versions="none",
             computes=False, consumers=FILES),
    # How it is installed.
    Scenario(name="extra", title="installed with its extra, as a user would",
             consumers=(PYTHON,)),
    Scenario(name="beside-gpu", title="the runtime's CPU and GPU distributions are installed side by side",
             consumers=(PYTHON,), systems=("linux", "windows"), emulated=False, needs="a GPU distribution"),
    Scenario(name="odd-folder", title="installed below a folder with a space and letters of other scripts"),
    Scenario(name="read-only", title="installed where nothing can be written, used by somebody unprivileged",
             systems=_UNIX, emulated=False),
    Scenario(name="target-folder", title="installed with pip install --target",
             consumers=(PYTHON,)),
    Scenario(name="frozen", title="frozen by PyInstaller into one folder", consumers=(PYTHON,), emulated=False),
    Scenario(name="upgraded", title="the runtime was upgraded in place, from the oldest version, and nothing else"),
    # What the host does.
    Scenario(name="imported-before", title="the host imported the runtime's own Python API before",
             consumers=(PYTHON,)),
    Scenario(name="imported-after", title="the host imports the runtime's own Python API after",
             consumers=(PYTHON,)),
    Scenario(name="older-loaded", title="a copy that is too old was loaded before, a good one is installed"),
    Scenario(name="two-runtimes", title="another copy, new enough, was loaded before: it is used, not a second one"),
    Scenario(name="threads", title="eight threads load at once, first of all"),
    Scenario(name="fork", title="a process that has loaded forks, and both go on", consumers=(PYTHON,), systems=_UNIX),
    Scenario(name="spawn", title="loaded in a process that multiprocessing spawned",
             consumers=(PYTHON,)),
    Scenario(name="subprocess", title="loaded in a process that the host started",
             consumers=(PYTHON,)),
    # Where the runtime is.
    Scenario(name="path", title="an explicit path names the file", named=True),
    Scenario(name="path-folder", title="an explicit path names the folder", named=True),
    Scenario(name="path-relative", title="an explicit path is relative to the working directory", named=True),
    Scenario(name="path-odd", title="an explicit path has a space and letters of other scripts", named=True),
    Scenario(name="environment", title="the environment variable names the file", named=True),
    Scenario(name="decoy", title="an older copy lies earlier on the system's search path"),
    Scenario(name="decoy-system", title="an older copy lies in the system's own folder", consumers=(PYTHON,),
             systems=("windows",), sandboxed=True),
    # What goes wrong, and what is said.
    Scenario(name="absent", title="no runtime is installed", versions="none",
             says=("{title} was not found", "version {minimum} or newer", "{install}")),
    Scenario(name="no-shared-library", title="the installed runtime has no shared library", versions="below",
             consumers=(PYTHON,),
             says=("{dist} {version} is installed", "no shared library", "{dist} {minimum}", "pip install --upgrade")),
    Scenario(name="too-old", title="the runtime is older than the floor, raised for this cell",
             says=("{title} {version} at {installed}", "too old", "version {raised} or newer", "{mend}")),
    Scenario(name="other-major", title="the runtime is of another major version",
             synthetic=True,
             says=("{title} {major} at {installed}", "another major version", "version {minimum} or newer", "{mend}")),
    Scenario(name="truncated", title="the runtime's file ends early",
             says=("{installed}", "not a usable library: truncated", "version {minimum} or newer", "{mend}")),
    Scenario(name="corrupt", title="the runtime's file begins with noughts",
             says=("{installed}", "not a usable library", "version {minimum} or newer", "{mend}")),
    Scenario(name="text-file", title="the runtime's file is a text",
             says=("{installed}", "not a usable library: a text file", "version {minimum} or newer", "{mend}")),
    Scenario(name="wrong-architecture", title="the runtime's file is for another processor",
             needs="another processor",
             says=("{installed}", "built for {other}, this process is {own}", "version {minimum} or newer", "{mend}")),
    Scenario(name="dependency-missing", title="a library that the runtime itself needs is missing",
             says=("{installed}", "a library that it needs is missing", "{gone}", "version {minimum} or newer",
                   "{mend}")),
    Scenario(name="permission-denied", title="the runtime's file may not be read", systems=_UNIX, emulated=False,
             says=("{installed}", "may not be opened: permission denied", "version {minimum} or newer", "{mend}")),
    Scenario(name="path-wrong", title="the explicit path does not exist", named=True,
             says=("{path}", "no such file", "version {minimum} or newer", "Correct the path", "{mend}")),
    Scenario(name="not-a-library", title="the explicit path is a text file", named=True,
             says=("{path}", "not a usable library: a text file", "version {minimum} or newer", "Correct the path",
                   "{mend}")),
    Scenario(name="environment-wrong", title="the environment variable names a file that does not exist", named=True,
             says=("{path}", "no such file", "version {minimum} or newer", "{variable}", "unset it", "{mend}")),
    Scenario(name="missing-backend", title="the package that binds the runtime is not installed", versions="none",
             needs="a package that another one loads",
             says=("backend was not found", "{backend}", "{mend} {backend}")),
)  # fmt: skip


def scenario(name: str) -> Scenario:
    """The scenario of that name."""
    return next(row for row in SCENARIOS if row.name == name)
