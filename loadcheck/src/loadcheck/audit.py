"""Audits packages: reads each in a worker process, applies every check, and gathers one report."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from loadcheck.checks.linkage import list_outside
from loadcheck.checks.needs import list_copies, list_needs
from loadcheck.checks.tags import unjudged_platform
from loadcheck.engine.catalog import checks
from loadcheck.engine.kinds import TwinFacts, find_kind
from loadcheck.engine.policy import Policy, default_policy
from loadcheck.engine.pool import Died, Pool, WorkerLimits, default_jobs
from loadcheck.engine.subjects import find_subjects
from loadcheck.model import AuditReport, Copy, Finding, Kind, Need, Skipped, Waived
from loadcheck.readers.contents import Contents, File
from loadcheck.readers.environment import find_folders, read_environment
from loadcheck.readers.package import read_package
from loadcheck.readers.package_json import read_manifest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from loadcheck.engine.check import Check
    from loadcheck.index.index import Index
    from loadcheck.readers.supplied import Supplied

_MOST_DEATHS = 5
_RESOLVED = ("wheel", "npm")
"""The kinds of packages whose requirements can be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One package to audit. `lost` maps each file that has ended a worker to how that worker ended.

    `beside` are the packages of its kind that are audited with it: it may require them before an index has them.
    """

    path: Path
    kind: Kind
    policy: Policy
    lost: Mapping[str, str] = field(default_factory=dict)
    beside: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What the audit of one package found."""

    judgements: tuple[Finding | Skipped, ...]
    facts: TwinFacts | None
    needs: tuple[Need, ...] = ()
    copies: tuple[Copy, ...] = ()


def audit_paths(
    paths: Sequence[Path],
    policy: Policy | None = None,
    *,
    jobs: int = 0,
    limits: WorkerLimits | None = None,
    work: Callable[[Task, Callable[[str], None]], Result] | None = None,
) -> AuditReport:
    """Audit packages, folders and binaries; for a folder, also every package below it.

    `jobs` is the number of worker processes, 0 for the CPU count. The report depends neither on it nor on the order of
    the paths; its `subjects` counts packages, folders and bare binaries. `work` replaces the worker's function, for
    tests in which a worker must die.

    Raises InputError when a path is missing or cannot be audited, and UserError when third-party checks cannot be
    loaded, or when requirements are to be read and no index is configured.
    """
    checks()
    policy = policy or default_policy()
    subjects, others = find_subjects(paths)
    if policy.resolve and any(kind == "wheel" for _, kind in subjects):
        _find_index()
    tasks = _list_tasks(subjects, policy)
    results = _run(tasks, jobs or default_jobs(), limits or WorkerLimits(), work or audit_package)
    return _gather(tasks, results, others, policy)


def audit_environment(python: Path, policy: Policy | None = None) -> AuditReport:
    """Audit what is installed for a Python: an environment, its Python, or a folder site-packages.

    Raises InputError for a path that has no distributions.
    """
    find_folders(python)
    checks()
    policy = policy or default_policy()
    tasks = [Task(path=python, kind="environment", policy=policy)]
    return _gather(tasks, _run(tasks, 1, WorkerLimits(), audit_package), [], policy)


def audit_here(paths: Sequence[Path], policy: Policy | None = None) -> AuditReport:
    """Audit as `audit_paths` does, but in this process: for trusted files, such as those that a test makes."""
    policy = policy or default_policy()
    subjects, others = find_subjects(paths)
    tasks = _list_tasks(subjects, policy)
    return _gather(tasks, [audit_package(task, lambda _: None) for task in tasks], others, policy)


def _list_tasks(subjects: Sequence[tuple[Path, Kind]], policy: Policy) -> list[Task]:
    beside = {kind: tuple(path for path, other in subjects if other == kind) for kind in _RESOLVED if policy.resolve}
    return [Task(path=path, kind=kind, policy=policy, beside=beside.get(kind, ())) for path, kind in subjects]


