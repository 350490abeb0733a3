"""Expands the test cases: packages x targets x consumers x runtime versions x scenarios. Pure functions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from msgspec import structs
from packaging.version import Version

from latebind.model import Case
from latebind.tables.targets import other_processor, target
from latebind.verify.cases.consumer import find_consumer, name_consumers
from latebind.verify.cases.index import BELOW_FLOOR, EACH_MINOR, Answers, Question
from latebind.verify.cases.scenarios import COMPUTING, IN_C, PYTHON, SCENARIOS, Scenario
from latebind.verify.cases.standin import STAND_IN, has_stand_in, list_versions
from loadcheck.model import Rid

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from latebind.config.config import Config
    from latebind.config.ep import EpConfig
    from latebind.config.runtime import RuntimeUse
    from latebind.config.verification import VerifyOwn
    from loadcheck.model import Rid


_USUAL = ("minimum", EACH_MINOR, "latest")
"""The versions of a runtime that are verified when the configuration names none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """How much is verified, and with which interpreters."""

    pythons: Mapping[Rid, str]
    """The minor version of the interpreter that each target's test cases run with: `3.11`."""
    home: Rid
    """The target that this machine runs natively."""
    everything: bool = False
    """Also each minor version of the runtimes, their other distributions, and `others`."""
    others: tuple[str, ...] = ()
    """Further minor versions of CPython, tried on `home`."""
    glue: frozenset[Rid] = frozenset()
    """The targets whose machine runs no runtime."""
    prereleases: bool = False
    """Also the newest pre-release of the runtimes, with the scenarios that are tried with all versions."""
    served: tuple[str, ...] = ()
    """Further minor versions that have wheels of their own (`3.13t`: free-threaded): always tried on `home`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfiguredCase:
    """A test case, the runtime that it is about, and what the index was asked for it."""

    case: Case
    bound_runtime: RuntimeUse | None
    """None for a project that binds no runtime."""
    package: str
    """The package that binds the runtime; the first one where none does."""
    question: Question | None
    """None for a test case without a runtime."""
    python: str
    """The minor version of the interpreter: `3.11`."""
    entries: tuple[str, ...] = ("",)
    """Everything that the index was asked and answered with this test case's version; "" where it was not asked."""
    native_only: bool = False
    """Whether an emulated machine does not try it."""
    stands_in: bool = False
    """Whether a stand-in takes the runtime's place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Subject:
    """A runtime of the project, or none, with what the configuration says about it."""

    runtime: RuntimeUse | None
    package: str
    """The package that binds it; the first one where none does."""
    needed: RuntimeUse | None
    """The runtime without which that package is not made for a target."""
    is_loaded: bool
    """Whether that package requires another one, and so loads it."""
    installs_runtime: bool
    """Whether that package's wheel requires the runtime, or has extras that install it."""
    provider: EpConfig | None
    settings: VerifyOwn
    entries: tuple[str, ...]
    """The versions to verify, as the configuration has them."""
    consumers: frozenset[str]
    """Who of the scenarios' consumers has a program, and a package for it."""
    is_first: bool
    """Whether it is the first one: the ids of test cases without a version name the others."""


@dataclass(frozen=True, slots=True)
class _Line:
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
    def runtime(self) -> RuntimeUse | None:
        return self.subject.runtime

    @property
    def distribution(self) -> str:
        if self.runtime is None:
            return ""
        consumer = find_consumer(self.consumer)
        if consumer.ask_registry is not None:
            return consumer.find_runtime(self.runtime)
        return self.other or self.runtime.traits.python.distribution

    @property
    def runtime_package(self) -> str:
        """The package that supplies the runtime, "" where the consumer gets it from elsewhere."""
        if self.runtime is None:
            return ""
        return self.other or find_consumer(self.consumer).find_runtime(self.runtime)


def questions(config: Config, rids: tuple[Rid, ...], extent: Extent) -> list[Question]:
    """Everything that the index must be asked before the test cases are known."""
    asked = [_question(line, rid) for rid in rids for line in _lines(config, rid, extent)]
    oldest = [
        Question(distribution=(name := runtime.traits.python.distribution), entry="minimum", target=rid,
                 minimum=runtime.traits.python.oldest_of(name, runtime.minimum), python=extent.pythons[rid])
        for rid in rids for runtime in config.document.runtime
    ]  # fmt: skip
    oldest += [replace(question, entry="minimum") for question in asked if question is not None and question.npm]
    return [*(question for question in asked if question is not None), *oldest]


def expand_cases(config: Config, rid: Rid, extent: Extent, answers: Answers) -> tuple[ConfiguredCase, ...]:
    """All test cases of a target, in the order of the table.

    An entry that the index has nothing for stays as it is written, so that its test cases are listed as *not run*.
    """
    by_id: dict[str, ConfiguredCase] = {}
    for line in _lines(config, rid, extent):
        for configured in _plan_line(line, rid, answers):
            earlier = by_id.get(configured.case.id)
            before = earlier.entries if earlier is not None else ()
            by_id[configured.case.id] = replace(
                earlier or configured, entries=tuple(dict.fromkeys((*before, line.entry)))
            )
    return tuple(by_id.values())


