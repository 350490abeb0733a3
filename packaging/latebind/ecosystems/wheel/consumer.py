"""Runs a wheel's test case: a clean environment, the project's Python consumer in it, the judgement."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
from packaging.specifiers import InvalidSpecifier, SpecifierSet

from latebind.config.config import Config
from latebind.config.runtime import RuntimeUse
from latebind.ecosystems.wheel.environment import (
    Installed,
    disturbances,
    is_left_out,
    keep_compiled,
    make_environment,
    upgrade,
)
from latebind.ecosystems.wheel.files import wheels_for, wheels_on
from latebind.ecosystems.wheel.layouts import Start, start_consumer
from latebind.ecosystems.wheel.sdist import run_sdist_case
from latebind.errors import ANY_ERROR, InputError, NotRun
from latebind.model import Artifact, Outcome, State
from latebind.system.decoding import DECODE_ERRORS
from latebind.text import ending
from latebind.verify.cases.scenarios import LOADER, PIP
from latebind.verify.declared import PYTHON, Consumer
from latebind.verify.run.access import NOBODY, assert_reached, is_root
from latebind.verify.run.installers import consumer_environment
from latebind.verify.run.judge import expect, judge
from latebind.verify.run.loading import load_libraries
from latebind.verify.run.protocol import ConsumerRun, SeenProcess, run_consumer
from latebind.verify.run.trial import Trial, failing_at
from loadcheck.facts import ZipReader, read_metadata

_ECOSYSTEMS = Path(__file__).parent.parent
DRIVER = Path(__file__).with_name("inside") / "driver.py"


def run_python_case(trial: Trial) -> Outcome:
    """Install, run and judge.

    Raises NotRun when the test case cannot be tried here, LatebindError when something other than the packages failed.
    """
    wheels = wheels_of(trial)
    _check_main(trial)
    if trial.situation.unprivileged and is_root():  # root becomes another user, who must reach what the consumer needs
        assert_reached(trial.work / "env", _script(trial), DRIVER)
    chosen = [wheel for wheel in wheels if not is_left_out(trial, wheel)]
    with failing_at("install"):
        ready = make_environment(trial, chosen)
    if trial.situation.first:
        outcome = _judge_consumer(trial, ready, binds=(trial.situation.first,))
        if outcome.state is not State.PASSED:
            return outcome
        with failing_at("install"):
            upgrade(trial, ready)
    return _quiet(trial, ready, _judge_consumer(trial, ready, binds=trial.binds()))


def run_loader_case(trial: Trial) -> Outcome:
    """Install the wheels as the installer does for the target, and load their libraries.

    Raises NotRun without a wheel, and as load_libraries() does.
    """
    wheels = wheels_on(trial.case.target, trial.artifacts)
    if not wheels:
        raise NotRun("not-built", f"there is no wheel for {trial.case.target}")
    site = trial.work / "site"
    with failing_at("install"):
        for wheel in wheels:
            trial.shared.installer.unpack(str(wheel.path), site, trial.case.target, trial.log)
    return load_libraries(trial, site)


def wheels_of(trial: Trial) -> list[Artifact]:
    """The project's wheels for the target. Raises NotRun when one was not made, or the machine cannot try them."""
    if not (trial.machine.is_host or trial.scenario.emulated):
        raise NotRun("not-emulated", f"{trial.machine.title} cannot run the test case")
    if trial.machine.is_host and trial.scenario.sandboxed:
        raise NotRun("no-sandbox", "the test case would change this machine, so it runs only on an emulated machine")
    wheels = wheels_for(trial.case.target, trial.artifacts, trial.case.consumer.removeprefix(PYTHON))
    wheel_packages = (name for name, package in trial.config.packages.items() if package.wheel is not None)
    if len(wheels) < sum(not trial.config.explain_not_made(name, trial.case.target) for name in wheel_packages):
        raise NotRun("not-built", "not every wheel of the project was made")
    for wheel in wheels:
        _refuse_python(trial, wheel)
    return wheels


def _read_requires_python(wheel: Path) -> SpecifierSet:
    """Requires-Python of a wheel; empty where it has none or is damaged, which the installer reports."""
    try:
        with ZipReader(wheel) as archive:
            names = [member.name for member in archive.members if member.name.endswith(".dist-info/METADATA")]
            fields = read_metadata(archive.read(names[0]), names[0]) if names else {}
        return SpecifierSet(next(iter(fields.get("requires_python", ())), ""))
    except (*ANY_ERROR, InvalidSpecifier):
        return SpecifierSet()


def _refuse_python(trial: Trial, wheel: Artifact) -> None:
    """Raises NotRun `no-interpreter` for a wheel whose Requires-Python excludes the machine's CPython."""
    version = trial.interpreters[0].version if trial.machine.is_host else trial.machine.python_version
    admitted = _read_requires_python(wheel.path)
    if not admitted.contains(version, prereleases=True):
        raise NotRun(
            "no-interpreter", f"the wheel has Requires-Python {admitted}, but the machine has CPython {version}"
        )


def _script(trial: Trial) -> Path:
    if trial.scenario.script:
        return _ECOSYSTEMS / trial.scenario.script
    return trial.config.root / trial.config.document.verify.python


def _check_main(trial: Trial) -> None:
    """Some scenarios call the script's main(arguments). Raises NotRun when it has none."""
    if not set(trial.situation.action) & {"--threads", "--fork", "--spawn"}:
        return
    script = _script(trial)
    try:
        statements = ast.parse(script.read_bytes()).body
    except SyntaxError:  # the consumer itself will report it
        return
    if not any(
        isinstance(statement, ast.FunctionDef) and statement.name == "main" and statement.args.args
        for statement in statements
    ):
        raise NotRun("no-main", f"{script.name} has no main(arguments)")


