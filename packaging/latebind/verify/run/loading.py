"""Loads each native library of installed packages in a program in C, on machines that run no runtime."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from latebind.backend.targets import target
from latebind.errors import NotRun
from latebind.model import Outcome, State
from latebind.system.limits import CASE_LIMITS
from latebind.system.run import run
from latebind.text import ending, plural
from latebind.verify.run.installers import clean_environment
from latebind.verify.run.machine import NOT_SUPPORTED
from latebind.verify.run.native import build_for
from latebind.verify.run.protocol import with_output
from latebind.verify.run.trial import Trial, failing_at
from loadcheck.facts import PEEK, read_images, sniff

_SOURCE = Path(__file__).parent.parent / "loading"
_MODULE = "PyInit_"
"""How the entry point of a Python module begins, which needs a Python to be loaded."""
_NAMES_AT_ONCE = 200
"""A command line of Windows has at most 32,767 characters."""


def load_libraries(trial: Trial, *folders: Path) -> Outcome:
    """Compile the program, and load each library of the packages in these folders in a process of its own.

    Raises NotRun without a library that such a program can load, and where the machine cannot run it.
    """
    rid = trial.case.target
    exports = {path: names for folder in folders for path, names in _list_libraries(folder)}
    if not exports:
        raise NotRun("not-built", f"the packages for {rid} have no library that a program in C can load")
    with failing_at("prepare"):
        platform = target(rid)
        floor, musl = trial.config.floor(platform), f"-DMUSL={int(platform.libc == 'musl')}"
        program = build_for(trial.machine, floor, _SOURCE, trial.work / "build", musl, log=trial.log)
    problems = [text for library, names in exports.items() for text in _load(trial, program, library, names)]
    facts = {"libraries": [path.relative_to(trial.work).as_posix() for path in exports], "machine": trial.machine.title}
    if problems:
        facts["phase"] = "load"
        return Outcome(case=trial.case, state=State.FAILED, reason="\n".join(problems), facts=facts)
    number = sum(map(len, exports.values()))
    libraries = "1 library loads and has its" if len(exports) == 1 else f"{len(exports)} libraries load and have their"
    summary = f"{libraries} {plural(number, 'export')} (by {trial.machine.title})"
    return Outcome(case=trial.case, state=State.PASSED, summary=summary, facts=facts)


def _list_libraries(folder: Path) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """The libraries in a folder, apart from Python modules, with the names that each exports."""
    for path in sorted(folder.rglob("*")):
        data = path.read_bytes() if path.is_file() else b""
        images = read_images(data, path.name) if sniff(data[:PEEK]) else ()
        names = {export.name for image in images for export in image.exports}
        if images and not any(name.startswith(_MODULE) for name in names):
            yield path, tuple(sorted(names))


def _load(trial: Trial, program: Path, library: Path, names: Sequence[str]) -> Iterator[str]:
    """What goes wrong with a library. Raises NotRun if the machine cannot run it."""
    for first in range(0, max(1, len(names)), _NAMES_AT_ONCE):
        argv = trial.machine.argv(program, library, *names[first : first + _NAMES_AT_ONCE])
        ended = run(argv, cwd=trial.work, env=clean_environment(), check=False, log=trial.log, limits=CASE_LIMITS)
        if ended.returncode == NOT_SUPPORTED:
            raise NotRun("not-emulated", with_output(f"{trial.machine.title} cannot load {library.name}", ended.output))
        if ended.returncode:
            yield with_output(f"{library.name}: the program in C {ending(ended.returncode)}", ended.output)
            return
        if ended.output.strip():
            yield with_output(f"{library.name} prints when it is loaded", ended.output)
            return
