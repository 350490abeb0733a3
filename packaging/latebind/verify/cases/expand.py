"""Expands the test cases: packages x targets x consumers x runtime versions x scenarios."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from msgspec import structs
from packaging.version import Version

from latebind.backend.targets import Rid, Target, other_processor, target
from latebind.config.config import Config
from latebind.config.runtime import RuntimeUse
from latebind.model import Case
from latebind.verify.cases.scenarios import COMPUTING, IN_C, SCENARIOS
from latebind.verify.declared import PYTHON, ConfiguredCase, Consumer, Need, Scenario, find_wanted, name_consumers
from latebind.verify.run.index import BELOW_FLOOR, EACH_MINOR, Answers, ForOtherPythons, Question
from latebind.verify.run.native import STAND_IN_SOURCES

if TYPE_CHECKING:
    from latebind.config.plugin import EpConfig
    from latebind.config.verification import VerifyOwn


_USUAL = ("minimum", EACH_MINOR, "latest")
"""The versions of a runtime that are verified when the configuration names none."""
STAND_IN = "stand-in"
"""What test cases call one in the runtime's place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """How much is verified, and with which interpreters."""

    pythons: Mapping[Rid, str]
    """The minor version of the interpreter that each target's test cases run with: `3.11`."""
    home: Rid
    """The target that this machine runs natively."""
    everything: bool = False
    """Also each minor version of the runtimes, and their other distributions."""
    others: tuple[str, ...] = ()
    """Further minor versions of CPython, tried on `home` (`3.13t`: free-threaded)."""
    glue: frozenset[Rid] = frozenset()
    """The targets whose machine runs no runtime."""
    prereleases: bool = False
    """Also the newest pre-release of the runtimes, with the scenarios that are tried with all versions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Subject:
    """A runtime of the project on a target, or none, with all that decides about its test cases."""

    runtime: RuntimeUse | None
    package: str
    """The package that binds it; the first one where none does."""
    platform: Target
    python: str
    """The minor version of the interpreter that its test cases run with."""
    provider: EpConfig | None
    settings: VerifyOwn
    entries: tuple[str, ...]
    """The versions to verify, as the configuration has them."""
    each_minor: bool
    """Whether `--all` tries each minor version of the runtime here."""
    consumers: Mapping[str, Consumer]
    """Who of the scenarios' consumers has a program, and a package for it."""
    installing: frozenset[str]
    """Those that get the runtime with the package."""
    has: frozenset[Need]
    """What scenarios may need, and this has."""
    is_first: bool
    """Whether it is the first one: the ids of test cases without a version name the others."""


@dataclass(frozen=True, slots=True)
class Line:
    """Test cases that differ in version only, before the index has answered."""

    subject: _Subject
    scenario: Scenario
    consumer: str
    python: str
    entry: str
    """What the index is asked; "" for nothing."""
    other: str = ""
    """A distribution of the runtime that is not its ordinary one."""
    prereleases: bool = False
    """Whether the newest pre-release is tried, too."""
    stands_in: bool = False
    """Whether a stand-in takes the runtime's place, of which no index is asked."""

    @property
    def question(self) -> Question | None:
        """What the index is asked; None for nothing."""
        runtime, who = self.subject.runtime, self.subject.consumers[self.consumer]
        if runtime is None or not self.entry or self.stands_in:
            return None
        npm = who.ask_registry is not None
        name = who.find_runtime(runtime) if npm else self.other or runtime.traits.python.distribution
        # Below the floor no version has a shared library; below a higher minimum one may have.
        below = self.entry == BELOW_FLOOR and not self.scenario.provider
        return Question(
            distribution=name,
            minimum=runtime.traits.floor if below else runtime.traits.python.oldest_of(name, runtime.minimum),
            entry=self.entry,
            target=self.subject.platform.rid,
            python=self.python if npm or who.has_interpreters else "",
            npm=npm,
            prereleases=self.prereleases,
        )


def list_lines(config: Config, rids: Iterable[Rid], extent: Extent) -> tuple[Line, ...]:
    """What is known of the test cases of some targets without the index, in the order of the table."""
    subjects = [subject for rid in rids for subject in _list_subjects(config, rid, extent.pythons[rid])]
    return (
        *(line for one in subjects for line in (*_list_ordinary(one, extent), *_list_stand_ins(one, extent))),
        *_list_sources([one for one in subjects if one.platform.rid == extent.home][:1]),
    )


