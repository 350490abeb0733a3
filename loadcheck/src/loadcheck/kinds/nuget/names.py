"""The names of nupkgs, and the limit of their feed."""

from __future__ import annotations

import re

FEED_LIMIT = 250_000_000
"""Bytes of a package that the public feed takes: "250 MB" (learn.microsoft.com/nuget/nuget-org/publish-a-package)."""
_PART = re.compile(r"(.+)\.runtime\.(?:win|linux|osx|android|ios|freebsd)[\w.]*(?:-\w+)+", re.IGNORECASE)


def nupkg_id(file_name: str) -> str:
    """`Latenn.OnnxRuntime` of `Latenn.OnnxRuntime.1.2.3-rc.1.nupkg`: everything before the first numeric part."""
    parts = file_name.split(".")
    number = next((index for index, part in enumerate(parts) if part[:1].isdigit() and index), len(parts) - 1)
    return ".".join(parts[:number])


def nupkg_version(file_name: str) -> str:
    """`1.2.3-rc.1` of `Latenn.OnnxRuntime.1.2.3-rc.1.nupkg`."""
    stem = file_name.rpartition(".")[0]
    return stem[len(nupkg_id(file_name)) + 1 :]


def whole_id(package_id: str) -> str:
    """`Latenn` of `Latenn.runtime.linux-x64`, the part of a split package for one target; else the id itself."""
    match = _PART.fullmatch(package_id)
    return match[1] if match else package_id
