"""The steps of a rehearsal, in order: what each runs, and what its failure means for the release.

`rehearse()` runs them, and reports each with its time; the first failure ends it.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from latebind.adopt.workflow import WORKFLOW
from latebind.backend.programs import which
from latebind.backend.targets import host_rid, target
from latebind.config.config import Config
from latebind.ecosystems.publishing import Registry, Rehearsal, RehearsalInputs
from latebind.errors import ANY_ERROR, InputError, LatebindError, NotRun, ToolError
from latebind.formats import find_format
from latebind.registry import collect
from latebind.rehearse.clone import clone_project, find_changelog, refuse_unready
from latebind.rehearse.workflow import WorkflowError, WorkflowRun, read_workflow
from latebind.release import layout
from latebind.release.check import check_release
from latebind.release.make import files_of
from latebind.release.tag import Tag
from latebind.system.files import sha256
from latebind.system.folders import find_repository
from latebind.system.git import run_git
from latebind.system.log import LOG
from latebind.system.run import run
from latebind.text import plural, shorten
from latebind.verify.run.installers import installer, python_of

if TYPE_CHECKING:
    from latebind.ecosystems.publishing import Registry, Rehearsal


if TYPE_CHECKING:
    Part = tuple[str, Callable[[], str]]
    """What is shown in one line: its name, and what runs, which returns what it found."""

_COMMAND = re.compile(r"^\$ (.+)$", re.MULTILINE)
_LOG = "workflow.txt"
_LATEBIND = '"$LATEBIND"'
"""The requirement that the jobs of a workflow install."""
_UPLOADS = "upload-"
"""The artifacts in which the workflow hands files to the jobs that publish."""
PASSED, NOT_RUN, FAILED = "passed", "not run", "FAILED"
_DETAIL = 160
"""The longest reason, in one line."""


@dataclass(kw_only=True)
class Rehearsing:
    """A rehearsal so far."""

    config: Config
    folder: Path
    """For everything that it makes. An earlier rehearsal there stays until this one begins."""
    rids: tuple[str, ...]
    tag: str
    release: Path | None = None
    """An existing release folder to begin with."""
    dry_run: bool = False
    """Whether to go on with a release that may not be published."""
    is_blocked: bool = False
    """Whether the dry run has a release that may not be published."""
    registries: dict[str, tuple[Rehearsal, RehearsalInputs, Registry]] = field(default_factory=dict)
    running: ExitStack = field(default_factory=ExitStack)
    """The registries, which are stopped at the end."""

    def empty_folder(self) -> None:
        """Remove the earlier rehearsal."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)

    @property
    def left_out(self) -> list[str]:
        """The targets of the project for which this machine can do nothing."""
        return [rid for rid in self.config.document.targets.include if rid not in self.rids]

    @property
    def artifacts(self) -> Path:
        """What the jobs of the workflow hand on."""
        return self.folder / "artifacts"

    @property
    def release_folder(self) -> Path:
        """The release that is rehearsed."""
        return self.release or self.artifacts / "release"

    @property
    def downloads(self) -> Path:
        """The files of the release as users download them, without folders."""
        return self.folder / "downloads"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A step of a rehearsal."""

    name: str
    meaning: str
    """What its failure means."""
    parts: Callable[[Rehearsing], Iterator[Part]]
    makes_release: bool = False
    """Whether it is left out for an existing release."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepResult:
    """How one part of a step ended."""

    step: str
    part: str
    outcome: str
    detail: str
    seconds: float


class RehearsalError(LatebindError):
    """A step failed, so the release would."""

    exit_status = 1


def _tag(state: Rehearsing) -> Iterator[Part]:
    def tag() -> str:
        refuse_unready(state.config, state.tag, dry_run=state.dry_run)
        state.empty_folder()
        left_out = state.left_out
        state.config = clone_project(state.config, state.folder / "clone", state.rids, state.tag)
        limits = f"; not run: {', '.join(left_out)}, which have no machine here" if left_out else ""
        return f"for {', '.join(state.rids)}{limits}"

    yield state.tag, tag


def _run_workflow(state: Rehearsing) -> Iterator[Part]:
    root = find_repository(state.config.root)
    document = read_workflow(root / WORKFLOW)
    state.artifacts.mkdir()
    log = (state.folder / _LOG).open("w", encoding="utf-8")
    state.running.enter_context(log)
    workflow = WorkflowRun(
        document,
        state.artifacts,
        root,
        tag=state.tag,
        environment=_make_environment(state, root),
        skipped=_LATEBIND,
        runners=("ubuntu", target(host_rid()).runner or "ubuntu"),
        say=lambda text: print(text, file=log, flush=True),
    )
    jobs: dict[str, dict[str, Any]] = document["jobs"]
    privileged = [name for name, job in jobs.items() if "write" in job.get("permissions", {}).values()]
    for name in jobs:
        if name not in privileged and workflow.is_wanted(name):
            yield name, partial(_run_job, state, workflow, name)
        if state.is_blocked:
            break
    if privileged:
        yield ", ".join(privileged), _leave_to_github


