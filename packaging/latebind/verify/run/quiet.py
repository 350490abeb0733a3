"""Whether the libraries of the packages do nothing when they are loaded: each is loaded alone, in a process of its own.

A library is loaded wherever some package needs it, so what it does then is done to every host. No consumer notices a
line on its output, a signal taken over, or a process ended with status 0 before anything was computed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from latebind.system.archive import ZipReader
from latebind.system.limits import Limits
from latebind.system.run import run
from latebind.verify.plan.installers import consumer_environment

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from latebind.model import Artifact
    from latebind.verify.run.environment import Environment

_PROGRAM = Path(__file__).with_name("inside") / "onload.py"
_LIMITS = Limits(seconds=60, memory=2 * 1024**3, processes=16)
_SUFFIXES = (".so", ".dylib", ".dll")
_SHOWN = 200


def disturbances(environment: Environment, wheels: Iterable[Artifact], home: Path, log: Path) -> list[str]:
    """What the installed libraries of the wheels do when they are loaded, a sentence each; [] when they do nothing."""
    return [problem for library in _libraries(environment.site, wheels)
            for problem in _of(library, environment, home, log)]  # fmt: skip


def _of(library: Path, environment: Environment, home: Path, log: Path) -> Iterator[str]:
    out = home / "changed.json"
    out.unlink(missing_ok=True)
    ended = run(
        [environment.python, "-I", _PROGRAM, out, library],
        cwd=home,
        env=consumer_environment(environment.python, home),
        check=False,
        log=log,
        limits=_LIMITS,
    )
    if ended.output.strip():
        yield f"{library.name} prints when it is loaded: {ended.output.strip()[:_SHOWN]}"
    if not out.is_file():
        yield f"{library.name} ends the process with status {ended.returncode} when it is loaded"
        return
    yield from (f"{library.name} changes {what} when it is loaded" for what in json.loads(out.read_bytes()))


def _libraries(site: Path, wheels: Iterable[Artifact]) -> Iterator[Path]:
    for wheel in wheels:
        with ZipReader(wheel.path) as archive:
            names = [row.name for row in archive.members if row.name.endswith(_SUFFIXES) or ".so." in row.name]
        yield from (site / name for name in sorted(names))
