"""Checks LB505 and LB507: license fields and files (PEP 639), and SBOMs in wheels (PEP 770)."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
from packaging.version import InvalidVersion, Version

from loadcheck.engine.reader import find_reader
from loadcheck.engine.registry import INSTALLED, Hit, Skip, check
from loadcheck.errors import InputError
from loadcheck.readers.record import read_metadata
from loadcheck.text import plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from loadcheck.readers.contents import Contents

_LICENSE = re.compile(r"(^|/)(licen[cs]es?|copying|notice|unlicense)([._-][^/]*)?(/|$)", re.IGNORECASE)
_NOTICE = "LICENSE-latebind.txt"
_PEP_639 = Version("2.4")
"""The metadata version that introduced License-Expression and License-File."""


@check(
    "LB505",
    "License missing",
    "note",
    profiles=("all",),
    because="Nothing fails.",
    kinds=INSTALLED,
    example="a wheel without dist-info/licenses/",
    fix="Set license and license-files in pyproject.toml, license_file in latebind.toml, or <license> in the nuspec.",
)
def license_missing(package: Contents) -> Iterator[Hit | Skip]:
    """Most licenses require that every copy includes their text, and many companies reject packages without it."""
    yield from find_reader(package.kind).find_license_problems(package)


def find_missing_file(package: Contents) -> Iterator[Hit]:
    """A package whose license is a file, and which has none. The notice of latebind's loader is not its license."""
    names = [file.name for file in package.files if _LICENSE.search(file.name)]
    if names and all(name.endswith(f"/{_NOTICE}") for name in names):
        text = f"contains no license file except that of latebind's loader, {_NOTICE}"
        yield Hit(cause="only the loader's", message=text, evidence=tuple(names))
    elif not names:
        seen = f"{plural(len(package.files), 'file')}, none named LICENSE, COPYING or NOTICE"
        yield Hit(message="contains no license file", evidence=(seen,))


@check(
    "LB507",
    "Metadata that the index refuses",
    "warning",
    profiles=("all",),
    because="The package installs, but the package index refuses the upload. The finding is a note for an SBOM that "
    "cannot be read.",
    kinds=("wheel",),
    example="License-File: LICENSE in METADATA, but no file latenn-1.0.dist-info/licenses/LICENSE",
    fix="In pyproject.toml, write license as an SPDX expression and list license-files. Then build again.",
)
def refused_metadata(package: Contents) -> Iterator[Hit | Skip]:
    """Metadata 2.4 names the license as an SPDX expression, and lists the files with its text (PEP 639).

    The index compares these fields with the wheel's files during the upload. For an SBOM in `.dist-info/sboms`, PEP 770
    recommends JSON in UTF-8, because scanners skip SBOMs that they cannot read.
    """
    name = f"{package.dist_info}/METADATA"
    try:
        fields = read_metadata(package.texts.get(name, b""), name)
    except InputError:
        return  # LB502 reports it
    for case, message, evidence in _find_refused_fields(package, fields):
        yield Hit(cause=case, inner=name, message=message, evidence=(evidence,))
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


_SBOM = "Write the SBOM again, as JSON in UTF-8."


def _find_refused_fields(package: Contents, fields: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[str, str, str]]:
    """The case, what is wrong, and the line."""
    written = "".join(fields.get("metadata_version", ())[:1])
    try:
        is_new = Version(written) >= _PEP_639
    except InvalidVersion:
        return
    for text in fields.get("license_expression", ()):
        line = f"License-Expression: {text}"
        if not is_new:
            yield "version", f"has License-Expression, which metadata version {written} does not define", line
        if fields.get("license"):
            yield "both", "has both License and License-Expression", line
        try:
            canonicalize_license_expression(text)
        except InvalidLicenseExpression as error:
            yield "expression", f"has an invalid SPDX license expression: {error}", line
    files = {file.name for file in package.files}
    for text in fields.get("license_files", ()) if is_new else ():
        if f"{package.dist_info}/licenses/{text}" not in files:
            message = f"names the license file {text}, which is not in licenses/"
            yield f"file {text}", message, f"License-File: {text}"
