"""Which test cases there are."""

import dataclasses
import types

import msgspec
import pytest

from latebind.backend.targets import Rid, other_processor, target
from latebind.compilers.interpreters import own_interpreter
from latebind.config.file import load, load_described
from latebind.config.verification import VerifyOwn
from latebind.tables.presets import library_files
from latebind.verify.cases.expand import Extent, expand_cases, is_too_old, list_lines, questions
from latebind.verify.cases.scenarios import SCENARIOS, scenario
from latebind.verify.choose import ChosenCases, Request, able
from latebind.verify.declared import name_consumers
from latebind.verify.run.index import BELOW_FLOOR, EACH_MINOR, Answers
from tests.support.client import BOUND, SEVERAL, write_client
from tests.support.client import CONFIG as TINY
from tests.support.epclient import CONFIG as EP_CONFIG
from tests.support.epclient import write_ep
from tests.support.running import not_run
from tests.support.thingclient import DESCRIBED as THING
from tests.support.thingclient import write_thing_client

CONFIG = load(SEVERAL)
USE = CONFIG.document.runtime[0]
LINUX = Rid("linux-x64")
MINORS = ("1.19.2", "1.20.1", "1.31.1")
FOUND = {"minimum": MINORS[:1], "latest": MINORS[-1:], BELOW_FLOOR: ("1.18.1",), EACH_MINOR: MINORS}
OF_OTHERS = (
    "an execution provider",
    "a runtime of several major versions",
    "a runtime that opens more libraries",
)
"""What projects need that the one here is not."""


def list_for(config=CONFIG, rid="linux-x64", **scope):
    """The lines of a target."""
    return list_lines(config, [Rid(rid)], Extent(pythons={Rid(rid): "3.11"}, home=LINUX, **scope))


def expand(config=CONFIG, rid="linux-x64", answers=FOUND, **scope):
    """The test cases of a target, where the index has what `answers` say by entry."""
    lines = list_for(config, rid, **scope)
    found = {question: answers[question.entry] for question in questions(lines) if question.entry in answers}
    return expand_cases(lines, Answers(found=found))


def change(**changed):
    """The project with another document."""
    return dataclasses.replace(CONFIG, document=msgspec.structs.replace(CONFIG.document, **changed))


def test_every_version_works_in_every_consumer_and_names_are_unique():
    cases = [configured.case for configured in expand()]
    works = {(case.consumer, case.version) for case in cases if case.scenario == "works"}
    assert {who for who, _ in works} == {"python3.11", "dotnet-build", "node", "java"}
    consumed = {case.consumer for case in cases if case.scenario == "consumed"}
    assert consumed == {"c-nupkg", "sdk-cmake", "sdk-pkg-config", *name_consumers(("dotnet layouts", "layouts"))}
    assert {version for who, version in works if who in ("python3.11", "dotnet-build")} == {"1.19.2", "1.31.1"}
    assert len({case.id for case in cases}) == len(cases)
    here = {
        scenario.name
        for scenario in SCENARIOS
        if "linux" in scenario.systems and scenario.needs not in OF_OTHERS and not scenario.glue
    }
    assert {case.scenario for case in cases} == {name for name in here if not scenario(name).rare}
    assert {configured.case.scenario for configured in expand(others=("3.13",), everything=True)} == here


def test_libraries_are_loaded_in_c_where_a_machine_runs_no_runtime_once_for_all_runtimes():
    glue = frozenset({Rid("osx-arm64")})
    ids = [one.case.id for rid in ("linux-x64", "osx-arm64") for one in expand(rid=rid, answers={}, glue=glue)]
    assert [text for text in ids if "/c-loader/" in text] == ["wheel/osx-arm64/c-loader/no-runtime/loads-in-c"]


@pytest.mark.parametrize(("rid", "odd"), [("osx-arm64", True), ("win-arm64", False)])
def test_where_a_machine_runs_no_runtime_a_stand_in_takes_its_place_in_c_and_no_index_is_asked(rid, odd):
    lines = [line for line in list_for(rid=rid, glue=frozenset({Rid(rid)})) if line.stands_in]
    cases = expand_cases(lines, Answers())
    assert {one.case.consumer for one in cases} == {"c-nupkg", "sdk-cmake"}
    assert {one.case.runtime for one in cases} == {"stand-in"}
    assert {one.oldest for one in cases} == {"1.19.0"}
    assert questions(lines) == []
    assert {one.case.version for one in cases if one.case.scenario == "consumed"} == {"1.19.0", "1.32.0", "1.33.0"}
    names = {one.case.scenario for one in cases}
    assert {"path", "environment", "too-old", "other-major", "corrupt", "dependency-missing"} <= names
    assert ("path-odd" in names) is odd


