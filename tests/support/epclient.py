"""A project with an execution provider that exports what it must and does nothing, for tests without a runtime."""

from __future__ import annotations

from pathlib import Path

from tests.support.client import copy_client, read_client

CONFIG = read_client("provider", "latebind.toml")
CMAKE = read_client("provider", "native/CMakeLists.txt")
SOURCE = read_client("provider", "native/tiny_ep.c")
(EP,) = [line for line in CONFIG.splitlines() if line.startswith("ep = ")]


def write_ep(folder: Path, config: str = CONFIG, cmake: str = CMAKE, source: str = SOURCE) -> Path:
    """Copy the project, with other texts of its files."""
    return copy_client("provider", folder, latebind=config, cmakelists=cmake, tiny_ep=source)
