"""Builds and runs the project's program with the SDK archives that users download."""

from __future__ import annotations

from pathlib import Path

from latebind.ecosystems.rehearsal import Rehearsal, open_folder, verify_feed

REHEARSALS = (
    Rehearsal(
        title="SDK download",
        standing_in="a folder; runtimes come from their PyPI wheels",
        kinds=("sdk",),
        open=open_folder,
        install=lambda stage, registry: verify_feed(stage, Path(registry.place), "sdk"),
    ),
)
