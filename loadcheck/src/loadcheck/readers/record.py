"""Reads a wheel's RECORD, WHEEL and METADATA files."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from email import policy as email_policy
from email.parser import BytesParser
from typing import TYPE_CHECKING, cast

from packaging.metadata import parse_email

from loadcheck.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

_COLUMNS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordLine:
    """One line of RECORD. `digest` is `sha256=<urlsafe base64>`, `size` a number; both may be empty."""

    path: str
    digest: str
    size: str


def read_record(data: bytes, where: str) -> tuple[RecordLine, ...]:
    """The lines of RECORD. Raises InputError when it is not CSV of three columns in UTF-8."""
    try:
        text = data.decode("utf-8")
        records = [record for record in csv.reader(io.StringIO(text, newline="")) if record]
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"is not CSV in UTF-8: {error}", where=where) from error
    bad = next((record for record in records if len(record) != _COLUMNS), None)
    if bad is not None:
        raise InputError(f"has a line of {len(bad)} columns instead of 3: {','.join(bad)[:80]}", where=where)
    return tuple(RecordLine(path=path, digest=digest, size=size) for path, digest, size in records)


def read_metadata(data: bytes, where: str) -> Mapping[str, tuple[str, ...]]:
    """The fields of METADATA or PKG-INFO, by the names of packaging.metadata: `requires_dist`, `license_files`.

    A field that must be there once has all its values. Raises InputError when the file is not UTF-8, or not of fields.
    """
    _check_encoding(data, where)
    try:
        known, others = parse_email(data)
    except (AssertionError, AttributeError) as error:  # before 26, for a body of several parts
        raise InputError("is a message of several parts, and no metadata", where=where) from error
    fields: dict[str, tuple[str, ...]] = {}
    for name, value in cast("Mapping[str, str | list[str] | dict[str, str]]", known).items():
        fields[name] = (value,) if isinstance(value, str) else tuple(value)
    return {**fields, **{name.replace("-", "_"): tuple(filter(None, values)) for name, values in others.items()}}


def read_fields(data: bytes) -> Mapping[str, tuple[str, ...]] | None:
    """The fields of METADATA or PKG-INFO (`read_metadata()`); None if the file cannot be read."""
    try:
        return read_metadata(data, "METADATA")
    except InputError:
        return None


def read_headers(data: bytes, where: str) -> Mapping[str, tuple[str, ...]]:
    """The fields of WHEEL by lower-case name. Raises InputError when they are not UTF-8."""
    _check_encoding(data, where)
    head = data.replace(b"\r\n", b"\n").partition(b"\n\n")[0]
    message = BytesParser(policy=email_policy.compat32).parsebytes(head + b"\n\n", headersonly=True)
    fields: dict[str, tuple[str, ...]] = {}
    for name, value in message.items():
        fields[name.lower()] = (*fields.get(name.lower(), ()), str(value).strip())
    return fields


def _check_encoding(data: bytes, where: str) -> None:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"is not UTF-8: {error}", where=where) from error
