"""Draws packages by a seed and a list of names: wheels of a package index, and npm packages."""

from __future__ import annotations

import json
import random
import re
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from accuracy import downloads, imports
from packaging.utils import canonicalize_name
from packaging.version import Version

from loadcheck import InputError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from loadcheck.index.pages import IndexFile

_LARGEST = 40_000_000
_NPM_PLATFORM = re.compile(
    r"[-_/](linux|darwin|win32|freebsd)-(x64|arm64|ia32|arm|x86_64)(-(gnu|musl|msvc|gnueabihf))?$"
)
_COMPILED = re.compile(
    r"(?i)\brust\b|c\+\+|\bpyo3\b|pybind11|nanobind|cython|fortran|\bnative (extension|librar|binding)"
    r"|\bC (extension|binding|librar)"
)


def draw_wheels(names: Path, seed: int, count: int, drawn: Collection[str]) -> Iterator[Path]:
    """Wheels with binaries, one of each project, in an order that the seed decides.

    `names` has a project in each line. If a tab and a summary follow, it must mention a compiled language.
    """
    lines = [line.partition("\t") for line in names.read_text("utf-8").splitlines()]
    candidates = sorted({name for name, tab, summary in lines if not tab or _COMPILED.search(summary)} - set(drawn))
    order = random.Random(seed)  # noqa: S311 -- a draw that can be repeated, no secret
    order.shuffle(candidates)
    for name in candidates:
        if wheel := _download_any(name, order):
            yield wheel
            print(f"{count} to go: {name}", file=sys.stderr)
            count -= 1
        if not count:
            return


def _download_any(project: str, order: random.Random) -> Path | None:
    with suppress(InputError):
        if wheels := list_wheels(project):
            return downloads.download(order.choice(wheels), _LARGEST)
    return None


def draw_npm(names: Path, seed: int, count: int, drawn: Collection[str]) -> Iterator[Path]:
    """npm packages that are named for a platform, as those with binaries are; one of each scope or prefix."""
    text = names.read_text("utf-8")
    listed = json.loads(text) if names.suffix == ".json" else [line.partition("\t")[0] for line in text.splitlines()]
    candidates = [name for name in listed if _NPM_PLATFORM.search(name)]
    order = random.Random(seed)  # noqa: S311 -- a draw that can be repeated, no secret
    order.shuffle(candidates)
    families = set()
    folder = downloads.make_folder("npm")
    for name in candidates:
        family = _NPM_PLATFORM.sub("", name)
        if family in families or not (archive := imports.download_npm(name, folder)):
            continue
        families.add(family)
        if archive.stat().st_size < _LARGEST and project_of(archive.name) not in drawn:
            yield archive
            count -= 1
        if not count:
            return


def list_wheels(project: str) -> list[IndexFile]:
    """The wheels for a platform in a project's newest release that has any. Raises InputError."""
    releases: dict[Version, list[IndexFile]] = {}
    for file in downloads.list_files(project):
        if file.is_wheel and not file.is_yanked and not file.name.endswith("-any.whl"):
            releases.setdefault(Version(file.version), []).append(file)
    return releases[max(releases)] if releases else []


def project_of(file: str) -> str:
    """A package's project, by the name of its file."""
    return canonicalize_name(file.partition("-")[0]) if file.endswith(".whl") else re.sub(r"-\d.*", "", file)
