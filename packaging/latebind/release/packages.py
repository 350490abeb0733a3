"""Reads the packages of a release: names, versions, targets, SBOMs, libraries, headers."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from latebind.backend.sbom import SBOM_FILE
from latebind.backend.targets import Rid, targets
from latebind.errors import InputError
from latebind.formats import find_format
from latebind.model import Artifact
from latebind.native.bill import read_sbom
from latebind.system.files import sha256
from loadcheck import Sha256
from loadcheck.facts import is_managed, iter_members, list_offered_exports, read_images, sniff

_RUNTIMES = re.compile(r"runtimes/(?P<rid>[^/]+)/native/[^/]+$")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasePackage:
    """One file of the release, by its name and its contents."""

    artifact: Artifact
    name: str
    version: str
    targets: tuple[Rid, ...]
    """The targets that it has native files for; none for an sdist."""
    bill: bytes = b""
    """The SBOM inside; b"" where it has none."""
    bill_file: str = ""
    """What a release calls the SBOM."""
    exports: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    """Library without prefix and suffix -> target -> the names that it exports, sorted."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Path below the include folder -> text."""


def read_packages(folder: Path) -> tuple[ReleasePackage, ...]:
    """Every file of a folder of packages, by name, including those in its subfolder `symbols`.

    Raises InputError for a file that is not a package, and for one that cannot be read.
    """
    if not folder.is_dir():
        raise InputError("is not a folder", where=str(folder), advice="Make the packages first: latebind pack.")
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    return tuple(_read(path) for path in files)


def _read(path: Path) -> ReleasePackage:
    form = find_format(path.name)
    if form is None:
        raise InputError("is not a package of a release", where=str(path), advice="Remove it from the folder.")
    identity = form.identify(path)
    artifact = Artifact(path=path, kind=form.kind, sha256=Sha256(sha256(path)), size=path.stat().st_size)
    name, version = identity.name, identity.version
    if not form.is_installed:
        return ReleasePackage(artifact=artifact, name=name, version=version, targets=identity.targets)
    exports: dict[str, dict[str, tuple[str, ...]]] = {}
    supported: set[Rid] = set()
    bill, bill_file, headers = b"", "", {}
    for inner, read in iter_members(path, form):
        if posixpath.basename(inner) == SBOM_FILE:
            bill, bill_file = read(), f"{path.name}.cdx.json"
            read_sbom(bill, f"{path.name}!{inner}")
        elif form.headers and (match := re.match(form.headers, inner)):
            headers[inner[match.end() :]] = read().decode("utf-8", "replace")
        elif (rids := identity.targets or _target_of(inner)) and _is_native(data := read()):
            supported.update(rids)
            names = _exported(data, f"{path.name}!{inner}")
            exports.setdefault(_stem(inner), {}).update(dict.fromkeys(rids, names))
    return ReleasePackage(
        artifact=artifact,
        name=name,
        version=version,
        targets=tuple(rid for rid in targets() if rid in supported),
        bill=bill,
        bill_file=bill_file,
        exports=exports,
        headers=headers,
    )


def _target_of(member: str) -> tuple[Rid, ...]:
    """The target that a member of a nupkg is for, by its folder."""
    match = _RUNTIMES.match(member)
    return tuple(rid for rid in targets() if match and rid == match["rid"])


def _is_native(data: bytes) -> bool:
    return sniff(data) is not None and not is_managed(data)


def _exported(data: bytes, where: str) -> tuple[str, ...]:
    return tuple(sorted({row.name for image in read_images(data, where) for row in list_offered_exports(image)}))


def _stem(member: str) -> str:
    """`latenn_core` of `latenn/liblatenn_core.so`, `latenn_core.dll`, `liblatenn_core.dylib`."""
    return posixpath.basename(member).partition(".")[0].removeprefix("lib")
