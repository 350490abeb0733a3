"""Packs a project twice under different circumstances and reports where the results differ."""

from __future__ import annotations

import os
import shutil
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from latebind.backend.tree import Folders, is_generated, is_scratch
from latebind.backend.zig import ZIG_REQUIREMENT, find_zig
from latebind.config.config import Config
from latebind.config.project import MSBUILD_OUTPUTS, Project
from latebind.errors import BuildError
from latebind.pack.record import RECORD
from latebind.system import resources
from latebind.system.git import COMMIT_VARIABLE, source_commit
from latebind.system.log import LOG
from latebind.system.processes import watched_over
from latebind.system.run import run

_TIME_LIMIT = 3600.0
_COMPILE_LIMIT = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """The circumstances of one of the two runs."""

    folder: str
    umask: int
    variables: tuple[tuple[str, str], ...]
    other_date: bool = False
    """Whether its programs see a later date, where that is possible."""


FIRST = Circumstances(
    folder="one", umask=0o022, variables=(("TZ", "UTC"), ("LC_ALL", "C.UTF-8"), ("USER", "one"), ("LOGNAME", "one"))
)
SECOND = Circumstances(
    folder="a second place/with ü in it",
    umask=0o077,
    variables=(("TZ", "Asia/Kathmandu"), ("LC_ALL", "C"), ("USER", "two"), ("LOGNAME", "two"), ("PYTHONHASHSEED", "7")),
    other_date=True,
)
_NO_CLOCK = 'the date (needs Linux and zig: pip install "{requirement}")'


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One place where the two runs disagree. `offset` is in bytes from the start of `file`; -1 when it is missing."""

    file: str
    offset: int
    first: str
    second: str

    def __str__(self) -> str:
        """One line for a user."""
        if self.offset < 0:
            return f"{self.file}: {self.first or 'missing'} / {self.second or 'missing'}"
        return f"{self.file}: byte {self.offset}: {self.first} / {self.second}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduced:
    """The files that are equal in both runs, and where the others differ."""

    equal: tuple[str, ...]
    differences: tuple[Difference, ...]
    not_varied: tuple[str, ...] = ()
    """Circumstances that were the same in both runs, each with the reason and the fix."""


def reproduce(project: Project, rids: Sequence[str]) -> Reproduced:
    """Pack copies of the project in two folders, with different umask, locale, time zone, user name, hash seed, date.

    Outputs in the project, including those in a working folder inside it, are not copied.

    Raises BuildError with the output of a run that failed.
    """
    config = project.config
    with tempfile.TemporaryDirectory(prefix="latebind-reproduce-") as folder, watched_over():
        clock = _make_clock(Path(folder))
        rooms = [Path(folder).resolve() / around.folder for around in (FIRST, SECOND)]
        ignored = _make_filter(project.outputs)
        # The second copy is made of the first, so that an edit in between cannot make them differ.
        for source, room in zip((config.root, rooms[0] / "project"), rooms, strict=True):
            shutil.copytree(source, room / "project", ignore=ignored, symlinks=True)
        first, second = (
            _pack(config, rids, room, around, clock) for room, around in zip(rooms, (FIRST, SECOND), strict=True)
        )
        names = sorted(set(_names(first)) | set(_names(second)))
        differences = {name: tuple(_compare(first / name, second / name, name)) for name in names}
    return Reproduced(
        equal=tuple(name for name, differing in differences.items() if not differing),
        differences=tuple(difference for differing in differences.values() for difference in differing),
        not_varied=() if clock else (_NO_CLOCK.format(requirement=ZIG_REQUIREMENT),),
    )


def _names(folder: Path) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file() and path.name != RECORD]


def _make_clock(folder: Path) -> Path | None:
    """A library that shows a later date to the programs that load it; None where there is none."""
    zig = find_zig()
    if sys.platform != "linux" or zig is None:
        return None
    source, library = resources.folder("templates") / "clock.c", folder / "clock.so"
    run([zig, "cc", "-O2", "-shared", "-fPIC", "-o", library, source, "-ldl", "-lpthread"], timeout=_COMPILE_LIMIT)
    return library


def _pack(config: Config, rids: Sequence[str], room: Path, around: Circumstances, clock: Path | None) -> Path:
    project, work = room / "project", room / "work"
    argv: list[str | Path] = [sys.executable, "-m", "latebind.cli", "-q", "-C", project, "--workdir", work, "pack"]
    argv += [argument for rid in rids for argument in ("--target", rid)]
    # The copies have no repository, so both get the project's own commit.
    env = {**os.environ, **dict(around.variables), COMMIT_VARIABLE: source_commit(config.file)}
    if around.other_date and clock is not None:
        env["LD_PRELOAD"] = str(clock)
    which = "the first copy" if around is FIRST else "the second copy"
    with LOG.step(f"packing {which}", f"packed {which}"):
        run(argv, env=env, timeout=_TIME_LIMIT, umask=around.umask)
    if not (work / "dist").is_dir():
        raise BuildError("no package was made", where=str(project))
    return work / "dist"


def _make_filter(output_folders: Folders) -> Callable[[str, list[str]], set[str]]:
    """For copytree: files that were generated, so that each run starts from sources only."""

    def list_ignored(folder: str, names: list[str]) -> set[str]:
        here = Path(folder).resolve()
        ignored_names = {
            name
            for name in names
            if is_scratch(name) or is_generated(here / name) or (here / name).resolve() in output_folders
        }
        if any(name.endswith("proj") for name in names):  # MSBuild's own, next to a .csproj
            ignored_names |= MSBUILD_OUTPUTS & set(names)
        return ignored_names

    return list_ignored


def _compare(first: Path, second: Path, name: str) -> Iterator[Difference]:
    if not first.is_file() or not second.is_file():
        presence = ["there" if path.is_file() else "" for path in (first, second)]
        yield Difference(file=name, offset=-1, first=presence[0], second=presence[1])
        return
    first_bytes, second_bytes = first.read_bytes(), second.read_bytes()
    if first_bytes == second_bytes:
        return
    yield from list(_compare_members(_members(first), _members(second), name)) or [
        _at_first_difference(first_bytes, second_bytes, name)
    ]


def _members(path: Path) -> Mapping[str, tuple[int, bytes]]:
    """The files of a zip or tar archive, each with its mode; nothing for another file."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            return {info.filename: (info.external_attr >> 16, archive.read(info)) for info in archive.infolist()}
    if tarfile.is_tarfile(path):
        with tarfile.open(path) as archive:
            return {
                member.name: (member.mode, file.read()) for member in archive if (file := archive.extractfile(member))
            }
    return {}


def _compare_members(
    first: Mapping[str, tuple[int, bytes]], second: Mapping[str, tuple[int, bytes]], name: str
) -> Iterator[Difference]:
    """The members of two archives that differ: that is where the cause is."""
    for member in sorted({*first, *second}):
        file = f"{name}!{member}"
        if member not in first or member not in second:
            presence = ["there" if member in side else "" for side in (first, second)]
            yield Difference(file=file, offset=-1, first=presence[0], second=presence[1])
            continue
        (mode, data), (other_mode, other) = first[member], second[member]
        if data != other:
            yield _at_first_difference(data, other, file)
        elif mode != other_mode:
            yield Difference(file=file, offset=-1, first=f"mode {mode:o}", second=f"mode {other_mode:o}")


def _at_first_difference(first: bytes, second: bytes, name: str) -> Difference:
    length = min(len(first), len(second))
    offset = next((index for index in range(length) if first[index] != second[index]), length)
    return Difference(file=name, offset=offset, first=_show_bytes(first, offset), second=_show_bytes(second, offset))


def _show_bytes(data: bytes, offset: int) -> str:
    return repr(data[offset : offset + 16])[1:] if offset < len(data) else "the end"
