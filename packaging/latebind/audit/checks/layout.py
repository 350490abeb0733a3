"""Checks LB401-LB405, LB408 and LB409: where a package keeps its files, and how installers treat them."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from latebind.audit.engine.reader import find_reader
from latebind.audit.engine.registry import TWINS, Hit, Skip, check
from latebind.audit.engine.wording import own_name
from latebind.audit.readers.opc import content_types, nuspecs, relationships
from latebind.errors import InputError
from latebind.text import plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from latebind.audit.readers.contents import Contents, File

_NATIVE_FOLDER = re.compile(r"runtimes/([^/]+)/native/(.+)")
_RID_FOLDER = re.compile(r"runtimes/([^/]+)/")
# Native files in these folders of a nupkg are used by build targets, as tools or by C++ projects.
_OTHER_NATIVE_PLACES = ("build/", "buildtransitive/", "buildmultitargeting/", "tools/", "analyzers/", "msbuild/")
_SCHEMES = ("/scripts/", "/purelib/", "/platlib/", "/headers/")
_AT_ROOT = (".py", ".pyi", ".pth")
_TEST_FOLDERS = ("test", "tests", "doc", "docs", "example", "examples", "benchmarks")
_VERSIONS = re.compile(r"\.(?:so|dylib|\d).*")
"""What libraries and their links differ by: libx.so, libx.so.1, libx.1.dylib."""
_PSMDCP = "package/services/metadata/core-properties/"


def rid_folder(name: str) -> str:
    """The RID of a path below `runtimes/`, or ""."""
    match = _RID_FOLDER.match(name)
    return match[1] if match else ""


def promised_rid(package: Contents, file: File) -> str:
    """The RID for which a nupkg's folder or an SDK archive's name promises a file; "" for none."""
    return find_reader(package.kind).find_rid(package, file)


def native_place(name: str) -> tuple[str, str]:
    """RID and path below `runtimes/<rid>/native/`, or two empty strings."""
    match = _NATIVE_FOLDER.fullmatch(name)
    return (match[1], match[2]) if match else ("", "")


@check(
    "LB401",
    "Native file in a subfolder",
    "error",
    profiles=("loads",),
    because="The application does not find the file in the subfolder.",
    kinds=("nupkg",),
    example="runtimes/linux-x64/native/plugins/libx.so",
    fix="Move every native file of a RID directly into runtimes/<rid>/native/.",
)
def nested_native(package: Contents) -> Iterator[Hit | Skip]:
    """NuGet copies all of `runtimes/<rid>/native/` into one folder.

    A file that looks for another in a subfolder does not find it, and files with the same name overwrite each other.
    """
    for file in package.files:
        rid, rest = native_place(file.name)
        if rid and "/" in rest and not _is_bundle(rest):
            yield Hit(
                inner=file.name,
                message=f"is in a subfolder of native/: NuGet copies it as {file.base}",
                evidence=(file.name,),
            )


def _is_bundle(path: str) -> bool:
    """Whether a path is inside an Apple bundle, which is a folder."""
    return any(part.endswith((".framework", ".xcframework", ".dSYM")) for part in path.split("/")[:-1])


@check(
    "LB402",
    "OPC part missing or wrong",
    "error",
    profiles=("loads",),
    because="Feeds and signing tools refuse the package.",
    kinds=("nupkg",),
    example="a nupkg without _rels/.rels",
    fix="Write the package with latebind pack or dotnet pack. A zip archive of the right files is not a nupkg.",
)
def opc_broken(package: Contents) -> Iterator[Hit | Skip]:
    """A nupkg is an OPC package. Feeds and signing tools refuse one without its parts or content types."""
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
            yield Hit(inner="_rels/.rels", message=f"names {target}, which is missing", evidence=(target,))
    if targets and not any(target.lower().endswith(".nuspec") for target in targets):
        yield Hit(inner="_rels/.rels", message="does not name the nuspec as the manifest", evidence=tuple(targets))
    if "[Content_Types].xml" in names:
        untyped = sorted(name for name in names if not _is_typed(name, defaults, overrides))
        for name in untyped:
            yield Hit(
                inner=name,
                message="has no content type in [Content_Types].xml",
                evidence=(name,),
                fix=f'Add <Default Extension="{name.rpartition(".")[2]}" ContentType="application/octet"/>, or an '
                "<Override> for a file without an extension.",
            )


def _is_typed(name: str, defaults: set[str], overrides: set[str]) -> bool:
    base = name.rpartition("/")[2]
    extension = base.rpartition(".")[2].lower() if "." in base else ""
    return name == "[Content_Types].xml" or f"/{name}".lower() in overrides or extension in defaults


@check(
    "LB403",
    "Managed and native file with the same name",
    "error",
    profiles=("loads",),
    because="One of the two files is missing after the installation.",
    kinds=("nupkg",),
    example="lib/netstandard2.0/Latenn.dll and runtimes/win-x64/native/latenn.dll",
    fix="Rename the native library so that it differs from the assembly by more than case.",
)
def managed_native_case(package: Contents) -> Iterator[Hit | Skip]:
    """Both are copied to one output folder.

    On systems that ignore case in file names, one overwrites the other, or the loader opens the assembly instead of
    the native library.
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
    "LB404",
    "Same library twice",
    "note",
    profiles=("loads",),
    because="The copy takes space. The finding is a warning if different libraries share a name by which "
    "another file needs one of them, because a process loads only the first.",
    kinds=TWINS,
    example="latenn/liblatenn.so and latenn/liblatenn.so.1 with the same bytes",
    fix="Keep one file: install only the name that is opened. Packages cannot contain links.",
)
def library_twice(package: Contents) -> Iterator[Hit | Skip]:
    """The loader treats two files as two libraries: twice the size, and two sets of global state in one process.

    Most such duplicates were links in the build tree, such as those that CMake's VERSION and SOVERSION make. Archives
    store them as copies.
    """
    groups: dict[tuple[str, str, str], list[File]] = defaultdict(list)
    for file in package.native:
        rid = rid_folder(file.name)
        groups["sha256", file.sha256, rid].append(file)
        for image in file.images:
            if image.soname and image.format != "pe":  # Windows identifies a library by its file name only
                groups[own_name(image), f"{image.platform} {image.arch}", rid].append(file)
    needed = {name.rpartition("/")[2] for _, image in package.images for name in image.needed}
    reported: set[tuple[str, ...]] = set()
    for (why, _, _), files in groups.items():
        names = tuple(file.name for file in files)
        if len(names) > 1 and names not in reported:
            reported.add(names)
            if why != "sha256":
                yield _shared_name(files, why, is_needed=files[0].own_name in needed)
            elif soname := _find_soname(files):
                yield _copied_links(files, soname)
            else:
                message = f"has the same bytes as another file: {names[0]}"
                yield Hit(inner=names[1], message=message, evidence=names, severity="note")


