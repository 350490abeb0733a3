"""What a kind of package is: which files it plans, from which jobs, and how a job makes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from latebind.backend.stage import Stage
from latebind.config.config import Config
from latebind.config.package import Package
from latebind.config.project import Project
from latebind.registry import collect
from loadcheck import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class NeededProgram:
    """Programs that an ecosystem needs, in PROGRAMS of its `programs.py`: `latebind doctor` looks for them on PATH."""

    names: tuple[str, ...]
    """All of them must be there; the first is the one whose version is shown."""
    detail: str
    """What is not done without them."""
    fix: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageJob:
    """What is made at once. `name` is its name in the ledger."""

    name: str
    package: str
    rids: tuple[str, ...] = ()
    """The targets whose libraries it holds."""
    source: str = ""
    """The folder of the wheel source or the managed project."""
    variant: str = ""
    """What the ecosystem distinguishes besides package and targets, such as the CPython of a wheel."""
    files: Mapping[str, tuple[str, ...]] = field(hash=False)
    """The configured files, each with what it is made from. There are more where a size decides, and none where
    another machine makes them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planning:
    """What package kinds plan from."""

    config: Config
    rids: Sequence[str]
    """The chosen targets."""
    floors: Mapping[str, Mapping[str, str]]
    """The targets that suit each package, each with the oldest system that its libraries are built for."""

    def name_stage(self, package: str, rid: str) -> str:
        """What the files of a package hold of one target."""
        return f"stage/{rid}/{self.config.packages[package].component}"

    def list_stages(self, package: str) -> tuple[str, ...]:
        """What the files of a package hold."""
        return tuple(self.name_stage(package, rid) for rid in self.floors[package])


@dataclass(frozen=True, slots=True, kw_only=True)
class PackRun:
    """One run of `pack`: what it packs, where to, and what earlier jobs of the run have made."""

    project: Project
    stages: Sequence[Stage]
    dist: Path
    commit: str
    """The commit that packages name; "" for none."""
    source_hash: str
    """The hash of what the native files are made from (`hash_sources()`)."""
    files_by_job: dict[PackageJob, tuple[Path, ...]] = field(default_factory=dict)

    @property
    def config(self) -> Config:
        """The project's configuration."""
        return self.project.config

    @property
    def workdir(self) -> Path:
        """The project's working folder."""
        return self.project.workdir

    def stages_of(self, job: PackageJob) -> list[Stage]:
        """The stages of a job's targets, in its order."""
        return [stage for rid in job.rids for stage in self.stages if stage.rid == rid]


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageKind:
    """A kind of package, in KINDS of an ecosystem's `pack.py`."""

    name: Kind
    """Its name in reports."""
    after: Sequence[Kind] = ()
    """The kinds whose files must be made first."""
    compiles: bool = False
    """Whether the native project is compiled for it, which takes longer than anything else."""
    is_for: Callable[[Package], bool] | None = None
    """Whether a package of the configuration becomes files of this kind, which hold a target's libraries; None for
    sources, and for files that no package alone is for."""
    plan: Callable[[Planning], list[PackageJob]]
    """The work, with the configured files."""
    key: Callable[[PackRun, PackageJob], list[str]] = lambda _run, _job: []
    """What the files depend on, apart from stages, source folder and configuration.

    Raises NotRun when they cannot be made on this machine.
    """
    make: Callable[[PackRun, PackageJob], Sequence[Path]]
    """Write the files below `run.dist`. Raises NotRun or BuildError."""


@cache
def package_kinds() -> tuple[PackageKind, ...]:
    """The kinds of all ecosystems. Those of one name follow each other: wheels, wheels of plugins, sdists."""
    kinds: tuple[PackageKind, ...] = collect("pack", "KINDS")
    names = list(dict.fromkeys(kind.name for kind in kinds))
    return tuple(sorted(kinds, key=lambda kind: names.index(kind.name)))
