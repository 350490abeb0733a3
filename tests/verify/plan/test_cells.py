"""Which cells there are."""

import dataclasses
import types

import msgspec
import pytest
from latebind.config.document import VerifyOwn
from latebind.config.file import load
from latebind.model import Rid
from latebind.tables.targets import other_processor
from latebind.verify.plan.cells import Extent, expand_cells, questions
from latebind.verify.plan.index import BELOW_FLOOR, EACH_MINOR, Answers
from latebind.verify.plan.interpreters import own_interpreter
from latebind.verify.plan.layouts import RUNNING
from latebind.verify.plan.scenarios import SCENARIOS, scenario
from latebind.verify.planning import Plan, Request, able

from tests.client import BOUND, write_client
from tests.client import CONFIG as TINY
from tests.conftest import ROOT
from tests.epclient import CONFIG as EP_CONFIG
from tests.epclient import write_ep
from tests.programs import not_run
from tests.thingclient import DESCRIBED as THING
from tests.thingclient import write_thing_client

CONFIG = load(ROOT / "latenn" / "latebind.toml")
USE = CONFIG.document.runtime[0]
LINUX = Rid("linux-x64")
MINORS = ("1.19.2", "1.20.1", "1.31.1")
FOUND = {"minimum": MINORS[:1], "latest": MINORS[-1:], BELOW_FLOOR: ("1.18.1",), EACH_MINOR: MINORS}
SCOPE = Extent(pythons={LINUX: "3.11"}, home=LINUX)


def test_every_version_works_in_every_consumer_and_names_are_unique():
    cells = [planned.cell for planned in plan_cells()]
    works = {(cell.consumer, cell.version) for cell in cells if cell.scenario == "works"}
    assert {who for who, _ in works} == {"python3.11", "dotnet-build", "node"}
    consumed = {cell.consumer for cell in cells if cell.scenario == "consumed"}
    assert consumed == {*RUNNING, "c-nupkg", "sdk-cmake", "sdk-pkg-config"} - {"dotnet-build"}
    assert {version for who, version in works if who in ("python3.11", "dotnet-build")} == {"1.19.2", "1.31.1"}
    assert len({cell.id for cell in cells}) == len(cells)
    here = {
        scenario.name
        for scenario in SCENARIOS
        if "linux" in scenario.systems and scenario.needs != "an execution provider"
    }
    assert {cell.scenario for cell in cells} == here


def test_a_provider_is_tried_where_it_is_supported_and_refuses_the_other_versions(tmp_path):
    config = load(write_ep(tmp_path, config=f'{EP_CONFIG}[verify]\npython = "smoke.py"\n') / "latebind.toml")
    (runtime,) = config.document.runtime
    below = {BELOW_FLOOR: ("1.22.1",), "1.25.*": ("1.25.1",), EACH_MINOR: ("1.24.0", "1.25.1", "1.31.1")}
    scope = dataclasses.replace(SCOPE, everything=True)
    answers = {question: below.get(question.entry, ("1.31.1",)) for question in questions(config, (LINUX,), scope)}
    cells = expand_cells(config, LINUX, scope, Answers(found=answers))
    ours = [planned.cell for planned in cells if planned.cell.runtime == runtime.known.python.distribution]
    assert {cell.version for cell in ours if cell.scenario == "works"} == {"1.24.0", "1.31.1"}
    assert {cell.version for cell in ours if cell.scenario == "unsupported"} == {"1.22.1", "1.25.1"}
    assert {question.minimum for question in answers} == {"1.23.1"}
    assert {scenario(cell.scenario).provider for cell in ours} == {True}


def tiny_cells(folder, *, rid="linux-x64", change=lambda text: text):
    """The cells of a project with one package, which binds ONNX Runtime."""
    text = BOUND.replace("linux-x64", rid) + '\n[verify]\npython = "smoke.py"\n'
    config = load(write_client(folder, latebind=change(text)) / "latebind.toml")
    scope = Extent(pythons={Rid(rid): "3.11"}, home=LINUX)
    return [planned.cell for planned in expand_cells(config, Rid(rid), scope, Answers())]


