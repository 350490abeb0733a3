"""Publishes wheels and sdists on PyPI from a workflow."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

import msgspec

from latebind.config.plugin import EpConfig
from latebind.ecosystems.ecosystem import Publisher


def name_distribution(package: Mapping[str, Any]) -> str:
    """The name of the wheel that a table `[package.<name>]` makes; "" for none."""
    if "ep" in package:
        return msgspec.convert(package["ep"], EpConfig).distribution
    wheel = package.get("wheel", {})
    return str(wheel.get("name") or PurePosixPath(wheel.get("source", "")).name.replace("_", "-"))


PUBLISHERS = (
    Publisher(
        job="pypi",
        title="PyPI",
        is_for=lambda package: "wheel" in package or "ep" in package,
        page=lambda package: f"https://pypi.org/project/{name_distribution(package)}/",
        collect="wheel/collect.yml.j2",
        publish="wheel/publish.yml.j2",
    ),
)
