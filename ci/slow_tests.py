"""Writes tests/slow.txt, the tests that the session `tests` leaves to `full`, from measured times.

    python3 noxfile.py -s full -- -m "not emulated and not workflows" --junitxml=reports/tests.xml
    python -m ci.slow_tests reports/tests.xml

The slowest tests go into the list until the others take at most --seconds on one processor.
"""

from __future__ import annotations

import argparse
import ast
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from defusedxml import ElementTree

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "tests" / "slow.txt"
_HEAD = "# Tests that take long, measured: written by ci/slow_tests.py. A line is a module or a function of one.\n"


def main() -> int:
    """Read the report and write the list."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", type=Path, help="a JUnit report of pytest")
    parser.add_argument("--seconds", type=float, default=420, help="what the quick tests may take on one processor")
    arguments = parser.parse_args()
    chosen = slow(measure_tests(arguments.report), arguments.seconds)
    TABLE.write_text(_HEAD + "".join(f"{name}\n" for name in chosen), encoding="utf-8")
    print(f"written: {TABLE.relative_to(ROOT)}, {len(chosen)} lines")
    return 0


def measure_tests(report: Path) -> Counter[str]:
    """Seconds of each test function, all its cases together, by `tests/test_a.py::test_b`."""
    seconds: Counter[str] = Counter()
    for case in ElementTree.parse(report).iter("testcase"):
        module = case.get("classname", "").replace(".", "/") + ".py"
        seconds[f"{module}::{case.get('name', '').partition('[')[0]}"] += float(case.get("time", 0))  # type: ignore[assignment]
    return seconds


def slow(times: Counter[str], seconds: float) -> list[str]:
    """The functions to leave out, the slowest first until the rest takes `seconds`; whole modules where all are."""
    rest = sum(times.values())
    chosen = []
    for name, taken in times.most_common():
        if rest <= seconds:
            break
        chosen.append(name)
        rest -= taken
    modules, left_out = (Counter(name.partition("::")[0] for name in names) for names in (times, chosen))
    modules_left_out = {module for module, count in left_out.items() if count == modules[module]}
    return sorted(modules_left_out | {name for name in chosen if name.partition("::")[0] not in modules_left_out})


def find_gone(lines: Iterable[str], root: Path) -> list[str]:
    """The lines of the list whose module, or the function in it, is no longer there: renamed tests are quick again."""
    return [line for line in lines if not line.startswith("#") and not _exists(line, root)]


def _exists(line: str, root: Path) -> bool:
    module, _, name = line.partition("::")
    if not (root / module).is_file():
        return False
    nodes = ast.parse((root / module).read_text("utf-8")).body
    return not name or name in {node.name for node in nodes if isinstance(node, ast.FunctionDef)}


if __name__ == "__main__":
    raise SystemExit(main())