def test_a_project_of_one_package_has_no_cell_in_which_that_package_is_missing(tmp_path):
    scenarios = {cell.scenario for cell in tiny_cells(tmp_path)}
    assert "absent" in scenarios
    assert "missing-backend" not in scenarios


def test_a_target_that_no_runtime_exists_for_has_no_cells(tmp_path):
    assert tiny_cells(tmp_path, rid="linux-musl-x64") == []


@pytest.mark.parametrize("rid", ["linux-arm", "linux-riscv64"])
def test_without_a_distribution_for_a_target_nothing_that_needs_a_runtime_is_planned(tmp_path, rid):
    scenarios = {cell.scenario for cell in tiny_cells(tmp_path, rid=rid)}
    assert "absent" in scenarios
    assert not {name for name in scenarios if scenario(name).versions != "none"}


def test_a_script_for_a_kind_of_package_that_is_not_made_gives_no_cells(tmp_path):
    cells = tiny_cells(tmp_path, change=lambda text: text.replace('nuget = { id = "Tiny" }', "") + 'dotnet = "x"\n')
    assert {cell.kind for cell in cells} == {"wheel"}


def test_only_a_target_with_a_sibling_is_tried_with_a_runtime_for_another_processor():
    scenarios = {rid: {planned.cell.scenario for planned in plan_cells(rid)} for rid in ("linux-x64", "osx-arm64")}
    assert all("wrong-architecture" in names for names in scenarios.values())
    assert other_processor("linux-musl-x64") is None


def test_everything_is_each_minor_version_each_distribution_and_each_python():
    cells = [planned.cell for planned in plan_cells(everything=True)]
    works = [cell for cell in cells if cell.scenario == "works" and cell.kind == "wheel"]
    assert {cell.version for cell in works if cell.runtime == "onnxruntime" and cell.consumer == "python3.11"} == set(
        MINORS
    )
    assert {cell.version for cell in works if cell.consumer == "python3.13"} == {"1.19.2", "1.31.1"}
    assert {cell.runtime for cell in works} >= {"onnxruntime-gpu", "onnxruntime-openvino"}
    assert len({cell.id for cell in cells}) == len(cells)


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
    scope = Extent(pythons={Rid(rid): "3.11"}, home=LINUX, everything=True)
    cells = [planned.cell for planned in expand_cells(CONFIG, Rid(rid), scope, Answers())]
    wheels = {cell.runtime for cell in cells if cell.kind == "wheel" and cell.scenario == "works"}
    assert {name for name in wheels if name.startswith("onnxruntime")} == distributions
    assert ("with-gpu" in {cell.scenario for cell in cells}) == ("onnxruntime-gpu" in distributions)


def test_each_minor_and_other_pythons_are_for_one_target_and_the_home_of_this_machine():
    cells = [planned.cell for planned in plan_cells("osx-arm64", everything=True)]
    assert {cell.version for cell in cells if cell.runtime == "onnxruntime" and cell.scenario == "works"} == {
        "1.19.2",
        "1.31.1",
    }
    assert {cell.consumer for cell in cells if cell.kind == "wheel"} == {"python3.11"}


def test_a_scenario_has_no_cell_where_its_system_has_no_such_thing():
    names = {planned.cell.scenario for planned in plan_cells("win-x64")}
    assert not names & {"fork", "read-only", "permission-denied"}
    assert {"spawn", "decoy"} <= names


def test_a_version_that_the_index_does_not_have_stays_as_it_is_written():
    cells = expand_cells(CONFIG, LINUX, SCOPE, Answers())
    assert {planned.cell.version for planned in cells} == {"minimum", "latest", BELOW_FLOOR, ""}


def test_two_runtimes_have_cells_of_their_own():
    document = msgspec.structs.replace(CONFIG.document, runtime=(USE, msgspec.structs.replace(USE, minimum="1.20")))
    config = dataclasses.replace(CONFIG, document=document)
    asked = {question.minimum for question in questions(config, (LINUX,), SCOPE)}
    assert asked == {"1.19", "1.20"}


