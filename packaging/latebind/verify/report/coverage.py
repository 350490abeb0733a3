"""Finds the package files for which no test case passed, by the kind and the targets of each file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from latebind.config.config import Config
from latebind.formats import ProjectFormat, find_format
from latebind.model import Level, list_passes
from latebind.registry import collect
from latebind.tables.targets import targets
from loadcheck.formats import iter_members
from loadcheck.model import Kind

if TYPE_CHECKING:
    from latebind.verify.cases.consumer import Consumer
    from latebind.verify.report.report import Report


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageFile:
    """A package that consumers install: its file name, kind and targets; no targets if it is the same for all."""

    name: str
    kind: Kind
    targets: tuple[str, ...] = ()


def list_package_files(folder: Path) -> tuple[PackageFile, ...]:
    """The packages in a folder that consumers install. Raises InputError for one that cannot be read."""
    forms = ((path, find_format(path.name)) for path in sorted(folder.iterdir()))
    return tuple(_read(path, form) for path, form in forms if form is not None and form.is_installed)


def find_unverified(
    config: Config, report: Report, packages: Sequence[PackageFile], level: Level
) -> Iterator[tuple[str, str, str]]:
    """Each package file for whose kind and target no test case passed: its name, why it blocks, and the fix.

    Those that `release.unverified` names are left out.
    """
    tested_as = _list_tested_kinds()
    passed = {(result.kind, result.target) for result in report.cases if result.outcome in list_passes(level)}
    excused = config.document.release.unverified
    included = config.document.targets.include
    for package in packages:
        kind = tested_as.get(package.kind, package.kind)
        rids = [rid for rid in package.targets if rid in included]
        for rid in rids:
            if (kind, rid) not in passed and not {kind, f"{kind}/{rid}"} & excused.keys():
                yield package.name, *_explain(config, f"{kind}/{rid}")
        if not rids and kind not in excused and all(other != kind for other, _ in passed):
            yield package.name, *_explain(config, kind)


def _explain(config: Config, key: str) -> tuple[str, str]:
    why = f"not verified: no test case of {key} passed"
    reason = f'[release] unverified = {{ "{key}" = "REASON" }}'
    return why, f"Add a consumer to [verify] and run latebind verify, or give a reason in {config.file.name}: {reason}."


def name_packages(names: Iterable[str]) -> tuple[PackageFile, ...]:
    """The packages of a report, whose files are not here: their kinds only."""
    forms = ((name, find_format(name)) for name in names)
    return tuple(
        PackageFile(name=name, kind=form.kind) for name, form in forms if form is not None and form.is_installed
    )


def _read(path: Path, form: ProjectFormat) -> PackageFile:
    rids = form.identify(path).targets
    if not rids and not form.holds_packages:
        folders = {part for member, _ in iter_members(path, form) for part in member.split("/")[:-1]}
        rids = tuple(rid for rid in targets() if rid in folders)
    return PackageFile(name=path.name, kind=form.kind, targets=tuple(rids))


def _list_tested_kinds() -> Mapping[Kind, Kind]:
    """Kinds that are tested as part of another kind, such as a bundle of JARs."""
    consumers: tuple[Consumer, ...] = collect("consumer", "CONSUMERS")
    return {further: consumer.kind for consumer in consumers for further in consumer.further_kinds}
