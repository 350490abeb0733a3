"""The table of package kinds, and the files that all of them plan for a project."""

from __future__ import annotations

from typing import TYPE_CHECKING

from latebind.build.kinds.eps import EP_NUPKGS, EP_WHEELS
from latebind.build.kinds.npms import NPMS
from latebind.build.kinds.nupkgs import NUPKGS
from latebind.build.kinds.sdists import SDISTS
from latebind.build.kinds.sdks import SDKS
from latebind.build.kinds.symbols import SYMBOLS
from latebind.build.kinds.wheels import WHEELS
from latebind.model import NotMade
from latebind.plan import unsupplied

if TYPE_CHECKING:
    from collections.abc import Sequence

    from latebind.build.kinds.kind import PackageKind, PlannedFile
    from latebind.config.config import Config

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