def test_a_runtime_of_its_own_ways_is_tried_in_them_and_where_it_is_told():
    settings = VerifyOwn(scenarios=("works", "absent"), native_only=True)
    verify = msgspec.structs.replace(CONFIG.document.verify, own={USE.preset: settings})
    document = msgspec.structs.replace(CONFIG.document, runtime=(USE,), verify=verify)
    config = dataclasses.replace(CONFIG, document=document)
    scope = Extent(pythons={LINUX: "3.11"}, home=LINUX, others=("3.13",), everything=True)
    cells = expand_cells(config, LINUX, scope, Answers())
    assert {planned.cell.scenario for planned in cells} == {"works", "absent"}
    assert {planned.python for planned in cells} == {"3.11"}
    emulated = types.SimpleNamespace(is_host=False)
    request = Request(rids=(LINUX,), machines={LINUX: emulated})
    plan = Plan(request=request, cells=cells, answers=Answers(), tool=None, pythons=(own_interpreter(),))
    with not_run("not-emulated", "native_only"):
        able(cells[0], plan)


def test_an_application_names_a_runtime_that_no_feed_has():
    for name in ("openvino", "litert"):
        index = next(i for i, runtime in enumerate(CONFIG.document.runtime) if runtime.name == name)
        cells = [planned.cell for planned in plan_cells() if planned.use == CONFIG.document.runtime[index]]
        computing = {cell.scenario for cell in cells if cell.kind == "nupkg" and scenario(cell.scenario).computes}
        assert computing == {"path", "path-wrong"}
        assert {cell.runtime for cell in cells if cell.kind == "nupkg" and cell.scenario in computing} == {name}


def test_only_a_preset_with_a_floor_has_releases_below_it_that_hold_no_library(tmp_path):
    raised = msgspec.structs.replace(CONFIG.document, runtime=(msgspec.structs.replace(USE, minimum="1.25"),))
    asked = questions(dataclasses.replace(CONFIG, document=raised), (LINUX,), SCOPE)
    assert {question.minimum for question in asked if question.entry == BELOW_FLOOR} == {"1.19"}
    config = load(write_thing_client(tmp_path, THING + '\n[verify]\npython = "smoke.py"\n') / "latebind.toml")
    assert BELOW_FLOOR not in {question.entry for question in questions(config, (LINUX,), SCOPE)}


@pytest.mark.parametrize(("form", "shown"), [("text", True), ("three-numbers", False), ("four-numbers", False)])
def test_a_stand_in_is_made_only_of_a_runtime_whose_version_is_text(tmp_path, form, shown):
    described = THING.replace('"text"', f'"{form}"') + '\n[verify]\npython = "smoke.py"\n'
    config = load(write_thing_client(tmp_path, described) / "latebind.toml")
    names = {planned.cell.scenario for planned in expand_cells(config, LINUX, SCOPE, Answers())}
    assert {"works", "too-old", "absent"} <= names
    assert ("other-major" in names) is shown


def test_a_package_needs_itself_and_all_that_those_it_requires_need():
    assert CONFIG.list_needed_packages("onnxruntime") == ("onnxruntime", "core")
    assert CONFIG.list_needed_packages("core") == ("core",)


def test_a_project_without_a_runtime_is_tried_without_one(tiny):
    write_client(tiny, latebind=TINY + '[verify]\npython = "smoke.py"\n')
    config = load(tiny / "latebind.toml")
    (planned,) = expand_cells(config, LINUX, SCOPE, Answers())
    assert (planned.cell.scenario, planned.cell.version, planned.use) == ("works", "", None)
    assert questions(config, (LINUX,), SCOPE) == []


def plan_cells(rid="linux-x64", *, everything=False):
    scope = Extent(pythons={Rid(rid): "3.11"}, home=LINUX, others=("3.13",), everything=everything)
    asked = questions(CONFIG, (Rid(rid),), scope)
    return expand_cells(CONFIG, Rid(rid), scope, Answers(found={question: FOUND[question.entry] for question in asked}))