def questions(lines: Iterable[Line]) -> list[Question]:
    """Everything that the index must be asked before the test cases are known."""
    asked = [(line, question) for line in lines if (question := line.question) is not None]
    return [*(question for _, question in asked), *(_ask_oldest(line, question) for line, question in asked)]


def move_lines(lines: Iterable[Line], answers: Answers, pythons: Iterable[str], home: Rid) -> tuple[Line, ...]:
    """The lines, with another CPython where the index has the version for others only.

    It is one of `pythons`, which are installed on `home`, or the newest that there is a version for.
    """
    return tuple(_move(line, answers, tuple(pythons)) if _can_move(line, home) else line for line in lines)


def _can_move(line: Line, home: Rid) -> bool:
    """Whether the packages work with any CPython, and this machine runs it."""
    return line.python == line.subject.python and line.subject.platform.rid == home


def _move(line: Line, answers: Answers, pythons: tuple[str, ...]) -> Line:
    question = line.question
    trouble = answers.trouble.get(question) if question is not None else None
    if not isinstance(trouble, ForOtherPythons):
        return line
    return replace(line, python=next((minor for minor in trouble.pythons if minor in pythons), trouble.pythons[0]))


def expand_cases(lines: Iterable[Line], answers: Answers) -> tuple[ConfiguredCase, ...]:
    """All test cases, in the order of the lines.

    An entry that the index has nothing for stays as it is written, so that its test cases are listed as *not run*.
    """
    by_id: dict[str, ConfiguredCase] = {}
    for line in lines:
        for configured in _plan_line(line, answers):
            earlier = by_id.get(configured.case.id)
            before = earlier.entries if earlier is not None else ()
            by_id[configured.case.id] = replace(
                earlier or configured, entries=tuple(dict.fromkeys((*before, line.entry)))
            )
    return tuple(by_id.values())


def is_too_old(minor: str, platform: Target) -> bool:
    """Whether a CPython, such as `3.10` or `3.13t`, is older than any that exists for a target."""
    return Version(minor.removesuffix("t")) < Version(platform.pythons[0])


def runtimes_on(config: Config, rid: str) -> tuple[RuntimeUse | None, ...]:
    """The runtimes that can be installed on a target; (None,) for a project that binds none."""
    uses = config.document.runtime or (None,)
    made = (runtime for runtime in uses if not config.explain_not_made(config.package_of(runtime, rid), rid))
    return tuple(runtime for runtime in made if runtime is None or _has_distribution(runtime, rid))


def _list_subjects(config: Config, rid: Rid, python: str) -> Iterator[_Subject]:
    """The runtimes of a project whose packages are made for a target; one without a runtime if it binds none."""
    verify, included = config.document.verify, config.document.targets.include
    platform = target(rid)
    for runtime in config.document.runtime or (None,):
        package = config.package_of(runtime, rid)
        if config.explain_not_made(package, rid):
            continue
        wanted = find_wanted(config, runtime)
        yield _Subject(
            runtime=runtime,
            package=package,
            platform=platform,
            python=python,
            provider=config.provider(runtime),
            settings=config.verification_of(runtime),
            entries=verify.runtimes.get(runtime.name if runtime else "", _USUAL),
            each_minor=rid in (verify.each_minor or included[:1]),
            consumers=wanted,
            installing=frozenset(name for name, who in wanted.items() if who.installs_runtime(config, package)),
            has=_find_traits(config, package, runtime, platform) if runtime is not None else frozenset(),
            is_first=runtime in (None, *config.document.runtime[:1]),
        )


