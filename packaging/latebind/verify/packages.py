"""Finds the packages that are verified: those of a folder, or those of dist/, packed where they are out of date."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from latebind.backend.targets import Rid
from latebind.config.config import Config
from latebind.config.project import Project
from latebind.errors import INPUT_ERRORS, InputError
from latebind.formats import find_format, verified_kinds
from latebind.model import Artifact
from latebind.native.sources import hash_inputs
from latebind.pack.make import pack
from latebind.pack.record import list_changes, read_record
from latebind.pack.render import not_made
from latebind.system.files import sha256
from latebind.system.git import source_commit, source_date
from latebind.system.log import LOG
from latebind.verify.report.data import Provenance
from loadcheck import Sha256
from loadcheck.facts import iter_members


def find_packages(
    project: Project, rids: Sequence[Rid], folder: Path | None
) -> tuple[tuple[Artifact, ...], Provenance]:
    """The packages of a folder, or of dist/, made where missing or out of date; and what they were made from.

    Every target that dist/ has is packed again with the chosen ones, so that packages keep all their targets. Packages
    that something else put there are taken as they are.

    Raises InputError for a folder of packages whose sources changed since: a report would be about other ones.
    """
    config, record = project.config, read_record(folder or project.dist)
    if folder:
        commit = source_commit(config.file)
        if changes := list_changes(record, hash_inputs(project), commit) if record.sources else []:
            raise InputError(
                f"the packages are out of date: {changes[0]} after packing",
                where=str(folder),
                advice="Pack again: latebind pack --target all. Or check out the sources that they were made from.",
            )
        artifacts = artifacts_in(folder, config)
    elif not record.targets and (there := list_artifacts(project.dist)):
        LOG.say(
            "verifying the packages in dist/ as they are, because they were not packed here (to pack: latebind pack)"
        )
        commit, artifacts = source_commit(config.file), _refuse_foreign(there, project.dist, config)
    else:
        others = [rid for rid in config.document.targets.include if rid in record.targets and rid not in rids]
        packed = pack(project, [*rids, *others])
        for missing in packed.not_made:
            LOG.say(not_made(missing))
        artifacts = tuple(artifact for artifact in packed.artifacts if artifact.kind in verified_kinds())
        record, commit = packed.record, packed.record.commit
    source = Provenance(
        project=config.project.name,
        version=config.project.version,
        commit=commit,
        date=source_date(config.root, commit),
        sources=record.digest,
    )
    return artifacts, source


def artifacts_in(folder: Path, config: Config) -> tuple[Artifact, ...]:
    """The packages of a project that a folder holds and consumers install or build, sorted by name.

    Raises InputError when it is not a folder, holds none, or holds one that cannot be read or belongs to another
    version or project: that one would be installed and tested instead.
    """
    if not folder.is_dir():
        text = "is not a folder" if folder.exists() else "there is no such folder"
        advice = "Name the folder that contains the packages. latebind pack makes them in dist/."
        raise InputError(text, where=str(folder), advice=advice)
    artifacts = list_artifacts(folder)
    if not artifacts:
        raise InputError(
            "contains no package that can be installed",
            where=str(folder),
            advice="Make them: latebind pack.",
        )
    return _refuse_foreign(artifacts, folder, config)


def list_artifacts(folder: Path) -> tuple[Artifact, ...]:
    """The packages of any project that consumers install or build from a folder, by name; () where there is none."""
    files = [(path, find_format(path.name)) for path in sorted(folder.iterdir())] if folder.is_dir() else []
    return tuple(
        Artifact(path=path.resolve(), kind=form.kind, sha256=Sha256(sha256(path)), size=path.stat().st_size)
        for path, form in files
        if form is not None and form.is_verified
    )


def _refuse_foreign(artifacts: tuple[Artifact, ...], folder: Path, config: Config) -> tuple[Artifact, ...]:
    problems = [problem for artifact in artifacts if (problem := _explain_problem(artifact.path, config))]
    if problems:
        raise InputError("; ".join(problems), where=str(folder), advice="Remove each of these files from the folder.")
    return artifacts


def _explain_problem(path: Path, config: Config) -> str:
    """Why a file is not a package of the project, "" when it is one."""
    form = find_format(path.name)
    if form is None:
        return f"{path.name} is not a package"
    if reason := form.explain_foreign(path.name, config):
        return f"{path.name} is {reason}"
    try:
        for _ in iter_members(path, form):
            pass
    except INPUT_ERRORS as error:
        return f"{path.name} is {error.message}"
    return ""
