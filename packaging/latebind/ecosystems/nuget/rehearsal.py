"""Publishes NuGet packages in a local feed, and restores them from there by id."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from latebind.ecosystems.rehearsal import Rehearsal, open_folder, verify_feed

if TYPE_CHECKING:
    from latebind.ecosystems.rehearsal import Registry, Stage


def _install(stage: Stage, registry: Registry) -> str:
    """See Rehearsal.install."""
    consumers = [stage.config.document.verify.dotnet, stage.config.document.verify.c]
    return verify_feed(stage, Path(registry.place), "nupkg", consumers)


REHEARSALS = (
    Rehearsal(
        title="NuGet",
        standing_in="a folder as a feed; runtimes come from their PyPI wheels",
        job="nuget",
        kinds=("nupkg",),
        open=open_folder,
        install=_install,
    ),
)
