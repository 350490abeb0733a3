"""Checks a release folder offline: its checksums, and that every derived file follows from the others."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from latebind import __version__
from latebind.errors import ConfigError, InputError
from latebind.release.contradictions import Contradiction, contradictions
from latebind.release.derive import Derived, derive
from latebind.release.facts import Origin, read_origin
from latebind.release.layout import (
    CONFIG,
    LOG_SUMS,
    PACKAGES,
    RELEASE_MANIFEST,
    REPORTS,
    SBOMS,
    SUMS,
    SURFACE,
    VERIFICATION,
    flat_name,
    is_download,
    is_given,
)
from latebind.release.make import files_of
from latebind.release.tag import Tag, check_tag
from latebind.system.files import sha256

_LINE = re.compile(r"([0-9a-f]{64})  ([^\0\n]+)")
_SHOWN = 3
_FROM_A_COPY = "Download the file from the release again, and check SHA256SUMS against its attestation."


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The result. `release` is None if the folder could not be read that far."""

    problems: tuple[Contradiction, ...]
    release: Derived | None
    notes: tuple[str, ...] = ()


def check_release(folder: Path, tag: Tag | None = None) -> Checked:
    """Check a folder that `make_release` made, and that it is the release of a tag.

    Raises InputError when it is not such a folder.
    """
    if not folder.is_dir():
        raise InputError("is not a folder", where=str(folder), advice="Name the folder of a release.")
    if not (folder / SUMS).exists() and not (folder / RELEASE_MANIFEST).exists():
        why = f"has neither {SUMS} nor {RELEASE_MANIFEST}, so it is not a release"
        raise InputError(why, where=str(folder), advice="Name the folder that latebind release made.")
    if strange := tuple(_find_strange(folder)):  # reading a pipe never ends, nor does a link to a device
        return Checked(problems=strange, release=None)
    problems = list(_sums(folder))
    try:
        origin = read_origin(folder / RELEASE_MANIFEST)
        derived = derive(folder, origin)
    except (InputError, ConfigError) as error:
        problems.append(
            Contradiction(file=_inside(folder, error.where), why=error.message, fix=error.advice or _FROM_A_COPY)
        )
        return Checked(problems=tuple(problems), release=None)
    problems += contradictions(derived)
    if tag is not None:
        project = derived.config.project
        commits = {RELEASE_MANIFEST: origin.commit, VERIFICATION: derived.report.source.commit}
        problems += check_tag(tag, project.name, project.version, commits)
    named = {problem.file for problem in problems}
    problems += (problem for problem in _different(folder, derived, origin) if problem.file not in named)
    same = origin.latebind == __version__
    note = (
        f"made by latebind {origin.latebind}, checked by {__version__}: "
        f"{SBOMS}/ and {SURFACE} were compared, other generated files were not"
    )
    return Checked(problems=tuple(problems), release=derived, notes=() if same else (note,))


def _find_strange(folder: Path) -> Iterator[Contradiction]:
    """What no release holds: links, pipes and devices."""
    for name in (SUMS, *files_of(folder)):
        path = folder / name
        if path.is_symlink():
            yield Contradiction(file=name, why="is a link", fix=_FROM_A_COPY)
        elif path.exists() and not path.is_file():
            yield Contradiction(file=name, why="is not a file", fix=_FROM_A_COPY)


def _inside(folder: Path, where: str) -> str:
    """A place that an error names, as a path in the folder."""
    package = folder / PACKAGES / where.partition("!")[0]
    if where and not where.startswith("/") and package.is_file():
        return f"{PACKAGES}/{where}"
    return where.removeprefix(f"{folder.as_posix()}/") or CONFIG


