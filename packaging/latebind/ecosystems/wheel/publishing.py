"""Publishes wheels and sdists on PyPI from a workflow."""

from __future__ import annotations

from latebind.ecosystems.ecosystem import Publisher

PUBLISHERS = (
    Publisher(
        job="pypi", is_for=lambda package: "wheel" in package or "ep" in package, template="wheel/publish.yml.j2"
    ),
)
