"""What a kind of package is: which files it plans, from which jobs, and how a job makes them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from latebind.plan import unsupplied

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from latebind.build.stage import Stage
    from latebind.config.config import Config
    from latebind.config.document import Package
    from latebind.model import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedFile:
    """One file that `latebind pack` would make."""

    file: str
    kind: str
    package: str
    inputs: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageJob:
    """What is made at once. `name` is its name in the ledger."""

    name: str
    package: str
    stages: tuple[Stage, ...] = ()
    source: Path | None = None
    """The wheel source or the managed project."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PackRun:
    """One run of `pack`: what it packs, where to, and what earlier jobs of the run have made."""

    config: Config
    stages: Sequence[Stage]
    workdir: Path
    dist: Path
    commit: str
    """The commit that packages name; "" for none."""
    source_hash: str
    """As hash_sources()."""
    made: dict[PackageJob, tuple[Path, ...]] = field(default_factory=dict)

    def suited(self, package: str) -> list[Stage]:
        """The stages of targets for which the package's runtime exists."""
        return [stage for stage in self.stages if not unsupplied(self.config, package, stage.rid)]


class PackageKind(Protocol):
    """A kind of package: one module in this folder and one row in KINDS."""

    @property
    def name(self) -> Kind:
        """As in reports."""

    @property
    def after(self) -> Sequence[Kind]:
        """The kinds whose files must be made first."""

    def is_for_targets(self, package: Package) -> bool:
        """Whether a package of the configuration has files of this kind that hold a target's libraries."""

    def plan(self, config: Config, suited: Mapping[str, Sequence[str]], rids: Sequence[str]) -> list[PlannedFile]:
        """The files to come. `suited` are the targets of each package, `rids` all chosen ones."""

    def jobs(self, run: PackRun) -> list[PackageJob]:
        """The work of a run."""

    def key(self, run: PackRun, job: PackageJob) -> list[str]:
        """What the files depend on, apart from stages, source folder and configuration.

        Raises NotRun when they cannot be made on this machine.
        """

    def make(self, run: PackRun, job: PackageJob) -> Sequence[Path]:
        """Write the files below `run.dist`. Raises NotRun or BuildError."""
