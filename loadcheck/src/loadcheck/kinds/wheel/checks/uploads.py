"""Checks LB507 and LB512: whether PyPI accepts the metadata and the archive of a wheel."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from packaging.metadata import ExceptionGroup, InvalidMetadata, Metadata
from packaging.version import InvalidVersion, Version

from loadcheck.engine.registry import Hit, Skip, check
from loadcheck.engine.supply import requirement_rows
from loadcheck.errors import InputError
from loadcheck.readers.record import read_metadata

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from loadcheck.readers.contents import Contents

_PEP_639 = Version("2.4")
"""The metadata version that introduced License-Expression and License-File."""
_LONGEST_SUMMARY = 512
_IN_LB502 = ("metadata-version", "name", "version", "requires-dist")
_PRIVATE = "Private ::"
"""How classifiers start that keep a package from PyPI."""
_SBOM = "Write the SBOM again, as JSON in UTF-8."


@check(
    "LB507",
    "Metadata that the index refuses",
    "warning",
    profiles=("all",),
    because="The package installs, but the package index refuses the upload. The finding is a note for an SBOM that "
    "cannot be read, and for a local version.",
    kinds=("wheel",),
    example="License-File: LICENSE in METADATA, but no file latenn-1.0.dist-info/licenses/LICENSE",
    fix="Correct the field in pyproject.toml, and build again.",
)
def refused_metadata(package: Contents) -> Iterator[Hit | Skip]:
    """PyPI reads the metadata during an upload with packaging.metadata, as this check does, and has rules of its own.

    It refuses direct URLs in requirements and summaries of more than 512 characters, and compares License-File with the
    wheel's files (PEP 639). It also refuses local versions, such as 1.0+cu128, and each package with a classifier that
    starts with "Private ::", whose other fields are not judged. For an SBOM in `.dist-info/sboms`, PEP 770 recommends
    JSON in UTF-8, because scanners skip SBOMs that they cannot read.
    """
    name = f"{package.dist_info}/METADATA"
    try:
        fields = read_metadata(package.texts.get(name, b""), name)
    except InputError:
        return  # LB502 reports it
    if not _is_private(fields):
        for case, message, evidence in _find_refused_fields(package, fields):
            yield Hit(cause=case, inner=name, message=message, evidence=(evidence,))
    if version := next((text for text in fields.get("version", ()) if "+" in text), ""):
        message = f"has the local version {version}, which PyPI refuses"
        yield Hit(cause="local", inner=name, message=message, evidence=(f"Version: {version}",), severity="note")
    for file, data in package.texts.items():
        if file.startswith(f"{package.dist_info}/sboms/"):
            try:
                json.loads(data)
            except (ValueError, RecursionError) as error:
                yield Hit(
                    cause="sbom",
                    inner=file,
                    message=f"is not JSON: {error}",
                    evidence=(file,),
                    severity="note",
                    fix=_SBOM,
                )


def _find_refused_fields(package: Contents, fields: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[str, str, str]]:
    """The case, what is wrong, and the line."""
    yield from _find_invalid_fields(package.texts[f"{package.dist_info}/METADATA"])
    for expression in fields.get("license_expression", ()) if fields.get("license") else ():
        yield "both", "has both License and License-Expression", f"License-Expression: {expression}"
    for text, requirement in requirement_rows(package):
        if requirement.url:
            yield f"url {requirement.name}", f"requires {requirement.name} from a URL", f"Requires-Dist: {text}"
    for summary in fields.get("summary", ()):
        if len(summary) > _LONGEST_SUMMARY:
            yield "summary", f"has a summary of {len(summary)} characters; PyPI takes 512", f"Summary: {summary}"
    try:
        is_new = Version("".join(fields.get("metadata_version", ())[:1])) >= _PEP_639
    except InvalidVersion:
        return
    files = {file.name for file in package.files}
    for text in fields.get("license_files", ()) if is_new else ():
        if f"{package.dist_info}/licenses/{text}" not in files:
            message = f"names the license file {text}, which is not in licenses/"
            yield f"file {text}", message, f"License-File: {text}"


def _find_invalid_fields(data: bytes) -> Iterator[tuple[str, str, str]]:
    """What packaging finds invalid. It cannot judge metadata of a version that is newer than itself."""
    try:
        Metadata.from_email(data)
    except ExceptionGroup as group:
        errors = [error for error in group.exceptions if isinstance(error, InvalidMetadata)]
        if any(error.field == "metadata-version" for error in errors):
            return
        for error in errors:
            if error.field not in _IN_LB502:
                yield error.field, f"has an invalid {error.field}: {error}", error.field


def _is_private(fields: Mapping[str, tuple[str, ...]]) -> bool:
    return any(text.startswith(_PRIVATE) for text in fields.get("classifiers", ()))


@check(
    "LB512",
    "Archive that PyPI refuses",
    "error",
    profiles=("loads",),
    because="PyPI refuses the upload. The finding is a note if the wheel's version is local, or if a classifier says "
    "that the wheel is private: it is not for PyPI.",
    kinds=("wheel",),
    example="latenn/__init__.py has a data descriptor",
    fix="Write the wheel to a file, not to a pipe, with the build backend or `wheel pack`.",
)
def refused_archive(package: Contents) -> Iterator[Hit | Skip]:
    """PyPI refuses archives from which programs could read different files.

    Some programs read the directory at the end of an archive, and others the headers of the files from the start. PyPI
    compares the two. It refuses data descriptors, bytes between the files, comments, and control characters in names
    (warehouse/utils/zipfiles.py). LB602 reports what is wrong in any archive.
    """
    name = f"{package.dist_info}/METADATA"
    try:
        fields = read_metadata(package.texts.get(name, b""), name)
    except InputError:
        fields = {}
    is_for_others = _is_private(fields) or (package.wheel is not None and "+" in package.wheel.version)
    found: dict[str, list[str]] = {}
    for problem in package.problems:
        if problem.kind == "streamed":
            found.setdefault(problem.detail, []).append(problem.member)
    for detail, members in found.items():
        others = f" and {len(members) - 1:,} others" if members[1:] else ""
        yield Hit(
            cause=detail,
            message=f"{members[0]}{others}: {detail}",
            evidence=tuple(members[:3]),
            severity="note" if is_for_others else "error",
        )
