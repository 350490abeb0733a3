"""Checks LB411, LB412 and LB416: build files that NuGet ignores, and packages that feeds refuse."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from loadcheck.engine.registry import Hit, Skip, check
from loadcheck.kinds.nuget.reading import FEED_LIMIT
from loadcheck.readers.opc import readable_nuspec
from loadcheck.text import human_size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadcheck.readers.contents import Contents

_BUILD_FILE = re.compile(
    r"((?:build|buildTransitive|buildMultiTargeting|buildCrossTargeting)/(?:[^/]+/)?)([^/]+)(\.props|\.targets)",
    re.IGNORECASE,
)
_OF_SYMBOLS = (".pdb", ".nuspec", ".xml", ".psmdcp", ".rels", ".p7s")
"""learn.microsoft.com/nuget/create-packages/symbol-packages-snupkg, "symbol package constraints"."""
_PORTABLE = b"BSJB"
_TEXTS = ("authors", "copyright", "description", "iconUrl", "licenseUrl", "projectUrl", "summary", "tags")
_LONGEST = {
    "id": 128, "version": 64, "title": 256, "language": 20, "releaseNotes": 35_000, **dict.fromkeys(_TEXTS, 4000)
}  # fmt: skip
"""The most characters of fields that the public feed takes."""


@check(
    "LB411",
    "Build file that NuGet does not import",
    "error",
    profiles=("loads",),
    because="The build file has no effect, so applications lack the files that it should copy.",
    kinds=("nupkg",),
    example="build/net461/native.targets in Latenn.1.0.0.nupkg",
    fix="Name the file after the package: build/net461/Latenn.targets. It may import others.",
)
def build_file_ignored(package: Contents) -> Iterator[Hit | Skip]:
    """NuGet imports only `<id>.props` and `<id>.targets` of a build folder, and does not report any others.

    Files that the ignored file should have copied are then missing when the application runs. `nuget pack` warns with
    NU5129.
    """
    nuspec_file = readable_nuspec(package)
    if nuspec_file is None:
        return
    package_id = nuspec_file[1].fields.get("id", "")
    names_by_folder: dict[tuple[str, str], list[str]] = {}
    for file in package.files:
        match = _BUILD_FILE.fullmatch(file.name)
        if match:
            names_by_folder.setdefault((match[1], match[3].lower()), []).append(match[2])
    for (folder, suffix), names in sorted(names_by_folder.items()):
        if package_id.lower() not in {name.lower() for name in names}:
            yield Hit(
                inner=f"{folder}{names[0]}{suffix}",
                message=f"is ignored: NuGet imports {folder}{package_id}{suffix}",
                evidence=tuple(f"{folder}{name}{suffix}" for name in names),
            )


@check(
    "LB412",
    "File not allowed in a symbol package",
    "error",
    profiles=("loads",),
    because="The symbol server refuses the package.",
    kinds=("nupkg",),
    example="lib/netstandard2.0/Latenn.dll in Latenn.1.0.0.snupkg",
    fix="Pack only portable PDBs, and publish the symbols of native libraries elsewhere.",
)
def symbols_refused(package: Contents) -> Iterator[Hit | Skip]:
    """The symbol server accepts portable PDBs of managed code, and refuses a package that contains anything else."""
    for file in package.files if package.is_symbols else ():
        name = file.name.lower()
        if not name.endswith(_OF_SYMBOLS) and file.name != "[Content_Types].xml":
            yield Hit(
                cause="kind", inner=file.name, message="is not allowed in a symbol package", evidence=(file.name,)
            )
        elif name.endswith(".pdb") and not file.head.startswith(_PORTABLE):
            head = file.head[:16].decode("ascii", "replace")
            yield Hit(
                cause="pdb", inner=file.name, message="is not a portable PDB", evidence=(f"begins with {head!r}",)
            )


@check(
    "LB416",
    "Package that NuGet's public feed refuses",
    "warning",
    profiles=("all",),
    because="NuGet's public feed refuses the package. Other feeds have their own limits.",
    kinds=("nupkg",),
    example="Latenn.1.0.0.nupkg of 431.2 MB, with libraries for seven targets",
    fix='Make one package for each target: set split = "auto" below [package.NAME.nuget], or make packages '
    "Id.runtime.RID and a package that depends on all of them.",
)
def refused_by_feed(package: Contents) -> Iterator[Hit | Skip]:
    """NuGet's public feed accepts packages of up to 250 MB, and limits the length of fields of the nuspec.

    Native libraries for several targets make a package large, and each user needs only those for one target. The
    limits of fields are those of `PackageService.ValidateNuGetPackageMetadata` (NuGet/NuGetGallery).
    """
    size = package.path.stat().st_size
    if size > FEED_LIMIT:
        largest = sorted(package.files, key=lambda file: -file.size)[:3]
        yield Hit(
            cause="size",
            message=f"is {human_size(size)}, but NuGet's public feed accepts at most {human_size(FEED_LIMIT)}",
            evidence=tuple(f"{file.name}: {human_size(file.size)}" for file in largest) or (f"{size} bytes",),
        )
    inner, spec = readable_nuspec(package) or ("", None)
    for field, limit in _LONGEST.items() if spec is not None else ():
        text = spec.fields.get(field, "") if spec is not None else ""
        if len(text) > limit:
            message = f"has {len(text):,} characters in {field}; NuGet's public feed takes {limit:,}"
            yield Hit(cause=field, inner=inner, message=message, evidence=(text[:80],), fix=f"Shorten {field}.")
