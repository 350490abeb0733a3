"""Publishes NuGet packages in a local feed, and restores them from there by id."""

from __future__ import annotations

from latebind.ecosystems.rehearsal import rehearse_in_folder

REHEARSALS = (rehearse_in_folder("NuGet", "a folder as a feed", "nupkg", job="nuget"),)
