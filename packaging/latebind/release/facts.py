"""What a release states about itself in its manifest, and how its parts relate to each other."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from latebind import __version__
from latebind.config.config import Config
from latebind.errors import InputError
from latebind.formats import installed_kinds
from latebind.model import State
from latebind.native.bill import read_sbom
from latebind.pack.record import RECORD
from latebind.release import changelog
from latebind.release.tag import is_for
from latebind.system.decoding import DECODE_ERRORS
from latebind.system.git import COMMIT_VARIABLE
from latebind.text import plural
from latebind.verify.report.gate import Blocker, absent, is_required, patterns

if TYPE_CHECKING:
    from latebind.release.packages import ReleasePackage
    from latebind.verify.report.data import Report

_SHOWN = 5
_AGAIN = (
    "Pack and verify again: latebind pack --target all, latebind verify. Test cases that passed with the same packages "
    "are remembered, so that only what changed runs."
)


class Origin(msgspec.Struct, frozen=True):
    """Facts that the folder does not show, so the manifest states and keeps them."""

    commit: str = ""
    sources: str = ""
    """The SHA-256 of what the packages were made from, as the record next to them says."""
    source_date_epoch: int = 0
    untracked: tuple[str, ...] = ()
    """What the packages were made from and git did not track, so that the commit lacks it."""
    tags: dict[str, str] = msgspec.field(default_factory=dict)
    """The tags of the version that are on other commits, each with its commit."""
    latebind: str = __version__


class EarlierRelease(msgspec.Struct, frozen=True):
    """What decides whether a release may be replaced."""

    project: str = ""
    version: str = ""
    publishable: bool = False


_Read = TypeVar("_Read", Origin, EarlierRelease)


def read_origin(file: Path) -> Origin:
    """The origin in a manifest. Raises InputError when there is none."""
    return _read(file, Origin)


def read_earlier(file: Path) -> EarlierRelease:
    """What a manifest says about its release. Raises InputError when it cannot be read."""
    return _read(file, EarlierRelease)


def _read(file: Path, struct: type[_Read]) -> _Read:
    try:
        return msgspec.json.decode(file.read_bytes(), type=struct)
    except OSError as error:
        raise InputError(error.strerror or str(error), where=file.name) from error
    except DECODE_ERRORS as error:
        raise InputError(f"is not the manifest of a release: {error}", where=file.name) from error


def manifest(  # noqa: PLR0913  # a manifest says all that there is
    config: Config,
    packages: Sequence[ReleasePackage],
    report: Report,
    origin: Origin,
    blockers: Sequence[Blocker],
    since: str,
) -> bytes:
    """The build manifest: what was made, from which commit, by what, for which runtimes, and what blocks it."""
    count = {state.value: sum(result.outcome is state for result in report.cases) for state in State}
    document: dict[str, Any] = {
        "project": config.project.name,
        "version": config.project.version,
        "previous": since,
        **msgspec.to_builtins(origin),
        "toolchains": sorted({tool for package in packages if package.bill for tool in read_sbom(package.bill).tools}),
        "targets": list(config.document.targets.include),
        "runtimes": [{"name": runtime.name, "minimum": runtime.minimum} for runtime in config.document.runtime],
        "packages": [
            {
                "file": package.artifact.path.name,
                "kind": package.artifact.kind,
                "name": package.name,
                "version": package.version,
                "targets": list(package.targets),
                "size": package.artifact.size,
                "sha256": package.artifact.sha256,
            }
            for package in packages
        ],
        "cases": count,
        "publishable": not blockers,
        "blocked": [asdict(blocker) for blocker in blockers],
    }
    return (json.dumps(document, indent=2) + "\n").encode()


def obstacles(
    config: Config, packages: Sequence[ReleasePackage], report: Report, changes: str, origin: Origin
) -> tuple[Blocker, ...]:
    """What prevents a release besides the gate.

    These are an unknown origin, files and tags that contradict the commit, unreported test cases, targets without
    packages, and a silent changelog.
    """
    unknown = (*_find_unknown(report, origin), *_find_untracked(origin), *_find_tags(config, origin))
    return (*unknown, *_find_unreported(config, report), *_unmade(config, packages), *_untold(config, changes))


def _find_unknown(report: Report, origin: Origin) -> Iterator[Blocker]:
    """What is not known about where the packages come from, or differs between release and report."""
    source = report.source
    if not origin.commit:
        why = "have no commit, so nothing shows what the packages were made from"
        yield Blocker(
            subject="sources",
            why=why,
            fix=f"Commit all changes, or set {COMMIT_VARIABLE} without git. {_AGAIN}",
        )
    elif source.commit != origin.commit:
        why = f"records {f'the commit {source.commit}' if source.commit else 'no commit'}, but the sources are at "
        yield Blocker(subject="verify.json", why=f"{why}{origin.commit}", fix=_AGAIN)
    if not origin.sources:
        why = "have no record of what they were made from"
        yield Blocker(
            subject="packages",
            why=why,
            fix=f"Make them with latebind pack, and keep {RECORD} with them; actions/upload-artifact needs "
            "include-hidden-files: true for it.",
        )
    elif source.sources != origin.sources:
        why = "is about packages that were made from other sources, settings or another configuration"
        yield Blocker(subject="verify.json", why=why, fix=_AGAIN)


def _find_untracked(origin: Origin) -> Iterator[Blocker]:
    for name in origin.untracked:
        why = f"git does not track it, so {origin.commit or 'the commit'} lacks a file that packages are made from"
        fix = f"Commit it (git add --force {quote(name)}), or move it out of the sources. {_AGAIN}"
        yield Blocker(subject=name, why=why, fix=fix)


def _find_tags(config: Config, origin: Origin) -> Iterator[Blocker]:
    name, version = config.project.name, config.project.version
    for tag, commit in origin.tags.items():
        fix = (
            f"Check out the tag and release that (git checkout {quote(tag)}), or set another version in latebind.toml."
        )
        other = (
            ""
            if is_for(tag, name, version)
            else f" If it is a tag of something else, --tag v{version} names this one's."
        )
        why = f"is a tag of {version} on the commit {commit}, but the packages are from {origin.commit}"
        yield Blocker(subject=f"tag {tag}", why=why, fix=f"{fix}{other}")


def _untold(config: Config, changes: str) -> Iterator[Blocker]:
    for why, fix in changelog.find_faults(config, changes):
        yield Blocker(subject="changelog", why=why, fix=fix)


def _find_unreported(config: Config, report: Report) -> Iterator[Blocker]:
    """Configured test cases that are not in the report, not even as *not run*; the gate names required ones."""
    required = patterns(config)
    by_target: dict[str, list[str]] = {}
    for configured in absent(config, report):
        if not is_required(configured.case.id, required):
            names = by_target.setdefault(configured.case.target, [])
            names.append(f"{configured.case.kind} {configured.case.scenario}")
    for rid, missing in by_target.items():
        names = list(dict.fromkeys(missing))  # several consumers share a scenario
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        yield Blocker(
            subject=f"{rid}: {', '.join(names[:_SHOWN])}{more}",
            why=f"the report lacks {plural(len(missing), 'test case')} of the configuration",
            fix=f"Run latebind verify --target {rid}, and merge its report.",
        )


def _unmade(config: Config, packages: Sequence[ReleasePackage]) -> Iterator[Blocker]:
    for rid in config.document.targets.include:
        if not any(rid in package.targets for package in packages if package.artifact.kind in installed_kinds()):
            yield Blocker(
                subject=rid, why="is a target of the project, but no package contains a library for it",
                fix="Run latebind pack --target all.",
            )  # fmt: skip
