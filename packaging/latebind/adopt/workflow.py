"""Renders the GitHub workflow of a project, and reports what is out of date in one that was written earlier."""

from __future__ import annotations

import json
import re
import zlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from packaging.version import InvalidVersion, Version

from latebind import __version__
from latebind.backend.targets import targets
from latebind.ecosystems.wheel.publishing import name_distribution
from latebind.installation import REPOSITORY, find_commit, list_requirements
from latebind.registry import collect
from latebind.system.git import ask_git
from latebind.tables.actions import actions
from latebind.tables.presets import preset
from latebind.templates import render

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from latebind.backend.targets import Target
    from latebind.ecosystems.publishing import Publisher

WORKFLOW = ".github/workflows/latebind.yml"
DEPENDABOT = ".github/dependabot.yml"
_TEST_FOLDERS = ("tests", "test")
_USES = re.compile(r"^\s*(?:- )?uses: (?P<name>[\w.-]+/[\w./-]+)@(?P<ref>\S+)(?:\s+#\s*(?P<version>v\S+))?")
_REQUIREMENT = re.compile(r"^\s*(?:LATEBIND|latebind): \"(?P<text>(?:latebind|loadcheck)\b.*)\"")
_JOB = re.compile(r"^  (?P<name>[\w-]+):\s*(?:#.*)?$")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_WORD = re.compile(r"[\w-]+")
_ROW = re.compile(r"(?:^|[\s{])(?:target|rid|native): ?")
_PYTHON = re.compile(r"python-version: [\"']?(3\.\d+)\b")
_GENERATED = ("native", "packages", "tests")
"""The jobs whose rows are targets; of the short form, the job `packages` lists those that the job `native` builds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outdated:
    """One thing that a workflow should say and does not."""

    line: int
    """Counted from 1."""
    message: str
    advice: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectTests:
    """The project's own tests, which a workflow runs with the wheels that it packed."""

    folder: str
    """Relative to the repository."""
    wheels: tuple[str, ...]
    requirements: tuple[str, ...]
    """The wheels again, for what they require, the runtimes and pytest."""
    targets: tuple[Target, ...]
    """Each has a runner, with Python for the system itself."""


def render_workflow(  # noqa: PLR0913  # what a workflow depends on
    name: str,
    tables: dict[str, Any],
    *,
    branch: str,
    project: str = ".",
    tests: str = "",
    reusable: bool = False,
) -> str:
    """The workflow of a project, from the tables of its configuration.

    `branch` is built at each push, `project` is the folder of the configuration in the repository, and `tests` the
    folder of its own tests (`find_tests`). `reusable` is the short form, which calls latebind's own workflow and
    publishes nothing.
    """
    native = list_native_targets(tables)
    publishers = list_publishers(tables)
    return render(
        "init/reusable.yml.j2" if reusable else "init/workflow.yml.j2",
        name=name,
        branch=json.dumps(branch),
        project=json.dumps(project),
        requirement=pin_latebind(),
        workflow=find_commit() or f"v{__version__}",
        native=[target for target in native if target.runner],
        elsewhere=[target.rid for target in native if not target.runner],
        has_windows=any(target.system == "windows" for target in native),
        publishers=publishers,
        pages={publisher.job: _find_page(publisher, tables) for publisher in publishers},
        tests=plan_tests(tables, (PurePosixPath(project) / tests).as_posix()) if tests else None,
        nightly=f"{zlib.crc32(name.encode()) % 60} 4 * * *",
        pins={name: f"{name}@{action.commit} # {action.version}" for name, action in actions().items()},
    )


def list_native_targets(tables: dict[str, Any]) -> list[Target]:
    """The targets that the system's compiler builds, so that each needs a machine of its own."""
    options = tables.get("targets", {})
    included = [target for rid, target in targets().items() if rid in options.get("include", ())]
    return [target for target in included if options.get(target.rid, {}).get("toolchain", "zig") == "host"]


def list_unrun_targets(tables: dict[str, Any]) -> list[str]:
    """The targets that no job runs: GitHub has no runner, or only one with another C library."""
    included = tables.get("targets", {}).get("include", ())
    return [
        rid for rid, target in targets().items() if rid in included and (not target.runner or target.libc == "musl")
    ]


def list_publishers(tables: dict[str, Any]) -> list[Publisher]:
    """The jobs that publish what the project packs, without repetition."""
    packages = _list_packages(tables).values()
    publishers: tuple[Publisher, ...] = collect("publishing", "PUBLISHERS")
    return [publisher for publisher in publishers if any(publisher.is_for(package) for package in packages)]


