"""Checks LB402, LB405 and LB503: whether a nupkg is an OPC package with a complete nuspec of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadcheck.engine.check import Hit, Hits, check
from loadcheck.errors import InputError
from loadcheck.readers.opc import content_types, nuspecs, readable_nuspec, relationships
from loadcheck.text import plural

if TYPE_CHECKING:
    from loadcheck.readers.contents import Contents

_NO_PARTS = frozenset({"[Content_Types].xml", ".signature.p7s"})
"""The list of types itself, and the signature, which NuGet adds without a type."""
_PSMDCP = "package/services/metadata/core-properties/"


@check(
    "LB402",
    "OPC part missing or wrong",
    "warning",
    because="NuGet 2 and other tools that open the package with System.IO.Packaging refuse it. NuGet since version 3 "
    "reads only the zip archive and the nuspec.",
    kinds=("nupkg",),
    example="a nupkg without _rels/.rels",
    fix="Write the package with dotnet pack. A zip archive of the right files is not a nupkg.",
)
def opc_broken(package: Contents) -> Hits:
    """A nupkg is an OPC package. Tools that read it as one find no file that its parts do not name or give a type."""
    names = {file.name for file in package.stored}
    try:
        defaults, overrides = content_types(package)
        targets = relationships(package)
    except InputError as error:
        yield Hit(cause="unreadable", inner=error.where, message=error.message)
        return
    for part in ("_rels/.rels", "[Content_Types].xml"):
        if part not in names:
            yield Hit(cause=f"no {part}", message=f"has no {part}", evidence=(f"missing: {part}",))
    if not any(name.startswith(_PSMDCP) and name.endswith(".psmdcp") for name in names):
        seen = (f"missing: {_PSMDCP}*.psmdcp",)
        yield Hit(cause="no psmdcp", message="has no core properties part (.psmdcp)", evidence=seen)
    inner = "_rels/.rels"
    for target in (target for target in targets if target not in names):
        text = f"names {target}, which is missing"
        yield Hit(cause=f"missing {target}", inner=inner, message=text, evidence=(target,))
    if targets and not any(target.lower().endswith(".nuspec") for target in targets):
        yield Hit(cause="manifest", inner=inner, message="does not name the nuspec as the manifest", evidence=targets)
    for name in sorted(names - _NO_PARTS) if "[Content_Types].xml" in names else ():
        base = name.rpartition("/")[2]
        extension = base.rpartition(".")[2].lower() if "." in base else ""
        if f"/{name}".lower() not in overrides and extension not in defaults:
            element = f'Default Extension="{extension}"' if extension else f'Override PartName="/{name}"'
            fix = f'Add <{element} ContentType="application/octet"/>.'
            yield Hit(cause="type", inner=name, message="has no content type in [Content_Types].xml", fix=fix)


@check(
    "LB405",
    "Nuspec missing, repeated or broken",
    "error",
    because="NuGet cannot restore the package. The finding is a warning if only fields are missing without which NuGet "
    "packs nothing, and its public feed refuses the package.",
    kinds=("nupkg",),
    example="latenn.nuspec in a subfolder",
    fix="Keep exactly one well-formed .nuspec at the root, with id, version, authors and description.",
)
def nuspec_broken(package: Contents) -> Hits:
    """NuGet reads the nuspec first. An archive that does not have exactly one nuspec at its root is not a package."""
    names = [file.name for file in package.stored if file.name.lower().endswith(".nuspec")]
    root = [name for name in names if "/" not in name]
    if len(root) != 1:
        text = f"has {plural(len(root), '.nuspec file')} at the root, but needs exactly 1"
        yield Hit(cause="number", message=text, evidence=tuple(names) or ("none",))
    for name in (name for name in root if name in package.texts):  # LB601 reports one that cannot be read
        try:
            spec = nuspecs(package)[name]
        except InputError as error:
            yield Hit(cause="unreadable", inner=name, message=error.message)
            continue
        # NuGet itself writes no authors to the nuspec of a symbol package.
        required = ["id", "version", *["authors"] * (not package.is_symbols), "description"]
        if missing := [field for field in required if not spec.fields.get(field)]:
            yield Hit(
                cause="fields",
                names=tuple(missing),
                inner=name,
                message=f"lacks {', '.join(missing)}",
                evidence=tuple(missing),
                severity="error" if {"id", "version"} & {*missing} else "warning",
            )


@check(
    "LB503",
    "Nuspec different from the file name",
    "error",
    because="Restoring from a folder or a cache fails.",
    kinds=("nupkg",),
    example="Latenn.1.0.0.nupkg whose nuspec says 1.1.0",
    fix="Pack again. Never rename a nupkg by hand.",
)
def nuspec_name(package: Contents) -> Hits:
    """Local feeds and caches find a package by its file name, then read the nuspec.

    NuGet fails if the file name and the nuspec differ. It takes 1.0, 1.0.0 and 1.0.0.0 for one version.
    """
    nuspec_file = readable_nuspec(package)
    if nuspec_file is None:
        return
    name, spec = nuspec_file
    package_id, version = spec.fields.get("id", ""), spec.fields.get("version", "")
    stem = package.path.name.rpartition(".")[0].removesuffix(".symbols").lower()
    start = f"{package_id}.".lower()
    if not stem.startswith(start) or _normal(stem[len(start) :]) != _normal(version.lower()):
        yield Hit(
            inner=name,
            message=f"names {package_id} {version}, but the file is {package.path.name}",
            evidence=(f"id: {package_id}", f"version: {version}", f"file name: {package.path.name}"),
        )


def _normal(text: str) -> str:
    """A NuGet version as in file names: at least three numbers, without leading zeros or a fourth number of 0."""
    numbers, dash, label = text.partition("+")[0].partition("-")
    parts = [part.lstrip("0") or "0" for part in numbers.split(".")]
    parts += ["0"] * (3 - len(parts))
    if len(parts) == 4 and parts[3] == "0":  # noqa: PLR2004
        parts.pop()
    return ".".join(parts) + dash + label
