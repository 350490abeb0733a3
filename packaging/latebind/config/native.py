"""The tables `native` and `targets`: what is built, by what, and for which systems."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from latebind.config.reader import Table

TomlValue = bool | int | str
SourceName = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_.+-]+$")]


class Native(Table, frozen=True):
    """The native code, and what builds it."""

    source: Annotated[str, Meta(description="Folder of the native code.")] = "native"
    build: Annotated[
        Literal["cmake", "external"],
        Meta(
            description="What builds the native code: CMake, or your own build, whose files `latebind stage --import` "
            "adds."
        ),
    ] = "cmake"
    cmake: Annotated[
        str,
        Meta(
            description="Folder of the top-level CMakeLists.txt, relative to `source`, if that file uses code in "
            "../src."
        ),
    ] = ""
    exclude: Annotated[
        tuple[str, ...],
        Meta(
            description="Globs, relative to `source`, of what no build reads, such as test data. It is left out of "
            "the sdist."
        ),
    ] = ()
    sources: Annotated[
        dict[SourceName, str],
        Meta(
            description="Archives or folders, relative to `source`, of dependencies that CMake would download, by "
            'their name in FetchContent, CPM or ExternalProject: { fmt = "third_party/fmt" }. With an '
            "entry, downloads fail."
        ),
    ] = msgspec.field(default_factory=dict)
    define: Annotated[dict[str, TomlValue], Meta(description="CMake cache variables for all targets.")] = msgspec.field(
        default_factory=dict
    )
    hide: Annotated[
        bool,
        Meta(
            description="Whether shared libraries export only the symbols in `exports`, if the code does not mark "
            "them. On Windows, `exports` then needs exact names. For macOS, the code must mark its "
            "exports."
        ),
    ] = False
    symbols: Annotated[
        bool,
        Meta(description="Whether to write an archive of debug symbols for each target except Windows."),
    ] = False


class TargetOptions(Table, frozen=True):
    """Settings that differ for one target."""

    toolchain: Annotated[
        Literal["zig", "host"], Meta(description="Compiler for this target: zig, or the system's own (host).")
    ] = "zig"
    define: Annotated[
        dict[str, TomlValue], Meta(description="CMake cache variables for this target, in addition to native.define.")
    ] = msgspec.field(default_factory=dict)
    cflags: Annotated[tuple[str, ...], Meta(description="Options for the C compiler.")] = ()
    cxxflags: Annotated[tuple[str, ...], Meta(description="Options for the C++ compiler.")] = ()
    exclude: Annotated[
        tuple[str, ...],
        Meta(description="Packages that are not made for this target."),
    ] = ()


class Targets(Table, frozen=True):
    """The platforms to build for, and the oldest systems that the packages support."""

    include: Annotated[
        tuple[str, ...], Meta(description="Targets to build, by runtime identifier (RID).", min_length=1)
    ]
    glibc: Annotated[
        str,
        Meta(description="Oldest supported glibc of the Linux targets, such as 2.28.", pattern=r"^2\.(0|[1-9][0-9]*)$"),
    ] = "2.28"
    macos: Annotated[
        str,
        Meta(
            # packaging.tags.mac_platforms: from macOS 11 on no installer knows a tag whose minor version is not 0.
            description="Oldest supported macOS. From 11 on, only whole versions such as 13.0.",
            pattern=r"^(10\.(0|[1-9][0-9]*)|[1-9][0-9]+\.0)$",
        ),
    ] = "11.0"
    options: Annotated[dict[str, TargetOptions], Meta(description="[targets.<rid>]: settings of one target.")] = (
        msgspec.field(default_factory=dict)
    )
