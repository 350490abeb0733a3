"""Checks LB501, LB502 and LB511: whether RECORD, WHEEL and METADATA are complete and correct."""

from __future__ import annotations

import base64
from collections import Counter
from dataclasses import replace
from itertools import chain, product
from typing import TYPE_CHECKING

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from loadcheck.engine.check import Hit, Hits, check
from loadcheck.engine.supply import comparable_version
from loadcheck.engine.wording import some
from loadcheck.errors import InputError
from loadcheck.readers.record import RecordLine, read_headers, read_metadata, read_record
from loadcheck.text import plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from loadcheck.model import Severity
    from loadcheck.readers.contents import Contents, File, WheelName

_TAGS = "Tag"
_UNHASHED = ("RECORD", "RECORD.jws", "RECORD.p7s")


@check(
    "LB501",
    "RECORD missing, incomplete or wrong",
    "error",
    because="Installers cannot install a wheel without a readable RECORD. The finding is a warning for wrong lines, "
    "which strict installers refuse.",
    kinds=("wheel",),
    example="latenn/liblatenn.so was replaced after RECORD was written",
    fix="Build the wheel again, or run `wheel unpack` and `wheel pack` after a change.",
)
def record_wrong(package: Contents) -> Hits:
    """RECORD lists the files of a wheel, with hashes and sizes for all but RECORD itself and its signatures.

    Installers use RECORD to uninstall the wheel, and strict installers verify it. A file that is not listed is
    uninstalled only if the installer adds it to RECORD, as pip and uv do. A file that differs from its hash was changed
    after the build. Lines for folders do no harm.
    """
    info = package.dist_info
    name = f"{info}/RECORD"
    if not info or name not in package.texts:
        yield Hit(cause="absent", message="has no RECORD", evidence=(f"missing: {name.lstrip('/') or 'RECORD'}",))
        return
    try:
        records = read_record(package.texts[name], name)
    except InputError as error:
        yield Hit(cause="unreadable", inner=name, message=error.message)
        return
    files = {file.name: file for file in package.files}
    for hit in chain(_separators(records, files, name), _lines(_with_slashes(records, files), files, info)):
        yield replace(hit, severity="warning")


def _separators(records: Sequence[RecordLine], files: Mapping[str, File], name: str) -> Iterator[Hit]:
    """One finding for a RECORD that was written with the separators of Windows."""
    wrong = [
        before.path for before, after in zip(records, _with_slashes(records, files), strict=True) if before != after
    ]
    if wrong:
        text = f"has {plural(len(wrong), 'path')} with backslashes, which name no file of the wheel"
        fix = (
            "Build the wheel with a current build backend, or run `wheel unpack` and `wheel pack`: both write slashes."
        )
        yield Hit(cause="backslashes", inner=name, message=text, evidence=some(wrong), fix=fix)


def _with_slashes(records: Sequence[RecordLine], files: Mapping[str, File]) -> list[RecordLine]:
    """The lines as they are meant: a path with backslashes that is a file's with slashes has slashes."""
    return [
        replace(record, path=path)
        if record.path not in files and (path := record.path.replace("\\", "/")) in files
        else record
        for record in records
    ]


def _lines(records: Sequence[RecordLine], files: Mapping[str, File], info: str) -> Iterator[Hit]:
    name = f"{info}/RECORD"
    counts = Counter(record.path for record in records)
    for path in sorted(path for path, count in counts.items() if count > 1):
        yield Hit(cause="twice", inner=name, message=f"lists {path} {counts[path]} times", names=(path,))
    unhashed = {f"{info}/{plain}" for plain in _UNHASHED}
    for record in records:
        path = record.path
        if path in files and path not in unhashed:
            yield from _compare(record, files[path])
        elif path not in files and not path.endswith("/"):  # nothing is installed for a folder
            text = f"lists {path}, which is not in the wheel"
            yield Hit(cause="lacks", inner=name, message=text, names=(path,))
    for path in sorted(files.keys() - counts.keys() - (unhashed - {name})):
        yield Hit(cause="unlisted", inner=path, message="is in the wheel, but RECORD does not list it")


def _compare(record: RecordLine, file: File) -> Iterator[Hit]:
    method, _, digest = record.digest.partition("=")
    if file.problem and not file.size:
        return  # LB601 reports it
    if not digest or method in ("md5", "sha1"):
        text, line = "has no SHA-256 or stronger hash in RECORD", f"{record.path},{record.digest}"
        yield Hit(cause="hash", inner=record.path, message=text, evidence=(line,))
    elif method == "sha256":
        own = base64.urlsafe_b64encode(bytes.fromhex(file.sha256)).rstrip(b"=").decode()
        if digest.rstrip("=") != own and not file.problem:
            seen = (f"RECORD: sha256={digest}", f"file: sha256={own}")
            yield Hit(cause="differs", inner=record.path, message="differs from its hash in RECORD", evidence=seen)
    if record.size and record.size != str(file.size) and not file.problem:
        text = f"has {plural(file.size, 'byte')}, but RECORD says {record.size}"
        seen = (f"RECORD: {record.size}", f"file: {file.size}")
        yield Hit(cause="size", inner=record.path, message=text, evidence=seen)


