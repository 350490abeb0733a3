"""The files that the ecosystems plan for a project, and what is not made for some targets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from latebind.config.config import Config
from latebind.ecosystems.ecosystem import PackageKind, PlannedFile, find_kinds
from latebind.errors import BuildError
from latebind.model import NotMade
from latebind.semver import VersionError


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What packing makes for some targets, and what it does not make for some of them."""

    kinds: tuple[PackageKind, ...]
    """What the packages of the project become."""
    files: tuple[PlannedFile, ...]
    """By kind."""
    not_made: tuple[NotMade, ...]
    """The packages that are excluded, or without a runtime there."""


def plan_packages(config: Config, rids: Sequence[str]) -> Plan:
    """What packing makes for those targets. Raises LatebindError for packages that cannot be made.

    Packages may not share a file name, and an ecosystem may not know the version.
    """
    kinds = find_kinds(config)
    reasons = {name: {rid: config.explain_not_made(name, rid) for rid in rids} for name in config.packages}
    suited = {name: [rid for rid, why in row.items() if not why] for name, row in reasons.items()}
    try:
        planned = tuple(file for kind in kinds for file in kind.plan(config, suited, rids))
    except VersionError as error:
        raise config.problem_at("project.version", error.message, error.advice, BuildError) from error
    packages: dict[str, str] = {}
    for file in planned:
        # Windows and macOS do not distinguish case, and NuGet does not either.
        first = packages.setdefault(file.file.lower(), file.package)
        if first != file.package:
            text = f"packages {first} and {file.package} would both write {file.file.rpartition('/')[2]}"
            raise config.problem_at(f"package.{file.package}", text, "Give one of them another name.")
    return Plan(kinds=kinds, files=planned, not_made=_list_not_made(config, kinds, reasons))


def _list_not_made(
    config: Config, kinds: Sequence[PackageKind], reasons: Mapping[str, Mapping[str, str]]
) -> tuple[NotMade, ...]:
    return tuple(
        NotMade(
            package=name,
            kind=kind.name,
            reason="excluded" if name in config.excluded(rid) else "no-runtime",
            message=why,
        )
        for name, package in config.packages.items()
        for kind in kinds
        if kind.is_for is not None and kind.is_for(package)
        for rid, why in reasons[name].items()
        if why
    )