def test_a_provider_is_tried_where_it_is_supported_and_refuses_the_other_versions(tmp_path):
    config = load(write_ep(tmp_path, config=f'{EP_CONFIG}[verify]\npython = "smoke.py"\n') / "latebind.toml")
    (runtime,) = config.document.runtime
    below = {BELOW_FLOOR: ("1.22.1",), "1.25.*": ("1.25.1",), EACH_MINOR: ("1.24.0", "1.25.1", "1.31.1")}
    answers = {"minimum": ("1.31.1",), "latest": ("1.31.1",), **below}
    cases = expand(config, answers=answers, everything=True)
    ours = [configured.case for configured in cases if configured.case.runtime == runtime.traits.python.distribution]
    assert {case.version for case in ours if case.scenario == "works"} == {"1.24.0", "1.31.1"}
    assert {case.version for case in ours if case.scenario == "unsupported"} == {"1.22.1", "1.25.1"}
    assert {question.minimum for question in questions(list_for(config, everything=True))} == {"1.23.1"}
    assert {scenario(case.scenario).provider for case in ours} == {True}
    assert {"spawn", "subprocess", "c-host"} <= {case.scenario for case in ours}
    assert {case.version for case in ours if case.scenario in ("spawn", "subprocess")} == {"1.31.1"}


def tiny_cases(folder, *, rid="linux-x64", change=lambda text: text, glue=frozenset()):
    """The test cases of a project with one package, which binds ONNX Runtime."""
    text = BOUND.replace("linux-x64", rid) + '\n[verify]\npython = "smoke.py"\n'
    config = load(write_client(folder, latebind=change(text)) / "latebind.toml")
    return [configured.case for configured in expand(config, rid, {}, glue=glue)]


def test_a_project_of_one_package_has_no_cell_in_which_that_package_is_missing(tmp_path):
    scenarios = {case.scenario for case in tiny_cases(tmp_path)}
    assert "absent" in scenarios
    assert "missing-backend" not in scenarios


def test_a_project_that_names_no_versions_is_tried_with_the_oldest_and_the_newest(tmp_path):
    assert {case.version for case in tiny_cases(tmp_path) if case.scenario == "works"} == {"minimum", "latest"}


def dotnet_consumers(folder, *, change=lambda text: text, frameworks="netstandard2.0"):
    """The .NET consumers, each with its scenarios, of a project with a managed part."""
    csproj = f"<Project><PropertyGroup><TargetFrameworks>{frameworks}</TargetFrameworks></PropertyGroup></Project>"
    (folder / "dotnet").mkdir(parents=True)
    (folder / "dotnet/Tiny.csproj").write_text(csproj, encoding="utf-8")
    managed = '{ id = "Tiny", managed = "dotnet" }'
    cases = tiny_cases(
        folder, change=lambda text: change(text.replace('{ id = "Tiny" }', managed) + 'dotnet = "dotnet"\n')
    )
    found = {}
    for case in cases:
        if case.kind == "nupkg":
            found.setdefault(case.consumer, set()).add(case.scenario)
    return found


@pytest.mark.parametrize(
    ("change", "missing"),
    [
        ({}, set()),
        ({"frameworks": "net8.0;netstandard2.1"}, {"dotnet-netstandard2.0", "mono"}),
        ({"change": lambda text: text.replace("[[runtime]]", "[[runtime]]\ndrop_in = true")}, set()),
    ],
)
def test_consumers_that_could_never_pass_are_left_out(tmp_path, change, missing):
    every = {"dotnet-build", *name_consumers(("dotnet layouts", "files"))}
    assert set(dotnet_consumers(tmp_path, **change)) == every - missing


