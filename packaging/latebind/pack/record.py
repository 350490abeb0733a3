"""Reads dist/.packed.json, which records what the packages in dist/ were made from, and finds what changed since.

The record is next to the packages, so that deleting build/ loses time only. Contents decide, not times.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from latebind.build.sources import loader_dir, native_files
from latebind.fingerprint import digest
from latebind.outputs import MSBUILD_OUTPUTS, outputs
from latebind.preconditions import list_sources
from latebind.system.tree import hash_tree, list_tree
from loadcheck.decoding import DECODE_ERRORS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from latebind.config.config import Config

RECORD = ".packed.json"
_NO_SOURCES = MSBUILD_OUTPUTS | {"node_modules"}
_LOADER = "latebind's loader"


class PackedRow(msgspec.Struct, frozen=True):
    """What a key made, by file name."""

    key: str
    files: dict[str, str]
    """Empty for what this machine could not make from these inputs."""
    targets: tuple[str, ...] = ()
    """The targets whose libraries the files hold."""
    earlier: tuple[str, ...] = ()
    """Files of earlier runs that are still to be removed: the run that replaced them did not finish."""


class Record(msgspec.Struct, frozen=True):
    """What a folder of packages holds, and what that was made from."""

    commit: str = ""
    sources: dict[str, str] = msgspec.field(default_factory=dict)
    """The hash of each file that packages are made from, as hash_inputs()."""
    packages: dict[str, PackedRow] = msgspec.field(default_factory=dict)
    """By their names in the ledger."""

    @property
    def files(self) -> dict[str, str]:
        """The hash of each package, by its path in the folder."""
        return {name: sha256 for package in self.packages.values() for name, sha256 in package.files.items()}

    @property
    def targets(self) -> frozenset[str]:
        """The targets that were packed; none where nothing was."""
        return frozenset(rid for row in self.packages.values() for rid in row.targets)

    @property
    def digest(self) -> str:
        """One hash of all sources; "" where nothing is recorded."""
        return digest([f"{sha256} {name}" for name, sha256 in sorted(self.sources.items())]) if self.sources else ""


def read_record(dist: Path) -> Record:
    """The record of a folder of packages; an empty one where there is none that can be read."""
    try:
        return msgspec.json.decode((dist / RECORD).read_bytes(), type=Record)
    except (OSError, *DECODE_ERRORS):
        return Record()


def hash_inputs(config: Config, workdir: Path) -> dict[str, str]:
    """The hash of each file of the project that packages are made from, by its path from the configuration's folder.

    Ends of lines do not count, because a checkout on Windows has others.
    """
    written = outputs(config, workdir)
    files = [*native_files(config, workdir)]
    for path in (config.root / name for name in list_sources(config)):
        files += list_tree(path, without=_NO_SOURCES, outputs=written) if path.is_dir() else [path]
    names = {Path(os.path.relpath(path, config.root)).as_posix(): path for path in files if path.is_file()}
    hashes = {name: _hash_text(path.read_bytes()) for name, path in sorted(names.items()) if path != config.file}
    hashes[config.file.name] = _hash_text(config.content)  # as it was read: it may have changed since
    return {**dict(sorted(hashes.items())), _LOADER: hash_tree(loader_dir(config), modes=False)}


def list_changes(record: Record, sources: Mapping[str, str], commit: str) -> list[str]:
    """What happened to the sources since the packages of a record were made: `native/tiny.c was changed`.

    At the recorded commit, files that only one side has are untracked, and belong to no release.
    """
    packed, now = record.sources, sources
    same = bool(commit) and commit == record.commit
    names = packed.keys() & now.keys() if same else packed.keys() | now.keys()
    changed = sorted(name for name in names if packed.get(name) != now.get(name)) if packed else []
    return [f"{name} was {_how(name, packed, now)}" for name in changed]


def _how(name: str, packed: Mapping[str, str], now: Mapping[str, str]) -> str:
    return "removed" if name not in now else "changed" if name in packed else "added"


def _hash_text(data: bytes) -> str:
    return hashlib.sha256(data.replace(b"\r\n", b"\n")).hexdigest()
