"""How packages are published: by a job of a workflow, and by `latebind rehearse`.

That starts a local registry, publishes there, and installs from there by name.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from latebind.config.config import Config
from latebind.errors import LatebindError, NotRun
from latebind.model import State
from latebind.system.files import sha256
from latebind.system.run import run
from latebind.text import plural
from latebind.verify.cases.scenarios import COMPUTING
from latebind.verify.declared import has_program
from latebind.verify.report.data import read_report
from latebind.verify.run.protocol import ALL_PASSED, SOME_FAILED, read_result
from latebind.verify.run.shared import Shared
from loadcheck import Kind

if TYPE_CHECKING:
    from latebind.verify.run.installers import Installer

AGAIN = "Publish again: what the registry has already is skipped, so that a repetition continues with the rest."
_TIME_LIMIT = 1800.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Publisher:
    """The job of a workflow that publishes packages, in PUBLISHERS of an ecosystem's `publishing.py`."""

    job: str
    """Its name in the workflow, and that of its environment on GitHub."""
    title: str
    """Of the index: `PyPI`."""
    is_for: Callable[[Mapping[str, Any]], bool]
    """Whether a table `[package.<name>]` makes packages that this job publishes."""
    page: Callable[[Mapping[str, Any]], str]
    """The page of the package that such a table makes, on the index."""
    collect: str
    """Template of the step that copies the packages into `upload/<job>`, in a job without rights."""
    publish: str
    """Template of the steps that publish the files in `upload/`: actions and shell, nothing of the project."""
    setup: str = ""
    """Template of the step that installs what building and verifying these packages needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RehearsalInputs:
    """What an ecosystem gets to rehearse with."""

    config: Config
    folder: Path
    """For its own files; empty at first."""
    python: Path
    """An interpreter that can run latebind."""
    tool: Installer
    rid: str
    """This machine's target."""

    @property
    def log(self) -> Path:
        """What its programs print."""
        return self.folder / "log.txt"


class Registry(Protocol):
    """A local registry."""

    @property
    def place(self) -> str:
        """Its address or folder."""

    def find(self, file: Path) -> str:
        """The SHA-256 of the published file of that name; "" when there is none."""

    def upload(self, file: Path) -> None:
        """Publish a file. Raises ToolError when the registry does not take it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsal:
    """A registry and its users, in REHEARSALS of an ecosystem's `publishing.py`."""

    title: str
    """The registry that users have: `PyPI`."""
    standing_in: str
    """What takes its place here, and where everything else comes from."""
    job: str = ""
    """The job of the workflow that publishes there; "" when none does."""
    kinds: tuple[Kind, ...]
    """The kinds of packages that are published there."""
    open: Callable[[RehearsalInputs], AbstractContextManager[Registry]]
    """Start the registry. Raises NotRun when this machine lacks what it needs."""
    install: Callable[[RehearsalInputs, Registry], str]
    """Install from the registry by name, and run the project's consumer; what was installed.

    Raises NotRun, and LatebindError when it fails.
    """


@dataclass(frozen=True, slots=True)
class FolderFeed:
    """A registry that is a folder of files."""

    place: str

    def find(self, file: Path) -> str:
        """The SHA-256 of the published file of that name; "" when there is none."""
        published = Path(self.place, file.name)
        return sha256(published) if published.is_file() else ""

    def upload(self, file: Path) -> None:
        """Publish a file."""
        shutil.copyfile(file, Path(self.place, file.name))


@contextmanager
def _open_folder(inputs: RehearsalInputs) -> Iterator[FolderFeed]:
    """A folder as a registry."""
    (inputs.folder / "feed").mkdir(parents=True, exist_ok=True)
    yield FolderFeed(str(inputs.folder / "feed"))


def rehearse_in_folder(title: str, what: str, kind: Kind, **more: Any) -> Rehearsal:
    """A folder for a registry, whose packages the project's programs use; `what` it is for users."""
    return Rehearsal(
        title=title,
        standing_in=f"{what}; runtimes come from their PyPI wheels",
        open=_open_folder,
        install=lambda inputs, registry: _verify_feed(inputs, registry, kind),
        **{"kinds": (kind,), **more},
    )


def _verify_feed(inputs: RehearsalInputs, registry: Registry, kind: Kind) -> str:
    """Install the packages of a folder by their names and run the consumers, as `latebind verify` does it.

    How many test cases passed. Raises NotRun when none ran, LatebindError when one failed.
    """
    if not has_program(inputs.config, kind):
        raise NotRun("not-built", "[verify] has no consumer of these packages")
    reports = inputs.folder / "reports"
    argv: list[str | Path] = [inputs.python, "-m", "latebind.cli", "-q", "-C", inputs.config.root]
    argv += ["--workdir", inputs.folder / "work", "verify", "--target", inputs.rid, "--dist", registry.place]
    argv += [word for name in COMPUTING for word in ("-k", f"{kind}/{inputs.rid}/*/{name}")] + ["--output", reports]
    ended = run(argv, check=False, timeout=_TIME_LIMIT, log=inputs.log)
    if not (reports / "verify.json").is_file():
        raise LatebindError(ended.output.strip() or "latebind verify wrote no report", where=str(inputs.log))
    cases = read_report(reports / "verify.json").cases
    failed = next((case for case in cases if case.outcome is State.FAILED), None)
    if failed is not None:
        raise LatebindError(f"{failed.id}: {failed.reason}", where=str(inputs.log))
    passed = [case for case in cases if case.outcome.is_pass]
    if not passed:
        raise NotRun(cases[0].reason, cases[0].summary or cases[0].reason)
    reasons = ", ".join(sorted({case.reason for case in cases if case.outcome is State.NOT_RUN}))
    left = f", {len(cases) - len(passed)} not run ({reasons})" if reasons else ""
    return f"{plural(len(passed), 'test case')} passed{left}"


def run_script(inputs: RehearsalInputs, argv: Sequence[str | Path], environment: dict[str, str]) -> str:
    """Run the project's consumer with the data of its first runtime; how many cases passed.

    Raises LatebindError when a case failed. If the project has a reference, only `latebind verify` can judge the cases
    that fail, so here as many as `at_least` must pass.
    """
    config = inputs.config
    runtime = next(iter(config.document.runtime), None)
    shared = Shared(
        root=config.root, verify=config.document.verify, folder=inputs.folder / "supply", installer=inputs.tool
    )
    settings, oldest = config.verification_of(runtime), runtime.minimum if runtime else ""
    data = shared.data(settings.data, oldest)
    result = inputs.folder / "result.json"
    several = ("--runtime", runtime.name) if runtime and len(config.document.runtime) > 1 else ()
    words = ("--cases", data, "--out", result, *several)
    ended = run([*argv, *words], cwd=inputs.folder, env=environment, check=False, timeout=_TIME_LIMIT, log=inputs.log)
    if not result.is_file():
        raise LatebindError(f"the consumer wrote no result:\n{ended.output.strip()}", where=str(inputs.log))
    read = read_result(result.read_bytes(), "the consumer")
    compared = config.document.verify.reference and ended.returncode in (ALL_PASSED, SOME_FAILED)
    if len(read.passed) < settings.count_required(oldest) or not (compared or ended.returncode == ALL_PASSED):
        why = read.message or "; ".join(f"{case.name}: {case.message}" for case in read.failed) or ended.output.strip()
        raise LatebindError(f"the consumer failed: {why}", where=str(inputs.log))
    others = f", {len(read.failed)} left to the reference" if read.failed else ""
    return f"{plural(len(read.passed), 'case')} passed{others}" + (
        f" with {runtime.name} {read.version}" if runtime else ""
    )