def test_a_package_that_requires_the_runtime_is_not_tried_without_it(tmp_path):
    requires = 'managed = "dotnet", runtime = "Microsoft.ML.OnnxRuntime" }'
    found = dotnet_consumers(tmp_path, change=lambda text: text.replace('managed = "dotnet" }', requires))
    assert "absent" not in found["dotnet-build"]
    assert "truncated" in found["dotnet-build"]
    assert "absent" in dotnet_consumers(tmp_path / "other")["dotnet-build"]


@pytest.mark.parametrize(
    ("more", "tried"), [("", True), (', runtime = "com.microsoft.onnxruntime:onnxruntime"', False)]
)
def test_a_jar_that_requires_the_runtime_is_not_tried_without_it(tmp_path, more, tried):
    table = f'maven = {{ group = "io.acme", name = "tiny"{more} }}\n'
    change = f"{table}\n[[runtime]]"
    cases = tiny_cases(tmp_path, change=lambda text: text.replace("\n[[runtime]]", change) + 'java = "java"\n')
    assert tried == any(case.consumer == "java" and case.scenario == "absent" for case in cases)


def test_a_target_that_no_runtime_exists_for_has_no_cases(tmp_path):
    assert tiny_cases(tmp_path, rid="linux-musl-x64") == []


def test_a_runtime_that_users_get_for_musl_is_tried_with_a_stand_in_alone(tmp_path):
    def allow(text):
        return text.replace('preset = "onnxruntime"', 'preset = "onnxruntime"\nlibc = ["musl"]') + 'c = "c"\n'

    glue = frozenset({Rid("linux-musl-x64")})
    cases = tiny_cases(tmp_path, rid="linux-musl-x64", change=allow, glue=glue)
    assert {"consumed", "fork", "threads"} <= {case.scenario for case in cases}
    assert {case.runtime for case in cases} == {"", "stand-in"}


@pytest.mark.parametrize("rid", ["linux-arm", "linux-riscv64"])
def test_without_a_distribution_for_a_target_nothing_that_needs_a_runtime_is_planned(tmp_path, rid):
    scenarios = {case.scenario for case in tiny_cases(tmp_path, rid=rid)}
    assert "absent" in scenarios
    assert not {name for name in scenarios if scenario(name).versions != "none"}


def test_a_script_for_a_kind_of_package_that_is_not_made_gives_no_cases(tmp_path):
    cases = tiny_cases(tmp_path, change=lambda text: text.replace('nuget = { id = "Tiny" }', "") + 'dotnet = "x"\n')
    assert {case.kind for case in cases} == {"wheel", "sdist"}


@pytest.mark.parametrize("chosen", [(), ("works",)], ids=["all", "works"])
def test_an_sdist_is_built_once_on_this_machine_whatever_a_project_chooses(chosen):
    verify = msgspec.structs.replace(CONFIG.document.verify, own={USE.preset: VerifyOwn(scenarios=chosen)})
    cases = [configured.case for configured in expand(change(verify=verify), everything=True)]
    assert [case.id for case in cases if case.kind == "sdist"] == ["sdist/linux-x64/pip/no-runtime/from-sdist"]
    foreign = Extent(pythons={LINUX: "3.11"}, home=Rid("win-x64"))
    assert "sdist" not in {line.subject.consumers[line.consumer].kind for line in list_lines(CONFIG, [LINUX], foreign)}
    native = msgspec.structs.replace(CONFIG.document.native, build="external")
    assert "sdist" not in {configured.case.kind for configured in expand(change(native=native))}


def test_only_a_target_with_a_sibling_is_tried_with_a_runtime_for_another_processor():
    for rid in ("linux-x64", "osx-arm64"):
        assert "wrong-architecture" in {configured.case.scenario for configured in expand(rid=rid)}
    assert other_processor("linux-musl-x64").rid == "linux-musl-arm64"  # of the same C library


def test_everything_is_each_minor_version_each_distribution_and_each_python():
    cases = [configured.case for configured in expand(others=("3.13",), everything=True)]
    works = [case for case in cases if case.scenario == "works" and case.kind == "wheel"]
    assert {case.version for case in works if case.runtime == "onnxruntime" and case.consumer == "python3.11"} == set(
        MINORS
    )
    assert {case.version for case in works if case.consumer == "python3.13"} == {"1.19.2", "1.31.1"}
    assert {case.runtime for case in works} >= {"onnxruntime-gpu", "onnxruntime-openvino"}
    assert len({case.id for case in cases}) == len(cases)