def _find_traits(config: Config, package: str, runtime: RuntimeUse, platform: Target) -> frozenset[Need]:
    traits, wheel, rid = runtime.traits, config.packages[package].wheel, platform.rid
    has: dict[Need, bool] = {
        "": True,
        "code that binds": not runtime.drop_in,  # a stub knows no package, and takes no minimum from its host
        "a GPU distribution": "gpu" in traits.python.extras and traits.python.is_supplied("gpu", rid),
        "a wheel that installs the runtime": wheel is not None and wheel.installs_runtime,
        "a package that another one loads": bool(config.packages[package].requires),
        "an execution provider": config.provider(runtime) is not None,
        "another processor": other_processor(rid) is not None,
        "a runtime of several major versions": len(traits.majors) > 1,
        "a runtime that opens more libraries": bool(traits.list_companions(platform.system)),
        "a runtime with a stand-in": (STAND_IN_SOURCES / f"{runtime.preset}.c").is_file(),
        "a distribution": _has_distribution(runtime, rid),
        "a version that can be changed": runtime.has_text and traits.compatible != "always",
    }
    return frozenset(need for need, is_there in has.items() if is_there)


def _has_distribution(runtime: RuntimeUse, rid: str) -> bool:
    supply = runtime.traits.python
    return not supply.extras or supply.is_supplied(supply.extra, rid)


def _list_ordinary(subject: _Subject, extent: Extent) -> Iterator[Line]:
    for scenario in SCENARIOS:
        if scenario.of_sources or not _is_tried(subject, scenario, extent):
            continue
        for consumer in name_consumers(scenario.consumers):
            if not _can_run(subject, scenario, consumer):
                continue
            newest = extent.prereleases and scenario.versions == "all" and consumer == PYTHON
            for entry in _entries(subject, scenario, extent):
                prereleases = newest and entry == "latest"
                yield Line(subject, scenario, consumer, subject.python, entry, prereleases=prereleases)
        if scenario.widened and PYTHON in subject.consumers:
            yield from _list_other_pythons(subject, scenario, extent)
            yield from _list_other_distributions(subject, scenario, extent)


def _list_stand_ins(subject: _Subject, extent: Extent) -> Iterator[Line]:
    """What a machine that runs no runtime tries, whatever scenarios a project chooses: it costs no download."""
    is_glue = subject.platform.rid in extent.glue and subject.provider is None
    if not is_glue or "a runtime with a stand-in" not in subject.has:
        return
    subject = replace(subject, settings=structs.replace(subject.settings, scenarios=()))
    for scenario in SCENARIOS:
        if subject.platform.system not in scenario.in_c or not _is_tried(subject, scenario, extent):
            continue
        stands_in = scenario.versions != "none"
        for consumer in IN_C:
            if consumer in subject.consumers:
                yield Line(subject, scenario, consumer, subject.python, "latest" * stands_in, stands_in=stands_in)


def _list_sources(subjects: Iterable[_Subject]) -> Iterator[Line]:
    """What is tried once, whatever the runtime."""
    for subject in subjects:
        for scenario in (scenario for scenario in SCENARIOS if scenario.of_sources):
            for consumer in (name for name in scenario.consumers if name in subject.consumers):
                yield Line(subject, scenario, consumer, subject.python, "")


def _is_tried(subject: _Subject, scenario: Scenario, extent: Extent) -> bool:
    """Whether a project has a scenario: a test case that could never run would block the gate for good."""
    runtime, chosen = subject.runtime, subject.settings.scenarios
    if scenario.glue:  # the machine asks for it, not the project
        return subject.platform.rid in extent.glue and subject.is_first
    is_rare = scenario.rare and not (extent.everything or scenario.name in chosen)
    if is_rare or subject.platform.system not in scenario.systems:
        return False
    if runtime is None:
        return scenario.without_runtime
    if (subject.provider is not None and not scenario.provider) or (chosen and scenario.name not in chosen):
        return False
    if scenario.synthetic and "a version that can be changed" not in subject.has:
        return False
    return scenario.supplier in runtime.traits.files if scenario.supplier else scenario.needs in subject.has


def _can_run(subject: _Subject, scenario: Scenario, consumer: str) -> bool:
    """Whether a consumer has a program, and gets the runtime or lacks it as the scenario asks.

    All but applications of npm get it from a wheel, or a folder that is made of one. One that no NuGet feed has must be
    named.
    """
    runtime, who = subject.runtime, subject.consumers.get(consumer)
    if who is None or (scenario.negative and scenario.versions == "none" and consumer in subject.installing):
        return False
    if runtime is None:
        return True
    if scenario.versions != "none" and "a distribution" not in subject.has:
        return False
    if not scenario.computes or who.finds_any or who.find_runtime(runtime):
        return True
    return scenario.named and who.ask_registry is None


