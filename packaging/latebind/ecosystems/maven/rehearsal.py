"""Puts JARs into a local Maven repository, and resolves them from there by their coordinates."""

from __future__ import annotations

from pathlib import Path

from latebind.ecosystems.rehearsal import Rehearsal, open_folder, verify_feed

REHEARSALS = (
    Rehearsal(
        title="Maven",
        standing_in="a folder as a repository; runtimes come from their PyPI wheels",
        kinds=("maven",),
        open=open_folder,
        install=lambda stage, registry: verify_feed(stage, Path(registry.place), "jar"),
    ),
)
