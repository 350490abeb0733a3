"""Checks LB401, LB403, LB409 and LB701: where a nupkg has its native files, and whether NuGet finds them there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from loadcheck.ecosystems.nuget.reading import native_place, rid_folder
from loadcheck.engine.platforms import data
from loadcheck.engine.registry import Hit, Hits, check

if TYPE_CHECKING:
    from loadcheck.readers.contents import Contents, File

_OTHER_PLACES = ("build/", "buildtransitive/", "buildmultitargeting/", "tools/", "analyzers/", "msbuild/")
"""Build targets, tools and C++ projects use the native files there."""
_VERSIONED = re.compile(r"\d+(\.\d+)*$|\.\d")


@check(
    "LB401",
    "Native file in a subfolder",
    "error",
    because="An application that is built for one RID does not find the file in the subfolder.",
    kinds=("nupkg",),
    example="runtimes/linux-x64/native/plugins/libx.so",
    fix="Move every native file of a RID directly into runtimes/<rid>/native/.",
)
def nested_native(package: Contents) -> Hits:
    """If an application is built for one RID, .NET copies all of `runtimes/<rid>/native/` into one folder.

    A library that looks for a file in a subfolder does not find it, and files with the same name overwrite each other.
    """
    for file in package.stored:
        rid, rest = native_place(file.name)
        if rid and "/" in rest and not _is_bundle(rest):
            text = f"is in a subfolder of native/: applications for one RID get it as {file.base}"
            yield Hit(inner=file.name, message=text)


def _is_bundle(path: str) -> bool:
    """Whether a path is inside an Apple bundle, which is a folder."""
    return any(part.endswith((".framework", ".xcframework", ".dSYM")) for part in path.split("/")[:-1])


@check(
    "LB403",
    "Managed and native file with the same name",
    "error",
    because="An application lacks one of the two files, or opens the wrong one.",
    kinds=("nupkg",),
    example="lib/netstandard2.0/Latenn.dll and runtimes/win-x64/native/latenn.dll",
    fix="Rename the native library so that it differs from the assembly by more than case.",
)
def managed_native_case(package: Contents) -> Hits:
    """If an application is built for one RID, .NET copies managed and native files to the same folder.

    On systems that ignore case in file names, one file overwrites the other, or the loader opens the assembly instead
    of the native library.
    """
    managed: dict[str, File] = {}
    for file in package.stored:
        if file.name.startswith(("lib/", "ref/")) and file.base.lower().endswith((".dll", ".exe")):
            managed.setdefault(file.base.casefold(), file)
    for file in package.stored:
        rid, _ = native_place(file.name)
        twin = managed.get(file.base.casefold())
        if rid and twin is not None:
            text = f"has the same name as the assembly {twin.name}, ignoring case"
            yield Hit(inner=file.name, message=text, evidence=(file.name, twin.name))


@check(
    "LB409",
    "Native file where NuGet does not look",
    "warning",
    because="Applications do not get the file, or get it on every platform.",
    kinds=("nupkg",),
    example="lib/netstandard2.0/liblatenn.so",
    fix="Move it to runtimes/<rid>/native/.",
)
def native_misplaced(package: Contents) -> Hits:
    """NuGet chooses native files by platform only in `runtimes/<rid>/native/`.

    Projects get native files from other folders on every platform, or not at all.
    """
    for file in package.native:
        rid, _ = native_place(file.name)
        if not rid and not file.within and not file.name.lower().startswith(_OTHER_PLACES):
            yield Hit(inner=file.name, message="is a native file outside runtimes/<rid>/native/")


@check(
    "LB701",
    "RID that .NET does not find",
    "error",
    because=".NET 8 and newer do not find the files.",
    kinds=("nupkg",),
    example="runtimes/osx.10.14-x64/native/liblatenn.dylib, runtimes/linux-amd64/native/liblatenn.so",
    fix="Use a portable RID of the .NET catalog: linux-x64, linux-arm64, linux-musl-x64, osx-arm64, win-x64, ...",
)
def not_found(package: Contents) -> Hits:
    """.NET looks only for RIDs of its catalog, and ignores other folders without a warning.

    Since .NET 8, it also ignores folders for a distribution or an OS version, unless a project sets UseRidGraph.
    """
    # The first file of each RID.
    places = {rid: file.name for file in reversed(package.stored) if (rid := rid_folder(file.name))}
    for rid, inner in places.items():
        verdict, seen = _judge(rid), (f"runtimes/{rid}/",)
        if verdict == "not portable":
            message = f"{rid} names a version or a distribution, so .NET 8 and newer ignore the folder"
            yield Hit(cause=rid, inner=inner, message=message, evidence=seen, fix=f"Use {_portable(rid)}.")
        elif verdict == "unknown":
            yield Hit(cause=rid, inner=inner, message=f"{rid} is not in the RID catalog", evidence=seen)


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
