"""Makes every package of a project from its stages, in dist/; remakes only what its inputs have changed.

`inspect_dist()` reports what dist/ lacks or has out of date, without building or packing anything.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from latebind.backend.files import digest, source_date_epoch
from latebind.backend.stage import Stage, open_stage
from latebind.backend.tree import hash_file, hash_tree
from latebind.config.project import MSBUILD_OUTPUTS, Project
from latebind.ecosystems.ecosystem import PackageJob, PackageKind, PackRun
from latebind.errors import ANY_ERROR, NotRun
from latebind.fingerprint import fingerprint
from latebind.formats import find_format
from latebind.model import Artifact, NotMade
from latebind.native.builds import stage_targets
from latebind.native.inside import refuse_named_links
from latebind.native.nativerecipe import hash_sources
from latebind.native.sources import hash_inputs, outside_hash
from latebind.pack.planned import plan_packages
from latebind.pack.record import Ledger, Record
from latebind.pack.render import describe_losses
from latebind.pack.untracked import list_untracked
from latebind.preconditions import refuse_missing
from latebind.system.git import source_commit
from latebind.system.log import LOG
from latebind.system.parallel import each
from latebind.text import plural
from loadcheck import Sha256

_Job = tuple[PackageKind, PackageJob]


@dataclass(frozen=True, slots=True, kw_only=True)
class PackResult:
    """What packing made, sorted by file name, and what it could not make."""

    artifacts: tuple[Artifact, ...]
    not_made: tuple[NotMade, ...] = ()
    record: Record
    """What dist/ has now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Present:
    """What `latebind pack` has put into dist/."""

    targets: tuple[str, ...] = ()
    """The targets that were packed; () where this working folder has packed nothing."""
    missing: tuple[str, ...] = ()
    """The other targets of the project."""
    outdated: tuple[str, ...] = ()
    """Packages that packing would make again, by their names in the ledger, such as `wheel tiny linux-x64`."""


def pack(project: Project, rids: Sequence[str]) -> PackResult:
    """Build targets, and make all packages of a project from them; if one cannot be made, dist/ stays as it was.

    Files that an earlier run made and this one does not make are removed, and reported; other files in dist/ stay.

    Raises what can be known before minutes of compiling; then BuildError or ToolError with the message of the step that
    failed.
    """
    config, included = project.config, project.config.document.targets.include
    refuse_missing(config.file, config.list_sources(), config.list_folders())
    # In the project's order of targets, so that the order of `--target` changes no package.
    plan = plan_packages(config, sorted(rids, key=[*included, *rids].index))
    commit = source_commit(config.file)  # as it is before minutes of compiling
    stages = stage_targets(project, rids)
    ledger, sources = Ledger(project.dist), hash_inputs(project)
    run = _start_run(project, stages, ledger.fresh, commit)
    try:
        refused = _make_all(run, ledger, plan.jobs)
        made = [path for paths in run.files_by_job.values() for path in paths]
        losses = ledger.close(sources, commit, list_untracked(project, stages, made))
    finally:
        shutil.rmtree(ledger.fresh, ignore_errors=True)
    for line in describe_losses(losses, included):
        LOG.say(line)
    rows = ledger.record.packages
    artifacts = [
        _artifact(project.dist / name, sha256, run.stages_of(job))
        for job in run.files_by_job
        for name, sha256 in rows[job.name].files.items()
    ]
    return PackResult(
        artifacts=tuple(sorted(artifacts, key=lambda row: row.path.name)),
        not_made=(*plan.not_made, *refused),
        record=ledger.record,
    )


def _make_all(run: PackRun, ledger: Ledger, planned: Sequence[_Job]) -> list[NotMade]:
    """Make what is planned. What this machine could not make."""
    refused = []
    with LOG.step(f"packing {plural(len(planned), 'package')}", total=len(planned)) as finished:
        for jobs in _in_order(planned):
            results = each(lambda one: _make(run, ledger, *one), jobs, finished=finished)
            for (_, job), result in zip(jobs, results, strict=True):
                if isinstance(result, NotMade):
                    refused.append(result)
                else:
                    run.files_by_job[job] = result
    return refused


