"""Builds and runs the project's program with the SDK archives that users download."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from latebind.ecosystems.rehearsal import Rehearsal, open_folder, verify_feed

if TYPE_CHECKING:
    from latebind.ecosystems.rehearsal import Registry, Stage


def _install(stage: Stage, registry: Registry) -> str:
    """See Rehearsal.install."""
    consumers = [stage.config.document.verify.sdk]
    return verify_feed(stage, Path(registry.place), "sdk", consumers)


REHEARSALS = (
    Rehearsal(
        title="SDK download",
        standing_in="a folder; runtimes come from their PyPI wheels",
        kinds=("sdk",),
        open=open_folder,
        install=_install,
    ),
)
