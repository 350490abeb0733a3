"""Finds what a wheel consists of, and writes it again with an SBOM in it (PEP 770).

That is its native files, the libraries that were copied into it, and static parts.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

from latebind import __version__
from latebind.backend.parts import Part, find_parts, known_parts, part_of
from latebind.backend.sbom import SBOM_FILE, Bill, Late, Library, render_bill
from latebind.backend.wheelfile import rewrite_wheel
from latebind.errors import InputError, LatebindError
from latebind.model import SbomFormat
from latebind.native.bill import supplier_of
from latebind.text import printable, shell_word
from loadcheck.facts import ZipReader, read_images, read_metadata, sniff

_INFO = re.compile(r"(?P<info>[^/]+\.dist-info)/(?:METADATA|RECORD|WHEEL)$")
_PARTS = ("METADATA", "RECORD", "WHEEL")
_SIGNATURES = ("RECORD.jws", "RECORD.p7s")
_NAMED = re.compile(r"(?P<name>[^@=\s]+)@(?P<version>[^@=\s]+)(?:=(?P<supplier>\S.*))?")
_GRAFTED = re.compile(r"-[0-9a-f]{6,32}\.so\.(?P<version>\d+(?:\.\d+)+)$|\.(?P<mac>\d+(?:\.\d+)+)\.dylib$")
"""Names of libraries that auditwheel and delocate copied, with the version that the file had."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wheel:
    """What a wheel is and consists of."""

    path: Path
    info: str
    """Its folder .dist-info."""
    bill: Bill
    sboms: tuple[str, ...]
    """The SBOMs that it has."""
    signatures: tuple[str, ...]

    @property
    def unversioned(self) -> tuple[str, ...]:
        """The parts whose version is not known."""
        return tuple(part.name for part in self.bill.linked if not part.version)


def read_part(text: str) -> Part:
    """A part as the command line names it: `name@version` or `name@version=supplier`.

    Raises LatebindError for anything else.
    """
    match = _NAMED.fullmatch(text)
    if match is None:
        raise LatebindError(
            f"--part {text!r} is not NAME@VERSION", advice="For example: --part libfoo@1.2.3='Foo project'."
        )
    name, version = match["name"], match["version"]
    known_part = known_parts().get(name)
    declared_part = Part(
        name=name, version=version, purl=f"pkg:generic/{quote(name, safe='')}@{quote(version, safe='')}"
    )
    part = part_of(known_part, version) if known_part else replace(declared_part, supplier=supplier_of((), name))
    return replace(part, supplier=match["supplier"]) if match["supplier"] else part


def find_contents(path: Path, named: Sequence[Part] = ()) -> Wheel:
    """Read a wheel. A part in `named` takes the place of the found one with its name.

    Raises InputError: not a wheel, an archive that is unsafe to read, metadata that is missing or contradicts the name.
    """
    try:
        name, version, _, _ = parse_wheel_filename(path.name)
    except InvalidWheelFilename as error:
        raise InputError(f"is not the name of a wheel: {error}", where=str(path)) from error
    with ZipReader(path) as archive:
        if archive.problems:
            problem = archive.problems[0]
            what = " ".join(filter(None, (problem.kind, printable(problem.member), printable(problem.detail))))
            text = f"is unsafe to rewrite: {what}"
            raise InputError(text, where=str(path), advice=f"See all problems: latebind audit {shell_word(path)}")
        info = _dist_info(archive, path)
        fields = read_metadata(archive.read(f"{info}/METADATA"), f"{path.name}!{info}/METADATA")
        if canonicalize_name(_first(fields, "name")) != name:
            text = f"METADATA names {printable(_first(fields, 'name')) or 'nothing'}, but the file name has {name}"
            raise InputError(text, where=str(path), advice="Build the wheel again, or give it the name in METADATA.")
        inside = [member.name for member in archive.members if not member.is_folder]
        native_files = tuple(_libraries(archive, path.stem.rpartition("-")[2]))
        opened = {late.name: late for library in native_files for late in _list_opened(archive.read(library.name))}
    replaced = {part.name: part for part in named}
    libraries = tuple(
        replace(library, parts=tuple(sorted({replaced.get(part.name, part) for part in library.parts})))
        for library in native_files
    )
    seen = {part.name for library in native_files for part in library.parts}
    bill = Bill(
        purl=f"pkg:pypi/{name}@{quote(str(version), safe='')}",
        version=str(version),
        license=_license(fields),
        supplier=supplier_of(_authors(fields), name),
        phase="post-build",
        tools=(("latebind", __version__),),
        libraries=libraries,
        runtimes=tuple(opened[name] for name in sorted(opened)),
        further=tuple(part for part in named if part.name not in seen),
    )
    return Wheel(
        path=path,
        info=info,
        bill=bill,
        sboms=tuple(name for name in inside if name.startswith(f"{info}/sboms/")),
        signatures=tuple(inner for inner in inside if inner in {f"{info}/{name}" for name in _SIGNATURES}),
    )


