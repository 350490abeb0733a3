"""Reads the packages of a release: names, versions, targets, SBOMs, libraries, headers."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import msgspec
from packaging.utils import InvalidSdistFilename, InvalidWheelFilename, parse_sdist_filename, parse_wheel_filename

from latebind.audit.checks.symbols import offered
from latebind.audit.readers.contents import nupkg_id, nupkg_version
from latebind.binary import is_managed, read_images, sniff
from latebind.build.sbom import SBOM_FILES
from latebind.errors import InputError
from latebind.filenames import SDK_FILE
from latebind.model import SYMBOLS_SUFFIX, Artifact, Kind, Sha256
from latebind.system.archive import ZipReader, sha256
from latebind.system.tarball import TarReader
from latebind.tables.kinds import INSTALLED_KINDS
from latebind.tables.targets import npm_platform, targets
from latebind.verify.dist import wheels_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from latebind.model import Rid

_RUNTIMES = re.compile(r"runtimes/(?P<rid>[^/]+)/native/[^/]+$")
_SYMBOLS = re.compile(r"(?P<name>.+?)-(?P<version>\d.*?)-(?P<rid>(?:linux|osx|win)(?:-[a-z0-9]+)+)-symbols\.zip$")
_INCLUDE: Mapping[Kind, re.Pattern[str]] = {
    "nupkg": re.compile(r"build/native/include/"),
    "sdk": re.compile(r"[^/]+/include/"),
}


class _Chosen(msgspec.Struct):
    """The fields of package.json by which npm chooses a package."""

    name: str
    version: str
    os: list[str] = []
    cpu: list[str] = []
    libc: list[str] = []


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
    kind, name, version, own = _named(path)
    artifact = Artifact(path=path, kind=kind, sha256=Sha256(sha256(path)), size=path.stat().st_size)
    if kind not in INSTALLED_KINDS:
        return ReleasePackage(artifact=artifact, name=name, version=version, targets=own)
    exports: dict[str, dict[str, tuple[str, ...]]] = {}
    found: set[Rid] = set()
    bill, bill_file, headers = b"", "", {}
    tagged = own or tuple(rid for rid in targets() if wheels_for(rid, [artifact]))  # none for a nupkg
    for inner, read in _members(path):
        if suffix := SBOM_FILES.get(posixpath.basename(inner)):
            bill, bill_file = read(), f"{path.name}.{suffix}"
        elif (include := _INCLUDE.get(kind)) and (match := include.match(inner)):
            headers[inner[match.end() :]] = read().decode("utf-8", "replace")
        elif (rids := tagged or _target_of(inner)) and _is_native(data := read()):
            found.update(rids)
            names = _exported(data, f"{path.name}!{inner}")
            exports.setdefault(_stem(inner), {}).update(dict.fromkeys(rids, names))
    rows = tuple(rid for rid in targets() if rid in found)
    return ReleasePackage(
        artifact=artifact, name=name, version=version, targets=rows, bill=bill, bill_file=bill_file, exports=exports,
        headers=headers,
    )  # fmt: skip


def _named(path: Path) -> tuple[Kind, str, str, tuple[Rid, ...]]:
    """Kind, name, version, and the target where the name says it. Raises InputError for any other file."""
    if match := SDK_FILE.fullmatch(path.name):
        return "sdk", match["name"], match["version"], tuple(rid for rid in targets() if rid == match["rid"])
    try:
        if path.suffix == ".whl":
            distribution, number, *_ = parse_wheel_filename(path.name)
            return "wheel", distribution, str(number), ()
        if path.name.endswith(".tar.gz"):
            project, number = parse_sdist_filename(path.name)
            return "sdist", project, str(number), ()
    except (InvalidWheelFilename, InvalidSdistFilename) as error:
        raise InputError(str(error), where=str(path)) from error
    if path.suffix == ".tgz":
        return _npm_named(path)
    if path.suffix in (".nupkg", ".snupkg"):
        kind: Kind = "nupkg" if path.suffix == ".nupkg" else "snupkg"
        return kind, nupkg_id(path.name), nupkg_version(path.name), ()
    if path.name.endswith(SYMBOLS_SUFFIX) and (match := _SYMBOLS.match(path.name)):
        return "symbols", match["name"], match["version"], tuple(rid for rid in targets() if rid == match["rid"])
    raise InputError("is not a package of a release", where=str(path), advice="Remove it from the folder.")


def _npm_named(path: Path) -> tuple[Kind, str, str, tuple[Rid, ...]]:
    """Name and version of an npm package, and the target that its fields choose."""
    try:
        text = next(read() for inner, read in _members(path) if inner == "package/package.json")
        fields = msgspec.json.decode(text, type=_Chosen)
    except (StopIteration, msgspec.DecodeError) as error:
        raise InputError("has no package.json of an npm package", where=str(path)) from error
    chosen = (fields.os, fields.cpu, fields.libc)
    rows = {rid: npm_platform(rid) for rid in targets()}
    own = (rid for rid, row in rows.items() if chosen == ([row.os], [row.cpu], [row.libc] if row.libc else []))
    return "npm", fields.name, fields.version, tuple(own)


def _members(path: Path) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """The files of a package, each with a function that reads it, to be called before the next one."""
    if path.suffix in (".tgz", ".gz"):
        for row, blocks in TarReader(path).files():
            yield row.name, partial(_joined, blocks)
        return
    with ZipReader(path) as archive:
        for member in archive.members:
            if not member.is_folder:
                yield member.name, partial(archive.read, member.name)


def _joined(blocks: Callable[[], Iterator[bytes]]) -> bytes:
    return b"".join(blocks())


def _target_of(member: str) -> tuple[Rid, ...]:
    """The target that a member of a nupkg is for, by its folder."""
    match = _RUNTIMES.match(member)
    return tuple(rid for rid in targets() if match and rid == match["rid"])


def _is_native(data: bytes) -> bool:
    return sniff(data) is not None and not is_managed(data)


def _exported(data: bytes, where: str) -> tuple[str, ...]:
    return tuple(sorted({row.name for image in read_images(data, where) for row in offered(image)}))


def _stem(member: str) -> str:
    """`latenn_core` of `latenn/liblatenn_core.so`, `latenn_core.dll`, `liblatenn_core.dylib`."""
    return posixpath.basename(member).partition(".")[0].removeprefix("lib")