@pytest.mark.parametrize(
    ("rid", "distributions"),
    [
        ("linux-x64", {"onnxruntime", "onnxruntime-gpu", "onnxruntime-openvino"}),
        ("linux-arm64", {"onnxruntime", "onnxruntime-gpu"}),
        ("osx-arm64", {"onnxruntime"}),
        ("win-x64", {"onnxruntime", "onnxruntime-gpu", "onnxruntime-directml", "onnxruntime-openvino"}),
    ],
)
def test_a_distribution_has_cells_only_on_targets_that_it_exists_for(rid, distributions):
    cases = [configured.case for configured in expand(rid=rid, everything=True)]
    wheels = {case.runtime for case in cases if case.kind == "wheel" and case.scenario == "works"}
    assert {name for name in wheels if name.startswith("onnxruntime")} == distributions
    assert ("with-gpu" in {case.scenario for case in cases}) == ("onnxruntime-gpu" in distributions)


def test_each_minor_and_other_pythons_are_for_one_target_and_the_home_of_this_machine():
    cases = [configured.case for configured in expand(rid="osx-arm64", others=("3.13",), everything=True)]
    assert {case.version for case in cases if case.runtime == "onnxruntime" and case.scenario == "works"} == {
        "1.19.2",
        "1.31.1",
    }
    assert {case.consumer for case in cases if case.kind == "wheel"} == {"python3.11"}


def test_a_scenario_has_no_cell_where_its_system_has_no_such_thing():
    names = {configured.case.scenario for configured in expand(rid="win-x64")}
    assert not names & {"fork", "read-only", "permission-denied"}
    assert {"spawn", "decoy"} <= names


def test_a_version_that_the_index_does_not_have_stays_as_it_is_written():
    assert {configured.case.version for configured in expand(answers={})} == {"minimum", "latest", BELOW_FLOOR, ""}


def test_two_runtimes_have_cells_of_their_own():
    config = change(runtime=(USE, msgspec.structs.replace(USE, minimum="1.20")))
    asked = {question.minimum for question in questions(list_for(config))}
    assert asked == {"1.19", "1.20"}


def test_the_oldest_version_in_each_registry_is_asked_for_even_if_only_the_newest_is_tried():
    verify = msgspec.structs.replace(CONFIG.document.verify, runtimes={USE.preset: ("latest",)})
    asked = questions(list_for(change(runtime=(USE,), verify=verify)))
    oldest = {(question.distribution, question.npm) for question in asked if question.entry == "minimum"}
    assert oldest == {("onnxruntime", False), ("onnxruntime-node", True)}


def test_each_major_version_of_a_runtime_has_cases_with_its_own_packages_and_minimum():
    config = change(runtime=(load_described(library_files()["nvrtc"], {"linux"}, "12.0"),))
    lines = list_for(config, everything=True)
    asked = {(question.distribution, question.minimum) for question in questions(lines)}
    assert asked == {("nvidia-cuda-nvrtc", "13.0"), ("nvidia-cuda-nvrtc-cu12", "12.0")}
    scenarios = {configured.case.scenario for configured in expand_cases(lines, Answers())}
    assert scenarios >= {"other-majors", "companion-missing"}


def test_a_runtime_of_its_own_ways_is_tried_in_them_and_where_it_is_told():
    settings = VerifyOwn(scenarios=("works", "absent"), native_only=True)
    verify = msgspec.structs.replace(CONFIG.document.verify, own={USE.preset: settings})
    cases = expand(change(runtime=(USE,), verify=verify), others=("3.13",), everything=True)
    assert {configured.case.scenario for configured in cases} == {"works", "absent", "from-sdist"}
    assert {configured.python for configured in cases} == {"3.11"}
    for level, reason, says in (
        ("emulated", "not-emulated", "native_only"),
        ("glue", "no-machine", "a machine runs no runtime"),  # how fast it is does not matter
    ):
        machine = types.SimpleNamespace(is_host=False, level=level, title="a machine")
        request = Request(rids=(LINUX,), machines={LINUX: machine})
        unused = {"tool": None, "pythons": (own_interpreter(),), "folder": None}
        chosen = ChosenCases(request=request, cases=cases, **unused)
        with not_run(reason, says):
            able(cases[0], chosen)


