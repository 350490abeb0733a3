"""The table of package kinds, and the files that all of them plan for a project."""

from __future__ import annotations

from typing import TYPE_CHECKING

from latebind.ecosystems.npm.kind import NPMS
from latebind.ecosystems.nuget.kind import NUPKGS
from latebind.ecosystems.plugin.kind import EP_NUPKGS, EP_WHEELS
from latebind.ecosystems.sdk.kind import SDKS
from latebind.ecosystems.symbols.kind import SYMBOLS
from latebind.ecosystems.wheel.kind import WHEELS
from latebind.ecosystems.wheel.sdist_kind import SDISTS
from latebind.model import NotMade
from latebind.plan import unsupplied

if TYPE_CHECKING:
    from collections.abc import Sequence

    from latebind.config.config import Config
    from latebind.ecosystems.ecosystem import PackageKind, PlannedFile

KINDS: tuple[PackageKind, ...] = (WHEELS, EP_WHEELS, SDISTS, NUPKGS, EP_NUPKGS, NPMS, SYMBOLS, SDKS)


def plan_files(config: Config, rids: Sequence[str]) -> tuple[PlannedFile, ...]:
    """The files of all packages for those targets, by kind."""
    suited = {name: [rid for rid in rids if not unsupplied(config, name, rid)] for name in config.packages}
    return tuple(row for kind in KINDS for row in kind.plan(config, suited, rids))


def refused(config: Config, rids: Sequence[str]) -> tuple[NotMade, ...]:
    """The packages that are not made for some of those targets because their runtime does not exist there."""
    rows = [
        (name, kind.name, unsupplied(config, name, rid))
        for name, package in config.packages.items()
        for kind in KINDS
        if kind.is_for_targets(package)
        for rid in rids
    ]
    return tuple(NotMade(package=name, kind=kind, reason="no-runtime", message=why) for name, kind, why in rows if why)
