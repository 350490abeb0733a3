"""Times what every use of latebind begins with: `import latebind`, and `latebind --help`.

    python ci/bench/startup.py [--rounds N] [--write]

The import is what `python -X importtime` reports it, including everything that it imports. The help is a whole process,
next to one of the same Python that does nothing.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from measure import Sample, claim, in_turn, machine, options, run, show, spread, summary, write

if TYPE_CHECKING:
    from collections.abc import Callable

_LIMITS = {"import": 100.0, "help": 150.0}


def imported() -> float:
    """Milliseconds of `import latebind`."""
    command = [sys.executable, "-X", "importtime", "-c", "import latebind"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    (last,) = re.findall(r"\| +(\d+) \| latebind$", told, re.MULTILINE)
    return int(last) / 1000


def command() -> list[str | Path]:
    """The installed program; without one, what it calls."""
    beside = Path(sys.executable).with_name("latebind")
    program = str(beside) if beside.is_file() else shutil.which("latebind")
    return [program] if program else [sys.executable, "-m", "latebind.cli"]


def main() -> None:
    """Measure, print, and keep the result when asked to."""
    arguments = options(__doc__, 15)
    before = machine()
    program = command()
    contenders: dict[str, Callable[[], Sample]] = {
        "latebind --help": lambda: run([*program, "--help"]),
        "Python alone": lambda: run([sys.executable, "-c", "pass"]),
    }
    for go in contenders.values():  # once, so that all is in the system's cache
        go()
    samples = in_turn(contenders, arguments.rounds)
    imports = [imported() for _ in range(arguments.rounds)]
    helps = [row.wall * 1000 for row in samples["latebind --help"]]
    claims = [
        claim("time of import latebind, ms", _LIMITS["import"], spread(imports, 1)),
        claim("time of latebind --help, ms", _LIMITS["help"], spread(helps, 1)),
    ]
    show(claims)
    if arguments.write:
        versions = {"latebind": version("latebind")}
        write("startup", {"machine": before, "versions": versions, "contenders": summary(samples), "claims": claims})


if __name__ == "__main__":
    main()
