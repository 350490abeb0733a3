"""Whether the machines of other targets answer, asked once before their cells; judges no package."""

from __future__ import annotations

from typing import TYPE_CHECKING

from latebind.errors import NotRun, ToolError
from latebind.system.parallel import each
from latebind.system.run import run
from latebind.verify.plan.installers import consumer_environment

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from latebind.model import Rid
    from latebind.verify.plan.machine import Machine

_TIME_LIMIT = 120.0
_PROBE = "import sys; print('%d.%d.%d' % sys.version_info[:3])"
_ADVICE = "Mend its file, or make it again: python ci/machines.py DEST."


def silent(machines: Iterable[Machine], home: Path) -> Mapping[Rid, NotRun]:
    """Why machines cannot be used, by target: their Python does not start, or is not the one that the file promises.

    An emulator that was removed would make all of its cells fail, and say nothing of the packages.
    """
    rows = tuple(machines)
    answers = each(lambda machine: _trouble(machine, home), rows)
    return {row.rid: trouble for row, trouble in zip(rows, answers, strict=True) if trouble is not None}


def _trouble(machine: Machine, home: Path) -> NotRun | None:
    argv = machine.argv(machine.python, "-I", "-c", _PROBE)
    try:
        output = run(argv, cwd=home, env=consumer_environment(machine.python, home), timeout=_TIME_LIMIT).output
    except ToolError as error:
        return NotRun("no-machine", f"{machine.title} does not run: {error.message}", advice=_ADVICE)
    said = output.split()
    if machine.python_version in said:  # among what an emulator notes of itself
        return None
    text = (
        f"{machine.title} has CPython {' '.join(said)[-200:] or 'nothing'}, and its file says {machine.python_version}"
    )
    return NotRun("no-machine", text, advice=_ADVICE)
