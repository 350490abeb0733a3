"""Runs jobs of latebind's own workflows here, without GitHub.

python -m ci.local_workflow packages build verify gate [--matrix target=linux-x64] [--files FOLDER]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from latebind.rehearse.workflow import WorkflowError, WorkflowRun

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).resolve().parent.parent


def read_defaults(document: Mapping[Any, Any]) -> dict[str, str]:
    """The inputs of its callers. YAML 1.1 reads the key `on` as true."""
    events = document.get(True)
    called = [entry or {} for entry in events.values()] if isinstance(events, dict) else []
    inputs = {name: entry.get("default", "") for event in called for name, entry in event.get("inputs", {}).items()}
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in inputs.items()}


def main(argv: list[str] | None = None) -> int:
    """Run some jobs in order."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workflow", help="a file's name in .github/workflows, without .yml")
    parser.add_argument("jobs", nargs="+")
    parser.add_argument("--matrix", action="append", default=[], metavar="KEY=VALUE", help="only these instances")
    parser.add_argument("--input", action="append", default=[], metavar="KEY=VALUE", help="of the workflow")
    parser.add_argument("--files", type=Path, help="what jobs hand on; by default .latebind/workflow")
    arguments = parser.parse_args(argv)
    chosen, inputs = (dict(text.split("=", 1) for text in texts) for texts in (arguments.matrix, arguments.input))
    files = arguments.files or ROOT / ".latebind" / "workflow"
    files.mkdir(parents=True, exist_ok=True)
    document = yaml.safe_load((ROOT / ".github/workflows" / f"{arguments.workflow}.yml").read_text("utf-8"))
    run = WorkflowRun(document, files, ROOT, inputs={**read_defaults(document), **inputs})
    try:
        for job in arguments.jobs:
            run.run_job(job, chosen)
    except WorkflowError as error:
        sys.exit(error.message)
    return 0


if __name__ == "__main__":
    sys.exit(main())
