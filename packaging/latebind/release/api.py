"""The public surface of a release, exports, C headers and package files, and its changes since the last release."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec
from packaging.version import Version

from latebind.errors import InputError
from latebind.release.headers import declarations, only_grew
from latebind.system.decoding import DECODE_ERRORS
from latebind.text import markdown_code

if TYPE_CHECKING:
    from latebind.release.packages import ReleasePackage


class Surface(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What users of the packages can call."""

    version: str
    exports: dict[str, dict[str, list[str]]]
    """Library -> target -> names."""
    headers: dict[str, dict[str, str]]
    """Header -> name -> declaration."""
    packages: dict[str, str] = {}
    """Package file -> its SHA-256. No index takes other bytes under a name that it has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiChange:
    """One difference between two surfaces. A breaking one affects callers that were not built again."""

    what: str
    how: Literal["added", "removed", "changed"]
    breaking: bool


def surface(version: str, packages: Iterable[ReleasePackage]) -> Surface:
    """The surface of packages. Raises InputError where two of them hold different libraries of one name."""
    exports: dict[str, dict[str, list[str]]] = {}
    headers: dict[str, dict[str, str]] = {}
    hashes: dict[str, str] = {}
    for package in packages:
        hashes[package.artifact.path.name] = package.artifact.sha256
        for library, targets in package.exports.items():
            by_rid = exports.setdefault(library, {})
            for rid, names in targets.items():
                if by_rid.setdefault(rid, list(names)) != list(names):
                    odd = sorted(set(by_rid[rid]) ^ set(names))
                    raise InputError(
                        f"{library} for {rid} exports different functions in different packages: {', '.join(odd[:5])}",
                        where=package.artifact.path.name,
                        advice="Pack both from one stage: latebind pack.",
                    )
        headers |= {name: declarations(text) for name, text in package.headers.items()}
    return Surface(version, exports, headers, hashes)


def api_json(surface: Surface) -> bytes:
    """The surface as JSON, sorted."""
    return (json.dumps(msgspec.to_builtins(surface), indent=2, sort_keys=True) + "\n").encode()


def read_surface(file: Path) -> Surface:
    """Read what `to_json` wrote. Raises InputError when it cannot be read or is another kind of file."""
    advice = "Give the api/api.json of an earlier release, or its folder."
    try:
        return msgspec.json.decode(file.read_bytes(), type=Surface)
    except OSError as error:
        raise InputError(error.strerror or str(error), where=str(file), advice=advice) from error
    except DECODE_ERRORS as error:
        raise InputError(f"is not an API file of a release: {error}", where=str(file), advice=advice) from error


def changes(old: Surface, new: Surface) -> tuple[ApiChange, ...]:
    """What differs, removals first."""
    differences = [*_exports(old, new), *_headers(old, new)]
    return tuple(
        sorted(differences, key=lambda change: (("removed", "changed", "added").index(change.how), change.what))
    )


def may_break(old: str, new: str) -> bool:
    """Whether semantic versioning allows a break: with another major version, or below 1.0 another minor one."""
    before, after = Version(old), Version(new)
    depth = 1 if before.major else 2
    return after.release[:depth] > before.release[:depth]


def api_markdown(old: Surface | None, new: Surface, differences: Iterable[ApiChange]) -> str:
    """The difference as a page."""
    if old is None:
        return f"# Public API of {new.version}\n\nThere is no earlier release to compare with.\n"
    lines = [
        f"- {change.how}{' (**breaks callers**)' if change.breaking else ''}: {markdown_code(change.what)}"
        for change in differences
    ]
    return "\n".join([f"# Public API of {new.version} since {old.version}", "", *(lines or ["Nothing changed."]), ""])


def _exports(old: Surface, new: Surface) -> Iterator[ApiChange]:
    for library in sorted(old.exports.keys() | new.exports.keys()):
        before, after = old.exports.get(library, {}), new.exports.get(library, {})
        for rid in sorted(before.keys() | after.keys()):
            gone, come = _sides(before.get(rid, ()), after.get(rid, ()))
            yield from (ApiChange(what=f"{library}: {name} ({rid})", how="removed", breaking=True) for name in gone)
            yield from (ApiChange(what=f"{library}: {name} ({rid})", how="added", breaking=False) for name in come)


def _headers(old: Surface, new: Surface) -> Iterator[ApiChange]:
    for header in sorted(old.headers.keys() | new.headers.keys()):
        before, after = old.headers.get(header, {}), new.headers.get(header, {})
        gone, come = _sides(before, after)
        yield from (ApiChange(what=f"{header}: {before[name]}", how="removed", breaking=True) for name in gone)
        yield from (ApiChange(what=f"{header}: {after[name]}", how="added", breaking=False) for name in come)
        for name in sorted(before.keys() & after.keys()):
            if before[name] != after[name]:
                grew = only_grew(before[name], after[name])
                what = f"{header}: {before[name]} -> {after[name]}"
                yield ApiChange(what=what, how="changed", breaking=not grew)


def _sides(
    before: Iterable[str] | Mapping[str, str], after: Iterable[str] | Mapping[str, str]
) -> tuple[list[str], list[str]]:
    return sorted(set(before) - set(after)), sorted(set(after) - set(before))
