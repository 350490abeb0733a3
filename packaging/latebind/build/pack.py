"""stage + sources -> dist/: every wheel, sdist and nupkg of a project; remakes only what its inputs have changed."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from latebind import resources
from latebind.archive import sha256, source_date_epoch, write_text
from latebind.build.managed import build_managed
from latebind.build.native import hash_tree
from latebind.build.nuget import pack_nupkg
from latebind.build.wheel import build_distributions
from latebind.errors import BuildError, NotRun
from latebind.log import LOG
from latebind.model import Artifact
from latebind.nuget import dotnet

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from latebind.build.stage import Stage
    from latebind.config import Config

Kind = Literal["wheel", "sdist", "nupkg"]

_TOOLS = (Path(__file__).parent, Path(__file__).parent.parent / "nuget")
"""The rooms of latebind whose code decides what a package holds."""
_KINDS: dict[str, Kind] = {".whl": "wheel", ".gz": "sdist", ".nupkg": "nupkg"}


@dataclass(frozen=True, slots=True, kw_only=True)
class NotMade:
    """A package that could not be made on this machine: which, one of NOT_RUN_REASONS, and the words for a user."""

    package: str
    kind: Kind
    reason: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """What packing made, sorted by file name, and what it could not make."""

    artifacts: tuple[Artifact, ...]
    not_made: tuple[NotMade, ...] = ()


class _Made(msgspec.Struct, frozen=True):
    """A line of the ledger: what a key made, by file name."""

    key: str
    files: dict[str, str]


def pack(config: Config, stages: Sequence[Stage], workdir: Path, dist: Path) -> Packed:
    """Make all packages of a project from its stages.

    Files that an earlier run made and this one does not make are removed; files of others in `dist` stay.

    Raises BuildError with the words of whoever failed.
    """
    ledger = _Ledger(workdir / "build" / "pack.json", dist)
    artifacts: list[Artifact] = []
    not_made: list[NotMade] = []
    for name, package in config.packages.items():
        if package.wheel is not None:
            source = config.root / package.wheel.source
            for stage in stages:
                key = _key(config, [stage], source)
                made = ledger.make(f"wheel {name} {stage.rid}", key, _wheel(source, dist, stage, workdir))
                artifacts += [_artifact(path, [stage]) for path in made]
        if package.nuget is not None:
            managed = config.root / package.nuget.managed if package.nuget.managed else None
            try:
                key = _key(config, stages, managed, _sdk(managed))
                made = ledger.make(f"nupkg {name}", key, _nupkg(config, name, stages, workdir, dist))
                artifacts += [_artifact(path, stages) for path in made]
            except NotRun as error:
                not_made.append(NotMade(package=name, kind="nupkg", reason=error.reason, message=str(error)))
    ledger.close()
    return Packed(artifacts=tuple(sorted(artifacts, key=lambda made: made.path.name)), not_made=tuple(not_made))


def _wheel(source: Path, dist: Path, stage: Stage, workdir: Path) -> Callable[[], Sequence[Path]]:
    return lambda: build_distributions(source, dist, rid=stage.rid, workdir=workdir)


def _nupkg(
    config: Config, package: str, stages: Sequence[Stage], workdir: Path, dist: Path
) -> Callable[[], Sequence[Path]]:
    def make() -> Sequence[Path]:
        nuget = config.packages[package].nuget
        managed = None
        if nuget is not None and nuget.managed:
            managed = build_managed(
                config.root / nuget.managed,
                workdir / "build" / "managed" / package,
                version=config.project.version,
                environment=os.environ,
                home=workdir / "build" / "dotnet-home",
            )
        return [pack_nupkg(config, package, stages, dist, managed=managed).path]

    return make


def _artifact(path: Path, stages: Sequence[Stage]) -> Artifact:
    made_from = tuple(f"stage/{stage.rid} {stage.manifest.key[:12]}" for stage in stages)
    return Artifact(
        path=path, kind=_KINDS[path.suffix], sha256=sha256(path), size=path.stat().st_size, made_from=made_from
    )


def _sdk(managed: Path | None) -> str:
    """The version of what compiles the managed part. Raises NotRun `no-dotnet` when nothing does."""
    return dotnet.sdk_version(os.environ, managed) if managed is not None and managed.is_dir() else ""


def _key(config: Config, stages: Sequence[Stage], source: Path | None, sdk: str = "") -> str:
    """A hash of all that a package is made from."""
    parts = [
        *(stage.manifest.key for stage in stages),
        *(file.sha256 for stage in stages for file in stage.manifest.files),
        sha256(config.file),
        _text_hash(config.root / config.project.readme) if config.project.readme else "",
        hash_tree(source) if source is not None and source.is_dir() else "",
        *(_tool_hash(tool) for tool in (*_TOOLS, resources.folder("templates"))),
        str(source_date_epoch()),
        sdk,
    ]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _text_hash(path: Path) -> str:
    return sha256(path) if path.is_file() else ""


@cache
def _tool_hash(folder: Path) -> str:
    return hash_tree(folder)


class _Ledger:
    """build/pack.json: which key made which files, so that equal inputs make nothing twice."""

    def __init__(self, file: Path, dist: Path) -> None:
        self._file = file
        self._dist = dist
        self._old = self._read()
        self._new: dict[str, _Made] = {}

    def make(self, name: str, key: str, build: Callable[[], Sequence[Path]]) -> tuple[Path, ...]:
        """The files of a package: those that are there when the key and their hashes are unchanged, else new ones."""
        known = self._old.get(name)
        if known is not None and known.key == key and self._intact(known.files):
            LOG.detail(f"{name}: up to date")
            self._new[name] = known
            return tuple(self._dist / file for file in known.files)
        with LOG.step(f"pack {name}"):
            made = tuple(build())
        if not made:
            raise BuildError(f"{name} made no file")
        self._new[name] = _Made(key=key, files={path.name: sha256(path) for path in made})
        self._write({**self._old, **self._new})
        return made

    def close(self) -> None:
        """Remove what only an earlier run made, and keep the ledger of this one."""
        kept = {file for made in self._new.values() for file in made.files}
        for made in self._old.values():
            for file in set(made.files) - kept:
                (self._dist / file).unlink(missing_ok=True)
        self._write(self._new)

    def _intact(self, files: Mapping[str, str]) -> bool:
        return all(
            (self._dist / name).is_file() and sha256(self._dist / name) == known for name, known in files.items()
        )

    def _read(self) -> dict[str, _Made]:
        try:
            return msgspec.json.decode(self._file.read_bytes(), type=dict[str, _Made])
        except (OSError, msgspec.DecodeError):
            return {}

    def _write(self, rows: Mapping[str, _Made]) -> None:
        text = json.dumps(msgspec.to_builtins(rows), indent=1, sort_keys=True)
        if not self._file.is_file() or self._file.read_text("utf-8") != text:
            write_text(self._file, text)
