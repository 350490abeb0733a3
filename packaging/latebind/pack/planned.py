"""The files that the ecosystems plan for a project, and what is not made for want of a runtime."""

from __future__ import annotations

from typing import TYPE_CHECKING

from latebind.ecosystems.ecosystem import package_kinds
from latebind.model import NotMade
from latebind.preconditions import explain_unsupplied

if TYPE_CHECKING:
    from collections.abc import Sequence

    from latebind.config.config import Config
    from latebind.ecosystems.ecosystem import PlannedFile


def plan_files(config: Config, rids: Sequence[str]) -> tuple[PlannedFile, ...]:
    """The files of all packages for those targets, by kind."""
    suited = {name: [rid for rid in rids if not explain_unsupplied(config, name, rid)] for name in config.packages}
    return tuple(file for kind in package_kinds() for file in kind.plan(config, suited, rids))


def list_unsupplied(config: Config, rids: Sequence[str]) -> tuple[NotMade, ...]:
    """The packages that are not made for some of those targets because their runtime does not exist there."""
    reasons = [
        (name, kind.name, explain_unsupplied(config, name, rid))
        for name, package in config.packages.items()
        for kind in package_kinds()
        if kind.is_for_targets(package)
        for rid in rids
    ]
    return tuple(
        NotMade(package=name, kind=kind, reason="no-runtime", message=why) for name, kind, why in reasons if why
    )
