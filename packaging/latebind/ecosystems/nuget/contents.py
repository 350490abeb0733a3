"""Decides the files of a nupkg and their places in it.

`runtimes/<rid>/native/` is flat, since NuGet flattens it on copy. `lib/<framework>/` holds the managed part. An empty
`_._` in the place of either says that there is nothing: a package with native files only suits that framework, and a
system with another C library doesn't get the files for glibc. `build/` and `buildTransitive/` serve .NET Framework and
Mono, which never look into `runtimes/`; `build/native/` serves C and C++.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from latebind.backend.stage import Stage
from latebind.backend.targets import Rid, target
from latebind.errors import BuildError
from latebind.native.linklibraries import import_libraries
from latebind.system.archive import Entry
from latebind.templates import render

if TYPE_CHECKING:
    from latebind.ecosystems.nuget.managed import ManagedBuild

NATIVE_ONLY_FRAMEWORK = "netstandard2.0"
"""What a package without managed code declares: the oldest framework that every supported .NET implements."""
CLASSIC_FRAMEWORK = "net461"
"""The oldest .NET Framework that takes netstandard2.0 libraries; newer ones, and Mono, use its folder too."""
ICON_LIMIT = 1024 * 1024
"""The largest icon that NuGet packs and feeds accept (NuGet.Packaging, PackageBuilder.MaxIconFileSize)."""

_EMPTY = "_._"
"""The name by which a folder has nothing on purpose."""
_FALLING_BACK = {"linux-musl": (), "linux-bionic": ("arm", "arm64", "x64")}
"""What falls back to the RID for glibc, and the processors; () for all (dotnet/runtime, its portable graph of RIDs)."""
_PICTURES = {".png": b"\x89PNG\r\n\x1a\n", ".jpg": b"\xff\xd8\xff", ".jpeg": b"\xff\xd8\xff"}
"""What a file of each suffix begins with."""
_PORTABLE_PDB = b"BSJB"
"""What a portable PDB begins with (ECMA-335 II.24.2.1); symbol packages accept no other."""


def native(stages: Sequence[Stage], component: str, companions: Sequence[str]) -> list[Entry]:
    """The shared libraries of a component for each target, and what a plugin has next to its own.

    Raises BuildError when a target has no library.
    """
    return [
        Entry(name=f"runtimes/{stage.rid}/native/{file.name}", data=file.read_bytes())
        for stage in stages
        for file in (*stage.libraries(component), *stage.data(component, companions))
    ]


def exclude_others(rids: Sequence[Rid], served: Sequence[Rid]) -> list[Entry]:
    """Empty folders for Alpine and Android, whose applications NuGet would give the libraries for glibc of `rids`.

    `served` are the targets of the whole package. NuGet takes the folder that is nearest by its graph of RIDs.
    """
    near = [
        f"{system}-{processor}"
        for rid in rids
        if target(rid).libc == "glibc"
        for processor in (rid.rpartition("-")[2],)
        for system, processors in _FALLING_BACK.items()
        if processor in (processors or (processor,))
    ]
    return [Entry(name=f"runtimes/{rid}/native/{_EMPTY}", data=b"") for rid in near if rid not in served]


def list_assemblies(builds: Sequence[ManagedBuild]) -> list[Entry]:
    """Assembly, documentation and translations for each framework."""
    if not builds:
        return [Entry(name=f"lib/{NATIVE_ONLY_FRAMEWORK}/{_EMPTY}", data=b"")]
    return [
        Entry(name=f"lib/{build.framework}/{file.relative_to(folder).as_posix()}", data=file.read_bytes())
        for build in builds
        for folder in (build.assembly.parent,)
        for file in (build.assembly, build.documentation, *build.satellites)
        if file
    ]


def symbols(builds: Sequence[ManagedBuild]) -> list[Entry]:
    """The portable PDBs, each at its assembly's place."""
    return [
        Entry(name=f"lib/{build.framework}/{build.symbols.name}", data=data)
        for build in builds
        if build.symbols and (data := build.symbols.read_bytes()).startswith(_PORTABLE_PDB)
    ]


def targets_entries(id_: str, rids: Sequence[Rid], *, elsewhere: Sequence[Rid] = (), part_of: str = "") -> list[Entry]:
    """The build file for .NET Framework, for direct and for transitive references; NuGet imports it by the id's name.

    `rids` are those of the package itself, `elsewhere` those of packages that it depends on. It warns applications for
    a processor that none of them serves; for a part of a split package, the whole does that.
    """
    served = [*rids, *elsewhere]
    text = render(
        "nuget/package.targets.j2",
        id=id_,
        name=re.sub(r"\W", "_", part_of or id_),
        rids=[(rid, *rid.rsplit("-", 1)) for rid in sorted(rids)],
        windows=sorted(target(rid).processor for rid in served if target(rid).system == "windows"),
        warns=not part_of,
    )
    folders = ("build", "buildTransitive")
    return [Entry(name=f"{folder}/{CLASSIC_FRAMEWORK}/{id_}.targets", data=text.encode()) for folder in folders]


