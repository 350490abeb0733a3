"""Keeps the record in dist/, which has the inputs of each file there: unchanged packages are not made again.

New files are made in a folder of dist/ that has a hidden name, and move to their places together.
"""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from latebind.errors import BuildError, NotRun
from latebind.pack.record import RECORD, PackedRow, Record, read_record
from latebind.system.log import LOG
from loadcheck.archive import sha256, write_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path


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
        self._record = read_record(dist)
        self._old = self._record.packages
        self._new: dict[str, PackedRow] = {}

    @property
    def targets(self) -> tuple[str, ...]:
        """The targets that the last run packed, sorted; () where nothing was packed."""
        return tuple(sorted(self._record.targets))

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

    def close(self, sources: Mapping[str, str], commit: str) -> Losses:
        """Put new files in their places, remove what only an earlier run made, and return what dist/ lost.

        `sources` and `commit` are what the files of this run were made from.
        """
        self._write(
            msgspec.structs.replace(self._record, packages={**self._old, **self._new})
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
        self._write(Record(commit=commit, sources=dict(sources), packages=current_rows))
        lost = {
            name: set(self._old[name].targets) - set(self._new[name].targets)
            for name in sorted(self._old.keys() & self._new)
            if self._new[name].files
        }
        lost_targets = set(self.targets).difference(*(package.targets for package in self._new.values()))
        return Losses(
            tuple(removed),
            {name: tuple(sorted(rids)) for name, rids in lost.items() if rids},
            tuple(sorted(lost_targets)),
        )

    def find_place(self, file: Path) -> Path:
        """Where a file of this run is in dist/ in the end."""
        return self._dist / file.relative_to(self.fresh) if file.is_relative_to(self.fresh) else file

    def _intact(self, files: Mapping[str, str]) -> bool:
        return all(
            (self._dist / name).is_file() and sha256(self._dist / name) == known for name, known in files.items()
        )

    def _write(self, record: Record) -> None:
        file, text = self._dist / RECORD, json.dumps(msgspec.to_builtins(record), indent=1, sort_keys=True)
        if not file.is_file() or file.read_bytes() != text.encode():
            write_text(file, text)
