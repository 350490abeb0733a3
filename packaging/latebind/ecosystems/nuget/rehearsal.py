"""Publishes NuGet packages in a local feed, and restores them from there by id."""

from __future__ import annotations

from pathlib import Path

from latebind.ecosystems.rehearsal import Rehearsal, open_folder, verify_feed


REHEARSALS = (
    Rehearsal(
        title="NuGet",
        standing_in="a folder as a feed; runtimes come from their PyPI wheels",
        job="nuget",
        kinds=("nupkg",),
        open=open_folder,
        install=lambda stage, registry: verify_feed(stage, Path(registry.place), "nupkg"),
    ),
)
