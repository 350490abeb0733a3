"""Keeps dist/.packed.json, which records what the packages in dist/ were made from, and finds what changed since.

The record is next to the packages, so that deleting build/ loses time only. Contents decide, not times. New files are
made in a folder of dist/ that has a hidden name, and move to their places together.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from latebind.backend.files import digest, write_text
from latebind.errors import BuildError, NotRun
from latebind.system.decoding import DECODE_ERRORS
from latebind.system.files import sha256
from latebind.system.log import LOG

RECORD = ".packed.json"


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
    untracked: tuple[str, ...] = ()
    """What the packages are made from and git did not track, as list_untracked()."""

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


@dataclass(frozen=True, slots=True)
class Losses:
    """What dist/ had before a run and has no longer."""

    files: tuple[str, ...] = ()
    """Files that were removed, by name."""
    targets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The targets that remaining packages no longer hold, by their names in the ledger, such as `nupkg tiny`."""
    whole_targets: tuple[str, ...] = ()
    """The targets of which nothing remains."""


class Ledger:
    """The record in dist/: which key made which files, so that equal inputs make nothing twice."""

    def __init__(self, dist: Path) -> None:
        self.fresh = dist / ".new.part"
        """Where new files are made."""
        self._dist = dist
        self._lock = threading.Lock()
        self.record = read_record(dist)
        """What the last run made; once closed, what this one has made."""
        self._old = self.record.packages
        self._new: dict[str, PackedRow] = {}

    def is_current(self, name: str, key: str) -> bool:
        """Whether the files of a package are there, as this key makes them, or it makes none here."""
        known = self._old.get(name)
        return known is not None and known.key == key and self._intact(known.files)

    def make(
        self, name: str, key: str, targets: Sequence[str], build: Callable[[], Sequence[Path]]
    ) -> tuple[Path, ...]:
        """The files of a package: those that are there when the key and their hashes are unchanged, else new ones.

        `build` makes them below `fresh`. Raises NotRun as it does, and keeps the key.
        """
        known = self._old.get(name)
        if known is not None and known.files and self.is_current(name, key):
            LOG.detail(f"{name}: up to date")
            with self._lock:
                self._new[name] = known
            return tuple(self._dist / file for file in known.files)
        with LOG.step(f"packing {name}", f"packed {name}"):
            try:
                paths = tuple(build())
            except NotRun:
                with self._lock:
                    self._new[name] = PackedRow(key=key, files={})
                raise
        if not paths:
            raise BuildError(f"{name} made no file")
        files: dict[str, str] = {path.relative_to(self.fresh).as_posix(): sha256(path) for path in paths}
        earlier = {*known.files, *known.earlier}.difference(files) if known else ()
        row = PackedRow(key=key, files=files, targets=tuple(targets), earlier=tuple(sorted(earlier)))
        with self._lock:
            self._new[name] = row
        return paths

    def close(self, sources: Mapping[str, str], commit: str, untracked: tuple[str, ...] = ()) -> Losses:
        """Put new files in their places, remove what only an earlier run made, and return what dist/ lost.

        `sources`, `commit` and `untracked` are what the files of this run were made from.
        """
        self._write(
            msgspec.structs.replace(self.record, packages={**self._old, **self._new})
        )  # if this run is killed below, the next one knows all files
        current = {file for package in self._new.values() for file in package.files}
        for file in sorted(name for name in current if (self.fresh / name).is_file()):
            (self._dist / file).parent.mkdir(exist_ok=True)
            (self.fresh / file).replace(self._dist / file)
        earlier = {file for package in self._old.values() for file in (*package.files, *package.earlier)}
        removed = sorted(file for file in earlier - current if (self._dist / file).is_file())
        for file in removed:
            (self._dist / file).unlink(missing_ok=True)
        current_rows = {name: msgspec.structs.replace(package, earlier=()) for name, package in self._new.items()}
        lost = {
            name: set(self._old[name].targets) - set(self._new[name].targets)
            for name in sorted(self._old.keys() & self._new)
            if self._new[name].files
        }
        lost_targets = self.record.targets.difference(*(package.targets for package in self._new.values()))
        self.record = Record(commit=commit, sources=dict(sources), packages=current_rows, untracked=untracked)
        self._write(self.record)
        return Losses(
            tuple(removed),
            {name: tuple(sorted(rids)) for name, rids in lost.items() if rids},
            tuple(sorted(lost_targets)),
        )

    def _intact(self, files: Mapping[str, str]) -> bool:
        return all(
            (self._dist / name).is_file() and sha256(self._dist / name) == known for name, known in files.items()
        )

    def _write(self, record: Record) -> None:
        file, text = self._dist / RECORD, json.dumps(msgspec.to_builtins(record), indent=1, sort_keys=True)
        if not file.is_file() or file.read_bytes() != text.encode():
            write_text(file, text)


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
