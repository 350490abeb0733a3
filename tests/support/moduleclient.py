"""A small project whose package holds a Python module in C, for tests of wheel kinds; see client.py for the rest."""

from __future__ import annotations

from pathlib import Path

from tests.support.client import CONFIG, copy_client, read_client

SIX = '["linux-x64", "linux-arm64", "osx-x64", "osx-arm64", "win-x64", "win-arm64"]'

CMAKE = read_client("module", "native/CMakeLists.txt")


def config(kind: str, include: str = SIX) -> str:
    """The configuration with a wheel of that kind and no nupkg."""
    text = CONFIG.replace('["linux-x64"]', include).replace('nuget = { id = "Tiny" }\n', "")
    return text.replace('"python/tiny" }', f'"python/tiny", kind = "{kind}" }}')


def write_module_client(folder: Path, kind: str, **changed: str) -> Path:
    """Copy the project `module` with a wheel of that kind; `changed` is as in copy_client()."""
    return copy_client("module", folder, **{"latebind": config(kind), **changed})