def _find_page(publisher: Publisher, tables: dict[str, Any]) -> str:
    """The page of the first package that a job publishes."""
    return next(publisher.page(package) for package in _list_packages(tables).values() if publisher.is_for(package))


def find_branch(repository: Path) -> str:
    """The branch that a repository is developed on: the remote's default, else the current one, else main."""
    if not (repository / ".git").exists():
        return "main"
    remote, current = (
        ask_git(repository, "symbolic-ref", "--quiet", "--short", name) for name in ("refs/remotes/origin/HEAD", "HEAD")
    )
    return remote.removeprefix("origin/") or current or "main"


def find_tests(root: Path) -> str:
    """The folder of a project's own tests, by the names that pytest looks for; "" for none."""
    return next((name for name in _TEST_FOLDERS if any((root / name).rglob("test_*.py"))), "")


def plan_tests(tables: dict[str, Any], folder: str) -> ProjectTests | None:
    """How a workflow runs the tests in a folder of the repository; None for a project without wheels."""
    wheels = tuple(filter(None, map(name_distribution, _list_packages(tables).values())))
    included = [targets()[rid] for rid in tables.get("targets", {}).get("include", ()) if rid in targets()]
    presets = [preset(runtime["preset"]).python for runtime in tables.get("runtime", ()) if "preset" in runtime]
    supplies = [supply for supply in presets if supply.extras]
    if not wheels:
        return None
    return ProjectTests(
        folder=folder,
        wheels=wheels,
        requirements=(*wheels, *(supply.distribution for supply in supplies), "pytest"),
        targets=tuple(
            target
            for target in included
            if target.runner
            and target.libc != "musl"
            and all(supply.is_supplied(supply.extra, target.rid) for supply in supplies)
        ),
    )


def pin_latebind() -> str:
    """What a workflow gives to pip: requirements with spaces between."""
    return " ".join(list_requirements("native", "verify"))


