"""Runs an execution provider's test case with a host in C: it registers the provider, computes, releases all, and ends.

The host is compiled by this machine's compiler or by zig, and opens the installed runtime by its path.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from latebind.backend.targets import target
from latebind.ecosystems.wheel.consumer import wheels_of
from latebind.ecosystems.wheel.environment import Installed, make_environment
from latebind.errors import InputError
from latebind.model import Outcome, State
from latebind.system.resources import folder
from latebind.text import ending, is_crash
from latebind.verify.run.installers import clean_environment
from latebind.verify.run.judge import judge_program
from latebind.verify.run.native import build_for
from latebind.verify.run.protocol import run_consumer, with_output
from latebind.verify.run.trial import Trial, failing_at
from loadcheck.facts import PEEK, read_images, sniff

if TYPE_CHECKING:
    from latebind.config.plugin import EpConfig

_SOURCE = Path(__file__).with_name("host")
_ADVICE = (
    "A provider must not use ONNX Runtime after ReleaseEpFactory(): release everything and end all threads there. "
    "Exit handlers and destructors of static objects run after the runtime has been released."
)
_FILLED = {"MALLOC_PERTURB_": "165"}
"""glibc then overwrites what is freed, so that using it afterwards crashes and does not depend on chance."""


def run_host_case(trial: Trial) -> Outcome:
    """Install, compile, and run the host once for each execution provider of the project.

    Raises NotRun when the test case cannot be tried here, LatebindError when something other than the packages failed.
    """
    wheels = wheels_of(trial)
    with failing_at("prepare"):
        rid = trial.case.target
        include = f"-DLATEBIND_INCLUDE={folder('loader') / 'include'}"
        floor = trial.config.floor(target(rid))
        program = build_for(trial.machine, floor, _SOURCE, trial.work / "host", include, log=trial.log)
    with failing_at("install"):
        ready = make_environment(trial, wheels)
    outcome = Outcome(case=trial.case, state=State.PASSED)
    providers = {name: package.ep for name, package in trial.config.packages.items() if package.ep is not None}
    for package, ep in providers.items():
        outcome = _run_provider(trial, ready, program, package, ep)
        if outcome.state is not State.PASSED:
            break
    return outcome


def _run_provider(trial: Trial, ready: Installed, program: Path, package: str, ep: EpConfig) -> Outcome:
    """One provider in a process of its own. Raises NotRun without a device for it, PhaseError without a result."""
    library = _library_in(ready.environment.site / trial.config.module_name(package), ep.exports[0])
    result = ready.answers / "result.json"
    ended = run_consumer(
        [program, ready.library, library, ep.names[0], result, *ep.names],
        name=f"the host in C, with {library.name},",
        result=result,
        cwd=ready.home,
        env={**clean_environment(), **_FILLED, **trial.situation.environment},
        log=trial.log,
        advice=_ADVICE,
    )
    if is_crash(ended.status):  # after the result
        reason = with_output(f"the host in C {ending(ended.status)} after it had released the runtime", ended.output)
        facts = {"phase": "load"}
        return Outcome(case=trial.case, state=State.FAILED, reason=f"{reason}\n{_ADVICE}", facts=facts)
    return judge_program(trial, ended, ready.library)


def _library_in(module: Path, entry: str) -> Path:
    """The library of a module that exports a provider's entry point. Raises InputError when there is none."""
    for path in sorted(module.iterdir()) if module.is_dir() else ():
        data = path.read_bytes() if path.is_file() else b""
        images = read_images(data, path.name) if sniff(data[:PEEK]) else ()
        if any(export.name == entry for image in images for export in image.exports):
            return path
    raise InputError(f"no library exports {entry}", where=os.fspath(module))


HOSTS = (run_host_case,)
