"""Runs a wheel's cell: a clean environment, the wheels of dist/ by hash, the index's runtime, the consumer."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from latebind.errors import InputError, LatebindError, NotRun
from latebind.filenames import distribution
from latebind.model import Outcome, State
from latebind.plan import unsupplied
from latebind.system.archive import ZipReader, sha256
from latebind.system.limits import CELL_LIMITS
from latebind.system.run import run
from latebind.verify.dist import wheels_for
from latebind.verify.plan.installers import consumer_environment
from latebind.verify.plan.interpreters import choose
from latebind.verify.run import frozen
from latebind.verify.run.access import NOBODY, assert_reached, hand_over, is_root, lock
from latebind.verify.run.environment import Environment, empty_environment
from latebind.verify.run.judge import Seen, judge, read_python
from latebind.verify.run.quiet import disturbances
from latebind.verify.run.stage import failing_at
from latebind.verify.run.supply import runtime_libraries

if TYPE_CHECKING:
    from collections.abc import Sequence

    from latebind.model import Artifact
    from latebind.verify.plan.machine import Machine
    from latebind.verify.run.bench import Bench
    from latebind.verify.run.judge import Smoke

DRIVER = Path(__file__).with_name("inside") / "driver.py"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ready:
    """An environment with everything in it, and where the consumer runs."""

    environment: Environment
    home: Path
    answers: Path
    """Where the consumer writes."""
    prefix: str
    """Where the interpreter's own files lie."""
    installed: str
    """The runtime's installed library, as the consumer's system names it; "" without one."""


def run_python_cell(bench: Bench) -> Outcome:
    """Install, run and judge.

    Raises NotRun when the cell cannot be tried here, LatebindError when something other than the packages failed.
    """
    if not (bench.machine.is_host or bench.scenario.emulated):
        raise NotRun("not-emulated", f"{bench.machine.title} cannot hold it")
    if bench.machine.is_host and bench.scenario.sandboxed:
        raise NotRun("no-sandbox", "it would change this very machine")
    wheels = wheels_for(bench.cell.target, bench.artifacts)
    if len(wheels) < _wheels_due(bench):
        raise NotRun("not-built", "not every wheel of the project was made")
    _check_main(bench)
    _check_access(bench)
    chosen = [wheel for wheel in wheels if not _left_out(bench, wheel)]
    situation = bench.situation
    with failing_at("install"):
        ready = _installed(bench, chosen)
    if situation.first:
        smoke, seen = _consumed(bench, ready)
        outcome = _judged(bench, ready, smoke, seen, binds=(situation.first,))
        if outcome.state is not State.PASSED:
            return outcome
        with failing_at("install"):
            _upgrade(bench, ready)
    smoke, seen = _consumed(bench, ready)
    outcome = _judged(bench, ready, smoke, seen, binds=bench.binds())
    return _quiet(bench, ready, chosen, outcome)


def _wheels_due(bench: Bench) -> int:
    """How many wheels of the project there must be for the cell's target."""
    made = (name for name, package in bench.config.packages.items() if package.wheel is not None)
    return sum(not unsupplied(bench.config, name, bench.cell.target) for name in made)


def _quiet(bench: Bench, ready: _Ready, wheels: list[Artifact], outcome: Outcome) -> Outcome:
    """The outcome, failed when a library does something as soon as it is loaded."""
    if bench.cell.scenario != "works" or not bench.machine.is_host:
        return outcome
    with failing_at("load"):
        found = disturbances(ready.environment, wheels, ready.home, bench.log)
    if not found:
        return outcome
    reason = "\n".join(filter(None, [*found, outcome.reason]))
    return replace(outcome, state=State.FAILED, reason=reason, summary="", facts={**outcome.facts, "stage": "load"})