def _run_job(state: Rehearsing, workflow: WorkflowRun, name: str) -> str:
    """Run a job. If the gate fails in a dry run, the release is made without it, and the other jobs are left out."""
    try:
        workflow.run_job(name)
    except WorkflowError as error:
        error.where = str(state.folder / _LOG)
        error.advice = error.advice or "Fix what the job reports, commit, and rehearse again."
        if not state.dry_run or not (state.artifacts / "reports").is_dir():
            raise
        _make_blocked_release(state)
        state.is_blocked = True
        raise NotRun("not-built", f"the release may not be published, see {error.where}: {error.message}") from error
    return ""


def _make_blocked_release(state: Rehearsing) -> None:
    argv: list[str | Path] = [sys.executable, "-m", "latebind.cli", "-C", state.config.root, "release", "--dry-run"]
    argv += ["--dist", state.artifacts / "dist", "--report", state.artifacts / "reports" / "verify.json"]
    argv += ["--changelog", find_changelog(state.config), "--output", state.artifacts / "release"]
    ended = run(argv, check=False)
    if not (state.artifacts / "release" / layout.RELEASE_MANIFEST).is_file():
        raise ToolError(f"no release folder was made:\n{ended.output}")


def _leave_to_github() -> str:
    raise NotRun("no-machine", "jobs with rights on GitHub; the steps below publish on local registries instead")


def _make_environment(state: Rehearsing, root: Path) -> dict[str, str]:
    """What GitHub sets, and an interpreter of its own with this latebind, so that jobs may install packages."""
    folder = state.folder / "python"
    run([sys.executable, "-m", "venv", folder])
    python = python_of(folder)
    script = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = Path(run([python, "-c", script]).output.strip())
    installed = [path for path in sys.path if path and Path(path).is_dir() and not path.endswith("lib-dynload")]
    (site / "latebind-rehearsal.pth").write_text("\n".join(installed) + "\n", encoding="utf-8")
    commands = {"latebind": f'exec "{python}" -m latebind.cli "$@"', "gh": ": # GitHub has no earlier release or run"}
    for name, command in commands.items():
        (python.parent / name).write_text(f"#!/bin/sh\n{command}\n", encoding="utf-8")
        (python.parent / name).chmod(0o755)
    path = [str(python.parent), str(Path(sys.executable).parent), os.environ.get("PATH", "")]
    return {
        "PATH": os.pathsep.join(path),
        "GITHUB_REF": f"refs/tags/{state.tag}",
        "GITHUB_REF_NAME": state.tag,
        "GITHUB_REF_TYPE": "tag",
        "GITHUB_SHA": run_git(root, "rev-parse", "HEAD"),
        "GITHUB_WORKSPACE": str(root),
        "GITHUB_REPOSITORY": "",
    }


def _check(state: Rehearsing) -> Iterator[Part]:
    def check() -> str:
        tag = None if state.release else Tag(name=state.tag)
        checked = check_release(state.release_folder, tag)
        for problem in checked.problems:
            raise InputError(problem.why, where=problem.file, advice=problem.fix)
        blockers = checked.release.blockers if checked.release else ()
        state.is_blocked = bool(blockers)
        if blockers and not state.dry_run:
            others = f" (and {plural(len(blockers) - 1, 'other blocker')})" if len(blockers) > 1 else ""
            raise InputError(f"{blockers[0].why}{others}", where=blockers[0].subject, advice=blockers[0].fix)
        count = plural(len(checked.release.packages) if checked.release else 0, "package")
        return f"{count}, {plural(len(blockers), 'blocker')}"

    yield "folder", check


def _publish(state: Rehearsing) -> Iterator[Part]:
    packages = state.release_folder / layout.PACKAGES
    kinds = {form.kind for path in packages.iterdir() if (form := find_format(path.name))}
    for rehearsal in collect("publishing", "REHEARSALS"):
        if kinds & set(rehearsal.kinds):
            yield rehearsal.title, partial(_open_and_publish, state, rehearsal)


def _open_and_publish(state: Rehearsing, rehearsal: Rehearsal) -> str:
    """Publish half of the files, as a run that is stopped does; the step after it repeats all."""
    folder = state.folder / re.sub(r"\W+", "-", rehearsal.title.lower())
    folder.mkdir()
    inputs = RehearsalInputs(
        config=state.config,
        folder=folder,
        python=Path(sys.executable),
        tool=installer(state.folder / "home"),
        rid=host_rid(),
    )
    registry = state.running.enter_context(rehearsal.open(inputs))
    state.registries[rehearsal.title] = (rehearsal, inputs, registry)
    files = _find_files(state, rehearsal)
    return f"{publish(registry, files[: (len(files) + 1) // 2])}, then stopped ({rehearsal.standing_in})"


