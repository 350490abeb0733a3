"""Breaks latenn's packages on purpose after the build, in many ways, and says which layer catches each.

    python -m tests.support.broken.sabotage              try every way
    python -m tests.support.broken.sabotage --only NAME  try one; may be given several times
    python -m tests.support.broken.sabotage --write      also write tests/support/broken/caught.toml

Layers are the audit, and an installation, a load and an inference in a clean environment; all of them are run, also
when an earlier one objects. What belongs to a target whose programs do not run here can be caught by the audit alone.
Exit status: 0 every way was caught, and the packages as they were built by nothing; 1 not.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import TYPE_CHECKING

from ci.gen import sabotage_page
from latebind.backend.files import write_text
from latebind.config.file import load
from latebind.system.run import run
from tests.support.broken.layers import CONSUMERS, run_layers
from tests.support.broken.table import CONTROL, WAYS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.support.broken.layers import Caught
    from tests.support.broken.packages import Way

LATENN = sabotage_page.ROOT / "latenn"
SCRATCH = sabotage_page.ROOT / ".latebind" / "sabotage"


def main() -> int:
    """Try, tell, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=[way.name for way in WAYS], metavar="NAME", default=[])
    parser.add_argument("--write", action="store_true", help="also keep the results, of which the site makes a page")
    arguments = parser.parse_args()
    good = pack_latenn(SCRATCH)
    results = {way.name: try_way(way, good) for way in WAYS if not arguments.only or way.name in arguments.only}
    harmless = {result.name for result in WAYS if result.is_hygiene} | {CONTROL.name}
    missed = [name for name, result in results.items() if bool(result.layers) == (name in harmless)]
    if arguments.write:
        write_text(sabotage_page.RESULT, document(results))
    print(f"{len(results) - len(missed)} of {len(results)} as they should be{''.join(f', not {n}' for n in missed)}")
    return int(bool(missed))


def pack_latenn(scratch: Path) -> Path:
    """The folder with latenn's packages for all targets; what is unchanged is not made again."""
    argv: list[str | Path] = [sys.executable, "-m", "latebind.cli", "-q", "-C", LATENN, "--workdir", scratch]
    run([*argv, "pack", "--target", "all"], timeout=3600)
    return scratch / "dist"


def try_way(way: Way, good: Path) -> Caught:
    """Try one way and print the result at once."""
    started = time.monotonic()
    caught = run_layers(way, good, SCRATCH, load(LATENN / "latebind.toml"))
    codes = " ".join(f"{code} {severity}" for code, severity in caught.audit.items()) or "nothing"
    stages = ", ".join(f"{kind} {stage}" for kind, stage in zip(CONSUMERS, caught.runs, strict=True))
    print(f"{way.name:24} audit {codes}; {stages}  {time.monotonic() - started:.1f} s", flush=True)
    return caught


def document(results: Mapping[str, Caught]) -> str:
    """The table as TOML: these results, and the rows that are there of ways that were not tried."""
    measured = {**sabotage_page.read_measurements(), **results}
    return sabotage_page.table_text({way.name: measured[way.name] for way in WAYS if way.name in measured})


if __name__ == "__main__":
    sys.exit(main())
