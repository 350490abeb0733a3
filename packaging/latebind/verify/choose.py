"""Chooses the test cases of a verification, and reports which of them this machine can run."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from latebind.backend.targets import Rid, host_rid
from latebind.compilers.interpreters import Interpreter, interpreters, own_interpreter
from latebind.config.config import Config
from latebind.config.project import Project
from latebind.errors import InputError, NotRun
from latebind.system.emulation import find_emulator
from latebind.system.log import LOG
from latebind.tables.wheelkinds import own_abi_python
from latebind.text import plural
from latebind.verify.cases.expand import Extent, expand_cases, list_lines, move_lines, questions
from latebind.verify.cases.scenarios import refuse_unknown_scenarios, scenario
from latebind.verify.cases.select import in_shard, is_selected
from latebind.verify.declared import ConfiguredCase, find_consumer, find_registry, find_wanted
from latebind.verify.run.index import ask, describe_older_latest
from latebind.verify.run.installers import Installer, installer
from latebind.verify.run.machine import Machine, host_machine

_NEEDS = (
    "Wheels need verify.python, NuGet packages verify.dotnet or verify.c, npm packages verify.node, JARs verify.java, "
    "SDK archives verify.sdk."
)
_TRY_YOURSELF = "Try these packages with your own tests, on a system that has the runtime: latebind cannot install it."


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What `latebind verify` is asked for: which test cases run, and how."""

    rids: tuple[Rid, ...]
    """The targets whose packages are verified."""
    everything: bool = False
    """Each minor version of the runtimes, their other distributions, every CPython."""
    prereleases: bool = False
    """The newest pre-release of each runtime, in addition."""
    patterns: tuple[str, ...] = ()
    """Which test cases run: those that match any of them (`select.py`); all where there are none."""
    shard: tuple[int, int] = (1, 1)
    """The share to run, and the number of shares."""
    jobs: int = 0
    """How many test cases run at once; 0 for the CPU count. The command has one more, since each waits now and then."""
    fresh: bool = False
    """Whether test cases that passed before run again."""
    machines: Mapping[Rid, Machine] = field(default_factory=dict)
    """The machines for other targets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenCases:
    """The test cases that were asked for, and what this machine has to run them."""

    request: Request
    cases: tuple[ConfiguredCase, ...]
    tool: Installer
    pythons: tuple[Interpreter, ...]
    """The CPythons that are installed here, this environment's own first."""
    folder: Path
    """Of what verification makes and keeps."""

    @property
    def machines(self) -> Mapping[Rid, Machine]:
        """This machine, and those for other targets."""
        return {host_rid(): host_machine(self.pythons[0].path), **self.request.machines}


def choose_cases(project: Project, request: Request) -> ChosenCases:
    """Ask the index for the versions that exist, and choose the test cases.

    Raises InputError when there is none, or the selection cannot be read.
    """
    config, folder = project.config, project.verification
    wanted, served = config.document.verify.pythons, tuple(filter(None, map(own_abi_python, config.module_kinds)))
    refuse_unknown_scenarios(config.document.verify.own, config.file.name)
    pythons = _find_pythons(wanted, served)
    # The running CPython's version, or the first installed one that has a wheel.
    minor = next((python.minor for python in pythons if python.minor in served), pythons[0].minor)
    # Wheels that are made for some CPythons are always tried with each of these.
    always, further = (tuple(other for other in minors if other != minor) for minors in (served, wanted))
    extent = _extent(request, minor, always or further * request.everything)
    (folder / "home").mkdir(parents=True, exist_ok=True)
    tool = installer(folder / "home")
    lines = list_lines(config, request.rids, extent)
    answers = ask(questions(lines), tool, pythons[0].path, request.jobs, find_registry())
    others = answers.list_other_pythons()
    if others and not served:
        pythons = _find_pythons(wanted, others)
        lines = move_lines(lines, answers, [python.minor for python in pythons], host_rid())
        new = set(questions(lines)).difference(answers.found, answers.trouble)
        answers = answers.merge(ask(new, tool, pythons[0].path, request.jobs, find_registry()))
    for note in describe_older_latest(answers, lambda question: ask([question], tool, pythons[0].path)):
        LOG.say(note)
    cases = expand_cases(lines, answers)
    if not cases:
        unsupplied = _list_unsupplied(config)
        text = "; ".join(["there is nothing to verify", *unsupplied])
        raise InputError(text, where=config.file.name, advice=_TRY_YOURSELF if unsupplied else _NEEDS)
    selected = tuple(
        configured
        for configured in cases
        if in_shard(configured.case, *request.shard) and is_selected(configured.case, request.patterns)
    )
    if not selected and request.shard == (1, 1):
        shown = ", ".join(map(repr, request.patterns))
        raise InputError(f"no test case matches {shown}", where="-k", advice="List them all: latebind verify --list.")
    return ChosenCases(request=request, cases=selected, tool=tool, pythons=pythons, folder=folder)