def header_entries(id_: str, stages: Sequence[Stage], component: str, *, is_split: bool = False) -> list[Entry]:
    """The headers of a component, import libraries for Windows, and the build file for C++ projects that use them.

    All as native packages have it: `build/native/include/`, `build/native/lib/<rid>/`, `build/native/<id>.targets`.
    The build file copies the DLLs, unless `is_split`: the packages that have them do (`copy_entries`).
    Raises BuildError when the targets' headers differ: a package has one folder for all.
    """
    headers: dict[str, bytes] = {}
    for stage in stages:
        for name, path in stage.headers(component):
            data = path.read_bytes()
            if headers.setdefault(name, data) != data:
                raise BuildError(
                    f"{name} differs between {stages[0].rid} and {stage.rid}, but {id_} has one file for all targets",
                    where=str(path),
                    advice="Use preprocessor conditions for what differs. Headers from CMake's configure_file() and "
                    "generate_export_header() may be valid for one target only.",
                )
    if not headers:
        return []
    imports = [
        Entry(name=f"build/native/lib/{stage.rid}/{path.name}", data=path.read_bytes())
        for stage in stages
        for path in import_libraries(stage, component)
    ]
    linked: dict[str, list[str]] = {}
    for entry in imports:
        rid, name = entry.name.split("/")[3:]
        linked.setdefault(rid, []).append(name)
    links_by_rid = [(rid, rid.rpartition("-")[2], names) for rid, names in sorted(linked.items())]
    text = render("nuget/native.targets.j2", id=id_, rows=links_by_rid, has_headers=True, copies=not is_split)
    include = [Entry(name=f"build/native/include/{name}", data=data) for name, data in sorted(headers.items())]
    return [*include, *imports, Entry(name=f"build/native/{id_}.targets", data=text.encode())]


def copy_entries(id_: str, stage: Stage, component: str) -> list[Entry]:
    """The build file with which a part of a split package copies its DLLs for C++ projects, if these can link them."""
    if not stage.headers(component) or not import_libraries(stage, component):
        return []
    links = (stage.rid, stage.rid.rpartition("-")[2], ())
    text = render("nuget/native.targets.j2", id=id_, rows=[links], has_headers=False, copies=True)
    return [Entry(name=f"build/native/{id_}.targets", data=text.encode())]


def readme(root: Path, file: str) -> list[Entry]:
    """The readme with the line ends of Unix. Raises BuildError when it cannot be read."""
    if not file:
        return []
    path = root / file
    return [Entry(name=path.name, data=_read(path, "readme").replace(b"\r\n", b"\n"))]


def icon(root: Path, file: str) -> list[Entry]:
    """The icon. Raises BuildError when it is not what its suffix says, or larger than NuGet takes."""
    if not file:
        return []
    path = root / file
    data, where = _read(path, "icon"), f"icon = {path}"
    head = _PICTURES.get(path.suffix.lower())
    if head is None or not data.startswith(head):
        raise BuildError(
            f"{path.name} is not a {path.suffix.lstrip('.').upper() or 'picture'} file"
            if head
            else "the icon is not a PNG or JPEG file",
            where=where,
            advice="Save the icon as .png or .jpg. NuGet shows 128 × 128 pixels.",
        )
    if len(data) > ICON_LIMIT:
        raise BuildError(f"the icon has {len(data)} bytes, but NuGet accepts at most {ICON_LIMIT}", where=where)
    return [Entry(name=path.name, data=data)]


def refuse_twins(files: Sequence[Entry], *, where: str) -> None:
    """Refuse file names that are equal when case is ignored within what one application gets side by side.

    Publishing puts managed and native files into one folder: on a file system without case the native `vx.dll`
    replaces the managed `Vx.dll`, and on others the copy that NuGet itself makes does. Raises BuildError.
    """
    seen: dict[tuple[str, str], str] = {}
    names = [file.name for file in files]
    managed_names: dict[str, str] = {}
    for name in names:
        if name.startswith("lib/"):
            managed_names.setdefault(name.rpartition("/")[2].lower(), name)
    for name in names:
        folder, _, base = name.rpartition("/")
        other = seen.setdefault((folder, base.lower()), name)
        if other is not name:
            raise BuildError(f"two files in {folder} have the name {base}, ignoring case", where=where)
        twin = managed_names.get(base.lower(), name)
        if folder.startswith("runtimes/") and twin != name and not name.endswith(f"/{_EMPTY}"):
            raise BuildError(
                f"{twin} and {name} would overwrite each other when an application is published",
                where=where,
                advice="Give the native library another name, or the assembly: AssemblyName in the .csproj.",
            )


def _read(path: Path, what: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BuildError(f"the {what} cannot be read: {error.strerror}", where=f"{what} = {path}") from error
