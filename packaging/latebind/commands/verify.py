"""The commands `verify`, `gate` and `matrix`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from latebind.commands.common import (
    Add,
    add_machines,
    add_target,
    count,
    describe_dist,
    lock_project,
    new_folder,
    open_project,
)
from latebind.errors import LatebindError
from latebind.model import LEVELS
from latebind.text import plural
from loadcheck import fit_terminal

if TYPE_CHECKING:
    from latebind.config.project import Project
    from latebind.verify.choose import Request
    from latebind.verify.report.view import View

_FILES = {"json": "verify.json", "markdown": "verify.md", "junit": "verify.xml"}
"""The file of a report that has what a format shows."""


def declare_verify(add: Add) -> None:
    """`latebind verify`."""
    verify = add(
        "verify", _verify, "install the packages in clean environments, run your programs with them, and report"
    )
    verify.add_argument(
        "--all", action="store_true", dest="everything", help="test all targets, runtime versions and CPython versions"
    )
    verify.add_argument(
        "--prereleases",
        action="store_true",
        help="also test the newest pre-release of each runtime, if it is newer than the latest release",
    )
    verify.add_argument(
        "-k", dest="select", action="append", default=[], metavar="PATTERN",
        help="run only test cases whose ids match, such as win-x64 or 1.2*; !PATTERN leaves out matches; may be "
        "repeated",
    )  # fmt: skip
    verify.add_argument("--shard", default="1/1", metavar="I/N", help="run the I-th of N shares of the test cases")
    verify.add_argument("--list", action="store_true", help="list the test cases, including those that cannot run here")
    verify.add_argument("--dist", type=Path, metavar="DIR", help="verify the packages in DIR; pack nothing")
    add_machines(verify)
    add_target(verify, "this machine's; all with --all or --kit")
    verify.add_argument("--fresh", action="store_true", help="run every test case again, even those that passed before")
    verify.add_argument(
        "--jobs",
        type=count,
        default=0,
        metavar="N",
        help="number of test cases to run at once (default: the CPU count plus 1)",
    )
    verify.add_argument(
        "--format",
        choices=("text", *_FILES),
        default="text",
        help="format of the output (default: text)",
    )
    verify.add_argument(
        "--merge", type=Path, action="extend", nargs="+", default=[], metavar="REPORT",
        help="run nothing: merge the reports of several machines on the same packages, or the files that kits wrote",
    )  # fmt: skip
    verify.add_argument(
        "--kit",
        type=Path,
        metavar="DIR",
        help="run no test case: write a folder with which you verify the packages on another computer",
    )
    verify.add_argument("--output", type=new_folder, metavar="DIR", help="folder for the reports (default: reports/)")


def declare_gate(add: Add) -> None:
    """`latebind gate`."""
    gate = add("gate", _gate, "check that every required test case passed; print what to run for the others")
    gate.add_argument(
        "report", type=Path, nargs="?", metavar="REPORT.json", help="verification report (default: reports/verify.json)"
    )
    gate.add_argument(
        "--format", choices=("text", "json", "markdown"), default="text", help="format of the output (default: text)"
    )
    gate.add_argument("--level", choices=LEVELS, help="lowest level that counts as passed (default: verify.level)")


def declare_matrix(add: Add) -> None:
    """`latebind matrix`."""
    matrix = add("matrix", _matrix, "print the test cases as a matrix of GitHub Actions jobs, in JSON")
    matrix.add_argument(
        "--max-jobs",
        type=count,
        default=256,
        metavar="N",
        help="largest number of jobs (default: 256, which is GitHub's limit)",
    )
    matrix.add_argument(
        "--python",
        action="append",
        metavar="X.Y",
        help="Python version of the jobs (default: that of this Python); may be repeated",
    )
    add_target(matrix, "all of the project's")


def _verify(arguments: argparse.Namespace) -> int:
    _assert_used(arguments)
    if arguments.merge:
        return _merge(arguments)
    return lock_project(_write_kit if arguments.kit else _run)(arguments)


def _assert_used(arguments: argparse.Namespace) -> None:
    """Raises LatebindError for options that would have no effect with another one."""
    chosen = {
        "--all": arguments.everything, "--prereleases": arguments.prereleases,
        "-k": arguments.select, "--shard": arguments.shard != "1/1",
        "--list": arguments.list, "--dist": arguments.dist, "--machines": arguments.machines,
        "--fresh": arguments.fresh, "--jobs": arguments.jobs, "--target": arguments.target, "--kit": arguments.kit,
    }  # fmt: skip
    written = {"--format": arguments.format != "text", "--output": arguments.output}
    local = {name: chosen[name] for name in ("--list", "--machines", "--fresh", "--jobs", "--shard")}
    useless = {"--merge": chosen, "--kit": {**local, **written}, "--list": written}
    only = next((option for option in useless if getattr(arguments, option.removeprefix("--"))), "")
    vain = [name for name, value in useless.get(only, {}).items() if value]
    if vain:
        raise LatebindError(f"{', '.join(vain)} would have no effect with {only}", advice="Leave one of them out.")


def _run(arguments: argparse.Namespace, project: Project) -> int:
    from latebind.verify.choose import choose_cases, list_cases
    from latebind.verify.report.data import read_log
    from latebind.verify.report.render import write_reports
    from latebind.verify.runner import verify

    request = _read_request(arguments, project)
    if arguments.list:
        print(list_cases(choose_cases(project, request)))
        return 0
    report = verify(project, request, arguments.dist)
    output = arguments.output or project.reports
    view, texts = write_reports(report, output, lambda result: read_log(project.verification, result))
    if arguments.format == "text":
        view = _leave_out_old_news(view, project.verification / "news.txt")
    _show(view, texts, arguments.format, output)
    return report.exit_status


def _write_kit(arguments: argparse.Namespace, project: Project) -> int:
    from latebind.preconditions import refuse_missing
    from latebind.verify.cases.select import check_patterns
    from latebind.verify.kit import write_kit
    from latebind.verify.packages import find_packages

    options = [*(["--all"] if arguments.everything else []), *(["--prereleases"] if arguments.prereleases else [])]
    options += [f"-k={pattern}" for pattern in check_patterns(arguments.select)]
    config = project.config
    rids = config.choose_targets(arguments.target or ["all"])
    refuse_missing(config.file, config.document.verify.list_scripts())
    artifacts, source = find_packages(project, rids, arguments.dist)
    write_kit(project, artifacts, arguments.kit, source, options)
    print(
        f"{arguments.kit}: {plural(len(artifacts), 'package')}\n"
        "  Run verify.sh or verify.ps1 of this folder on the other computer, then here: latebind verify --merge "
        "results-*.zip"
    )
    return 0


def _read_request(arguments: argparse.Namespace, project: Project) -> Request:
    """What the options ask for. Raises LatebindError for values that cannot be used."""
    from latebind.verify.cases.select import check_patterns, read_shard
    from latebind.verify.choose import Request
    from latebind.verify.run.machine import machines, machines_folder

    targets = arguments.target or (["all"] if arguments.everything else None)
    return Request(
        rids=tuple(project.config.choose_targets(targets)),
        everything=arguments.everything,
        prereleases=arguments.prereleases,
        patterns=check_patterns(arguments.select),
        shard=read_shard(arguments.shard),
        jobs=arguments.jobs or (os.cpu_count() or 1) + 1,  # one of them waits for the disk or the index
        fresh=arguments.fresh,
        machines=machines(machines_folder(arguments.machines, project.workdir)),
    )


def _merge(arguments: argparse.Namespace) -> int:
    from latebind.config.project import find_project
    from latebind.verify.report.merge import merge_files
    from latebind.verify.report.render import write_reports

    merged, log_of = merge_files(arguments.merge)
    folder = arguments.output or find_project(arguments.project, arguments.workdir)[1] / "reports"
    _show(*write_reports(merged, folder, log_of), arguments.format, folder)
    return merged.exit_status


def _show(view: View, texts: Mapping[str, str], form: str, folder: Path) -> None:
    """Print a report in a form; `texts` are those of its files."""
    from latebind.verify.report.render import report_text, show_path
    from latebind.verify.report.view import LOOKS

    page, colors = folder / "verify.html", {look.mark: look.color for look in LOOKS.values()}
    links = {show_path(page): page.resolve().as_uri()}
    text = fit_terminal(report_text(view, folder), colors, links) if form == "text" else texts[_FILES[form]]
    print(text.removesuffix("\n"))


def _leave_out_old_news(view: View, told: Path) -> View:
    """A terminal shows news once; `told` is the file of what earlier runs had as news."""
    old = told.read_text("utf-8").splitlines() if told.is_file() else []
    told.write_text("".join(f"{line}\n" for line in dict.fromkeys((*old, *view.news))), encoding="utf-8")
    return replace(view, news=tuple(line for line in view.news if line not in old))


def _gate(arguments: argparse.Namespace) -> int:
    from latebind.verify.report.data import read_report
    from latebind.verify.report.gate import GATE_RENDERERS, judge_gate, list_package_files

    project = open_project(arguments)
    report = read_report(arguments.report or project.reports / "verify.json")
    describe_dist(project)
    packages = list_package_files(project.dist) if project.dist.is_dir() else ()
    gate = judge_gate(project.config, report, arguments.level, packages)
    print(GATE_RENDERERS[arguments.format](gate), end="")
    return gate.exit_status


def _matrix(arguments: argparse.Namespace) -> int:
    from latebind.verify.cases.select import matrix, matrix_json

    config = open_project(arguments).config
    rids = config.choose_targets(arguments.target or ["all"])
    pythons = arguments.python or [f"{sys.version_info.major}.{sys.version_info.minor}"]
    print(matrix_json(matrix(config, rids, pythons, arguments.max_jobs)), end="")
    return 0