def _sums(folder: Path) -> Iterator[Contradiction]:
    """Compare SHA256SUMS and the checksums of the logs with the files in the folder."""
    here = files_of(folder)
    downloads: dict[str, str] = {}
    for name in filter(is_download, here):
        if downloads.setdefault(flat_name(name), name) != name:
            why = f"has the same name as {downloads[flat_name(name)]}: it is not part of this release"
            yield Contradiction(file=name, why=why, fix="Remove it.")
    yield from _compare(folder, SUMS, downloads)
    logs = {name.removeprefix(f"{REPORTS}/"): name for name in here if not is_download(name)}
    if logs or (folder / LOG_SUMS).exists():
        yield from _compare(folder, LOG_SUMS, logs)


def _compare(folder: Path, sums: str, files: Mapping[str, str]) -> Iterator[Contradiction]:
    """Compare a list of checksums with the files in the folder, which are named as in the list."""
    recorded: dict[str, str] = {}
    try:
        lines = (folder / sums).read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        yield Contradiction(file=sums, why=f"cannot be read: {error}", fix=_FROM_A_COPY)
        return
    for number, line in enumerate(lines, 1):
        match = _LINE.fullmatch(line)
        if not match or match[2] in recorded:
            why = f"line {number} is {'there twice' if match else 'not a checksum and a name'}"
            yield Contradiction(file=sums, why=why, fix=_FROM_A_COPY)
        else:
            recorded[match[2]] = match[1]
    for listed, name in files.items():
        if listed not in recorded:
            yield Contradiction(file=name, why=f"is not in {sums}: it is not part of this release", fix="Remove it.")
        elif sha256(folder / name) != recorded[listed]:
            yield Contradiction(file=name, why=f"differs from its checksum in {sums}", fix=_FROM_A_COPY)
    for name in sorted(recorded.keys() - files.keys()):
        yield Contradiction(file=name, why=f"is in {sums}, but not in the folder", fix=_FROM_A_COPY)


def _different(folder: Path, derived: Derived, origin: Origin) -> Iterator[Contradiction]:
    """Derived files that differ from what the folder gives, and files that belong to no release."""
    here = set(files_of(folder))
    for name in sorted(here - derived.files.keys()):
        if not is_given(name):
            yield Contradiction(file=name, why="is not part of a release", fix="Remove it.")
    for name, data in derived.files.items():
        if origin.latebind != __version__ and not name.startswith((SBOMS, SURFACE)):
            continue
        if name not in here:
            yield Contradiction(file=name, why="is missing", fix=_FROM_A_COPY)
        elif (folder / name).read_bytes() != data:
            yield Contradiction(file=name, why=_how(name, (folder / name).read_bytes(), data), fix=_FROM_A_COPY)


def _how(name: str, actual: bytes, expected: bytes) -> str:
    if name.startswith(f"{SBOMS}/"):
        return "differs from the SBOM inside its package"
    if name.endswith(".json"):
        try:
            differences = list(_paths(json.loads(actual), json.loads(expected), ""))
        except (ValueError, RecursionError):
            return "is not JSON"
        if differences:
            return f"differs from the packages and reports: {'; '.join(differences[:_SHOWN])}"
    return "differs from what latebind makes from the packages and reports"


def _paths(actual: Any, expected: Any, at: str) -> Iterator[str]:  # JSON
    """Where two JSON values differ, and how."""
    if isinstance(actual, dict) and isinstance(expected, dict):
        for key in [*expected, *(key for key in actual if key not in expected)]:
            yield from _paths(actual.get(key), expected.get(key), f"{at}.{key}".lstrip("."))
    elif isinstance(actual, list) and isinstance(expected, list) and len(actual) == len(expected):
        for index, (element, other) in enumerate(zip(actual, expected, strict=True)):
            yield from _paths(element, other, f"{at}[{index}]")
    elif actual != expected:
        yield f"{at} is {_short(actual)} instead of {_short(expected)}"


def _short(value: Any) -> str:  # JSON
    if isinstance(value, list):
        return f"a list of {len(value)}"
    text = json.dumps(value)
    return text if len(text) <= 80 else f"{text[:80]}..."  # noqa: PLR2004  # a line
