"""Checks LB401, LB403 and LB409: where a nupkg has its native files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadcheck.engine.registry import Hit, Skip, check
from loadcheck.kinds.nuget.reading import native_place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadcheck.readers.contents import Contents, File

_OTHER_PLACES = ("build/", "buildtransitive/", "buildmultitargeting/", "tools/", "analyzers/", "msbuild/")
"""Build targets, tools and C++ projects use the native files there."""


@check(
    "LB401",
    "Native file in a subfolder",
    "error",
    profiles=("loads",),
    because="An application that is built for one RID does not find the file in the subfolder.",
    kinds=("nupkg",),
    example="runtimes/linux-x64/native/plugins/libx.so",
    fix="Move every native file of a RID directly into runtimes/<rid>/native/.",
)
def nested_native(package: Contents) -> Iterator[Hit | Skip]:
    """If an application is built for one RID, .NET copies all of `runtimes/<rid>/native/` into one folder.

    A library that looks for a file in a subfolder does not find it, and files with the same name overwrite each other.
    """
    for file in package.files:
        rid, rest = native_place(file.name)
        if rid and "/" in rest and not _is_bundle(rest):
            yield Hit(
                inner=file.name,
                message=f"is in a subfolder of native/: applications for one RID get it as {file.base}",
                evidence=(file.name,),
            )


def _is_bundle(path: str) -> bool:
    """Whether a path is inside an Apple bundle, which is a folder."""
    return any(part.endswith((".framework", ".xcframework", ".dSYM")) for part in path.split("/")[:-1])


@check(
    "LB403",
    "Managed and native file with the same name",
    "error",
    profiles=("loads",),
    because="An application lacks one of the two files, or opens the wrong one.",
    kinds=("nupkg",),
    example="lib/netstandard2.0/Latenn.dll and runtimes/win-x64/native/latenn.dll",
    fix="Rename the native library so that it differs from the assembly by more than case.",
)
def managed_native_case(package: Contents) -> Iterator[Hit | Skip]:
    """If an application is built for one RID, .NET copies managed and native files to the same folder.

    On systems that ignore case in file names, one file overwrites the other, or the loader opens the assembly instead
    of the native library.
    """
    managed: dict[str, File] = {}
    for file in package.files:
        if file.name.startswith(("lib/", "ref/")) and file.base.lower().endswith((".dll", ".exe")):
            managed.setdefault(file.base.casefold(), file)
    for file in package.files:
        rid, _ = native_place(file.name)
        twin = managed.get(file.base.casefold())
        if rid and twin is not None:
            yield Hit(
                inner=file.name,
                message=f"has the same name as the assembly {twin.name}, ignoring case",
                evidence=(file.name, twin.name),
            )


@check(
    "LB409",
    "Native file where NuGet does not look",
    "warning",
    profiles=("loads",),
    because="Applications do not get the file, or get it on every platform.",
    kinds=("nupkg",),
    example="lib/netstandard2.0/liblatenn.so",
    fix="Move it to runtimes/<rid>/native/.",
)
def native_misplaced(package: Contents) -> Iterator[Hit | Skip]:
    """NuGet chooses native files by platform only in `runtimes/<rid>/native/`.

    Projects get native files from other folders on every platform, or not at all.
    """
    for file in package.native:
        rid, _ = native_place(file.name)
        if not rid and not file.name.lower().startswith(_OTHER_PLACES):
            yield Hit(inner=file.name, message="is a native file outside runtimes/<rid>/native/", evidence=(file.name,))
