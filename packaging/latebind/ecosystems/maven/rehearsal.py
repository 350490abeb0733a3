"""Puts JARs into a local Maven repository, and resolves them from there by their coordinates."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from latebind.ecosystems.maven.config import PROGRAM
from latebind.ecosystems.rehearsal import Rehearsal, open_folder, verify_feed

if TYPE_CHECKING:
    from latebind.ecosystems.rehearsal import Registry, Stage


def _install(stage: Stage, registry: Registry) -> str:
    """See Rehearsal.install."""
    consumers = [stage.config.document.verify.find_program(PROGRAM)]
    return verify_feed(stage, Path(registry.place), "jar", consumers)


REHEARSALS = (
    Rehearsal(
        title="Maven",
        standing_in="a folder as a repository; runtimes come from their PyPI wheels",
        kinds=("maven",),
        open=open_folder,
        install=_install,
    ),
)
