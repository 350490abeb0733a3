"""Finds the packages that are verified: those of a folder, or those of dist/, packed where they are out of date."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from latebind.system.log import LOG

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from latebind.config.project import Project
    from latebind.model import Artifact
    from latebind.verify.report.report import Provenance
    from loadcheck.model import Rid


@dataclass(frozen=True, slots=True, kw_only=True)
class Packages:
    """The packages that consumers install."""

    artifacts: tuple[Artifact, ...]
    source: Provenance
    """What they were made from."""


def find_packages(project: Project, rids: Sequence[Rid], folder: Path | None) -> Packages:
    """The packages of a folder, or those of dist/, where they are made if they are missing or out of date.

    Every target that dist/ has is packed again with the chosen ones, so that packages keep all their targets. Packages
    that something else put there are taken as they are.

    Raises InputError for a folder of packages whose sources changed since: a report would be about other ones.
    """
    from latebind.build.commit import source_commit, source_date
    from latebind.dist import artifacts_in, list_artifacts
    from latebind.formats import installed_kinds
    from latebind.pack.pack import pack_targets
    from latebind.pack.record import read_record, refuse_outdated
    from latebind.pack.render import not_made
    from latebind.verify.report.report import Provenance

    config, commit = project.config, source_commit(project.config)  # as it is before minutes of packing
    record = read_record(folder or project.dist)
    if folder:
        refuse_outdated(project, folder, commit)
        artifacts = artifacts_in(folder, config)
    elif not record.targets and project.dist.is_dir() and list_artifacts(project.dist):
        LOG.say(
            "verifying the packages in dist/ as they are, because they were not packed here (to pack: latebind pack)"
        )
        artifacts = artifacts_in(project.dist, config)
    else:
        others = [rid for rid in config.document.targets.include if rid in record.targets and rid not in rids]
        packed = pack_targets(project, [*rids, *others])
        for missing in packed.not_made:
            LOG.say(not_made(missing))
        artifacts = tuple(artifact for artifact in packed.artifacts if artifact.kind in installed_kinds())
        record = read_record(project.dist)
    source = Provenance(
        project=config.project.name,
        version=config.project.version,
        commit=commit,
        date=source_date(config, commit),
        sources=record.digest,
    )
    return Packages(artifacts=artifacts, source=source)