def _quiet(trial: Trial, ready: Installed, outcome: Outcome) -> Outcome:
    """The outcome, failed when a library does something as soon as it is loaded."""
    if not trial.scenario.loads_alone or not trial.machine.is_host:
        return outcome
    with failing_at("load"):
        disturbed = disturbances(ready, trial.log)
    if not disturbed:
        return outcome
    reason = "\n".join(filter(None, [*disturbed, outcome.reason]))
    return replace(outcome, state=State.FAILED, reason=reason, summary="", facts={**outcome.facts, "phase": "load"})


def _judge_consumer(trial: Trial, ready: Installed, *, binds: tuple[str, ...]) -> Outcome:
    with failing_at("install"):
        start = start_consumer(trial, ready.environment, _script(trial))
    ended, process = _run_consumer(trial, ready, start)
    expectation = replace(
        expect(trial, ended, ready.library, ready.environment.root, *trial.situation.roots, *start.roots),
        binds=tuple(map(trial.shorten, binds)),
        base=ready.prefix,
        runtime=trial.bound_runtime.traits.file_globs if trial.bound_runtime else (),
    )
    outcome = judge(trial.case, expectation, ended, process)
    if trial.machine.is_host or outcome.state is not State.PASSED:
        return outcome
    # Nobody may take an emulator for the system itself.
    title = trial.machine.title
    return replace(outcome, summary=f"{outcome.summary} (by {title})", facts={**outcome.facts, "machine": title})


def _run_consumer(trial: Trial, ready: Installed, start: Start) -> tuple[ConsumerRun, SeenProcess | None]:
    """Run the consumer, and read what it and the driver wrote."""
    script, path, environment, situation = _script(trial), trial.machine.path, ready.environment, trial.situation
    out, seen = ready.answers / "result.json", ready.answers / "seen.json"
    seen.unlink(missing_ok=True)
    arguments = ["--cases", path(trial.data()), "--out", path(out), *trial.consumer_words()]
    if start.program:
        argv: Sequence[str | Path] = [start.program, *arguments]
    else:
        driver = ["--seen", path(seen)]
        driver += [word for folder in start.folders for word in ("--site", path(folder))]
        driver += ["--read-only", path(environment.site)] if situation.unprivileged else []
        runs = [start.archive, path(DRIVER)] if start.archive else [path(DRIVER)]
        argv = trial.machine.argv(
            environment.python, start.flag, *runs, *driver, *situation.action, "--", path(script), *arguments
        )
    ended = run_consumer(
        argv,
        name=Path(trial.scenario.script).name or trial.config.document.verify.python,
        result=out,
        cwd=ready.home,
        env={**consumer_environment(environment.python, ready.home), **situation.environment, **start.variables},
        log=trial.log,
        user=NOBODY if situation.unprivileged and is_root() else None,
        advice=trial.crash_advice,
        machine=trial.machine,
    )
    keep_compiled(trial, ready)
    libraries = tuple(str(trial.machine.local(name)) for name in ended.result.libraries)
    ended = replace(ended, result=msgspec.structs.replace(ended.result, libraries=libraries))
    with failing_at("load"):
        return ended, None if start.program else _read_seen(trial, seen, ended.status)


def _read_seen(trial: Trial, path: Path, status: int) -> SeenProcess:
    """What the driver wrote, by our names of files. Raises InputError when it wrote nothing."""
    try:
        seen = msgspec.json.decode(path.read_bytes(), type=SeenProcess)
    except (OSError, *DECODE_ERRORS) as error:
        raise InputError(
            f"the consumer's process {ending(status)} before its libraries could be listed",
            where=str(_script(trial)),
            advice="End the script with sys.exit(status), not with os._exit() or by a signal.",
        ) from error
    search_path, libraries = (
        tuple(str(trial.machine.local(name)) for name in names) for names in (seen.path, seen.libraries)
    )
    return msgspec.structs.replace(seen, path=search_path, libraries=libraries)


def _find_install_words(config: Config, package: str, runtime: RuntimeUse) -> tuple[str, str]:
    supply = runtime.traits.python
    wheel = config.packages[package].wheel
    if runtime.drop_in:
        oldest = supply.oldest_of(supply.distribution, runtime.minimum)
        return "pip install", f'pip install "{supply.distribution}>={oldest}"'
    if wheel is not None and wheel.runtime == "required":
        return "pip install", f"pip install {supply.distribution}"
    return "pip install", f'pip install "{config.wheel_name(package)}[{supply.extra}]"'


CONSUMERS = (
    Consumer(
        names=(PYTHON,),
        kind="wheel",
        run=run_python_case,
        has_interpreters=True,
        finds_any=True,
        table="wheel",
        program="python",
        find_runtime=lambda runtime: runtime.traits.python.distribution,
        find_install_words=_find_install_words,
    ),
    Consumer(
        names=(LOADER,),
        kind="wheel",
        run=run_loader_case,
        is_cross_built=True,
        table="wheel",
        find_runtime=lambda _runtime: "",
    ),
    Consumer(
        names=(PIP,),
        kind="sdist",
        run=run_sdist_case,
        table="wheel",
        suits=lambda config, _runtime: bool(config.sdist_sources),
        find_runtime=lambda _runtime: "",
    ),
)