def _installed(bench: Bench, wheels: list[Artifact]) -> _Ready:
    situation = bench.situation
    python = choose(bench.interpreters, public=situation.unprivileged and is_root(),
                    shared=situation.layout == "frozen")  # fmt: skip
    home, answers = bench.work / "home", bench.work / "answers"
    for folder in (home, answers):
        folder.mkdir(parents=True, exist_ok=True)
    machine = bench.machine
    if machine.is_host:
        machine = replace(machine, python=python.path, python_version=python.version)
    tool, folder = bench.supply.installer_for(machine), bench.work / situation.folder
    environment = empty_environment(tool, machine, folder, target=situation.layout == "target", log=bench.log)
    names = [name for package in bench.config.packages if (name := bench.config.wheel_name(package))]
    wanted = _wanted(bench, wheels, [(name, bench.config.project.version) for name in names])
    _fill(bench, environment, wanted, wheels, names)
    _assert_installed(environment.site, wheels)
    library = _spoiled(bench, environment)
    if situation.unprivileged:
        lock(environment.root)
        hand_over(home, answers)
    prefix = python.prefix if machine.is_host else str(machine.base)
    return _Ready(environment=environment, home=home, answers=answers, prefix=prefix, installed=library)


def _fill(bench: Bench, environment: Environment, wanted: list[str], wheels: list[Artifact], names: list[str]) -> None:
    """Install what is wanted.

    Raises NotRun `no-distribution` when the index lacks what the cell needs besides the packages, LatebindError when
    it has all of that: then it is the packages that ask for something that nobody has, and the cell has failed.
    """
    try:
        environment.install(wanted, links=_links(bench, wheels), ours=names, log=bench.log)
    except NotRun as error:
        if error.reason != "no-distribution":
            raise
        environment.install(_besides(bench), log=bench.log)
        raise LatebindError(f"the packages cannot be installed with what the index has: {error.message}") from error


def _check_main(bench: Bench) -> None:
    """Some scenarios call the script's main(arguments). Raises NotRun when it has none."""
    if not set(bench.situation.action) & {"--threads", "--fork", "--spawn"}:
        return
    script = bench.config.root / bench.config.document.verify.python
    try:
        rows = ast.parse(script.read_bytes()).body
    except SyntaxError:  # the consumer itself will say it
        return
    if not any(isinstance(row, ast.FunctionDef) and row.name == "main" and row.args.args for row in rows):
        raise NotRun("no-main", f"{script.name} has no main(arguments)")


def _check_access(bench: Bench) -> None:
    """Root becomes somebody else for some scenarios, who must reach what the cell is about. Raises NotRun."""
    if not (bench.situation.unprivileged and is_root()):
        return
    assert_reached(bench.work / "env", bench.config.root / bench.config.document.verify.python, DRIVER)


def _left_out(bench: Bench, wheel: Artifact) -> bool:
    """Whether a wheel is not installed: another that binds a runtime could take the place of the missing one."""
    if not bench.situation.without:
        return False
    binding = [name for name in bench.config.packages if bench.config.runtime_of(name) is not None]
    return any(wheel.path.name.startswith(f"{distribution(bench.config, name)}-") for name in binding)


def _spoiled(bench: Bench, environment: Environment) -> str:
    """Do to the installed runtime what the scenario says; return its file's name there."""
    if bench.use is None or not bench.cell.version or bench.scenario.versions == "below":
        return ""
    libraries = runtime_libraries(bench.use, environment.site, bench.cell.target)
    situation = bench.situation
    for library in libraries if situation.spoil is not None or situation.unreadable else ():
        data = library.read_bytes()
        library.unlink()  # it may be a link into the installer's cache
        library.write_bytes(situation.spoil(data) if situation.spoil is not None else data)
        if situation.unreadable:
            library.chmod(0)
    return bench.machine.path(libraries[0])


def _upgrade(bench: Bench, ready: _Ready) -> None:
    ready.environment.install([f"{bench.cell.runtime}=={bench.cell.version}"], log=bench.log)


def _wanted(bench: Bench, wheels: list[Artifact], ours: list[tuple[str, str]]) -> list[str]:
    """What the installer is told: files of dist/ by path, the runtime by name; or only what a user would type."""
    if bench.cell.scenario == "extra" and bench.use is not None:
        extra = bench.use.known.python.extra
        # The version keeps an index's package of the same name out; a user would not write it.
        return [
            f"{name}[{extra}]=={version}" if name == bench.config.wheel_name(bench.package) else f"{name}=={version}"
            for name, version in ours
        ]
    return [*(str(wheel.path) for wheel in wheels), *_besides(bench)]


def _besides(bench: Bench) -> list[str]:
    """What a cell needs beside the packages: the runtime, and what its consumer requires. All of it has a name."""
    version = bench.situation.first or bench.cell.version
    runtime = [f"{bench.cell.runtime}=={version}"] if version else []
    return [*runtime, *bench.config.document.verify.python_requires, *bench.situation.also]


