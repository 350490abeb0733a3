"""Checks LB411-LB413 and LB416: build files that NuGet ignores or that name nothing, and what feeds refuse."""

from __future__ import annotations

import posixpath
import re
from fnmatch import translate
from typing import TYPE_CHECKING

from loadcheck.ecosystems.nuget.reading import BUILD_FOLDERS, FEED_LIMIT
from loadcheck.engine.check import Hit, Hits, check
from loadcheck.errors import InputError
from loadcheck.readers.opc import parse, readable_nuspec
from loadcheck.text import human_size

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

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
_OWN_PATH = re.compile(r"\$\(MSBuildThisFileDirectory\)([^;'\"|<>]*)", re.IGNORECASE)
_EVALUATED = ("$(", "%(", "@(")
_MAY_LACK = re.compile(r"\bExists\s*\(", re.IGNORECASE)


@check(
    "LB411",
    "Build file that NuGet does not import",
    "error",
    because="The build file has no effect, so applications lack the files that it should copy.",
    kinds=("nupkg",),
    example="build/net461/native.targets in Latenn.1.0.0.nupkg",
    fix="Name the file after the package: build/net461/Latenn.targets. It may import others.",
)
def build_file_ignored(package: Contents) -> Hits:
    """NuGet imports only `<id>.props` and `<id>.targets` of a build folder, and does not report any others.

    Files that the ignored file should have copied are then missing when the application runs. `nuget pack` warns with
    NU5129.
    """
    nuspec_file = readable_nuspec(package)
    if nuspec_file is None:
        return
    package_id = nuspec_file[1].fields.get("id", "")
    names_by_folder: dict[tuple[str, str], list[str]] = {}
    for file in package.stored:
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
    because="The symbol server refuses the package.",
    kinds=("nupkg",),
    example="lib/netstandard2.0/Latenn.dll in Latenn.1.0.0.snupkg",
    fix="Pack only portable PDBs, and publish the symbols of native libraries elsewhere.",
)
def symbols_refused(package: Contents) -> Hits:
    """The symbol server accepts portable PDBs of managed code, and refuses a package that contains anything else."""
    for file in package.stored if package.is_symbols else ():
        name = file.name.lower()
        if not name.endswith(_OF_SYMBOLS) and file.name != "[Content_Types].xml":
            yield Hit(cause="kind", inner=file.name, message="is not allowed in a symbol package")
        elif name.endswith(".pdb") and not file.head.startswith(_PORTABLE):
            seen = (f"begins with {file.head[:16].decode('ascii', 'replace')!r}",)
            yield Hit(cause="pdb", inner=file.name, message="is not a portable PDB", evidence=seen)


@check(
    "LB413",
    "Build file that names a missing file",
    "error",
    because="The build fails, or the application does not find the library.",
    kinds=("nupkg",),
    example=r"build/net461/Latenn.targets copies ..\..\runtimes\win-x86_64\native\*, but the folder is win-x64",
    fix="Correct the path, or add the file. If the file is optional, say so with Condition=\"Exists('...')\".",
)
def build_path_lacking(package: Contents) -> Hits:
    """MSBuild silently copies nothing for a wildcard that matches no file.

    The application builds, but does not find the library when it runs. A missing path without a wildcard breaks the
    build of every project that uses the package.
    """
    names = [file.name.lower() for file in package.stored]
    for inner, data in sorted(package.texts.items()):
        if not inner.lower().startswith(BUILD_FOLDERS):
            continue
        try:
            paths = dict.fromkeys(_own_paths(parse(data, inner)))
        except InputError as error:
            yield Hit(cause="unreadable", inner=inner, message=error.message)
            continue
        for path in paths:
            inside = posixpath.normpath(posixpath.join(posixpath.dirname(inner), path.replace("\\", "/")))
            if not inside.startswith("..") and not _is_there(inside.lower(), names):
                text, seen = (
                    f"names {inside}, which matches no file of the package",
                    f"$(MSBuildThisFileDirectory){path}",
                )
                yield Hit(cause=inside, inner=inner, message=text, evidence=(seen,))


def _own_paths(element: Element) -> Iterator[str]:
    """Paths below the file's own folder, except those guarded by Exists() and those that MSBuild must evaluate."""
    if _MAY_LACK.search(element.get("Condition", "")):
        return
    for text in (element.text or "", *element.attrib.values()):
        for match in _OWN_PATH.finditer(text):
            path = match[1].strip()
            if path and not any(mark in path for mark in _EVALUATED):
                yield path
    for child in element:
        yield from _own_paths(child)


def _is_there(path: str, names: list[str]) -> bool:
    """Whether a file matches an MSBuild path (`*` is any name, `**` any folders) or is below it."""
    # fnmatch's star also matches slashes, unlike MSBuild's, so every reported path is surely wrong.
    pattern = re.compile(translate(path.replace("**/", "*").rstrip("/")))
    return path == "." or any(pattern.match(name) or name.startswith(f"{path}/") for name in names)


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
def refused_by_feed(package: Contents) -> Hits:
    """NuGet's public feed accepts packages of up to 250 MB, and limits the length of fields of the nuspec.

    Native libraries for several targets make a package large, and each user needs only those for one target. The
    limits of fields are those of `PackageService.ValidateNuGetPackageMetadata` (NuGet/NuGetGallery).
    """
    size = package.path.stat().st_size
    if size > FEED_LIMIT:
        largest = sorted(package.stored, key=lambda file: -file.size)[:3]
        yield Hit(
            cause="size",
            message=f"is {human_size(size)}, but NuGet's public feed accepts at most {human_size(FEED_LIMIT)}",
            evidence=tuple(f"{file.name}: {human_size(file.size)}" for file in largest) or (f"{size} bytes",),
        )
    if (nuspec_file := readable_nuspec(package)) is None:
        return
    inner, spec = nuspec_file
    for field, text in spec.fields.items():
        if len(text) > (limit := _LONGEST.get(field, len(text))):
            message = f"has {len(text):,} characters in {field}; NuGet's public feed takes {limit:,}"
            yield Hit(cause=field, inner=inner, message=message, evidence=(text[:80],), fix=f"Shorten {field}.")