def _dist_info(archive: ZipReader, path: Path) -> str:
    """The one folder .dist-info. Raises InputError where it is not one, or lacks a file."""
    names = {member.name for member in archive.members}
    folders = sorted({match["info"] for name in names if (match := _INFO.match(name))})
    if len(folders) != 1:
        what = f"has {len(folders)} folders with metadata: {', '.join(folders)}" if folders else "has no .dist-info"
        raise InputError(what, where=str(path), advice="Build the wheel again with a current tool.")
    for part in _PARTS:
        if f"{folders[0]}/{part}" not in names:
            raise InputError(f"has no {folders[0]}/{part}", where=str(path), advice="Build the wheel again.")
    return folders[0]


def _libraries(archive: ZipReader, tag: str) -> Iterator[Library]:
    """The native files, each with its parts."""
    for member in sorted(archive.members, key=lambda member: member.name):
        if member.is_folder:
            continue
        data = archive.read(member.name)
        if sniff(data) is None:
            continue
        match = _GRAFTED.search(member.name)
        yield Library(
            name=member.name,
            target=tag,
            sha256=hashlib.sha256(data).hexdigest(),
            version=(match["version"] or match["mac"]) if match else "",
            parts=find_parts(data),
        )


def _list_opened(data: bytes) -> Iterator[Late]:
    """What a native file says that it opens at run time (.note.dlopen), each by the name of its first library."""
    with suppress(InputError):  # a damaged file says nothing
        for opened in (opened for image in read_images(data, "") for opened in image.opened):
            title = opened.feature or opened.names[0]
            range_ = "vers:generic/*"
            is_required, supplier = opened.priority == "required", supplier_of((), title)
            yield Late(name=opened.names[0], title=title, range=range_, supplier=supplier, is_required=is_required)


def _license(fields: Mapping[str, tuple[str, ...]]) -> str:
    """The license, if it is an SPDX expression: SBOMs with another text are not valid."""
    try:
        return canonicalize_license_expression(_first(fields, "license_expression"))
    except InvalidLicenseExpression:
        return ""


def _authors(fields: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Who the metadata names: author, else maintainer; of an address its name."""
    for key in ("author", "maintainer"):
        if name := _first(fields, key):
            return [name]
        names = [part.partition("<")[0].strip(' "') for part in _first(fields, f"{key}_email").split(",")]
        if any(names):
            return names
    return []


def _first(fields: Mapping[str, tuple[str, ...]], key: str) -> str:
    return next(iter(fields.get(key, ())), "")


def attach_sbom(wheel: Wheel, folder: Path, format_: SbomFormat, *, force: bool = False) -> Path:
    """Write the wheel with its SBOM into a folder, and return the new file; equal inputs give equal bytes.

    With `force` also where it has SBOMs, of which latebind's own is replaced, and where it is signed: the signature,
    which covers RECORD, is left out. Raises InputError without, for a wheel in that folder, and for one that cannot be
    written again.
    """
    if wheel.signatures and not force:
        raise InputError(
            f"is signed: {wheel.signatures[0]} covers RECORD, which an SBOM changes",
            where=str(wheel.path),
            advice="Add the SBOM before signing, or remove the signature with --force.",
        )
    if wheel.sboms and not force:
        raise InputError(
            f"has an SBOM already: {', '.join(wheel.sboms)}",
            where=str(wheel.path),
            advice="Add another SBOM with --force. This replaces only an SBOM that latebind added.",
        )
    output = folder / wheel.path.name
    if output.resolve() == wheel.path.resolve() and not force:
        raise InputError(
            "would be replaced by the new wheel",
            where=str(wheel.path),
            advice="Name another folder with --output, or replace the wheel with --force.",
        )
    name = f"{wheel.info}/sboms/{SBOM_FILE}"
    data = render_bill(wheel.bill, format_)
    rewrite_wheel(wheel.path, output, f"{wheel.info}/RECORD", {name: data}, without=wheel.signatures)
    return output