def _links(bench: Bench, wheels: list[Artifact]) -> Path | None:
    return wheels[0].path.parent if bench.cell.scenario == "extra" else None


def _consumed(bench: Bench, ready: _Ready) -> tuple[Smoke, Seen | None]:
    """Run the consumer and read what it wrote, and what the driver saw."""
    script = bench.config.root / bench.config.document.verify.python
    path, environment, situation = bench.machine.path, ready.environment, bench.situation
    out, seen = ready.answers / "result.json", ready.answers / "seen.json"
    for answer in (out, seen):
        answer.unlink(missing_ok=True)
    words = ["--cases", path(bench.data()), "--out", path(out), *bench.consumer_words()]
    if situation.layout == "frozen":
        program = frozen.freeze(bench, environment, script)
        argv: Sequence[str | Path] = [program, *words]
    else:
        driver = ["--seen", path(seen)]
        driver += ["--site", path(environment.site)] if environment.packages else []
        driver += ["--read-only", path(environment.site)] if situation.unprivileged else []
        argv = bench.machine.argv(
            environment.python, "-I", path(DRIVER), *driver, *situation.action, "--", path(script), *words
        )
    with failing_at("load"):
        ended = run(
            argv,
            cwd=ready.home,
            env={**consumer_environment(environment.python, ready.home), **situation.environment},
            check=False,
            log=bench.log,
            limits=CELL_LIMITS,
            user=NOBODY if situation.unprivileged and is_root() else None,
        )
        try:
            smoke = read_python(ended.returncode, ended.output, out.read_bytes())
        except OSError as error:
            told = f"the consumer ended with status {ended.returncode} and wrote no result: {ended.output[-2000:]}"
            raise InputError(told, where=str(script)) from error
        smoke = replace(smoke, libraries=tuple(str(bench.machine.local(name)) for name in smoke.libraries))
        return smoke, None if situation.layout == "frozen" else _seen(seen, script, bench.machine)


def _seen(path: Path, script: Path, machine: Machine) -> Seen:
    """What the driver wrote, by our names of files.

    Raises InputError when it wrote nothing: then nobody knows what was mapped.
    """
    try:
        seen = msgspec.json.decode(path.read_bytes(), type=Seen)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(
            "the consumer's process ended before it could be seen what it had mapped",
            where=str(script),
            advice="End the script with sys.exit(status), not with os._exit() or by a signal.",
        ) from error
    places, libraries = (tuple(str(machine.local(name)) for name in names) for names in (seen.path, seen.libraries))
    return msgspec.structs.replace(seen, path=places, libraries=libraries)


def _judged(bench: Bench, ready: _Ready, smoke: Smoke, seen: Seen | None, *, binds: tuple[str, ...]) -> Outcome:
    outcome = judge(
        bench.cell,
        bench.scenario,
        smoke,
        (str(root) for root in (ready.environment.root, *bench.situation.roots)),
        values=bench.values(ready.installed),
        reference=bench.reference(),
        at_least=bench.at_least(),
        binds=binds,
        seen=seen,
        base=ready.prefix,
        runtime=bench.use.known.file_globs if bench.use else (),
    )
    if bench.machine.is_host or outcome.state is not State.PASSED:
        return outcome
    # Nobody may take an emulator for the system itself.
    title = bench.machine.title
    return replace(outcome, summary=f"{outcome.summary} (by {title})", facts={**outcome.facts, "machine": title})


def _assert_installed(site: Path, wheels: list[Artifact]) -> None:
    """Every file of our wheels lies in the environment with the very bytes of dist/, whose hashes are the report's."""
    for wheel in wheels:
        if sha256(wheel.path) != wheel.sha256:
            raise LatebindError(f"{wheel.path.name} changed while it was verified", advice="Run the command again.")
        with ZipReader(wheel.path) as archive:
            for member in archive.members:
                installed = site / member.name
                # The installer writes RECORD anew.
                if member.name.endswith("/RECORD") or member.is_folder:
                    continue
                if not installed.is_file() or installed.read_bytes() != archive.read(member.name):
                    raise LatebindError(f"{installed} is not the file that {wheel.path.name} holds")
