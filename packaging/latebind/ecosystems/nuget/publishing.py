"""Publishes NuGet packages from a workflow."""

from __future__ import annotations

from latebind.ecosystems.ecosystem import Publisher

PUBLISHERS = (
    Publisher(
        job="nuget",
        is_for=lambda package: "nuget" in package or bool(package.get("ep", {}).get("vendor")),
        template="nuget/publish.yml.j2",
        setup="nuget/setup.yml.j2",
    ),
)
