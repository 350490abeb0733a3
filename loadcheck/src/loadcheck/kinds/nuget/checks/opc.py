"""Check LB402: whether a nupkg is an OPC package."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadcheck.engine.registry import Hit, Skip, check
from loadcheck.errors import InputError
from loadcheck.readers.opc import content_types, relationships

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadcheck.readers.contents import Contents

_NO_PARTS = ("[Content_Types].xml", ".signature.p7s")
"""The list of types itself, and the signature, which NuGet adds without a type."""
_PSMDCP = "package/services/metadata/core-properties/"


@check(
    "LB402",
    "OPC part missing or wrong",
    "warning",
    profiles=("loads",),
    because="NuGet 2 and other tools that open the package with System.IO.Packaging refuse it. NuGet since version 3 "
    "reads only the zip archive and the nuspec.",
    kinds=("nupkg",),
    example="a nupkg without _rels/.rels",
    fix="Write the package with dotnet pack. A zip archive of the right files is not a nupkg.",
)
def opc_broken(package: Contents) -> Iterator[Hit | Skip]:
    """A nupkg is an OPC package. Tools that read it as one find no file that its parts do not name or give a type."""
    names = {file.name for file in package.files}
    try:
        defaults, overrides = content_types(package)
        targets = relationships(package)
    except InputError as error:
        yield Hit(cause="unreadable", inner=error.where, message=error.message, evidence=(error.where,))
        return
    for part in ("_rels/.rels", "[Content_Types].xml"):
        if part not in names:
            yield Hit(cause=f"no {part}", message=f"has no {part}", evidence=(f"missing: {part}",))
    if not any(name.startswith(_PSMDCP) and name.endswith(".psmdcp") for name in names):
        yield Hit(
            cause="no psmdcp",
            message="has no core properties part (.psmdcp)",
            evidence=(f"missing: {_PSMDCP}*.psmdcp",),
        )
    for target in targets:
        if target not in names:
            yield Hit(
                cause=f"missing {target}",
                inner="_rels/.rels",
                message=f"names {target}, which is missing",
                evidence=(target,),
            )
    if targets and not any(target.lower().endswith(".nuspec") for target in targets):
        yield Hit(
            cause="manifest",
            inner="_rels/.rels",
            message="does not name the nuspec as the manifest",
            evidence=tuple(targets),
        )
    if "[Content_Types].xml" in names:
        untyped = sorted(name for name in names if not _is_typed(name, defaults, overrides))
        for name in untyped:
            extension = _find_extension(name)
            element = f'Default Extension="{extension}"' if extension else f'Override PartName="/{name}"'
            yield Hit(
                cause="type",
                inner=name,
                message="has no content type in [Content_Types].xml",
                evidence=(name,),
                fix=f'Add <{element} ContentType="application/octet"/>.',
            )


def _is_typed(name: str, defaults: set[str], overrides: set[str]) -> bool:
    is_listed = f"/{name}".lower() in overrides or _find_extension(name) in defaults
    return name in _NO_PARTS or is_listed


def _find_extension(name: str) -> str:
    base = name.rpartition("/")[2]
    return base.rpartition(".")[2].lower() if "." in base else ""
