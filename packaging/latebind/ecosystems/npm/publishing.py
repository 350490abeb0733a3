"""Publishes npm packages from a workflow."""

from __future__ import annotations

from latebind.ecosystems.ecosystem import Publisher

PUBLISHERS = (Publisher(job="npm", is_for=lambda package: "npm" in package, template="npm/publish.yml.j2"),)