def _gather(tasks: Sequence[Task], results: Sequence[Result], others: Sequence[Skipped], policy: Policy) -> AuditReport:
    judgements = [*others, *(judgement for result in results for judgement in result.judgements)]
    packages = [result.facts for result in results if result.facts is not None]
    for check in checks().values():
        if check.scope == "set" and policy.choice.takes(check.code):
            judgements += check.judge(lambda name: name, "", policy, packages=packages)
    remaining, waived = _waive((judgement for judgement in judgements if isinstance(judgement, Finding)), policy)
    skipped = {judgement for judgement in judgements if isinstance(judgement, Skipped)}
    return AuditReport(
        subjects=len(tasks),
        packages=tuple(sorted(Contents(path=task.path, kind=task.kind).subject("") for task in tasks)),
        choice=str(policy.choice),
        fail_on=policy.fail_on,
        is_strict=policy.is_strict,
        unused=_list_unused(policy, waived),
        is_resolved=policy.resolve,
        findings=tuple(sorted(remaining, key=_order)),
        waived=tuple(sorted(waived, key=lambda accepted: _order(accepted.finding))),
        skipped=tuple(sorted(skipped, key=lambda skip: (skip.subject, skip.check, skip.reason))),
        needs=tuple(need for result in results for need in result.needs),
        copies=tuple(copy for result in results for copy in result.copies),
    )


def audit_package(task: Task, report: Callable[[str], None]) -> Result:
    """Audit one package in this process. `report` is called with the name of each file before it is read."""
    kind = find_kind(task.kind)
    if task.kind == "environment":
        package = read_environment(task.path, task.lost, report)
    else:
        markers = _list_markers(task.policy)
        package = read_package(
            task.path, task.kind, is_text=kind.is_text, markers=markers, lost=task.lost, about_to_read=report
        )
    package = replace(package, project=kind.find_project(package))
    report("")  # from here on no file is to blame
    if task.policy.resolve and task.kind in _RESOLVED and not package.is_unread:
        package = replace(package, supplied=_resolve(package, task.beside, lambda: report("")))
    judgements = tuple(_judge(package, task.policy))
    result = Result(judgements=judgements, facts=kind.find_twin_facts(package))
    if not task.policy.lists_needs:
        return result
    return replace(result, needs=list_needs(package, judgements), copies=list_copies(package))


def _find_index(beside: Sequence[Path] = ()) -> Index:
    """The package index that is configured, with local wheels. Raises UserError if there is none."""
    from loadcheck.index.index import Index  # noqa: PLC0415  # 60 ms that an audit without --resolve does not need
    from loadcheck.index.settings import read_index_settings  # noqa: PLC0415

    return Index(read_index_settings(), beside=beside)


def _resolve(package: Contents, beside: Sequence[Path], report: Callable[[], None]) -> Supplied | None:
    """What the requirements of a wheel or an npm package install; None if nobody can know."""
    from loadcheck.index.resolve import Resolver  # noqa: PLC0415  # as above

    if package.kind == "npm":
        return _resolve_npm(package, beside, report)
    if package.wheel is None:
        return None
    resolver = Resolver(package, package.wheel, _find_index(beside), report)
    return resolver.find(list_outside(package), reads_exports=True)


def _resolve_npm(package: Contents, beside: Sequence[Path], report: Callable[[], None]) -> Supplied | None:
    """What the dependencies of an npm package with native files install."""
    from loadcheck.index.npm import NpmResolver  # noqa: PLC0415  # as above
    from loadcheck.index.npmrc import read_npm_settings  # noqa: PLC0415
    from loadcheck.index.npmregistry import NpmRegistry  # noqa: PLC0415

    manifest = read_manifest(package)
    if manifest is None or not package.native:
        return None
    registry = NpmRegistry(read_npm_settings(), beside=beside)
    return NpmResolver(package, manifest, registry, report).find()


def _list_markers(policy: Policy) -> list[str]:
    """What the chosen checks search for in binaries. Checks of others may use what any check searches for."""
    has_others = any(check.origin for check in checks().values())
    chosen = [check for code, check in checks().items() if has_others or policy.choice.takes(code)]
    return sorted({marker for check in chosen for marker in check.seeks_markers(policy)})


