"""The command `rehearse`."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from latebind.commands.common import Add, add_format, add_target, lock_project, print_json
from latebind.errors import LatebindError
from latebind.text import plural, printable

if TYPE_CHECKING:
    from latebind.config.project import Project
    from latebind.rehearse.steps import Rehearsing, StepResult


def declare_rehearse(add: Add) -> None:
    """`latebind rehearse`."""
    text = "go through a whole release on this machine: tag, workflow, local registries, installation, verification"
    rehearsal = add("rehearse", lock_project(_rehearse), text)
    rehearsal.add_argument("--tag", default="", metavar="TAG", help="tag of the release (default: v and the version)")
    rehearsal.add_argument(
        "--release", type=Path, metavar="FOLDER", help="begin with this release folder; run no workflow"
    )
    rehearsal.add_argument(
        "--dry-run",
        action="store_true",
        help="continue if the changelog lacks the version, or something else prevents publishing",
    )
    add_target(rehearsal)
    add_format(rehearsal)


def _rehearse(arguments: argparse.Namespace, project: Project) -> int:
    if find_spec("yaml") is None:
        raise LatebindError(
            "PyYAML, which reads workflows, is not installed", advice='Run: pip install "latebind[verify]"'
        )
    from latebind.rehearse.steps import NOT_RUN, Rehearsing, rehearse

    if arguments.release and (arguments.target or arguments.tag):
        raise LatebindError("--target and --tag have no effect with --release", advice="Leave them out.")
    config, is_json = project.config, arguments.format == "json"
    state = Rehearsing(
        config=config,
        folder=project.workdir / "build" / "rehearse",
        rids=tuple(config.choose_targets(arguments.target)),
        tag=arguments.tag or f"v{config.project.version}",
        release=arguments.release.resolve() if arguments.release else None,
        dry_run=arguments.dry_run,
    )
    started, left_out = time.monotonic(), state.left_out
    results = rehearse(state, (lambda _: None) if is_json else _show)
    if is_json:
        print_json([asdict(result) for result in results])
        return 0
    left = sum(result.outcome == NOT_RUN for result in results)
    passed, seconds = plural(len(results) - left, "part"), time.monotonic() - started
    print(f"{passed} of the release passed, {left} not run, {seconds:.0f} s")
    for line in summarize(state, left_out):
        print(printable(line))
    return 0


def summarize(state: Rehearsing, left_out: Sequence[str]) -> Iterator[str]:
    """What is there now, what nobody tried, and what to do next."""
    yield f"The downloads are in {state.downloads}, the logs in {state.folder}."
    if state.release:
        return
    if left_out:
        yield f"Not rehearsed: {', '.join(left_out)}. The release workflow verifies these on other machines."
    if state.is_blocked:
        yield "This release may not be published: see the gate above."
    elif not state.dry_run:
        yield f"Next: git tag {state.tag} && git push origin {state.tag}"


def _show(result: StepResult) -> None:
    detail = f"  {result.detail}" if result.detail else ""
    name = f"{result.step} {result.part}"
    print(printable(f"{result.outcome:8} {name}{detail}  {result.seconds:.1f} s").replace("\n", " "), flush=True)
