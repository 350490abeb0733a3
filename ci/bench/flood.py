"""Times the first call of a stub below a folder that another user has filled, next to the same call before.

    python ci/bench/flood.py [--rounds N] [--write]

Needs Linux and root, who makes the files of two users. The kinds of files are those of tests/loader/test_flood.py.
"""

from __future__ import annotations

import os
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from measure import ROOT, claim, machine, options, show, spread, write

sys.path.insert(0, str(ROOT))
from tests.loader.places import USER, make_site
from tests.loader.test_flood import BOUND, FLOODS, install, measure
from tests.support.building import build_programs

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.loader.places import Site
    from tests.support.building import Programs


def take(programs: Programs, flood: Callable[[Site], None], rounds: int) -> dict[str, float]:
    """Milliseconds of the processor that the files add to a first call."""
    with make_site(programs) as site:
        library = install(site, flood)
        before = [measure(site, library, USER)[0] for _ in range(rounds + 1)][1:]
        flood(site)
        after = [measure(site, library, USER)[0] for _ in range(rounds + 1)][1:]
    return spread(1000 * (there - here) for here, there in zip(before, after, strict=True))


def main() -> None:
    """Measure, print, and keep the result when asked to."""
    arguments = options(__doc__, 15)
    if sys.platform != "linux" or os.geteuid() != 0:
        print("not run: only root on Linux can make files of several users")
        return
    before = machine()
    with tempfile.TemporaryDirectory() as work:
        Path(work).chmod(0o755)  # another user runs the programs
        programs = build_programs(Path(work), "")
        claims = [
            claim(f"{flood.__name__.replace('_', ' ')}, ms", 1000 * BOUND, take(programs, flood, arguments.rounds))
            for flood in FLOODS
        ]
    show(claims)
    if arguments.write:
        write("flood", {"machine": before, "versions": {"latebind": version("latebind")}, "claims": claims})


if __name__ == "__main__":
    main()
