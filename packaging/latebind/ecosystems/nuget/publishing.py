"""Publishes NuGet packages: from a workflow, and in a local feed, from where consumers restore them by id."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from latebind.config.plugin import EpConfig
from latebind.ecosystems.publishing import Publisher, rehearse_in_folder


def _page(package: Mapping[str, Any]) -> str:
    ident = package["nuget"]["id"] if "nuget" in package else msgspec.convert(package["ep"], EpConfig).nuget_id
    return f"https://www.nuget.org/packages/{ident}"


PUBLISHERS = (
    Publisher(
        job="nuget",
        title="NuGet",
        is_for=lambda package: "nuget" in package or bool(package.get("ep", {}).get("vendor")),
        page=_page,
        collect="nuget/collect.yml.j2",
        publish="nuget/publish.yml.j2",
        setup="nuget/setup.yml.j2",
    ),
)
REHEARSALS = (rehearse_in_folder("NuGet", "a folder as a feed", "nupkg", job="nuget"),)
