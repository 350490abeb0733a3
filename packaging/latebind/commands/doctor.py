"""The command `doctor`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from latebind.commands.common import Add, add_format, add_machines, print_json
from latebind.commands.problems import print_error
from loadcheck import fit_terminal

if TYPE_CHECKING:
    from latebind.doctor import Row


def declare_doctor(add: Add) -> None:
    """`latebind doctor`."""
    doctor = add("doctor", _doctor, "show what this machine can build and run, and how to install what is missing")
    doctor.add_argument(
        "--message", metavar="TEXT", help="explain a loader's error message and how to fix it, then exit"
    )
    add_machines(doctor)
    add_format(doctor)


def _doctor(arguments: argparse.Namespace) -> int:
    if arguments.message is not None:
        return _explain(arguments.message, arguments.format)
    from latebind.doctor import examine
    from latebind.verify.run.machine import machines, machines_folder

    workdir = (arguments.workdir or arguments.project).resolve()
    findings = examine(machines(machines_folder(arguments.machines, workdir)))
    if arguments.format == "json":
        print_json([asdict(finding) for finding in findings])
        return _status(findings)
    print(fit_terminal("\n".join(_describe(findings))))
    if _status(findings):
        print_error("nothing can be built here", 'Run: pip install "latebind[native]"')
    return _status(findings)


def _explain(message: str, output: str) -> int:
    """Print the section that fits a message; 1 when none does."""
    from latebind.tables.messages import PAGE, find_section

    section = find_section(message)
    if section is None:
        print_error("no section explains this message", f"Look for its words in {PAGE}.")
        return 1
    if output == "json":
        print_json(asdict(section) | {"address": section.address})
    else:
        print(fit_terminal(section.text()))
    return 0


def _describe(findings: Sequence[Row]) -> Iterator[str]:
    """What works, then what is missing and how to get it, each piece of advice once."""
    width = max(len(finding.what) for finding in findings)
    tools = [finding for finding in findings if not finding.is_target]
    built = [finding.what for finding in findings if finding.builds]
    yield "works:"
    yield from (f"  {tool.what:{width}}  {tool.detail}" for tool in tools if tool.there)
    yield f"  {'builds for':{width}}  {', '.join(built) or 'no target'}"
    yield from (
        f"  {'runs':{width}}  {finding.what}: {finding.detail}"
        for finding in findings
        if finding.is_target and finding.there
    )
    missing = [tool for tool in tools if not tool.there]
    if missing:
        yield "missing:"
    for tool in missing:
        yield f"  {tool.what:{width}}  {tool.detail}"
        yield from [f"  {'':{width}}  {tool.fix}"] if tool.fix else []
    not_run: dict[str, list[str]] = {}
    for finding in findings:
        if finding.is_target and not finding.there:
            not_run.setdefault(finding.fix, []).append(finding.what)
    if not_run:
        yield "targets whose packages do not run here:"
    for fix, names in not_run.items():
        yield from (f"  {', '.join(names)}", f"    {fix}")


def _status(findings: Sequence[Row]) -> int:
    """1 when no target can be built, so that scripts notice."""
    return int(not any(finding.builds for finding in findings))
