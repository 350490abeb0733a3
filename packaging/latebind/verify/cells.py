"""Which cells there are: packages x consumers x runtime versions x scenarios, as data; runs nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from packaging.version import Version

from latebind.model import Cell, Rid
from latebind.presets import preset
from latebind.verify.layouts import LAYOUTS, RUNNING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from latebind.config import Config, RuntimeUse

C_NUPKG = "c-nupkg"
"""A C program that takes header and library out of the nupkgs."""
_NEWEST_ONLY = frozenset(row.name for row in LAYOUTS if row.newest_only) | {C_NUPKG}
BELOW_FLOOR = "<"
"""Stands, before a version, for the newest release below it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One way in which a package is tried.

    A negative scenario expects that loading fails and that the sentence holds every part of `says`, in which
    {minimum}, {title}, {dist}, {extra} and {version} are replaced.
    """

    name: str
    title: str
    says: tuple[str, ...] = ()
    versions: str = "latest"
    """Which runtime versions it is tried with: `all` (as configured), `latest`, `below` (the floor), `none`."""
    consumers: tuple[str, ...] = ("python",)
    computes: bool = True
    """Whether the consumer runs; without, its files are looked at."""

    @property
    def negative(self) -> bool:
        """Whether a failure is expected."""
        return bool(self.says)


SCENARIOS: tuple[Scenario, ...] = (
    Scenario(name="works", title="loads and computes what is expected", versions="all",
             consumers=("python", *RUNNING, C_NUPKG)),
    Scenario(name="files", title="lays out the files of the target, and no others", versions="none", computes=False,
             consumers=("dotnet-files",)),
    Scenario(name="extra", title="installed with its extra, as a user would"),
    Scenario(name="absent", title="no runtime is installed", versions="none",
             says=("{title} was not found", "{minimum}", "{install}"), consumers=("python", "dotnet-build")),
    Scenario(name="no-shared-library", title="the installed runtime has no shared library", versions="below",
             says=("{dist} {version} is installed", "no shared library", "{dist} {minimum}", "pip install --upgrade")),
    Scenario(name="too-old", title="the runtime is older than the floor, raised for this cell",
             says=("{title} {version}", "too old", "version {raised} or newer"), consumers=("python", "dotnet-build")),
    Scenario(name="path-wrong", title="the explicit path does not exist",
             says=("{path}", "no such file"), consumers=("python", "dotnet-build")),
    Scenario(name="not-a-library", title="the explicit path is a text file",
             says=("{path}", "not a library"), consumers=("python", "dotnet-build")),
    Scenario(name="wrong-architecture", title="the explicit path is the runtime for another processor",
             says=("{path}", "aarch64", "x86_64"), consumers=("python", "dotnet-build")),
)  # fmt: skip


def scenario(name: str) -> Scenario:
    """The scenario of that name."""
    return next(row for row in SCENARIOS if row.name == name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A cell with what it was expanded from: the runtime that it is about, and the entry of [verify].runtimes."""

    cell: Cell
    use: RuntimeUse | None
    """None for a project that binds no runtime."""
    asked: str
    """What the index was asked for: an entry of [verify].runtimes or BELOW_FLOOR; "" for a cell without a runtime."""
    entry: str
    """The entry of [verify].runtimes whose data the cell computes: `minimum`, `latest`, a version."""


def entries(config: Config, use: RuntimeUse) -> tuple[str, ...]:
    """The versions of a runtime that are verified, as the configuration writes them."""
    return config.document.verify.runtimes.get(use.preset, ("minimum", "latest"))


def expand(config: Config, rid: Rid, python: str, versions: Mapping[tuple[str, str], str]) -> tuple[Planned, ...]:
    """All cells of a target, in the order of the table.

    `versions` maps (runtime, entry) to the version that the index has, for each entry of [verify].runtimes and for
    BELOW_FLOOR; an entry that is missing there stays as it is written, so that its cells are listed as *not run*.
    """
    uses = config.document.runtime or (None,)
    return tuple(
        _planned(config, use, rid, row, (consumer, python), asked, versions)
        for use in uses
        for row in SCENARIOS
        for consumer in row.consumers
        if _wanted(config, consumer)
        for asked in _asked(row, use, config, consumer)
    )


def _planned(  # noqa: PLR0913  # the coordinates of a cell
    config: Config,
    use: RuntimeUse | None,
    rid: Rid,
    row: Scenario,
    consumer: tuple[str, str],
    asked: str,
    versions: Mapping[tuple[str, str], str],
) -> Planned:
    name, python = consumer
    is_python = name == "python"
    known = preset(use.preset) if use else None
    version = versions.get((use.preset, asked), asked) if use else ""
    supply = ""
    if known and version:
        supply = known.python.distribution if is_python else (known.nuget.ids or ("",))[0]
    cell = Cell(
        kind="wheel" if is_python else "nupkg",
        target=rid,
        consumer=python if is_python else name,
        runtime=supply,
        version=version,
        scenario=row.name,
    )
    own = entries(config, use) if use else ("default",)
    return Planned(cell=cell, use=use, asked=asked, entry=asked if asked in own else own[-1])


def _wanted(config: Config, consumer: str) -> bool:
    verify = config.document.verify
    keys = {"python": verify.python, C_NUPKG: verify.c}
    return bool(keys.get(consumer, verify.dotnet))


def _asked(row: Scenario, use: RuntimeUse | None, config: Config, consumer: str) -> tuple[str, ...]:
    """What the index is asked for a scenario. Without a runtime there is nothing to try but that it works."""
    if use is None:
        return ("",) if not row.negative and row.versions in ("all", "none") else ()
    wanted = entries(config, use)
    if consumer in _NEWEST_ONLY and row.versions == "all":
        return wanted[-1:]
    table = {"all": wanted, "latest": wanted[-1:], "below": (BELOW_FLOOR,), "none": ("",)}
    return table[row.versions]


def requirement(entry: str, use: RuntimeUse) -> str:
    """What to ask the index for: `onnxruntime==1.19.*` for the minimum, `onnxruntime` for the latest."""
    name = preset(use.preset).python.distribution
    if entry == "latest":
        return name
    if entry == BELOW_FLOOR:
        return f"{name}<{use.minimum}"
    if entry == "minimum":
        parsed = Version(use.minimum)
        return f"{name}=={parsed.major}.{parsed.minor}.*,>={use.minimum}"
    return f"{name}=={entry}"


def raised_minimum(version: str) -> str:
    """A floor just above a version: 1.31.1 -> 1.32."""
    parsed = Version(version)
    return f"{parsed.major}.{parsed.minor + 1}"