def _in_order(planned: Sequence[_Job]) -> Iterator[list[_Job]]:
    """The jobs whose files others need, then all others; what takes longest is started first."""
    jobs = sorted(planned, key=lambda one: not one[0].compiles)
    needed = {name for kind, _ in jobs for name in kind.after}
    yield [one for one in jobs if one[0].name in needed]
    yield [one for one in jobs if one[0].name not in needed]


def _start_run(project: Project, stages: Sequence[Stage], dist: Path, commit: str) -> PackRun:
    """A run that has made nothing yet. Raises BuildError for a link that would put another file into packages."""
    config = project.config
    refuse_named_links(config.root, config.named_files)
    return PackRun(
        project=project,
        stages=stages,
        dist=dist,
        commit=commit if config.project.repository else "",
        source_hash=hash_sources(project),
    )


def _make(run: PackRun, ledger: Ledger, kind: PackageKind, job: PackageJob) -> tuple[Path, ...] | NotMade:
    try:
        return ledger.make(job.name, _hash_package(run, kind, job), job.rids, lambda: kind.make(run, job))
    except NotRun as error:
        return NotMade(package=job.package, kind=kind.name, reason=error.reason, message=str(error))


def _artifact(path: Path, sha256: str, stages: Sequence[Stage]) -> Artifact:
    form = find_format(path.name)
    if form is None:
        raise AssertionError(path)
    made_from = tuple(f"stage/{stage.rid} {stage.manifest.key[:12]}" for stage in stages)
    return Artifact(path=path, kind=form.kind, sha256=Sha256(sha256), size=path.stat().st_size, made_from=made_from)


def _hash_package(run: PackRun, kind: PackageKind, job: PackageJob) -> str:
    """A hash of everything that a package is made from. Raises NotRun as PackageKind.key()."""
    config, project, output_folders = run.config, run.config.project, run.project.outputs
    source, stages = config.root / job.source, run.stages_of(job)
    parts = [
        *(stage.manifest.key for stage in stages),
        *(file.sha256 for stage in stages for file in stage.manifest.files),
        *(f"{stage.manifest.toolchain} {stage.manifest.floor}" for stage in stages),
        *kind.key(run, job),
        config.digest,
        *(hash_file(config.root / file) if file else "" for file in (project.readme, project.license_file)),
        hash_tree(source, without=MSBUILD_OUTPUTS, outputs=output_folders) + outside_hash(source, output_folders)
        if job.source and source.is_dir()
        else "",
        fingerprint(),
        str(source_date_epoch()),
    ]
    return digest(parts)


def inspect_dist(project: Project) -> Present:
    """Compare dist/ with what packing the same targets again would make, also those that the configuration lacks.

    Whoever removed a target changed the configuration, so that every package is out of date. What a missing tool, such
    as the .NET SDK, keeps from being compared counts as current.
    """
    ledger, include = Ledger(project.dist), project.config.document.targets.include
    targets = tuple(rid for rid in include if rid in ledger.record.targets)
    packed = (*targets, *(rid for rid in ledger.record.targets if rid not in include))
    if not packed:
        return Present()
    stages = [stage for rid in packed if (stage := open_stage(project.workdir / "stage" / rid)) is not None]
    return Present(
        targets=targets or packed,
        missing=tuple(rid for rid in include if rid not in targets),
        outdated=tuple(
            _list_outdated(ledger, _start_run(project, stages, project.dist, source_commit(project.config.file)))
        ),
    )


def _list_outdated(ledger: Ledger, run: PackRun) -> list[str]:
    try:
        plan = plan_packages(run.config, [stage.rid for stage in run.stages])
    except ANY_ERROR:  # packing will say why it makes none of them any more
        return list(ledger.record.packages)
    names = []
    for kind, job in plan.jobs:
        try:
            is_old = any(stage.manifest.source_hash != run.source_hash for stage in run.stages_of(job))
            if is_old or not ledger.is_current(job.name, _hash_package(run, kind, job)):
                names.append(job.name)
        except NotRun:
            continue
    return names
