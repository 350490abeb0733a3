"""Puts JARs into a local Maven repository, and resolves them from there by their coordinates."""

from __future__ import annotations

from latebind.ecosystems.publishing import rehearse_in_folder

REHEARSALS = (rehearse_in_folder("Maven", "a folder as a repository", "jar", kinds=("maven",)),)
