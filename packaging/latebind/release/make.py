"""Makes a release folder: copies the given files, derives the rest, and replaces an earlier release only when done."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from latebind.backend.files import source_date_epoch
from latebind.config.config import Config
from latebind.config.file import standalone_text
from latebind.config.project import Project
from latebind.errors import INPUT_ERRORS, InputError, LatebindError
from latebind.native.inside import refuse_links_outside
from latebind.native.sources import hash_inputs
from latebind.pack.record import Record, list_changes, read_record
from latebind.release import changelog, layout
from latebind.release.api import read_surface
from latebind.release.contradictions import Contradiction, contradictions, find_stale
from latebind.release.derive import Derived, derive
from latebind.release.facts import EarlierRelease, Origin, read_earlier
from latebind.release.tag import Tag, check_tag
from latebind.system.files import copy_file, sha256
from latebind.system.folders import replacing_folder
from latebind.verify.report.data import read_report
from latebind.verify.report.gate import group_blockers

_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseInputs:
    """What a release is made from."""

    project: Project
    dist: Path
    """The folder of the packages."""
    report: Path
    """The verification report, with its logs in the same folder."""
    changelog: Path
    previous: Path | None = None
    """The last release: its folder, or its api.json. None for the first one."""
    commit: str = ""
    tag: Tag | None = None
    """The tag that the release is for. It must match the version and the commit."""
    tags: Mapping[str, str] = field(default_factory=dict)
    """The tags of the version in the repository, each with its commit."""


class GateError(LatebindError):
    """The release may not be published."""

    exit_status = 1


def make_release(sources: ReleaseInputs, output: Path, *, dry_run: bool) -> Derived:
    """Make the folder `output`; a release of the same version there is replaced once the new one is whole.

    A dry run makes it even if something prevents the release, and the manifest says what.

    Raises InputError for what cannot be read and for an output that is not this release, GateError when parts
    contradict each other or the tag, or, except in a dry run, when the gate failed. A dry run with blockers doesn't
    replace a release without.
    """
    config = sources.project.config
    text = _changes(config, sources.changelog)
    earlier = _read_replaceable(config, output)
    _assert_tagged(sources, text)
    record = _read_current(sources)
    with _replacing(output) as folder:
        _copy(sources, folder)
        (folder / layout.CHANGES).write_text(text, encoding="utf-8", newline="\n")
        try:
            derived = derive(folder, _state_origin(sources, record))
        except INPUT_ERRORS as error:  # the copy that it names is removed
            error.where = error.where.replace(str(folder / layout.PACKAGES), str(sources.dist))
            raise
        _assert_sound(derived, dry_run=dry_run)
        if derived.blockers and earlier.publishable:
            text = "contains a publishable release; a dry run whose gate fails does not replace it"
            raise InputError(text, where=str(output), advice="Name another folder, or remove this one.")
        for name, data in derived.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
        (folder / layout.SUMS).write_bytes(sums(folder, files_of(folder)))
    return derived


def _state_origin(sources: ReleaseInputs, record: Record) -> Origin:
    return Origin(
        commit=sources.commit,
        sources=record.digest,
        source_date_epoch=source_date_epoch(),
        untracked=record.untracked,
        tags={name: commit for name, commit in sources.tags.items() if sources.commit and commit != sources.commit},
    )


def files_of(folder: Path) -> list[str]:
    """The paths of all files of a release except the checksums, sorted."""
    every = (path for path in folder.rglob("*") if not path.is_dir() or path.is_symlink())
    return sorted(name for path in every if (name := path.relative_to(folder).as_posix()) != layout.SUMS)


def sums(folder: Path, names: Iterable[str]) -> bytes:
    """SHA256SUMS, which sha256sum checks where the files were downloaded to, without folders.

    Raises InputError when two files have the same name.
    """
    downloads: dict[str, str] = {}
    for name in filter(layout.is_download, names):
        other = downloads.setdefault(layout.flat_name(name), name)
        if other != name:
            advice = "Rename one of them: the files of a release are downloaded without folders."
            raise InputError(f"has the same name as {other}", where=name, advice=advice)
    return "".join(f"{sha256(folder / name)}  {flat}\n" for flat, name in downloads.items()).encode()


def _changes(config: Config, file: Path) -> str:
    """The part of the changelog that is about this version."""
    version = config.project.version
    refuse_links_outside(config.root, [file], "changelog", named=file.parent)
    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = (error.strerror if isinstance(error, OSError) else "") or str(error)
        advice = f"Write a changelog with a section ## [{version}] - DATE, or name another file: --changelog FILE."
        raise InputError(f"the changelog cannot be read: {why}", where=str(file), advice=advice) from error
    return changelog.release_notes(config, text)


def _copy(sources: ReleaseInputs, folder: Path) -> None:
    if not sources.dist.is_dir():
        raise InputError("is not a folder", where=str(sources.dist), advice="Make the packages first: latebind pack.")
    shutil.copytree(sources.dist, folder / layout.PACKAGES, ignore=shutil.ignore_patterns(".*"))
    report = read_report(sources.report)
    copy_file(sources.report, folder / layout.VERIFICATION)
    for name in sorted({result.log for result in report.cases if result.log}):
        log = sources.report.parent / name
        if log.is_file() and log.resolve().is_relative_to(sources.report.parent.resolve()):
            copy_file(log, folder / layout.REPORTS / name)
    (folder / layout.CONFIG).write_text(standalone_text(sources.project.config), encoding="utf-8", newline="\n")
    if sources.previous is not None:
        earlier = sources.previous / layout.SURFACE if sources.previous.is_dir() else sources.previous
        read_surface(earlier)  # an error names this file, not its copy
        copy_file(earlier, folder / layout.PREVIOUS)


def _assert_tagged(sources: ReleaseInputs, changes: str) -> None:
    """Raises GateError when the tag disagrees with the version, the changelog or a recorded commit."""
    if sources.tag is None:
        return
    config = sources.project.config
    project, version = config.project.name, config.project.version
    commits = {"sources": sources.commit, sources.report.name: read_report(sources.report).source.commit}
    wrong = list(check_tag(sources.tag, project, version, commits))
    wrong += (
        Contradiction(file=sources.changelog.name, why=f"{why} for the tag {sources.tag.name}", fix=fix)
        for why, fix in changelog.find_faults(config, changes)
    )
    if wrong:
        entries = [f"{problem.file}: {problem.why}\n  {problem.fix}" for problem in wrong]
        raise GateError("\n".join([f"the tag {sources.tag.name} cannot be released:", *entries]))


def _read_current(sources: ReleaseInputs) -> Record:
    """The record of the packages. Raises GateError when packages or sources changed since it was written."""
    record = read_record(sources.dist)
    changes = list_changes(record, hash_inputs(sources.project), sources.commit)
    _refuse(find_stale(sources.dist, record, changes))
    return record


def _refuse(problems: Iterable[Contradiction]) -> None:
    wrong = [f"{problem.file}: {problem.why}\n  {problem.fix}" for problem in problems]
    if wrong:
        raise GateError("\n".join(["this cannot be released:", *wrong[:_SHOWN]]))


def _assert_sound(derived: Derived, *, dry_run: bool) -> None:
    _refuse(contradictions(derived))
    if derived.blockers and not dry_run:
        blockers = [
            f"{blocker.subject}: {blocker.why}\n  {blocker.fix}" for blocker in group_blockers(derived.blockers)
        ]
        remaining = [f"... and {len(blockers) - _SHOWN} more"] if len(blockers) > _SHOWN else []
        advice = (
            "The release workflow verifies each target on a machine of its own and merges the reports (latebind verify "
            "--merge). For what this machine can do: latebind rehearse. To make the folder nevertheless: --dry-run."
        )
        raise GateError("\n".join(["the gate failed:", *blockers[:_SHOWN], *remaining]), advice=advice)


def _read_replaceable(config: Config, output: Path) -> EarlierRelease:
    """The release in `output`. Raises InputError for one of another project or version: it may be the only copy."""
    file, project = output / layout.RELEASE_MANIFEST, config.project
    if not file.is_file():
        return EarlierRelease()
    earlier = read_earlier(file)
    if (earlier.project, earlier.version) != (project.name, project.version):
        text = f"is the release of {earlier.project} {earlier.version}, not of {project.name} {project.version}"
        raise InputError(text, where=str(output), advice="Name another folder, or remove this one.")
    return earlier


@contextmanager
def _replacing(output: Path) -> Iterator[Path]:
    """A folder to fill that becomes `output`, as `replacing_folder` does. Raises InputError inside another release."""
    marks = (layout.RELEASE_MANIFEST, layout.SUMS)
    holder = next((folder for folder in output.parents if all((folder / name).is_file() for name in marks)), None)
    if holder is not None:
        text = f"is inside the release {holder}, which may contain only the files in SHA256SUMS"
        raise InputError(text, where=str(output), advice="Name a folder outside of it.")
    with replacing_folder(output, layout.RELEASE_MANIFEST, "a release") as aside:
        yield aside
