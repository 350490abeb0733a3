"""Checks LB4xx for one package: where files lie, and what installers make of that; reads nothing."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from latebind.audit.opc import content_types, nuspecs, relationships
from latebind.audit.registry import Hit, Skip, check
from latebind.audit.wording import own_name
from latebind.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from latebind.audit.policy import Policy
    from latebind.audit.subject import File, Package

_NATIVE_FOLDER = re.compile(r"runtimes/([^/]+)/native/(.+)")
_RID_FOLDER = re.compile(r"runtimes/([^/]+)/")
# Folders of a nupkg whose native files are used otherwise: by build targets, as tools, by C++ projects.
_OTHER_NATIVE_PLACES = ("build/", "buildtransitive/", "buildmultitargeting/", "tools/", "analyzers/", "msbuild/")
_SCHEMES = ("/scripts/", "/purelib/", "/platlib/", "/headers/")
_PSMDCP = "package/services/metadata/core-properties/"


def rid_folder(name: str) -> str:
    """The RID of a path below `runtimes/`, or ""."""
    match = _RID_FOLDER.match(name)
    return match[1] if match else ""


def native_place(name: str) -> tuple[str, str]:
    """RID and path below `runtimes/<rid>/native/`, or two empty strings."""
    match = _NATIVE_FOLDER.fullmatch(name)
    return (match[1], match[2]) if match else ("", "")


@check(
    "LB401",
    "Folder below the native folder",
    "error",
    scope="package",
    kinds=("nupkg",),
    example="runtimes/linux-x64/native/plugins/libx.so",
    cure="Put every native file of a RID directly into runtimes/<rid>/native/.",
)
def nested_native(package: Package, policy: Policy) -> Iterator[Hit | Skip]:
    """NuGet copies all of `runtimes/<rid>/native/` into one folder.

    Files that look for each other by a subfolder are not found, and two of the same name overwrite one another.
    """
    del policy
    for file in package.files:
        rid, rest = native_place(file.name)
        if rid and "/" in rest and not _is_bundle(rest):
            yield Hit(
                inner=file.name,
                message=f"lies in a folder below native/: NuGet copies it as {file.base}",
                evidence=(file.name,),
            )


def _is_bundle(path: str) -> bool:
    """Apple bundles are folders by nature."""
    return any(part.endswith((".framework", ".xcframework", ".dSYM")) for part in path.split("/")[:-1])


@check(
    "LB402",
    "OPC part missing or wrong",
    "error",
    scope="package",
    kinds=("nupkg",),
    example="a nupkg without _rels/.rels",
    cure="Write the package with latebind pack or dotnet pack; a zip of the right files alone is not a nupkg.",
)
def opc_broken(package: Package, policy: Policy) -> Iterator[Hit | Skip]:
    """A nupkg is an OPC package: feeds and signing refuse one whose parts or content types are missing."""
    del policy
    names = {file.name for file in package.files}
    try:
        defaults, overrides = content_types(package)
        targets = relationships(package)
    except InputError as error:
        yield Hit(inner=error.where, message=error.message, evidence=(error.where,))
        return
    for part in ("_rels/.rels", "[Content_Types].xml"):
        if part not in names:
            yield Hit(message=f"has no {part}", evidence=(f"missing: {part}",))
    if not any(name.startswith(_PSMDCP) and name.endswith(".psmdcp") for name in names):
        yield Hit(message="has no core properties part (.psmdcp)", evidence=(f"missing: {_PSMDCP}*.psmdcp",))
    for target in targets:
        if target not in names:
            yield Hit(inner="_rels/.rels", message=f"names {target}, which is not there", evidence=(target,))
    if targets and not any(target.lower().endswith(".nuspec") for target in targets):
        yield Hit(inner="_rels/.rels", message="does not name the nuspec as the manifest", evidence=tuple(targets))
    if "[Content_Types].xml" in names:
        untyped = sorted(name for name in names if not _is_typed(name, defaults, overrides))
        for name in untyped:
            yield Hit(
                inner=name,
                message="has no content type: [Content_Types].xml names neither its extension nor its path",
                evidence=(name,),
                fix=f'Add <Default Extension="{name.rpartition(".")[2]}" ContentType="application/octet"/> or an '
                "<Override> for a file without extension.",
            )


def _is_typed(name: str, defaults: set[str], overrides: set[str]) -> bool:
    base = name.rpartition("/")[2]
    extension = base.rpartition(".")[2].lower() if "." in base else ""
    return name == "[Content_Types].xml" or f"/{name}".lower() in overrides or extension in defaults


@check(
    "LB403",
    "Managed and native file of one name",
    "error",
    scope="package",
    kinds=("nupkg",),
    example="lib/netstandard2.0/Latenn.dll and runtimes/win-x64/native/latenn.dll",
    cure="Give the native library another name than the assembly, not only other case.",
)
def managed_native_case(package: Package, policy: Policy) -> Iterator[Hit | Skip]:
    """Both end in one output folder.

    Where file names ignore case one overwrites the other, or the loader takes the assembly for the native library.
    """
    del policy
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
                message=f"and the assembly {twin.name} differ by case alone or not at all",
                evidence=(file.name, twin.name),
            )


@check(
    "LB404",
    "Same library twice",
    "error",
    scope="package",
    kinds=("wheel", "nupkg"),
    example="latenn/liblatenn.so and latenn/liblatenn.so.1 with equal bytes",
    cure="Keep one file. Wheels and nupkgs hold no links: install only the name that is opened.",
)
def library_twice(package: Package, policy: Policy) -> Iterator[Hit | Skip]:
    """Two files are two libraries to the loader: twice the size, and two sets of global state in one process.

    Links of a build tree become copies in an archive, which is how it mostly happens.
    """
    del policy
    groups: dict[tuple[str, str, str], list[File]] = defaultdict(list)
    for file in package.native:
        rid = rid_folder(file.name)
        groups["sha256", file.sha256, rid].append(file)
        for image in file.images:
            if image.soname and image.format != "pe":  # Windows knows a library by its file name alone
                groups[own_name(image), image.arch, rid].append(file)
    told: set[tuple[str, ...]] = set()
    for (why, what, _), files in groups.items():
        names = tuple(file.name for file in files)
        if len(names) > 1 and names not in told:
            told.add(names)
            shown = f"{why} {what}" if why == "sha256" else why
            yield Hit(
                inner=names[1],
                message=f"is the same library as {names[0]} ({'equal bytes' if why == 'sha256' else why})",
                evidence=(*names, shown),
            )


@check(
    "LB405",
    "Nuspec missing, repeated or broken",
    "error",
    scope="package",
    kinds=("nupkg",),
    example="latenn.nuspec in a subfolder",
    cure="Put exactly one well-formed .nuspec at the root, with id, version, authors and description.",
)
def nuspec_broken(package: Package, policy: Policy) -> Iterator[Hit | Skip]:
    """The nuspec is what NuGet reads first: without exactly one at the root there is no package."""
    del policy
    names = [file.name for file in package.files if file.name.lower().endswith(".nuspec")]
    root = [name for name in names if "/" not in name]
    if len(root) != 1:
        seen = f"{len(root)} at the root" if root else "none at the root"
        yield Hit(message=f"must hold one .nuspec at the root, there are {seen}", evidence=tuple(names) or ("none",))
    for name in (name for name in root if name in package.texts):  # LB601 tells of one that cannot be read
        try:
            spec = nuspecs(package)[name]
        except InputError as error:
            yield Hit(inner=name, message=error.message, evidence=(name,))
            continue
        # NuGet itself writes no authors into the nuspec of symbols.
        wanted = ("id", "version", "description") if package.is_symbols else ("id", "version", "authors", "description")
        missing = [field for field in wanted if not spec.fields.get(field)]
        if missing:
            yield Hit(inner=name, message=f"lacks {', '.join(missing)}", evidence=tuple(missing))


@check(
    "LB408",
    "Native file outside a package folder",
    "warning",
    scope="package",
    kinds=("wheel",),
    example="liblatenn.so at the root of the wheel",
    cure="Install the file into the import package's folder (latenn/), and open it by its path from there.",
)
def outside_package(package: Package, policy: Policy) -> Iterator[Hit | Skip]:
    """Everything at a wheel's root lands in site-packages beside other projects' files, where names collide.

    Files of the `data` scheme land in the environment's own folders. Extension modules may lie at the root.
    """
    del policy
    for file in package.native:
        in_data = ".data/" in file.name and not any(scheme in file.name for scheme in _SCHEMES)
        if in_data or ("/" not in file.name and not file.is_module and file.format != "pe"):
            yield Hit(inner=file.name, message="is a native library outside any package folder", evidence=(file.name,))


@check(
    "LB409",
    "Native file where NuGet does not look",
    "warning",
    scope="package",
    kinds=("nupkg",),
    example="lib/netstandard2.0/liblatenn.so",
    cure="Move it to runtimes/<rid>/native/.",
)
def native_misplaced(package: Package, policy: Policy) -> Iterator[Hit | Skip]:
    """Only `runtimes/<rid>/native/` is chosen by platform; elsewhere a native file is copied for all or for none."""
    del policy
    for file in package.native:
        rid, _ = native_place(file.name)
        if not rid and not file.name.lower().startswith(_OTHER_NATIVE_PLACES):
            yield Hit(inner=file.name, message="is a native file outside runtimes/<rid>/native/", evidence=(file.name,))
