"""The command `doctor`."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

from latebind.commands.common import add_format, add_machines, print_json

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from latebind.commands.common import Add
    from latebind.doctor import Row


def declare_doctor(add: Add) -> None:
    """`latebind doctor`."""
    doctor = add("doctor", _doctor, "what this machine can build and run, and how to install what is missing")
    add_machines(doctor)
    add_format(doctor)


def _doctor(arguments: argparse.Namespace) -> int:
    from latebind.doctor import examine
    from latebind.verify.cases.machine import machines, machines_folder

    workdir = (arguments.workdir or arguments.project).resolve()
    findings = examine(machines(machines_folder(arguments.machines, workdir)))
    if arguments.format == "json":
        print_json([asdict(finding) for finding in findings])
        return _status(findings)
    width = max(len(finding.what) for finding in findings)
    for finding in findings:
        print(f"{'yes' if finding.there else 'no ':3}  {finding.what:{width}}  {finding.detail}")
        if finding.cure:
            print(f"     {'':{width}}  {finding.cure}")
    if _status(findings):
        print('latebind: nothing can be built here; run: pip install "latebind[native]"', file=sys.stderr)
    return _status(findings)


def _status(findings: Sequence[Row]) -> int:
    """1 when no target can be built, so that scripts notice."""
    return int(not any(finding.builds for finding in findings))