def _run(
    tasks: Sequence[Task],
    jobs: int,
    limits: WorkerLimits,
    work: Callable[[Task, Callable[[str], None]], Result],
) -> list[Result]:
    """Run the tasks. If a worker dies, its task runs again without the file that ended it, to audit the others."""
    results: dict[int, Result] = {}
    # Largest first, so that the workers finish at nearly the same time.
    pending = dict(sorted(enumerate(tasks), key=lambda numbered: -_size(numbered[1].path)))
    with Pool(work, min(jobs, len(tasks)), limits) as pool:
        while pending:
            numbers = list(pending)
            outcomes = pool.run([pending[number] for number in numbers])
            for number, outcome in zip(numbers, outcomes, strict=True):
                task = pending.pop(number)
                if not isinstance(outcome, Died):
                    results[number] = outcome
                elif outcome.part in task.lost or not outcome.part or len(task.lost) >= _MOST_DEATHS:
                    results[number] = _gave_up(task, outcome)
                else:
                    pending[number] = replace(task, lost={**task.lost, outcome.part: outcome.how})
    return [results[number] for number in range(len(tasks))]


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 1 << 30


def _gave_up(task: Task, died: Died) -> Result:
    """The result for a package that no worker could audit."""
    lost = {**task.lost, died.part: died.how}
    unread = File(name=died.part, size=0, died=died.how)
    package = Contents(path=task.path, kind=task.kind, files=(unread,), lost=lost)
    findings = (finding for finding in _judge(package, task.policy) if isinstance(finding, Finding))
    return Result(judgements=tuple(findings), facts=None)


def _judge(package: Contents, policy: Policy) -> Iterator[Finding | Skipped]:
    for check in checks().values():
        if package.kind not in check.kinds or not policy.choice.takes(check.code):
            continue
        if package.is_unread and not check.of_unread:
            continue
        if check.scope == "package":
            yield from check.judge(package.subject, "", policy, package=package, wheel=package.wheel)
        elif check.scope == "binary":
            for file in package.native:
                yield from _judge_binary(check, package, file, policy)
    reason = "the link is not followed: it leads to no file of the package, or installers leave it out"
    for link in package.unfollowed:
        yield Skipped(check="all", subject=package.subject(link), reason=reason)


def _judge_binary(check: Check, package: Contents, file: File, policy: Policy) -> Iterator[Finding | Skipped]:
    subject = package.subject(file.name)
    if platform := unjudged_platform(package, file):
        reason = f"platform tag not checked: {platform} has its own rules for binaries"
        yield Skipped(check=check.code, subject=subject, reason=reason)
        return
    if not file.images:
        reason = "the file cannot be read" if file.problem or file.died else "the file is an archive of object files"
        yield Skipped(check=check.code, subject=subject, reason=reason)
    slices_by_judgement: dict[Finding | Skipped, list[str]] = {}
    for image in file.images:
        if reason := image.unjudged:
            yield Skipped(check=check.code, subject=subject, reason=reason)
        elif image.format in check.formats:
            values = {"package": package, "wheel": package.wheel, "file": file, "image": image}
            for judgement in check.judge(package.subject, file.name, policy, **values):
                slices_by_judgement.setdefault(judgement, []).append(image.slice)
    for judgement, slices in slices_by_judgement.items():
        if slices != [""] and isinstance(judgement, Finding):
            yield replace(judgement, evidence=(*judgement.evidence, f"in the slice {' and '.join(slices)}"))
        else:
            yield judgement


def _waive(findings: Iterable[Finding], policy: Policy) -> tuple[list[Finding], list[Waived]]:
    remaining: list[Finding] = []
    waived: list[Waived] = []
    for finding in findings:
        waiver = next((waiver for waiver in policy.waivers if waiver.covers(finding)), None)
        if waiver is None:
            remaining.append(finding)
        else:
            waived.append(Waived(finding=finding, reason=waiver.reason))
    return remaining, waived


def _list_unused(policy: Policy, waived: Iterable[Waived]) -> tuple[str, ...]:
    """The waivers of checks that ran, which accepted nothing."""
    accepted = [accepted.finding for accepted in waived]
    ran = (waiver for waiver in policy.waivers if waiver.code in checks() and policy.choice.takes(waiver.code))
    return tuple(str(waiver) for waiver in ran if not any(map(waiver.covers, accepted)))


def _order(finding: Finding) -> tuple[str, str, str, tuple[str, ...]]:
    return finding.subject, finding.code, finding.message, finding.evidence
