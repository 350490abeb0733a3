"""Keeps which version of a runtime passed on which target: `python -m ci.gen.verified REPORT` writes verified.json.

The report is the verify.json of this command, with the machines of `python -m ci.machines FOLDER`:

    latebind -C latenn verify --all --machines FOLDER -k 'wheel/*/python3.11/*/works' -k 'sdk/*/sdk-cmake/*/consumed'
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from latebind.model import State
from latebind.verify.report.data import Report, read_report

_FILE = Path(__file__).with_name("verified.json")
TITLES = {"onnxruntime": "ONNX Runtime", "openvino": "OpenVINO", "ai-edge-litert": "LiteRT"}
"""The runtimes, by their distribution."""
_BEST = (State.PASSED, State.EMULATED, State.GLUE, State.NOT_RUN)
"""Outcomes, the best first: of several test cases for a version and a target, it counts."""


def read_verified() -> dict[tuple[str, str], dict[str, State]]:
    """The outcomes by target, by runtime and version."""
    return {
        (row["runtime"], row["version"]): {rid: State(outcome) for rid, outcome in row["outcomes"].items()}
        for row in json.loads(_FILE.read_text("utf-8"))["rows"]
    }


def list_outcomes(report: Report) -> dict[tuple[str, str], dict[str, State]]:
    """What a report says of each version and target. Raises ValueError for a test case that failed."""
    found: dict[tuple[str, str], dict[str, State]] = {}
    for case in report.cases:
        if case.outcome not in _BEST:
            raise ValueError(f"{case.id} failed: fix it, and verify again")
        runtime = "onnxruntime" if case.runtime == "stand-in" else case.runtime
        if runtime in TITLES:
            outcomes = found.setdefault((runtime, ".".join(case.version.split(".")[:2])), {})
            outcomes[case.target] = min(case.outcome, outcomes.get(case.target, _BEST[-1]), key=_BEST.index)
    known = [key for key, outcomes in found.items() if {*outcomes.values()} & {*_BEST[:2]}]  # stand-ins go further
    order = sorted(known, key=lambda key: (list(TITLES).index(key[0]), [*map(int, key[1].split("."))]))
    return {key: found[key] for key in order}


def main() -> None:
    """Write what a report says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", type=Path)
    report = read_report(parser.parse_args().report)
    rows = [
        {"runtime": runtime, "version": version, "outcomes": {rid: state.value for rid, state in outcomes.items()}}
        for (runtime, version), outcomes in list_outcomes(report).items()
    ]
    lines = ",\n".join(map(json.dumps, rows))
    _FILE.write_text(f'{{"date": "{report.source.date}", "rows": [\n{lines}\n]}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