def _find_files(state: Rehearsing, rehearsal: Rehearsal) -> list[Path]:
    """What is published in a registry: what the workflow handed to its job, else all packages of its kinds."""
    handed = state.artifacts / f"{_UPLOADS}{rehearsal.job}"
    folder = handed if rehearsal.job and handed.is_dir() else state.release_folder / layout.PACKAGES
    forms = ((path, find_format(path.name)) for path in sorted(folder.iterdir()))
    return [path for path, form in forms if form is not None and form.kind in rehearsal.kinds]


def publish(registry: Registry, files: Sequence[Path]) -> str:
    """Upload the files that the registry lacks; how many these were.

    Raises InputError for a file that the registry has with other bytes, ToolError when the registry takes none: a
    repetition then continues with the rest.
    """
    published = 0
    for file in files:
        there = registry.find(file)
        if there and there != sha256(file):
            raise InputError(
                f"the registry {registry.place} has {file.name} with other bytes",
                where=str(file),
                advice="Published files never change: give the release a new version.",
            )
        if not there:
            registry.upload(file)
            published += 1
    return f"{plural(published, 'file')} published, {len(files) - published} already there"


def _repeat(state: Rehearsing) -> Iterator[Part]:
    for title, (rehearsal, _, registry) in state.registries.items():
        yield title, partial(publish, registry, _find_files(state, rehearsal))


def _install(state: Rehearsing) -> Iterator[Part]:
    for title, (rehearsal, inputs, registry) in state.registries.items():
        yield title, partial(rehearsal.install, inputs, registry)


def _download(state: Rehearsing) -> Iterator[Part]:
    def download() -> str:
        state.downloads.mkdir()
        names = [name for name in files_of(state.release_folder) if layout.is_download(name)]
        for name in [*names, layout.SUMS]:
            shutil.copyfile(state.release_folder / name, state.downloads / layout.flat_name(name))
        return f"{plural(len(names) + 1, 'file')} in one folder"

    yield "assets", download


def _verify(state: Rehearsing) -> Iterator[Part]:
    guide = state.downloads / layout.GUIDE
    for command in _COMMAND.findall(guide.read_text("utf-8")):
        yield command, partial(_run_documented, state.downloads, command)


def _run_documented(folder: Path, command: str) -> str:
    program = command.split(maxsplit=1)[0]
    if command.startswith("gh attestation "):
        raise NotRun("no-program", "only the workflow on GitHub makes attestations")
    if which(program) is None:
        raise NotRun("no-program", f"there is no {program} here")
    return run([which("bash") or "bash", "-c", command], cwd=folder).output.strip().splitlines()[-1]


STEPS = (
    Step(name="tag", meaning="the tag would be refused", parts=_tag, makes_release=True),
    Step(name="workflow", meaning="the release workflow would fail", parts=_run_workflow, makes_release=True),
    Step(name="check", meaning="nothing would be published", parts=_check),
    Step(name="publish", meaning="the registry would not get the packages", parts=_publish),
    Step(name="repeat", meaning="a publication that stopped halfway could not be completed", parts=_repeat),
    Step(name="install", meaning="users could not install or use what was published", parts=_install),
    Step(name="download", meaning="users could not download the release", parts=_download),
    Step(name="verify", meaning="users could not verify their downloads", parts=_verify),
)


def rehearse(state: Rehearsing, show: Callable[[StepResult], None], steps: Sequence[Step] = STEPS) -> list[StepResult]:
    """Run all steps. `show` gets each result as soon as there is one.

    Raises RehearsalError with the step that failed, where, why, and what to do next; InputError for a release folder
    that is not there, or that a rehearsal replaces.
    """
    if state.release:
        _check_place(state.release, state.folder)
        state.empty_folder()
    results: list[StepResult] = []
    with state.running:
        chosen = [step for step in steps if not (step.makes_release and state.release)]
        for number, step in enumerate(chosen, 1):
            for part, work in step.parts(state):
                started = time.monotonic()
                with LOG.step(f"rehearsing step {number} of {len(chosen)}: {step.name} ({part})"):
                    outcome, detail, failure = _run_part(step, part, work)
                seconds = round(time.monotonic() - started, 1)
                results.append(StepResult(step=step.name, part=part, outcome=outcome, detail=detail, seconds=seconds))
                show(results[-1])
                if failure is not None:
                    raise failure
    return results


def _check_place(release: Path, folder: Path) -> None:
    if release.is_relative_to(folder):
        advice = "Move it to another place first."
        raise InputError(f"is in {folder}, which each rehearsal empties", where=str(release), advice=advice)
    if not release.is_dir():
        raise InputError("is not a folder", where=str(release), advice="Name the folder of a release.")


def _run_part(step: Step, part: str, work: Callable[[], str]) -> tuple[str, str, RehearsalError | None]:
    """The outcome, what was found, and the error of a failure."""
    try:
        return PASSED, work(), None
    except NotRun as reason:
        return NOT_RUN, shorten(reason.message.replace("\n", " "), _DETAIL), None
    except ANY_ERROR as error:
        text = f"the rehearsal failed in the step {step.name} ({part}), so {step.meaning}: {error.message}"
        return FAILED, "", RehearsalError(text, where=error.where, advice=error.advice)