def list_outdated(text: str, tables: dict[str, Any], tests: str = "") -> list[Outdated]:
    """What is out of date in a workflow, compared with what would be written now; other edits are the project's own.

    `tests` is as in render_workflow().
    """
    lines = text.splitlines()
    now = render_workflow("", tables, branch="", tests=tests, reusable=f"{REPOSITORY}/" in text)
    jobs, wanted = _read_jobs(lines), _read_jobs(now.splitlines())
    included = frozenset(tables.get("targets", {}).get("include", ()))
    return sorted(
        [
            *_check_pins(lines),
            *_check_requirement(lines),
            *_check_unbuilt(jobs, list_native_targets(tables)),
            *(problem for name, job in jobs.items() for problem in _check_job(name, job, wanted, included)),
            *_check_publishers(jobs, list_publishers(tables)),
        ],
        key=lambda problem: problem.line,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    """A job of a workflow: where it begins, what it says, and the targets and Pythons of its rows, by their lines."""

    line: int
    text: str
    targets: Mapping[str, int]
    pythons: Mapping[str, int]


def _read_jobs(lines: list[str]) -> dict[str, _Job]:
    """The jobs of a workflow by name. The file is read by lines, since only an extra of latebind has YAML."""
    plain = [re.sub(r"(^|\s)#.*", "", line) for line in lines]
    begin = plain.index("jobs:") if "jobs:" in plain else len(plain)
    starts = [(match["name"], number) for number in range(begin, len(plain)) if (match := _JOB.match(plain[number]))]
    jobs = {}
    for (name, start), (_, end) in zip(starts, [*starts[1:], ("", len(plain))], strict=True):
        rows = list(enumerate(plain[start:end], start + 1))
        jobs[name] = _Job(
            line=start + 1,
            text="\n".join(plain[start:end]),
            targets={
                rid: number
                for number, row in rows
                if _ROW.search(row)
                for rid in _WORD.findall(row)
                if rid in targets()
            },
            pythons={match[1]: number for number, row in rows if (match := _PYTHON.search(row))},
        )
    return jobs


def _check_pins(lines: list[str]) -> Iterator[Outdated]:
    for number, line in enumerate(lines, 1):
        match = _USES.match(line)
        if match is None:
            continue
        name, release = match["name"], actions().get(match["name"])
        if name.startswith(f"{REPOSITORY}/"):
            reference = find_commit() or f"v{__version__}"
            if match["ref"] != reference:
                yield Outdated(
                    line=number,
                    message=f"{name}@{match['ref']} does not match the installed latebind",
                    advice=f"Write {name}@{reference}.",
                )
        elif not _COMMIT.fullmatch(match["ref"]):
            pin = f"{release.commit} # {release.version}" if release else "<commit> # <version>"
            message = f"{name}@{match['ref']} is not pinned to a commit"
            yield Outdated(line=number, message=message, advice=f"Write {name}@{pin}.")
        elif release and release.commit != match["ref"] and _is_older(match["version"], release.version):
            yield Outdated(
                line=number,
                message=f"{name} {match['version'] or match['ref'][:12]} is older than {release.version}",
                advice=f"Write {name}@{release.commit} # {release.version}.",
            )


def _is_older(version: str | None, release: str) -> bool:
    try:
        return Version(version or "0") < Version(release)
    except InvalidVersion:
        return True


def _check_requirement(lines: list[str]) -> Iterator[Outdated]:
    requirement = pin_latebind()
    for number, line in enumerate(lines, 1):
        match = _REQUIREMENT.match(line)
        if match and match["text"] != requirement:
            message = f"installs {match['text']}; the installed latebind is {requirement}"
            yield Outdated(
                line=number,
                message=message,
                advice=f'Write "{requirement}", or install the version that the workflow names.',
            )


def _check_unbuilt(jobs: Mapping[str, _Job], native: list[Target]) -> Iterator[Outdated]:
    """Targets that the system's compiler builds, and no job."""
    building = [job for name, job in jobs.items() if name == "native" or ("native" not in jobs and name != "tests")]
    for target in native:
        if target.runner and not any(target.rid in _WORD.findall(job.text) for job in building):
            yield Outdated(
                line=jobs["native"].line if "native" in jobs else 1,
                message=f'{target.rid} has toolchain = "host", but no job builds it',
                advice="Run latebind ci --force, or add the target to the job `native`.",
            )


def _check_job(name: str, job: _Job, wanted: Mapping[str, _Job], included: frozenset[str]) -> Iterator[Outdated]:
    """Rows of a job for targets and Pythons that it would not have now, and targets that its tests lack."""
    now = wanted.get(name)
    expected = included if name not in _GENERATED else frozenset(now.targets) if now is not None else frozenset()
    for rid, line in job.targets.items():
        if rid not in expected:
            why = (
                "but the project does not have this target" if rid not in included else "but needs none for this target"
            )
            advice = f"Run latebind ci --force, or remove {rid} from the job."
            yield Outdated(line=line, message=f"the job `{name}` has a row for {rid}, {why}", advice=advice)
    if now is None:
        return
    for rid in sorted(now.targets.keys() - set(_WORD.findall(job.text))) if name == "tests" else ():
        advice = f"Run latebind ci --force, or add {rid} to the job."
        yield Outdated(line=job.line, message=f"the job `tests` has no row for {rid}", advice=advice)
    for python, line in job.pythons.items():
        if now.pythons and Version(python) < min(map(Version, now.pythons)):
            newest = max(now.pythons, key=Version)
            message = f"the job `{name}` runs Python {python}, which is older than {newest}"
            yield Outdated(line=line, message=message, advice=f'Write python-version: "{newest}".')


def _check_publishers(jobs: Mapping[str, _Job], wanted: list[Publisher]) -> Iterator[Outdated]:
    """Jobs that publish what the project does not pack, and packages that no job publishes, if it publishes at all."""
    publishers: tuple[Publisher, ...] = collect("publishing", "PUBLISHERS")
    for publisher in publishers if "release" in jobs else ():
        if publisher in wanted and publisher.job not in jobs:
            yield Outdated(
                line=jobs["release"].line,
                message=f"has no job `{publisher.job}` to publish packages that the configuration lists",
                advice="Run latebind ci --force, or remove the job `release` if you publish elsewhere.",
            )
        elif publisher not in wanted and publisher.job in jobs:
            yield Outdated(
                line=jobs[publisher.job].line,
                message=f"the job `{publisher.job}` publishes on {publisher.title}, but nothing is packed for it",
                advice="Run latebind ci --force, or remove the job.",
            )


def _list_packages(configuration: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The tables [package.<name>]."""
    packages = configuration.get("package", {})
    tables = packages.items() if isinstance(packages, dict) else ()
    return {name: table for name, table in tables if isinstance(table, dict)}
