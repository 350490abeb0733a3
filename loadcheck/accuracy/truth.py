"""Audits pinned wheels of other projects, and writes docs/truth.md or compares it with what it finds.

    python -m accuracy.truth             audit the pinned wheels; write docs/truth.md, and details to reports/truth.json
    python -m accuracy.truth --check     audit them; write nothing, and fail when docs/truth.md is out of step
    python -m accuracy.truth --confirm   audit them, and confirm every finding with other tools (evidence.py)

Wheels (0.4 GB) are downloaded into LATEBIND_BENCH_CACHE. Exit status: 0 all in step, 1 not.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from accuracy import downloads, evidence
from packaging.utils import parse_wheel_filename

from loadcheck.archive import write_text
from loadcheck.audit import audit_paths

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from loadcheck.model import Finding

HERE = Path(__file__).resolve().parent
WHEELS = HERE / "wheels.toml"
PAGE = HERE.parent / "docs" / "truth.md"
# Cargo's folder of a package index is called after its host and a hash: noise in a table.
_CARGO_INDEX = re.compile(r"[\w.-]+-[0-9a-f]{16}(?=[\\/])")
_MARKS = {"error": "**", "warning": "", "note": "*"}
_WEIGHT = tuple(_MARKS)
_SYSTEMS = {"manylinux": "Linux", "macosx": "macOS", "win": "Windows"}
_INTRODUCTION = """# Published packages, audited

What `latebind audit` finds in [pinned wheels](../accuracy/wheels.toml) of other projects, with all presets of
runtimes. A finding means that the wheel breaks a rule, not that it fails for everybody. Other tools such as readelf
[confirm](../accuracy/evidence.py) every finding. Errors are **bold**, warnings plain, notes in *italics*.
"""


def main() -> int:
    """Write, check or confirm."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail when docs/truth.md is out of step")
    parser.add_argument("--confirm", action="store_true", help="confirm every finding with other tools")
    arguments = parser.parse_args()
    wheels = [downloads.find_pinned(name, digest) for name, digest in sorted(_table_of("wheels").items())]
    if arguments.confirm:
        return confirm(wheels)
    document = {"wheels": [_wheel(path) for path in wheels]}
    page = render(document)
    if arguments.check:
        if page != PAGE.read_text("utf-8"):
            return _report(["docs/truth.md is out of step: run python -m accuracy.truth, and look at what changed"])
    else:
        Path("reports").mkdir(exist_ok=True)
        text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
        write_text(Path("reports", "truth.json"), text)
        write_text(PAGE, page)
    return _report(gaps(document))


def _table_of(name: str) -> Mapping[str, str]:
    table: Mapping[str, str] = msgspec.toml.decode(WHEELS.read_bytes())[name]
    return table


def confirm(wheels: Sequence[Path]) -> int:
    """Audit the wheels and run the commands that confirm the findings; a missing tool counts as a failure."""
    wrong, count = [], 0
    for path in wheels:
        try:
            results = list(evidence.confirm(path, _system(path).lower(), audit_paths([path])))
        except evidence.MissingError as error:
            results = [(path.name, str(error))]
        count += len(results)
        wrong += [f"{title}: {problem}" for title, problem in results if problem]
    print(f"{count - len(wrong)} of {count} statements are confirmed")
    return _report(wrong)


def gaps(document: Mapping[str, Any]) -> list[str]:
    """Verdicts that no command would confirm, each in one sentence."""
    return [
        f"{wheel['file']}: no command in accuracy/evidence.py confirms {code}"
        for wheel in document["wheels"]
        for code in evidence.list_unproved(wheel["system"].lower(), [verdict["code"] for verdict in wheel["verdicts"]])
    ]


def _wheel(path: Path) -> dict[str, Any]:
    """The verdicts about a wheel, audited alone as its user would."""
    project, version, _, _ = parse_wheel_filename(path.name)
    findings = sorted(audit_paths([path]).findings, key=lambda finding: finding.code)
    return {
        "project": str(project),
        "version": str(version),
        "system": _system(path),
        "file": path.name,
        "sha256": _table_of("wheels")[path.name],
        "verdicts": [_verdict(code, group) for code, group in groupby(findings, key=lambda finding: finding.code)],
    }


def _system(path: Path) -> str:
    platform = min(tag.platform for tag in parse_wheel_filename(path.name)[3])
    return next(system for start, system in _SYSTEMS.items() if platform.startswith(start))


def _verdict(code: str, findings: Iterable[Finding]) -> dict[str, Any]:
    """A code with how often it was found, and the first of the weightiest findings."""
    ordered = sorted(findings, key=lambda finding: (_WEIGHT.index(finding.severity), finding.subject, finding.message))
    counts = {severity: sum(finding.severity == severity for finding in ordered) for severity in _WEIGHT}
    return {
        "code": code,
        "counts": {severity: count for severity, count in counts.items() if count},
        "subject": ordered[0].subject.partition("!")[2],
        "message": _CARGO_INDEX.sub("...", ordered[0].message),
    }


def render(document: Mapping[str, Any]) -> str:
    """The page of these verdicts."""
    wheels: Sequence[Mapping[str, Any]] = document["wheels"]
    remarks = _table_of("remarks")
    projects = sorted({wheel["project"] for wheel in wheels})
    by_project = {(wheel["project"], wheel["system"]): wheel for wheel in wheels}
    rows = [
        (name, *(_field(by_project.get((name, system))) for system in _SYSTEMS.values()), remarks.get(name, ""))
        for name in projects
    ]
    return f"{_INTRODUCTION}\n{_table(('project', *_SYSTEMS.values(), 'note'), rows)}"


def _field(wheel: Mapping[str, Any] | None) -> str:
    if wheel is None:
        return "no wheel"
    codes = sorted((_WEIGHT.index(next(iter(verdict["counts"]))), verdict["code"]) for verdict in wheel["verdicts"])
    marked = (f"{_MARKS[_WEIGHT[weight]]}{code}{_MARKS[_WEIGHT[weight]]}" for weight, code in codes)
    return " ".join(marked) or "nothing"


def _table(head: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *body]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _report(problems: Sequence[str]) -> int:
    for text in problems:
        print(text)
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
