"""Publishes npm packages from a workflow."""

from __future__ import annotations

from latebind.ecosystems.ecosystem import Publisher

PUBLISHERS = (
    Publisher(
        job="npm",
        title="npm",
        is_for=lambda package: "npm" in package,
        page=lambda package: f"https://www.npmjs.com/package/{package['npm']['name']}",
        collect="npm/collect.yml.j2",
        publish="npm/publish.yml.j2",
    ),
)