def test_an_application_names_a_runtime_that_no_feed_has():
    for name in ("openvino", "litert"):
        index = next(i for i, runtime in enumerate(CONFIG.document.runtime) if runtime.name == name)
        bound = CONFIG.document.runtime[index]
        cases = [configured.case for configured in expand() if configured.bound_runtime == bound]
        computing = {case.scenario for case in cases if case.kind == "nupkg" and scenario(case.scenario).computes}
        assert computing == {"path", "path-wrong"}
        assert {case.runtime for case in cases if case.kind == "nupkg" and case.scenario in computing} == {name}


def test_only_a_preset_with_a_floor_has_releases_below_it_that_hold_no_library(tmp_path):
    asked = questions(list_for(change(runtime=(msgspec.structs.replace(USE, minimum="1.25"),))))
    assert {question.minimum for question in asked if question.entry == BELOW_FLOOR} == {"1.19"}
    config = load(write_thing_client(tmp_path, THING + '\n[verify]\npython = "smoke.py"\n') / "latebind.toml")
    assert BELOW_FLOOR not in {question.entry for question in questions(list_for(config))}


@pytest.mark.parametrize(
    ("form", "shown"), [("text", True), ("three-numbers", False), ('text"\ncompatible = "always', False)]
)
def test_a_stand_in_is_made_only_of_a_runtime_whose_version_is_text(tmp_path, form, shown):
    described = THING.replace('"text"', f'"{form}"') + '\n[verify]\npython = "smoke.py"\n'
    config = load(write_thing_client(tmp_path, described) / "latebind.toml")
    names = {configured.case.scenario for configured in expand(config, answers={})}
    assert {"works", "too-old", "absent"} <= names
    assert ("other-major" in names) is shown


def test_a_package_needs_itself_and_all_that_those_it_requires_need():
    assert CONFIG.list_needed_packages("onnxruntime") == ("onnxruntime", "core")
    assert CONFIG.list_needed_packages("core") == ("core",)


def test_a_project_without_a_runtime_is_tried_without_one(tiny):
    write_client(tiny, latebind=TINY + '[verify]\npython = "smoke.py"\n')
    config = load(tiny / "latebind.toml")
    configured, of_sdist = expand(config)
    assert (configured.case.scenario, configured.case.version, configured.bound_runtime) == ("works", "", None)
    assert of_sdist.case.kind == "sdist"
    assert configured.entries == ("",)
    assert questions(list_for(config)) == []


@pytest.mark.parametrize(
    ("key", "installs"), [('extras = "channels"', True), ('runtime = "required"', True), ('extras = "none"', False)]
)
def test_a_wheel_that_installs_the_runtime_is_installed_by_its_name(tmp_path, key, installs):
    lines = BOUND.replace('source = "python/tiny"', f'source = "python/tiny", {key}')
    text = lines + '[verify]\npython = "native/tiny.c"\n'
    config = load(write_client(tmp_path, latebind=text) / "latebind.toml")

    scenarios = {configured.case.scenario for configured in expand(config)}

    assert {"works", "absent"} <= scenarios
    assert ("extra" in scenarios) == installs


def test_what_is_tried_without_a_runtime_is_named_for_all_runtimes_but_the_first():
    absent = {one.case.id for one in expand() if one.case.scenario == "absent" and one.case.consumer == "python3.11"}
    names = ("runtime", "openvino", "ai-edge-litert")
    assert absent == {f"wheel/linux-x64/python3.11/no-{name}/absent" for name in names}


def test_the_newest_prerelease_is_tried_by_python_with_the_scenarios_of_all_versions():
    config = change(verify=msgspec.structs.replace(CONFIG.document.verify, runtimes={}))
    tried = {
        (line.consumer, line.scenario.name, line.entry)
        for line in list_for(config, prereleases=True)
        if line.prereleases
    }
    assert tried == {("python", "works", "latest")}
    assert not any(line.prereleases for line in list_for(config))


@pytest.mark.parametrize(
    ("minor", "rid", "old"),
    [
        ("3.9", "linux-x64", True),
        ("3.9t", "linux-x64", True),
        ("3.10", "linux-x64", False),
        ("3.13t", "linux-x64", False),
        ("3.10", "win-arm64", True),
        ("3.11", "win-arm64", False),
    ],
)
def test_a_python_may_be_older_than_any_of_a_target(minor, rid, old):
    assert is_too_old(minor, target(rid)) is old
