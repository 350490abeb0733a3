"""The GitHub action of action.yml: an audit of what its inputs name, with annotations and the job's summary.

    python -m latebind.action

Inputs are variables, AUDIT_PATHS and others. The exit status is the audit's.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from pathlib import Path

from latebind.cli import main as run_command


def main() -> int:
    """Audit what the inputs name."""
    paths = [line.strip() for line in os.environ.get("AUDIT_PATHS", "dist").splitlines() if line.strip()]
    presets = [option for name in os.environ.get("AUDIT_PRESET", "").split() for option in ("--preset", name)]
    project = os.environ.get("AUDIT_PROJECT", "")
    profile = os.environ.get("AUDIT_PROFILE", "")
    audit = [*(["-C", project] if project else []), "audit", "--resolve", *paths, *presets]
    audit += ["--profile", profile] if profile else []
    status = run_command([*audit, "--format", "github"])
    for variable, form in (("GITHUB_STEP_SUMMARY", "markdown"), ("AUDIT_SARIF", "sarif")):
        if file := os.environ.get(variable):
            with contextlib.redirect_stdout(io.StringIO()) as report:
                run_command([*audit, "--format", form])
            with Path(file).open("a" if form == "markdown" else "w", encoding="utf-8", newline="\n") as stream:
                stream.write(report.getvalue())
    return status


if __name__ == "__main__":
    sys.exit(main())
