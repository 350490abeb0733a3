"""Checks LB405 and LB503: whether the nuspec is complete, and is that of the package."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadcheck.engine.registry import Hit, Skip, check
from loadcheck.errors import InputError
from loadcheck.readers.opc import nuspecs, readable_nuspec
from loadcheck.text import plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadcheck.readers.contents import Contents


@check(
    "LB405",
    "Nuspec missing, repeated or broken",
    "error",
    profiles=("loads",),
    because="NuGet cannot restore the package. The finding is a warning if only fields are missing without which NuGet "
    "packs nothing, and its public feed refuses the package.",
    kinds=("nupkg",),
    example="latenn.nuspec in a subfolder",
    fix="Keep exactly one well-formed .nuspec at the root, with id, version, authors and description.",
)
def nuspec_broken(package: Contents) -> Iterator[Hit | Skip]:
    """NuGet reads the nuspec first. An archive that does not have exactly one nuspec at its root is not a package."""
    names = [file.name for file in package.files if file.name.lower().endswith(".nuspec")]
    root = [name for name in names if "/" not in name]
    if len(root) != 1:
        seen = plural(len(root), ".nuspec file")
        yield Hit(
            cause="number", message=f"has {seen} at the root, but needs exactly 1", evidence=tuple(names) or ("none",)
        )
    for name in (name for name in root if name in package.texts):  # LB601 reports one that cannot be read
        try:
            spec = nuspecs(package)[name]
        except InputError as error:
            yield Hit(cause="unreadable", inner=name, message=error.message, evidence=(name,))
            continue
        # NuGet itself writes no authors to the nuspec of a symbol package.
        required = (
            ("id", "version", "description") if package.is_symbols else ("id", "version", "authors", "description")
        )
        missing = [field for field in required if not spec.fields.get(field)]
        if missing:
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
    profiles=("loads",),
    because="Restoring from a folder or a cache fails.",
    kinds=("nupkg",),
    example="Latenn.1.0.0.nupkg whose nuspec says 1.1.0",
    fix="Pack again. Never rename a nupkg by hand.",
)
def nuspec_name(package: Contents) -> Iterator[Hit | Skip]:
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
