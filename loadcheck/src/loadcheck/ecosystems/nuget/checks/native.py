"""Checks LB401, LB403, LB409, LB701 and LB703: where a nupkg has its native files, and where NuGet takes them from."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from loadcheck.ecosystems.nuget.reading import native_place, rid_folder
from loadcheck.engine.check import Hit, Hits, check
from loadcheck.engine.platforms import data

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

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


class _Neighbour(NamedTuple):
    """A system with another C library, for which .NET takes files for glibc if a package has none nearer."""

    name: str
    nearer: tuple[str, ...]
    """Its RIDs, from the nearest: as .NET's PortableRuntimeIdentifierGraph.json (dotnet/runtime) imports them."""
    processors: tuple[str, ...] = ()
    """Those of its devices; () for all. Only emulators of Android have others."""
    is_expected: bool = True
    """Whether libraries for Linux are expected to work there, too, even if the package has none for the system."""


_NEIGHBOURS = (
    _Neighbour("Alpine", ("linux-musl-{}", "linux-musl")),
    _Neighbour(
        "Android", ("android-{}", "android", "linux-bionic-{}", "linux-bionic"), ("arm", "arm64"), is_expected=False
    ),
)
_EMPTY = "_._"
"""NuGet's name for the only file of a folder that has nothing on purpose."""


@check(
    "LB703",
    "Library for glibc that .NET gives to Alpine or Android",
    "note",
    because="Applications build on these systems, and fail when they load the library. The finding is a note, because "
    "you may not support Alpine, and a warning if the package has files for the system with another processor.",
    kinds=("nupkg",),
    example="runtimes/linux-x64/native/liblatenn.so, without runtimes/linux-musl-x64",
    fix="Build the library for the system and add it under the system's own RID, or put an empty file `_._` there.",
)
def glibc_falls_back(package: Contents) -> Hits:
    """.NET takes the files of the nearest RID that the package has, and a RID's neighbours include other C libraries.

    By the RID graph, `linux-musl-x64` (Alpine) imports `linux-x64`, and `android-arm64` imports `linux-bionic-arm64`,
    which imports `linux-arm64`. So a package without files for these systems gives them those for glibc, and neither
    restore nor build warns. Android is judged only if the package has files for another of its processors. .NET takes
    all files from one RID: a file that only `linux-x64` has is missing where `linux-musl-x64` has others.
    """
    bases: dict[str, set[str]] = {}
    for file in package.files:
        bases.setdefault(native_place(file.name)[0], set()).add(file.base)
    for_glibc: dict[str, list[File]] = {}
    for file, image in package.images:
        system, _, processor = (rid := native_place(file.name)[0]).partition("-")
        if image.libc == "glibc" and system == "linux" and processor in data().rid_archs and not file.within:
            for_glibc.setdefault(rid, []).append(file)
    for neighbour in _NEIGHBOURS:
        yield from _find_fallbacks(neighbour, bases, for_glibc)
    yield from _find_left_out(bases, for_glibc)


def _find_fallbacks(
    neighbour: _Neighbour, bases: Mapping[str, Collection[str]], for_glibc: Mapping[str, Sequence[File]]
) -> Hits:
    """The RIDs for glibc that a system falls back to, in one finding."""
    taken: dict[str, str] = {}
    for rid in for_glibc:
        processor = rid.rpartition("-")[2]
        nearer = [form.format(processor) for form in neighbour.nearer]
        if bases.keys().isdisjoint(nearer) and processor in (neighbour.processors or (processor,)):
            taken[rid] = nearer[0]
    starts = tuple(form.removesuffix("-{}") for form in neighbour.nearer)
    is_promised = any(rid.startswith(starts) for rid in bases)
    if not taken or not (is_promised or neighbour.is_expected):
        return
    rid, own = next(iter(taken.items()))
    file = for_glibc[rid][0]
    yield Hit(
        cause=neighbour.name,
        names=tuple(taken),
        inner=file.name,
        message=f"is for glibc, but .NET gives it to {neighbour.name}, too: the package has nothing for {own}",
        evidence=tuple(f"{own} falls back to runtimes/{rid}/native/" for rid, own in taken.items()),
        fix=f"Add a library for {neighbour.name} in runtimes/{own}/native/, or an empty file {_EMPTY} there: "
        f"applications for {neighbour.name} then get none.",
        severity="warning" if is_promised else "note",
    )


def _find_left_out(bases: Mapping[str, Collection[str]], for_glibc: Mapping[str, Sequence[File]]) -> Hits:
    """Libraries for glibc that Alpine lacks, since .NET takes all files from another RID."""
    for rid, files in for_glibc.items():
        own = rid.replace("linux-", "linux-musl-")
        nearest = next((near for near in (own, "linux-musl") if near in bases), "")
        lacking = [file for file in files if nearest and file.base not in bases[nearest]]
        if lacking and bases[nearest] != {_EMPTY}:
            yield Hit(
                cause=f"left out of {own}",
                names=tuple(file.base for file in lacking),
                inner=lacking[0].name,
                message=f"is not in runtimes/{nearest}/native/, from which alone .NET takes files on Alpine",
                evidence=tuple(f"missing: runtimes/{nearest}/native/{file.base}" for file in lacking),
                fix=f"Add a build for musl to runtimes/{nearest}/native/, if applications on Alpine need the library.",
            )