@check(
    "LB502",
    "Wheel metadata broken or different from the file name",
    "error",
    because="Some installers or package indexes refuse the wheel. The finding is a note if only the tags in the "
    "metadata differ.",
    kinds=("wheel",),
    example="latenn-1.0-py3-none-any.whl whose METADATA says Version: 1.1",
    fix="Build the wheel again. Rename wheels with `wheel tags`, never by hand.",
)
def wheel_metadata(package: Contents) -> Hits:
    """Installers choose a wheel by its file name and install it by its metadata, so the two must agree."""
    if package.wheel is None:
        yield Hit(
            cause="name",
            message="is not a valid wheel name: project-version-python-abi-platform.whl",
            evidence=(f"file name: {package.path.name}",),
        )
        return
    folders = sorted(top for top in package.tops if top.endswith(".dist-info"))
    if len(folders) != 1:
        text = f"has {plural(len(folders), '.dist-info folder')}, but needs exactly 1"
        yield Hit(cause="folders", message=text, evidence=tuple(folders))
    for part, read, judge in (("WHEEL", read_headers, _judge_wheel), ("METADATA", read_metadata, _judge_metadata)):
        name = f"{package.dist_info}/{part}"
        if name not in package.texts:
            yield Hit(cause=f"no {part}", message=f"has no {part}", evidence=(f"missing: {part}",))
            continue
        try:
            fields = read(package.texts[name], name)
        except InputError as error:
            yield Hit(cause="unreadable", inner=name, message=error.message)
            continue
        for case, message, evidence in judge(package.wheel, fields):
            severity: Severity = "note" if case == _TAGS else "error"
            shown = (evidence, f"file name: {package.path.name}")
            yield Hit(cause=case, inner=name, message=message, evidence=shown, severity=severity)


def _judge_wheel(name: WheelName, fields: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[str, str, str]]:
    tags = (f"{tag}--".split("-") for tag in fields.get("tag", ()))
    declared = {parts for tag in tags for parts in product(*(part.split(".") for part in tag[:3]))}
    if declared != {*product(name.pythons, name.abis, name.platforms)}:
        yield _TAGS, "has tags that differ from the file name's", f"Tag: {', '.join(fields.get('tag', ('none',)))}"
    if not fields.get("wheel-version"):
        yield "Wheel-Version", "lacks Wheel-Version", "missing: Wheel-Version"


def _judge_metadata(name: WheelName, fields: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[str, str, str]]:
    for field in ("metadata_version", "name", "version"):
        if not fields.get(field):
            title = field.title().replace("_", "-")
            yield f"no {field}", f"lacks {title}", f"missing: {title}"
    for text in fields.get("requires_dist", ()):
        try:
            Requirement(text)
        except ValueError:
            yield text, "has a requirement that cannot be read", f"Requires-Dist: {text}"
    for project in fields.get("name", ())[:1]:
        if canonicalize_name(project) != name.project:
            yield "Name", f"names the project {project}", f"Name: {project}"
    for project in fields.get("version", ())[:1]:
        if comparable_version(project) != comparable_version(name.version):
            yield "Version", f"has the version {project}", f"Version: {project}"


@check(
    "LB511",
    "Requirement that no version satisfies",
    "error",
    because="Installers refuse the package, or its extra.",
    kinds=("wheel",),
    example="Requires-Dist: nvidia-cuda-nvrtc-cu13~=13.0; the newest version is 0.0.1",
    fix="Require versions that exist. Install the package with each extra before a release.",
)
def requirement_unsatisfied(package: Contents) -> Hits:
    """An installer that finds no version for a requirement installs nothing.

    Only `--resolve` asks the package index. Pre-releases and yanked releases count as versions.
    """
    supplied = package.supplied
    for each in supplied.unsatisfied if supplied else ():
        has = f"its newest version is {each.newest}" if each.newest else "the index has no such project"
        what = f"the extra {each.extra} requires" if each.extra else "requires"
        yield Hit(
            cause=f"{each.requirement} {each.extra}",
            message=f"{what} {each.requirement}, which no version satisfies: {has}",
            evidence=(f"Requires-Dist: {each.requirement}",),
            inner=f"{package.dist_info}/METADATA",
        )
