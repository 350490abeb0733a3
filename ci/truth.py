"""Audits pinned wheels of other projects, and writes docs/truth.md or compares it with what it finds.

    python ci/truth.py             audit the pinned wheels; write docs/truth.md, and details to reports/truth.json
    python ci/truth.py --check     audit them; write nothing, and fail when docs/truth.md is out of step
    python ci/truth.py --confirm   run the commands of the evidence again

Wheels (0.4 GB) are downloaded into LATEBIND_BENCH_CACHE. Exit status: 0 all in step, 1 not.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from itertools import groupby
from typing import TYPE_CHECKING, Any

import evidence
import pinned
import truth_page
from latebind.audit.audit import audit_paths
from latebind.system.archive import write_text
from packaging.utils import parse_wheel_filename

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from latebind.model import Finding

# Cargo's folder of a package index is called after its host and a hash: noise in a table.
_CARGO_INDEX = re.compile(r"[\w.-]+-[0-9a-f]{16}(?=[\\/])")
_WEIGHT = ("error", "warning", "note")
_SYSTEMS = (("win", "Windows"), ("macosx", "macOS"), ("manylinux", "Linux"))


def main() -> int:
    """Write, check or confirm."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail when docs/truth.md is out of step")
    parser.add_argument("--confirm", action="store_true", help="run the commands of the evidence again")
    arguments = parser.parse_args()
    wheels = pinned.wheels(truth_page.WHEELS)
    if arguments.confirm:
        return _confirm(wheels)
    document = audited(wheels)
    page = truth_page.render(document)
    if arguments.check:
        if page != truth_page.PAGE.read_text("utf-8"):
            return _report(["docs/truth.md is out of step: run python ci/truth.py, and look at what changed"])
    else:
        (truth_page.ROOT / "reports").mkdir(exist_ok=True)
        write_text(
            truth_page.ROOT / "reports" / "truth.json", json.dumps(document, indent=1, ensure_ascii=False) + "\n"
        )
        write_text(truth_page.PAGE, page)
    return _report(evidence.gaps(document, evidence.rows()))


def audited(wheels: Sequence[Path]) -> dict[str, Any]:
    """The verdicts about each wheel, audited alone as its user would, by name of the file."""
    return {"wheels": [_wheel(path) for path in wheels]}


def _wheel(path: Path) -> dict[str, Any]:
    project, version, _, tags = parse_wheel_filename(path.name)
    platform = min(tag.platform for tag in tags)
    findings = sorted(audit_paths([path]).findings, key=lambda row: row.code)
    return {
        "project": str(project),
        "version": str(version),
        "system": next(system for start, system in _SYSTEMS if platform.startswith(start)),
        "file": path.name,
        "sha256": pinned.pins(truth_page.WHEELS)[path.name],
        "verdicts": [_verdict(code, rows) for code, rows in groupby(findings, key=lambda row: row.code)],
    }


def _verdict(code: str, rows: Iterable[Finding]) -> dict[str, Any]:
    """A code with how often it was found, and the first of the weightiest findings."""
    found = sorted(rows, key=lambda row: (_WEIGHT.index(row.severity), row.subject, row.message))
    counts = {severity: sum(row.severity == severity for row in found) for severity in _WEIGHT}
    return {
        "code": code,
        "counts": {severity: count for severity, count in counts.items() if count},
        "subject": found[0].subject.partition("!")[2],
        "message": _CARGO_INDEX.sub("...", found[0].message),
    }


def _confirm(wheels: Sequence[Path]) -> int:
    found = evidence.rows()
    wrong, missing = evidence.confirm(found, wheels)
    for text in missing:
        print(f"not run: {text}")
    print(f"{len(found) - len(missing)} of {len(found)} commands were run, {len(wrong)} outputs are not as recorded")
    return _report(wrong)


def _report(problems: Sequence[str]) -> int:
    for text in problems:
        print(text)
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