def is_too_old(minor: str, rid: str) -> bool:
    """Whether a CPython, such as `3.10` or `3.13t`, is older than any that exists for a target."""
    return Version(minor.removesuffix("t")) < Version(target(rid).pythons[0])


def runtimes_on(config: Config, rid: str) -> tuple[RuntimeUse | None, ...]:
    """The runtimes that can be installed on a target; (None,) for a project that binds none."""
    uses = config.document.runtime or (None,)
    made = (runtime for runtime in uses if not config.explain_not_made(config.package_of(runtime, rid), rid))
    return tuple(runtime for runtime in made if runtime is None or _has_distribution(runtime, rid))


def _lines(config: Config, rid: Rid, extent: Extent) -> Iterator[_Line]:
    for subject in _list_subjects(config, rid):
        if config.explain_not_made(subject.package, rid):
            continue
        yield from _list_ordinary(config, subject, rid, extent)
        if rid in extent.glue and subject.provider is None and has_stand_in(subject.runtime):
            yield from _list_stand_ins(subject, rid, extent)


def _list_ordinary(config: Config, subject: _Subject, rid: Rid, extent: Extent) -> Iterator[_Line]:
    each_minor = extent.everything and rid in (config.document.verify.each_minor or config.document.targets.include[:1])
    widens = find_consumer(PYTHON).is_wanted(config, None)
    for scenario in SCENARIOS:
        if not _is_tried(subject, scenario, rid, extent):
            continue
        for consumer in name_consumers(scenario.consumers):
            if consumer not in subject.consumers or not _is_supplied(subject.runtime, scenario, consumer, rid):
                continue
            lacks_runtime = scenario.negative and scenario.versions == "none"
            if lacks_runtime and find_consumer(consumer).installs_runtime(config, subject.package):
                continue
            newest = extent.prereleases and scenario.versions == "all" and consumer == PYTHON
            for entry in _entries(subject, scenario, each_minor=each_minor):
                prereleases = newest and entry == "latest"
                yield _Line(subject, scenario, consumer, extent.pythons[rid], entry, prereleases=prereleases)
        if scenario.widened and widens:
            yield from _list_other_pythons(subject, scenario, rid, extent)
            yield from _list_other_distributions(subject, scenario, rid, extent)


def _list_stand_ins(subject: _Subject, rid: Rid, extent: Extent) -> Iterator[_Line]:
    """What a machine that runs no runtime tries, whatever scenarios a project chooses: it costs no download."""
    subject = replace(subject, settings=structs.replace(subject.settings, scenarios=()))
    for scenario in SCENARIOS:
        if target(rid).system not in scenario.in_c or not _is_tried(subject, scenario, rid, extent):
            continue
        stands_in = scenario.versions != "none"
        for consumer in IN_C:
            if consumer in subject.consumers:
                yield _Line(subject, scenario, consumer, extent.pythons[rid], "latest" * stands_in, stands_in=stands_in)


def _list_subjects(config: Config, rid: Rid) -> list[_Subject]:
    """The runtimes of a project with what the configuration says about each; one without a runtime if it binds none."""
    names = {name for scenario in SCENARIOS for name in name_consumers(scenario.consumers)}
    first = config.document.runtime[:1]
    return [
        _Subject(
            runtime=runtime,
            package=(package := config.package_of(runtime, rid)),
            needed=config.runtime_of(package),
            is_loaded=bool(config.packages[package].requires),
            installs_runtime=bool((wheel := config.packages[package].wheel) and wheel.installs_runtime),
            provider=config.provider(runtime),
            settings=config.verification_of(runtime),
            entries=config.document.verify.runtimes.get(runtime.name if runtime else "", _USUAL),
            consumers=frozenset(name for name in names if find_consumer(name).is_wanted(config, runtime)),
            is_first=runtime in (None, *first),
        )
        for runtime in config.document.runtime or (None,)
    ]


def _can_have(subject: _Subject, scenario: Scenario, rid: Rid, glue: Collection[str]) -> bool:
    """Whether a project can have a scenario at all: a test case that could never run would block the gate for good."""
    runtime, ep = subject.runtime, subject.provider
    if scenario.glue:  # the machine asks for it, not the project
        return rid in glue and subject.is_first
    if runtime is None:
        return scenario.without_runtime
    if ep is not None and not scenario.provider:
        return False
    if scenario.name not in (subject.settings.scenarios or (scenario.name,)):
        return False
    if scenario.synthetic and (not runtime.has_text or runtime.traits.compatible == "always"):
        return False
    able = {
        "": True,
        "code that binds": not runtime.drop_in,  # a stub knows no package, and takes no minimum from its host
        "a GPU distribution": "gpu" in runtime.traits.python.extras and runtime.traits.python.is_supplied("gpu", rid),
        "a wheel that installs the runtime": subject.installs_runtime,
        "a package that another one loads": subject.is_loaded,
        "an execution provider": ep is not None,
        "another processor": other_processor(rid) is not None,
        "a runtime of several major versions": len(runtime.traits.majors) > 1,
        "a runtime that opens more libraries": bool(runtime.traits.list_companions(target(rid).system)),
        "a runtime with a stand-in": has_stand_in(runtime),
        "a supplier's files": scenario.supplier in runtime.traits.files,
    }
    return able[scenario.needs]


