"""The work that the ecosystems plan for a project, with its files, and what is not made for some targets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from latebind.backend.targets import target
from latebind.config.config import Config
from latebind.ecosystems.ecosystem import PackageJob, PackageKind, Planning, package_kinds
from latebind.errors import BuildError
from latebind.formats import find_format
from latebind.model import NotMade
from latebind.semver import VersionError


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedFile:
    """One file that `latebind pack` would make."""

    file: str
    kind: str
    package: str
    inputs: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What packing makes for some targets, and what it does not make for some of them."""

    jobs: tuple[tuple[PackageKind, PackageJob], ...]
    not_made: tuple[NotMade, ...]
    """The packages that are excluded, or without a runtime there."""

    @property
    def files(self) -> tuple[PlannedFile, ...]:
        """By kind."""
        return tuple(
            PlannedFile(file=file, kind=form.kind, package=job.package, inputs=inputs)
            for _, job in self.jobs
            for file, inputs in job.files.items()
            if (form := find_format(file)) is not None
        )


def plan_packages(config: Config, rids: Sequence[str]) -> Plan:
    """What packing makes for those targets. Raises LatebindError for packages that cannot be made.

    Packages may not share a file name, and an ecosystem may not know the version.
    """
    reasons = {name: {rid: config.explain_not_made(name, rid) for rid in rids} for name in config.packages}
    floors = {
        name: {rid: config.floor(target(rid)) for rid, why in told.items() if not why} for name, told in reasons.items()
    }
    planning = Planning(config=config, rids=rids, floors=floors)
    try:
        jobs = tuple((kind, job) for kind in package_kinds() for job in kind.plan(planning))
    except VersionError as error:
        raise config.problem_at("project.version", error.message, error.advice, BuildError) from error
    plan = Plan(jobs=jobs, not_made=_list_not_made(config, reasons))
    owners: dict[str, str] = {}
    for file in plan.files:
        # Windows and macOS do not distinguish case, and NuGet does not either.
        first = owners.setdefault(file.file.lower(), file.package)
        if first != file.package:
            text = f"packages {first} and {file.package} would both write {file.file.rpartition('/')[2]}"
            raise config.problem_at(f"package.{file.package}", text, "Give one of them another name.")
    return plan


def _list_not_made(config: Config, reasons: Mapping[str, Mapping[str, str]]) -> tuple[NotMade, ...]:
    return tuple(
        NotMade(
            package=name,
            kind=kind.name,
            reason="excluded" if name in config.excluded(rid) else "no-runtime",
            message=why,
        )
        for name, package in config.packages.items()
        for kind in package_kinds()
        if kind.is_for is not None and kind.is_for(package)
        for rid, why in reasons[name].items()
        if why
    )
