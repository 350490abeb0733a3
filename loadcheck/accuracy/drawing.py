"""Draws packages by a seed: wheels by an index or by a list of names, and npm packages by a list of names."""

from __future__ import annotations

import hashlib
import json
import random
import re
import subprocess
import sys
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from accuracy import imports
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

from ci.machines import pinned

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from packaging.version import Version

_LARGEST = 40_000_000
_AT_ONCE = 24
_NPM_PLATFORM = re.compile(
    r"[-_/](linux|darwin|win32|freebsd)-(x64|arm64|ia32|arm|x86_64)(-(gnu|musl|msvc|gnueabihf))?$"
)
_JSON = "application/vnd.pypi.simple.v1+json"
_COMPILED = re.compile(
    r"(?i)\brust\b|c\+\+|\bpyo3\b|pybind11|nanobind|cython|fortran|\bnative (extension|librar|binding)"
    r"|\bC (extension|binding|librar)"
)
_GLIBC = ("5", "12", "17", "24", "26", "27", "28", "31", "34", "35", "38", "39")
_PLATFORMS = (
    *((*(f"manylinux_2_{minor}_{processor}" for minor in _GLIBC), f"manylinux2014_{processor}")
      for processor in ("x86_64", "x86_64", "aarch64")),
    ("musllinux_1_1_x86_64", "musllinux_1_2_x86_64"),
    ("macosx_15_0_arm64",),
    ("macosx_15_0_x86_64",),
    ("win_amd64",),
)  # fmt: skip
_ALIASES = {"manylinux_2_5_x86_64": "manylinux1_x86_64", "manylinux_2_12_x86_64": "manylinux2010_x86_64"}


def draw_from_names(names: Path, seed: int, count: int, drawn: Collection[str]) -> Iterator[Path]:
    """Wheels with binaries, one of each project, for a platform that the seed decides; pip downloads the newest.

    `names` is a table with tabs: the name of a project comes first, its summary last. Only projects are drawn whose
    summary mentions a compiled language, so that few are asked for that have no binaries.
    """
    entries = [line.split("\t") for line in names.read_text("utf-8").splitlines()]
    candidates = sorted({entry[0] for entry in entries if _COMPILED.search(entry[-1])} - set(drawn))
    order = random.Random(seed)  # noqa: S311 -- a draw that can be repeated, no secret
    order.shuffle(candidates)
    folder = pinned.cache() / "wheels"
    folder.mkdir(exist_ok=True)
    for name in candidates:
        if wheel := _download_newest(name, [order.choice(_PLATFORMS), *_PLATFORMS[:1]], folder):
            yield wheel
            print(f"{count} to go: {name}", file=sys.stderr)
            count -= 1
        if not count:
            return


def _download_newest(name: str, platforms: Sequence[Sequence[str]], folder: Path) -> Path | None:
    for tags in platforms:
        before = {*folder.iterdir()}
        supported = [f"--platform={tag}" for tag in [*tags, *(_ALIASES[tag] for tag in tags if tag in _ALIASES)]]
        only = ["--no-deps", "--only-binary=:all:", "--python-version=3.11", "--implementation=cp"]
        command = [*pinned.pip(), "download", "--quiet", *only, *supported, f"--dest={folder}", name]
        subprocess.run(command, check=False, stdin=subprocess.DEVNULL, capture_output=True)
        for wheel in {*folder.iterdir()} - before:
            if not wheel.name.endswith("-any.whl") and wheel.stat().st_size < _LARGEST:
                return wheel
    return None


def draw_wheels(index: str, seed: int, count: int, drawn: Collection[str]) -> Iterator[Path]:
    """Wheels with binaries, one of each project, in an order that the seed decides alone."""
    names = sorted(set(re.findall(r'href="([^"/]+)/"', _read(f"{index}/", "text/html").decode())) - set(drawn))
    order = random.Random(seed)  # noqa: S311 -- a draw that can be repeated, no secret
    order.shuffle(names)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for first in range(0, len(names), _AT_ONCE * 4):
            batch = names[first : first + _AT_ONCE * 4]
            for name, files in zip(batch, pool.map(lambda name: list_wheels(index, name), batch), strict=True):
                if files:
                    yield _download(**order.choice(files))
                    print(f"{count} to go: {name}", file=sys.stderr)
                    count -= 1
                if not count:
                    return


def draw_npm(names: Path, seed: int, count: int, drawn: Collection[str]) -> Iterator[Path]:
    """npm packages that are named for a platform, as those with binaries are; one of each scope or prefix."""
    text = names.read_text("utf-8")
    listed = json.loads(text) if names.suffix == ".json" else [line.partition("\t")[0] for line in text.splitlines()]
    candidates = [name for name in listed if _NPM_PLATFORM.search(name)]
    order = random.Random(seed)  # noqa: S311 -- a draw that can be repeated, no secret
    order.shuffle(candidates)
    families = set()
    folder = pinned.cache() / "npm"
    folder.mkdir(exist_ok=True)
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


def list_wheels(index: str, name: str) -> list[dict[str, str]]:
    """The wheels for a platform in a project's newest release that has any."""
    try:
        files = json.loads(_read(f"{index}/{name}/", _JSON))["files"]
    except OSError:
        return []
    releases: dict[Version, list[dict[str, str]]] = {}
    for file in files:
        try:
            _, version, _, tags = parse_wheel_filename(file["filename"])
        except InvalidWheelFilename:
            continue
        if not file.get("yanked") and all(tag.platform != "any" for tag in tags) and file["size"] < _LARGEST:
            wheel = {"file": file["filename"], "url": file["url"], "sha256": file["hashes"]["sha256"]}
            releases.setdefault(version, []).append(wheel)
    return releases[max(releases)] if releases else []


def _download(file: str, url: str, sha256: str) -> Path:
    folder = pinned.cache() / "wheels"
    folder.mkdir(exist_ok=True)
    content = _read(url, "*/*") if not (folder / file).is_file() else (folder / file).read_bytes()
    if hashlib.sha256(content).hexdigest() != sha256:
        raise SystemExit(f"{file} has another hash than the index says")
    (folder / file).write_bytes(content)
    return folder / file


def _read(url: str, accept: str) -> bytes:
    if not url.startswith("https://"):
        raise SystemExit(f"{url}: packages come from an index by https")
    request = urllib.request.Request(url, headers={"Accept": accept})  # noqa: S310 -- https alone
    with urllib.request.urlopen(request, timeout=60) as response:  # noqa: S310
        content: bytes = response.read()
    return content


def project_of(file: str) -> str:
    """A package's project, by the name of its file."""
    return canonicalize_name(file.partition("-")[0]) if file.endswith(".whl") else re.sub(r"-\d.*", "", file)