def _shared_name(files: Sequence[File], soname: str, *, is_needed: bool) -> Hit:
    """Of libraries that share a name, a process loads one for those that need it; the others are opened by path.

    Where only the versions in their file names differ, the others were links for linkers, whose copies a tool changed.
    """
    are_links = len({(file.folder, _VERSIONS.sub("", file.base)) for file in files}) == 1
    names = tuple(file.name for file in files)
    return Hit(
        inner=names[1],
        message=f"has the name of another library: {names[0]}",
        evidence=(*names, soname),
        severity="warning" if is_needed and not are_links else "note",
    )


def _find_soname(files: Sequence[File]) -> str:
    """The SONAME of equal files when they are a library and its links, by their names: libx.so, libx.so.1."""
    names = {file.base for file in files}
    stems = {_VERSIONS.sub("", name) for name in names}
    is_linked = len(stems) == 1 and len(names) > 1
    return next((file.base for file in files if file.base == file.own_name and is_linked), "")


def _copied_links(files: Sequence[File], soname: str) -> Hit:
    copies = [file.name for file in files if file.base != soname]
    return Hit(
        inner=copies[0],
        message=f"{plural(len(copies), 'link')} to {soname} became {'a copy' if len(copies) == 1 else 'copies'}",
        evidence=tuple(file.name for file in files),
        severity="note",
        fix=f"Keep {soname}, the library's own name, or remove VERSION and SOVERSION from its target in CMake.",
    )


