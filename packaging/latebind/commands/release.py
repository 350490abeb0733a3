"""The command `release`: arguments, one call, printing; decides nothing."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from latebind.commands.common import Add, add_format, new_folder, open_project, print_json
from latebind.errors import LatebindError
from latebind.system.log import LOG
from latebind.text import plural, printable

if TYPE_CHECKING:
    from latebind.release.check import Checked
    from latebind.release.contradictions import Contradiction
    from latebind.release.derive import Derived


def declare_release(add: Add) -> None:
    """`latebind release`."""
    release = add(
        "release",
        _release,
        "make a release folder with packages, checksums, SBOMs, reports and API changes, or check one",
    )
    what = release.add_mutually_exclusive_group()
    what.add_argument(
        "--output",
        type=new_folder,
        metavar="DIR",
        help="make the release in this folder; replaces a release of the same version (default: out/VERSION, with "
        "--dry-run out/dry-run)",
    )
    what.add_argument("--check", type=Path, metavar="FOLDER", help="check an existing release, offline")
    release.add_argument(
        "--dry-run",
        action="store_true",
        help="make the folder even if the gate failed, list what prevents publishing, and exit with 1 if anything does",
    )
    release.add_argument("--dist", type=Path, metavar="DIR", help="folder of the packages (default: dist/)")
    release.add_argument(
        "--report", type=Path, metavar="FILE", help="verification report (default: reports/verify.json)"
    )
    release.add_argument(
        "--changelog", type=Path, metavar="FILE", help="changelog (default: CHANGELOG.md of the project)"
    )
    release.add_argument(
        "--previous", type=Path, metavar="PATH", help="the last release, or its api.json, to compare the API with"
    )
    release.add_argument(
        "--tag",
        metavar="TAG",
        help="tag that the version and the commit must match (default: the tag of the GitHub Actions run)",
    )
    release.add_argument(
        "--publishable", action="store_true", help="with --check: also fail if anything prevents publishing"
    )
    add_format(release)


def _release(arguments: argparse.Namespace) -> int:
    return _check(arguments) if arguments.check else _make(arguments)


def _make(arguments: argparse.Namespace) -> int:
    """Make a folder; 1 for a dry run with blockers, which would not be a release."""
    from latebind.release.make import ReleaseInputs, make_release
    from latebind.release.tag import list_tags, read_tag
    from latebind.system.git import source_commit, tagged_commit

    if arguments.publishable:
        raise LatebindError("--publishable has no effect without --check", advice="Leave it out.")
    project = open_project(arguments)
    config = project.config
    output = arguments.output or project.workdir / "out" / ("dry-run" if arguments.dry_run else config.project.version)
    tag = read_tag(arguments.tag)
    if tag is not None:
        tag = replace(tag, commit=tagged_commit(config.root, tag.name) or tag.commit)
    near = [folder / "CHANGELOG.md" for folder in (config.root, project.workdir)]
    sources = ReleaseInputs(
        project=project,
        dist=arguments.dist or project.dist,
        report=arguments.report or project.reports / "verify.json",
        changelog=arguments.changelog or next((file for file in near if file.is_file()), near[0]),
        previous=arguments.previous,
        commit=source_commit(config.file),
        tag=tag,
        tags=list_tags(config.root, config.project.name, config.project.version, tag.name if tag else ""),
    )
    derived = make_release(sources, output.resolve(), dry_run=arguments.dry_run)
    _show(arguments.format, derived)
    LOG.say(f"the release is in {output}")
    return int(bool(derived.blockers))


def _check(arguments: argparse.Namespace) -> int:
    from latebind.release.check import check_release
    from latebind.release.tag import read_tag

    options = {"--dist": arguments.dist, "--report": arguments.report, "--changelog": arguments.changelog,
             "--previous": arguments.previous, "--dry-run": arguments.dry_run}  # fmt: skip
    vain = [name for name, value in options.items() if value]
    if vain:
        raise LatebindError(
            f"{', '.join(vain)} would have no effect with --check", advice=f"Leave out {', '.join(vain)}."
        )
    tag = read_tag(arguments.tag) if arguments.publishable or arguments.tag is not None else None
    checked: Checked = check_release(arguments.check, tag)
    _show(arguments.format, checked.release, checked.problems, checked.notes)
    shut = arguments.publishable and checked.release is not None and bool(checked.release.blockers)
    return int(bool(checked.problems) or shut)


def _show(
    form: str, derived: Derived | None, problems: Sequence[Contradiction] = (), notes: Sequence[str] = ()
) -> None:
    from latebind.verify.report.gate import group_blockers

    blockers = derived.blockers if derived else ()
    if form == "json":
        blocked = list(map(asdict, blockers))
        document = {"problems": list(map(asdict, problems)), "blocked": blocked, "notes": list(notes)}
        print_json(document)
        return
    for problem in problems:
        print(_entry(problem.file, problem.why, problem.fix))
    for blocker in group_blockers(blockers):
        print(_entry(f"blocked: {blocker.subject}", blocker.why, blocker.fix))
    for note in notes:
        print(printable(note))
    if derived is not None:
        named = derived.config.project
        state = "not publishable" if blockers or problems else "publishable"
        print(printable(f"{named.name} {named.version}: ") + f"{plural(len(derived.packages), 'package')}, "
              f"{plural(len(problems), 'problem')}, {plural(len(blockers), 'blocker')}: {state}")  # fmt: skip


def _entry(subject: str, why: str, fix: str) -> str:
    """A problem or a blocker, whose name must not look like another line."""
    return printable(subject.replace("\n", "\\n") + f": {why}\n  {fix}")
