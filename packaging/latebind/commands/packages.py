"""Stages and packages for commands: built, packed, or found in a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from latebind.system.log import LOG
from loadcheck.model import Rid

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from latebind.build.stage import Stage
    from latebind.config.project import Project
    from latebind.model import Artifact
    from latebind.pack.pack import PackResult
    from latebind.pack.record import Record


def build_stages(project: Project, rids: Sequence[Rid]) -> list[Stage]:
    """Build or find the stage of each target."""
    from latebind.build.native import stage_target
    from latebind.system.parallel import each
    from latebind.tables.targets import target

    return each(lambda rid: stage_target(project.config, target(rid), project.workdir), rids)


def pack_targets(project: Project, rids: Sequence[Rid]) -> PackResult:
    """Stage targets, pack them, and report what dist/ lost."""
    from latebind.pack.pack import pack
    from latebind.pack.planned import refuse_unplannable
    from latebind.pack.render import describe_losses
    from latebind.preconditions import refuse_missing

    refuse_missing(project.config, scripts=False)  # before minutes of compiling
    refuse_unplannable(project.config, rids)
    packed = pack(project.config, build_stages(project, rids), project.workdir, project.dist)
    for line in describe_losses(packed.losses, project.config.document.targets.include):
        LOG.say(line)
    return packed


def find_packages(project: Project, rids: Sequence[Rid], folder: Path | None) -> tuple[tuple[Artifact, ...], str]:
    """The packages that consumers install, with the digest of their sources: those in a folder, or those of dist/.

    In dist/, they are made where they are missing or out of date. Every target that is there is packed again with the
    chosen ones, so that packages keep all their targets. Packages that something else put there are taken as they are.
    Raises InputError for a folder of packages whose sources changed since: a report would be about other ones.
    """
    from latebind.dist import artifacts_in, list_artifacts
    from latebind.formats import installed_kinds
    from latebind.pack.record import read_record
    from latebind.pack.render import not_made

    record = read_record(folder or project.dist)
    if folder:
        _refuse_outdated(project, folder, record)
        return artifacts_in(folder, project.config), record.digest
    if not record.targets and project.dist.is_dir() and list_artifacts(project.dist):
        LOG.say(
            "verifying the packages in dist/ as they are, because they were not packed here (to pack: latebind pack)"
        )
        return artifacts_in(project.dist, project.config), record.digest
    included = project.config.document.targets.include
    packed = pack_targets(
        project, [*rids, *(Rid(rid) for rid in included if rid in record.targets and rid not in rids)]
    )
    for missing in packed.not_made:
        LOG.say(not_made(missing))
    installed = tuple(artifact for artifact in packed.artifacts if artifact.kind in installed_kinds())
    return installed, read_record(project.dist).digest


def _refuse_outdated(project: Project, folder: Path, record: Record) -> None:
    from latebind.build.commit import source_commit
    from latebind.errors import InputError
    from latebind.pack.record import hash_inputs, list_changes

    now = hash_inputs(project.config, project.workdir) if record.sources else {}
    if changes := list_changes(record, now, source_commit(project.config)):
        raise InputError(
            f"the packages are out of date: {changes[0]} after packing",
            where=str(folder),
            advice="Pack again: latebind pack --target all. Or check out the sources that they were made from.",
        )