def _list_other_pythons(subject: _Subject, scenario: Scenario, extent: Extent) -> Iterator[Line]:
    if subject.platform.rid == extent.home and not subject.settings.native_only:
        for minor in (minor for minor in extent.others if not is_too_old(minor, subject.platform)):
            for entry in ("minimum", "latest") if subject.runtime else ("",):
                yield Line(subject, scenario, PYTHON, minor, entry)


def _list_other_distributions(subject: _Subject, scenario: Scenario, extent: Extent) -> Iterator[Line]:
    rid = subject.platform.rid
    if extent.everything and subject.runtime is not None:
        supply = subject.runtime.traits.python
        for extra, name in list(supply.extras.items())[1:]:
            entries = ("minimum", "latest") if name in supply.minimums else ("latest",)
            for entry in entries if supply.is_supplied(extra, rid) else ():
                yield Line(subject, scenario, PYTHON, subject.python, entry, name)


def _entries(subject: _Subject, scenario: Scenario, extent: Extent) -> tuple[str, ...]:
    """What the index is asked for a scenario."""
    runtime, ep = subject.runtime, subject.provider
    if runtime is None or scenario.versions == "none":
        return ("",)
    if scenario.versions == "below" and ep is not None:
        return (BELOW_FLOOR, *(f"{version}.*" if version.count(".") == 1 else version for version in ep.excepted))
    if scenario.versions == "below":
        return (BELOW_FLOOR,) if runtime.traits.floor else ()
    some = tuple(entry for entry in subject.entries if entry != EACH_MINOR) or ("latest",)
    entries = subject.entries if extent.everything and subject.each_minor else some
    return entries if scenario.versions == "all" else entries[-1:]


def _ask_oldest(line: Line, question: Question) -> Question:
    """What the index is asked for the oldest version of the same package, or of the runtime's ordinary wheels."""
    runtime = line.subject.runtime
    if question.npm or runtime is None:
        return replace(question, entry="minimum")
    wheels, name = runtime.traits.python, runtime.traits.python.distribution
    return Question(
        distribution=name,
        minimum=wheels.oldest_of(name, runtime.minimum),
        entry="minimum",
        target=question.target,
        python=line.subject.python if question.python else "",
    )


def _plan_line(line: Line, answers: Answers) -> Iterator[ConfiguredCase]:
    subject, question = line.subject, line.question
    runtime, who = subject.runtime, subject.consumers[line.consumer]
    name = line.other or who.find_runtime(runtime) if runtime is not None else ""
    if question is not None and runtime is not None:
        name = name or runtime.name
    # Where no runtime is installed, the id names it only to tell it from the first.
    shown = STAND_IN if line.stands_in else name if question is not None or not subject.is_first else ""
    ep = subject.provider if line.scenario.proves else None
    versions: tuple[str, ...] = ("",)
    oldest, trouble = "", None
    if line.stands_in and runtime is not None:
        oldest, built = _complete(runtime.minimum), Version(runtime.traits.built)
        usual, newer = _complete(runtime.traits.built), f"{built.major}.{built.minor + 1}.0"
        versions = tuple(dict.fromkeys((oldest, usual, newer))) if line.scenario.name in COMPUTING else (usual,)
    elif question is not None:
        versions, oldest = answers.found.get(question, (line.entry,)), answers.find_oldest(question)
        trouble = answers.trouble.get(question)
    for version in versions:
        if ep is not None and ep.excepts(version):
            continue
        case = Case(
            kind=who.kind,
            target=subject.platform.rid,
            consumer=f"{line.consumer}{line.python}" if who.has_interpreters else line.consumer,
            runtime=shown,
            version=version,
            scenario=line.scenario.name,
        )
        yield ConfiguredCase(
            case=case,
            bound_runtime=runtime,
            package=subject.package,
            python=line.python,
            oldest=oldest,
            trouble=trouble,
            native_only=subject.settings.native_only,
            stands_in=line.stands_in,
        )


def _complete(version: str) -> str:
    return ".".join([*version.split("."), "0", "0"][:3])
