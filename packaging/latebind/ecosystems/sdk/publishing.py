"""Builds and runs the project's program with the SDK archives that users download."""

from __future__ import annotations

from latebind.ecosystems.publishing import rehearse_in_folder

REHEARSALS = (rehearse_in_folder("SDK download", "a folder", "sdk"),)
