"""The files that the ecosystems plan for a project, and what is not made for some targets."""

from __future__ import annotations

from collections.abc import Sequence

from latebind.config.config import Config
from latebind.ecosystems.ecosystem import PlannedFile, package_kinds
from latebind.errors import BuildError
from latebind.model import NotMade
from latebind.semver import VersionError


def plan_files(config: Config, rids: Sequence[str]) -> tuple[PlannedFile, ...]:
    """The files of all packages for those targets, by kind. Raises LatebindError for those that cannot be made.

    Packages may not share a file name, and an ecosystem may not know the version.
    """
    suited = {name: [rid for rid in rids if not config.explain_not_made(name, rid)] for name in config.packages}
    try:
        planned = tuple(file for kind in package_kinds() for file in kind.plan(config, suited, rids))
    except VersionError as error:
        raise config.problem_at("project.version", error.message, error.advice, BuildError) from error
    packages: dict[str, str] = {}
    for file in planned:
        # Windows and macOS do not distinguish case, and NuGet does not either.
        first = packages.setdefault(file.file.lower(), file.package)
        if first != file.package:
            text = f"packages {first} and {file.package} would both write {file.file.rpartition('/')[2]}"
            raise config.problem_at(f"package.{file.package}", text, "Give one of them another name.")
    return planned


def list_not_made(config: Config, rids: Sequence[str]) -> tuple[NotMade, ...]:
    """The packages that are not made for some of those targets: excluded, or without a runtime there."""
    reasons = [
        (name, kind.name, "excluded" if name in config.excluded(rid) else "no-runtime", why)
        for name, package in config.packages.items()
        for kind in package_kinds()
        if kind.is_for_targets(package)
        for rid in rids
        if (why := config.explain_not_made(name, rid))
    ]
    return tuple(NotMade(package=name, kind=kind, reason=reason, message=why) for name, kind, reason, why in reasons)
