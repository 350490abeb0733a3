"""Check LB312: whether any installer accepts the tags of a wheel."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from packaging.tags import mac_platforms

from loadcheck.engine.registry import Hit, check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadcheck.readers.contents import WheelName

_MACOS = re.compile(r"macosx_(?P<major>\d+)_(?P<minor>\d+)_(?P<arch>\w+)")
_NEWEST, _LAST_OLD = (60, 0), (10, 15)
"""Versions of macOS from which packaging counts down: one that is far ahead, and the last that is numbered 10."""
_MACHINES = (
    *((_NEWEST, arch) for arch in ("arm64", "x86_64")),
    *((_LAST_OLD, arch) for arch in ("x86_64", "i386", "ppc64", "ppc")),
)


@check(
    "LB312",
    "Platform tag that no installer accepts",
    "error",
    profiles=("loads",),
    because="No installer accepts the tag, so the wheel cannot be installed on the systems that it names. The finding "
    "is a warning if installers accept other tags of the wheel.",
    kinds=("wheel",),
    example="voice-1.0-cp310-abi3-macosx_10_9_arm64.whl",
    fix="For macOS 11 and newer, write the minor version 0 (macosx_12_0_arm64). For arm64, write 11_0 or newer.",
)
def tag_that_nobody_accepts(wheel: WheelName) -> Iterator[Hit]:
    """Installers list the tags that a machine accepts, and take a wheel only if it has one of them (PEP 425).

    Of the tags for macOS 11 and newer, they list only those with the minor version 0. For arm64, they list no version
    before 11, except for universal2 wheels (packaging.tags.mac_platforms).
    """
    accepted = _list_accepted()
    refused = [name for name in wheel.platforms if _MACOS.fullmatch(name) and name not in accepted]
    served = {match["arch"] for name in set(wheel.platforms) & accepted if (match := _MACOS.fullmatch(name))}
    lost = [name for name in refused if _MACOS.fullmatch(name) and not served & {_arch(name), "universal2"}]
    if lost:
        yield Hit(
            names=tuple(lost),
            message=f"is tagged {lost[0]}, which no installer accepts; the nearest accepted one is {_nearest(lost[0])}",
            evidence=tuple(lost),
            severity="error" if len(refused) == len(wheel.platforms) else "warning",
        )


@cache
def _list_accepted() -> frozenset[str]:
    """Every tag for macOS that some version of it accepts."""
    return frozenset(name for version, arch in _MACHINES for name in mac_platforms(version, arch))


def _arch(name: str) -> str:
    match = _MACOS.fullmatch(name)
    return match["arch"] if match else ""


def _nearest(name: str) -> str:
    """The accepted tag of the next version: `macosx_13_0_arm64` for `macosx_12_3_arm64`."""
    match = _MACOS.fullmatch(name)
    if match is None:
        return name
    major = int(match["major"]) + bool(int(match["minor"]))
    return f"macosx_{max(major, 11)}_0_{match['arch']}"