@check(
    "LB405",
    "Nuspec missing, repeated or broken",
    "error",
    profiles=("loads",),
    because="NuGet cannot restore the package.",
    kinds=("nupkg",),
    example="latenn.nuspec in a subfolder",
    fix="Keep exactly one well-formed .nuspec at the root, with id, version, authors and description.",
)
def nuspec_broken(package: Contents) -> Iterator[Hit | Skip]:
    """NuGet reads the nuspec first. A file that does not have exactly one nuspec at its root is not a package."""
    names = [file.name for file in package.files if file.name.lower().endswith(".nuspec")]
    root = [name for name in names if "/" not in name]
    if len(root) != 1:
        seen = plural(len(root), ".nuspec file")
        yield Hit(message=f"has {seen} at the root, but needs exactly 1", evidence=tuple(names) or ("none",))
    for name in (name for name in root if name in package.texts):  # LB601 reports one that cannot be read
        try:
            spec = nuspecs(package)[name]
        except InputError as error:
            yield Hit(inner=name, message=error.message, evidence=(name,))
            continue
        # NuGet itself writes no authors to the nuspec of a symbol package.
        required = (
            ("id", "version", "description") if package.is_symbols else ("id", "version", "authors", "description")
        )
        missing = [field for field in required if not spec.fields.get(field)]
        if missing:
            yield Hit(inner=name, message=f"lacks {', '.join(missing)}", evidence=tuple(missing))


@check(
    "LB408",
    "File outside a package folder",
    "warning",
    profiles=("all",),
    because="The file can overwrite a file of another project, or be overwritten by one.",
    kinds=("wheel",),
    example="liblatenn.so at the root of the wheel",
    fix="Install the file in the import package's folder (latenn/) and open it by its path there.",
)
def outside_package(package: Contents) -> Iterator[Hit | Skip]:
    """Files at a wheel's root are installed directly in site-packages, where names of different projects clash.

    Files of the `data` scheme are installed in the environment's own folders. Extension modules may be at the root.
    Other files there, such as README.md, and folders of tests are a note.
    """
    tops = {file.name.partition("/")[0].lower(): file for file in package.files}
    for top, file in sorted(tops.items()):
        if ("/" in file.name and top in _TEST_FOLDERS) or (
            "/" not in file.name and not file.is_native and not top.endswith(_AT_ROOT)
        ):
            message = f"{file.name.partition('/')[0]} is installed directly in site-packages"
            yield Hit(inner=file.name, message=message, evidence=(file.name,), severity="note")
    for file in package.native:
        in_data = ".data/" in file.name and not any(scheme in file.name for scheme in _SCHEMES)
        if in_data or ("/" not in file.name and not file.is_module and file.format != "pe"):
            yield Hit(inner=file.name, message="is a native library outside a package folder", evidence=(file.name,))


@check(
    "LB409",
    "Native file where NuGet does not look",
    "warning",
    profiles=("loads",),
    because="Applications for other platforms do not find the file.",
    kinds=("nupkg",),
    example="lib/netstandard2.0/liblatenn.so",
    fix="Move it to runtimes/<rid>/native/.",
)
def native_misplaced(package: Contents) -> Iterator[Hit | Skip]:
    """NuGet chooses by platform only in `runtimes/<rid>/native/`. Files elsewhere are for all platforms or none."""
    for file in package.native:
        rid, _ = native_place(file.name)
        if not rid and not file.name.lower().startswith(_OTHER_NATIVE_PLACES):
            yield Hit(inner=file.name, message="is a native file outside runtimes/<rid>/native/", evidence=(file.name,))
