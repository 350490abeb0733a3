"""Check LB701: whether NuGet uses the RID folders of a nupkg."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from loadcheck.engine.platforms import data
from loadcheck.engine.registry import Hit, Skip, check
from loadcheck.kinds.nuget.reading import rid_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadcheck.readers.contents import Contents

_VERSIONED = re.compile(r"\d+(\.\d+)*$|\.\d")


@check(
    "LB701",
    "RID that .NET does not find",
    "error",
    profiles=("loads",),
    because=".NET 8 and newer do not find the files.",
    kinds=("nupkg",),
    example="runtimes/osx.10.14-x64/native/liblatenn.dylib, runtimes/linux-amd64/native/liblatenn.so",
    fix="Use a portable RID of the .NET catalog: linux-x64, linux-arm64, linux-musl-x64, osx-arm64, win-x64, ...",
)
def not_found(package: Contents) -> Iterator[Hit | Skip]:
    """.NET looks only for RIDs of its catalog, and ignores other folders without a warning.

    Since .NET 8, it also ignores folders for a distribution or an OS version, unless a project sets UseRidGraph.
    """
    for rid, inner in _rids(package):
        verdict, seen = _judge(rid), (f"runtimes/{rid}/",)
        if verdict == "not portable":
            message = f"{rid} names a version or a distribution, so .NET 8 and newer ignore the folder"
            yield Hit(cause=rid, inner=inner, message=message, evidence=seen, fix=f"Use {_portable(rid)}.")
        elif verdict == "unknown":
            yield Hit(cause=rid, inner=inner, message=f"{rid} is not in the RID catalog", evidence=seen)


def _rids(package: Contents) -> Iterator[tuple[str, str]]:
    """Each RID with its first file."""
    seen: set[str] = set()
    for file in package.files:
        rid = rid_folder(file.name)
        if rid and rid not in seen:
            seen.add(rid)
            yield rid, file.name


def _judge(rid: str) -> str:
    table = data()
    system, _, arch = rid.rpartition("-")
    if rid in table.rid_systems or (system in table.rid_systems and arch in table.rid_archs):
        return "portable"
    name = system or rid
    first = re.split(r"[.\-]", name)[0]
    if first in table.rid_distributions or (
        _VERSIONED.search(name) and first.rstrip("0123456789") in table.rid_systems
    ):
        return "not portable"
    return "unknown"


def _portable(rid: str) -> str:
    system, _, arch = rid.rpartition("-")
    first = re.split(r"[.\-\d]", system or rid)[0]
    name = first if first in ("win", "osx", "android", "ios") else "linux-musl" if first == "alpine" else "linux"
    return f"{name}-{arch}" if arch in data().rid_archs else name