def _list_unsupplied(config: Config) -> list[str]:
    """The consumers that a project has a program for, but for which nobody is known to supply its runtime."""
    lines = (
        f"verify.{consumer.program} is set, but no {consumer.kind} package is known to have {runtime.traits.title}"
        for runtime in config.document.runtime
        for name, consumer in find_wanted(config, runtime).items()
        if consumer.program and name == consumer.names[0] and not consumer.find_runtime(runtime)
    )
    return [*dict.fromkeys(lines)]  # several consumers may have one program


def _extent(request: Request, minor: str, others: tuple[str, ...] = ()) -> Extent:
    """How much is verified; `minor` is the version of the CPython that this machine's test cases run with."""
    versions = {rid: machine.python_version.split(".") for rid, machine in request.machines.items()}
    return Extent(
        everything=request.everything,
        prereleases=request.prereleases,
        pythons={rid: ".".join(versions.get(rid, ())[:2]) or minor for rid in request.rids},
        others=others,
        home=host_rid(),
        glue=frozenset(rid for rid, machine in request.machines.items() if machine.level == "glue"),
    )


def _find_pythons(*wanted: tuple[str, ...]) -> tuple[Interpreter, ...]:
    """The CPythons that are installed here, this environment's own first."""
    running = own_interpreter()
    installed = interpreters(tuple(dict.fromkeys((running.minor, *chain(*wanted)))))
    return (running, *(python for python in installed if python.path != running.path))


def list_cases(chosen: ChosenCases) -> str:
    """The test cases, one per line, with a reason for each that would not run here; and their number."""
    lines, unable = [], 0
    for configured in chosen.cases:
        try:
            able(configured, chosen)
            lines.append(configured.case.id)
        except NotRun as error:
            lines.append(f"{configured.case.id}  not run: {error.reason}")
            unable += 1
    return "\n".join([*lines, f"{plural(len(chosen.cases), 'test case')}, {unable} of them cannot run here"])


def able(configured: ConfiguredCase, chosen: ChosenCases) -> tuple[Machine, tuple[Interpreter, ...]]:
    """The machine and the interpreters of a test case. Raises NotRun when one of them, or the runtime, is missing."""
    case = configured.case
    if configured.trouble is not None:
        raise configured.trouble
    consumer, kind = find_consumer(case.consumer), scenario(case.scenario)
    machine = chosen.machines[host_rid()] if consumer.group == "files" else chosen.machines.get(case.target)
    if machine is None:
        raise NotRun("no-machine", f"this machine is {host_rid()}")
    is_able = configured.stands_in or kind.glue or (kind.versions == "none" and consumer.is_cross_built)
    if machine.level == "glue" and not is_able:
        raise NotRun("no-machine", f"{machine.title} runs no runtime")
    if not machine.is_host and configured.native_only:
        runtime = case.runtime or "its runtime"
        raise NotRun("not-emulated", f"[verify.own] sets native_only for {runtime}, which skips other machines")
    is_built_here = not consumer.has_interpreters
    if not machine.is_host and is_built_here and not consumer.is_cross_built:
        raise NotRun("not-emulated", f"test cases of {case.consumer} run only on the machine that runs latebind")
    if not machine.is_host or is_built_here:
        return machine, chosen.pythons[:1]
    pythons = tuple(python for python in chosen.pythons if python.minor == configured.python)
    if not pythons:
        raise NotRun("no-interpreter", f"CPython {configured.python} is not installed here")
    return machine, pythons


def order_cases(cases: Sequence[ConfiguredCase]) -> list[ConfiguredCase]:
    """The longest first, for one that starts last keeps one CPU busy and the others idle; then each target in turn.

    Test cases of one target wait for each other: for a program that they share, for a machine that runs one at a time.
    """

    def rank(configured: ConfiguredCase) -> tuple[bool, bool]:
        row = scenario(configured.case.scenario)
        return not row.slow, bool(row.sample)

    groups: dict[tuple[tuple[bool, bool], Rid], list[ConfiguredCase]] = {}
    for configured in cases:
        groups.setdefault((rank(configured), configured.case.target), []).append(configured)
    places = {
        configured.case.id: (length, (number + 1) / len(group))
        for (length, _), group in groups.items()
        for number, configured in enumerate(group)
    }
    return sorted(cases, key=lambda configured: places[configured.case.id])


def describe_machine(request: Request) -> dict[str, str]:
    """What a report says of this machine, and of the part that it verifies."""
    share = {"share": "/".join(map(str, request.shard))} if request.shard != (1, 1) else {}
    emulated = {f"{rid} by": machine.title for rid, machine in request.machines.items() if rid in request.rids}
    own = find_emulator()
    return {
        **share,
        **emulated,
        "targets": " ".join(request.rids),
        "target": host_rid(),
        "system": platform.platform() + (f", run by {own}" if own else ""),
        "python": platform.python_version(),
    }