def _is_supplied(runtime: RuntimeUse | None, scenario: Scenario, consumer: str, rid: Rid) -> bool:
    """Whether a consumer can get the runtime: one that no NuGet feed has must be named.

    All but applications of npm get it from a wheel, or a folder that is made of one.
    """
    if runtime is None:
        return True
    if scenario.versions != "none" and not _has_distribution(runtime, rid):
        return False
    who = find_consumer(consumer)
    if not scenario.computes or who.finds_any or who.find_runtime(runtime):
        return True
    return scenario.named and who.ask_registry is None


def _has_distribution(runtime: RuntimeUse, rid: Rid | str) -> bool:
    supply = runtime.traits.python
    return not supply.extras or supply.is_supplied(supply.extra, rid)


def _is_tried(subject: _Subject, scenario: Scenario, rid: Rid, extent: Extent) -> bool:
    if target(rid).system not in scenario.systems or not _can_have(subject, scenario, rid, extent.glue):
        return False
    return not scenario.rare or extent.everything or scenario.name in subject.settings.scenarios


def _list_other_pythons(subject: _Subject, scenario: Scenario, rid: Rid, extent: Extent) -> Iterator[_Line]:
    runtime = subject.runtime
    if rid == extent.home and not subject.settings.native_only:
        others = extent.served or extent.others * extent.everything
        for minor in (minor for minor in others if not is_too_old(minor, rid)):
            for entry in ("minimum", "latest") if runtime else ("",):
                yield _Line(subject, scenario, PYTHON, minor, entry)


def _list_other_distributions(subject: _Subject, scenario: Scenario, rid: Rid, extent: Extent) -> Iterator[_Line]:
    runtime = subject.runtime
    if extent.everything and runtime is not None:
        supply = runtime.traits.python
        for extra, name in list(supply.extras.items())[1:]:
            entries = ("minimum", "latest") if name in supply.minimums else ("latest",)
            for entry in entries if supply.is_supplied(extra, rid) else ():
                yield _Line(subject, scenario, PYTHON, extent.pythons[rid], entry, name)


def _entries(subject: _Subject, scenario: Scenario, *, each_minor: bool) -> tuple[str, ...]:
    """What the index is asked for a scenario."""
    runtime, ep = subject.runtime, subject.provider
    if runtime is None or scenario.versions == "none":
        return ("",)
    if scenario.versions == "below" and ep is not None:
        return (BELOW_FLOOR, *(f"{version}.*" if version.count(".") == 1 else version for version in ep.excepted))
    if scenario.versions == "below":
        return (BELOW_FLOOR,) if runtime.traits.floor else ()
    some = tuple(entry for entry in subject.entries if entry != EACH_MINOR) or ("latest",)
    entries = subject.entries if each_minor else some
    return entries if scenario.versions == "all" else entries[-1:]


def _question(line: _Line, rid: Rid) -> Question | None:
    if line.runtime is None or not line.entry or line.stands_in:
        return None
    # Below the floor no version has a shared library; below a higher minimum one may have.
    below = line.entry == BELOW_FLOOR and not line.scenario.provider
    oldest = line.runtime.traits.python.oldest_of(line.distribution, line.runtime.minimum)
    minimum = line.runtime.traits.floor if below else oldest
    npm = find_consumer(line.consumer).ask_registry is not None
    return Question(
        distribution=line.distribution,
        minimum=minimum,
        entry=line.entry,
        target=rid,
        python=line.python,
        npm=npm,
        prereleases=line.prereleases,
    )


def _plan_line(line: _Line, rid: Rid, answers: Answers) -> Iterator[ConfiguredCase]:
    question = _question(line, rid)
    consumer, name = find_consumer(line.consumer), line.runtime_package
    if question is not None and line.runtime is not None:
        name = name or line.runtime.name
    # Where no runtime is installed, the id names it only to tell it from the first.
    shown = STAND_IN if line.stands_in else name if question is not None or not line.subject.is_first else ""
    ep = line.subject.provider if line.scenario.proves else None
    versions: tuple[str, ...] = ("",)
    if line.stands_in and line.runtime is not None:
        versions = list_versions(line.runtime, every=line.scenario.name in COMPUTING)
    elif question is not None:
        versions = answers.found.get(question, (line.entry,))
    for version in versions:
        if ep is not None and ep.excepts(version):
            continue
        case = Case(
            kind=consumer.kind,
            target=rid,
            consumer=f"{line.consumer}{line.python}" if consumer.has_interpreters else line.consumer,
            runtime=shown,
            version=version,
            scenario=line.scenario.name,
        )
        yield ConfiguredCase(
            case=case,
            bound_runtime=line.runtime,
            package=line.subject.package,
            question=question,
            python=line.python,
            native_only=line.subject.settings.native_only,
            stands_in=line.stands_in,
        )
