"""Which cells there are, and what the judge makes of what a consumer says."""

import dataclasses
from pathlib import Path

import jsonschema
import msgspec
import pytest
from latebind.configfile import load
from latebind.errors import InputError
from latebind.model import NOT_RUN_REASONS, Artifact, Cell, Outcome, Rid, Sha256, State
from latebind.verify.cell import Bench
from latebind.verify.cells import BELOW_FLOOR, SCENARIOS, Scenario, expand, raised_minimum, requirement, scenario
from latebind.verify.layouts import LAYOUTS, RUNNING
from latebind.verify.report import count, to_console, to_document, to_json, to_markdown, verify_schema
from latebind.verify.smoke import Smoke, judge, read_python
from latebind.verify.verify import Verified

from tests.client import CONFIG as TINY
from tests.client import write_client

ROOT = Path(__file__).resolve().parents[2]
CONFIG = load(ROOT / "latenn" / "latebind.toml")
USE = CONFIG.document.runtime[0]
FOUND = {"minimum": "1.19.2", "latest": "1.31.1", BELOW_FLOOR: "1.18.1"}
VERSIONS = {("onnxruntime", entry): version for entry, version in FOUND.items()}
CELL = Cell(
    kind="wheel",
    target=Rid("linux-x64"),
    consumer="python3.11",
    runtime="onnxruntime",
    version="1.31.1",
    scenario="works",
)
ENV = Path("/environment")
GOOD = Smoke(status=0, output="", passed=("a", "b"), runtime_version="1.31.1", libraries=("/environment/lib/x.so",))


def test_every_version_works_in_every_consumer_and_names_are_unique():
    cells = [planned.cell for planned in expand(CONFIG, Rid("linux-x64"), "python3.11", VERSIONS)]
    works = {(cell.consumer, cell.version) for cell in cells if cell.scenario == "works"}
    consumers = ("python3.11", "dotnet-build", "dotnet-publish", "dotnet-cache")
    every = {(consumer, version) for consumer in consumers for version in ("1.19.2", "1.31.1")}
    newest = {row.name for row in LAYOUTS if row.newest_only and row.name in RUNNING} | {"c-nupkg"}
    assert works == every | {(name, "1.31.1") for name in newest}
    assert len({cell.id for cell in cells}) == len(cells)
    assert {cell.scenario for cell in cells} == {row.name for row in SCENARIOS}


def test_a_version_that_the_index_does_not_have_stays_as_it_is_written():
    cells = expand(CONFIG, Rid("linux-x64"), "python3.11", {})
    assert {planned.cell.version for planned in cells} == {"minimum", "latest", BELOW_FLOOR, ""}


def test_every_cell_computes_the_data_of_a_configured_entry():
    cells = expand(CONFIG, Rid("linux-x64"), "python3.11", VERSIONS)
    data = {(planned.cell.version, planned.entry) for planned in cells}
    assert data == {("1.19.2", "minimum"), ("1.31.1", "latest"), ("1.18.1", "latest"), ("", "latest")}


def test_two_runtimes_have_cells_of_their_own():
    document = msgspec.structs.replace(CONFIG.document, runtime=(USE, msgspec.structs.replace(USE, minimum="1.20")))
    config = dataclasses.replace(CONFIG, document=document)
    cells = expand(config, Rid("linux-x64"), "python3.11", VERSIONS)
    assert {planned.use.minimum for planned in cells} == {"1.19", "1.20"}


def test_a_project_without_a_runtime_is_tried_without_one(tiny):
    write_client(tiny, latebind=TINY + '[verify]\npython = "smoke.py"\n')
    (planned,) = expand(load(tiny / "latebind.toml"), Rid("linux-x64"), "python3.11", {})
    assert (planned.cell.scenario, planned.cell.version, planned.use) == ("works", "", None)


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ("minimum", "onnxruntime==1.19.*,>=1.19"),
        ("latest", "onnxruntime"),
        (BELOW_FLOOR, "onnxruntime<1.19"),
        ("1.22.0", "onnxruntime==1.22.0"),
    ],
)
def test_what_the_index_is_asked_for(entry, text):
    assert requirement(entry, USE) == text


def test_a_raised_floor_is_just_above():
    assert raised_minimum("1.31.1") == "1.32"


def judged(smoke, row=None, **more):
    return judge(CELL, row or scenario("works"), smoke, ENV, values=more.pop("values", {}), **more)


def changed(**fields):
    return Smoke(**{**{name: getattr(GOOD, name) for name in Smoke.__slots__}, **fields})


def test_a_good_run_passes_and_says_how_many():
    outcome = judged(GOOD)
    assert (outcome.state, outcome.facts["passed"]) == (State.PASSED, 2)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"status": 1, "failed": (("c", "differs"),)}, "c: differs"),
        ({"status": 139}, "status 139"),
        ({"status": 3, "error": "no runtime"}, "no runtime"),
        ({"passed": ()}, "0 models were computed as expected, at least 1 should be"),
        ({"runtime_version": "1.30.0"}, "bound runtime 1.30.0, expected 1.31.1"),
        ({"libraries": ()}, "did not say which libraries"),
        ({"libraries": ("/usr/lib/libonnxruntime.so",)}, "/usr/lib/libonnxruntime.so was loaded from outside"),
    ],
)
def test_a_bad_run_fails_with_what_was_seen(fields, words):
    outcome = judged(changed(**fields))
    assert outcome.state is State.FAILED
    assert words in outcome.reason


def test_what_the_reference_cannot_do_is_no_failure_and_what_it_can_is_one():
    smoke = changed(status=1, failed=(("c", "differs"),))
    assert judged(smoke, reference=frozenset("ab")).state is State.PASSED
    assert "c: differs" in judged(smoke, reference=frozenset("abc")).reason


def test_fewer_cases_than_configured_are_too_few():
    assert judged(GOOD, at_least=2).state is State.PASSED
    assert "2 models were computed as expected, at least 3 should be" in judged(GOOD, at_least=3).reason


@pytest.mark.parametrize(("version", "count"), [("1.19.2", 1000), ("1.30.9", 1000), ("1.31.1", 1300), ("", 1)])
def test_how_many_must_pass_depends_on_the_runtimes_version(version, count):
    cell = dataclasses.replace(CELL, version=version)
    places = dict.fromkeys(("work", "log", "python"), ENV)
    bench = Bench(cell=cell, config=CONFIG, use=USE, package="", entry="", artifacts=(), supply=None, **places)
    assert bench.at_least() == count


def test_a_case_that_was_never_tried_is_a_failure():
    assert "1 models were never tried, d among them" in judged(GOOD, reference=frozenset("abd")).reason


NEGATIVE = Scenario(name="absent", title="", says=("{title} was not found", "{minimum}"))


@pytest.mark.parametrize(
    ("smoke", "problem"),
    [
        (changed(status=3, error="ONNX Runtime was not found; 1.19 is needed"), ""),
        (changed(status=3, error="ONNX Runtime was not found"), 'the sentence lacks "1.19"'),
        (changed(status=3, error="Segmentation fault"), "the sentence lacks"),
        (GOOD, "loading was expected to fail"),
        (changed(status=139), "loading was expected to fail, but the consumer ended with status 139"),
    ],
)
def test_a_negative_scenario_wants_the_sentence(smoke, problem):
    outcome = judged(smoke, NEGATIVE, values={"title": "ONNX Runtime", "minimum": "1.19"})
    assert (outcome.state is State.PASSED) == (problem == "")
    assert problem in outcome.reason


def verified(*outcomes):
    artifact = Artifact(path=Path("dist/x.whl"), kind="wheel", sha256=Sha256("0" * 64), size=1)
    return Verified(artifacts=(artifact,), outcomes=outcomes, machine={"target": "linux-x64"})


REPORT = verified(
    judged(GOOD),
    Outcome(cell=CELL, state=State.FAILED, reason="it | broke\nbadly", log="logs/x.log"),
    *(Outcome(cell=CELL, state=State.NOT_RUN, reason=reason) for reason in NOT_RUN_REASONS),
)


def test_the_report_fits_its_schema_and_reasons_are_a_closed_list():
    jsonschema.Draft202012Validator.check_schema(verify_schema())
    document = to_document(REPORT)
    jsonschema.validate(document, verify_schema())
    document["cells"][2]["reason"] = "because"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, verify_schema())


def test_not_run_is_a_state_of_its_own_in_every_rendering():
    last = count(REPORT)
    assert last.startswith(f"1 passed, 1 failed, {len(NOT_RUN_REASONS)} not run (")
    for text in (to_console(REPORT, width=200), to_markdown(REPORT)):
        assert last in text
        assert "not run: no-dotnet (there is no .NET SDK on this machine)" in text
    assert '"outcome": "not run"' in to_json(REPORT)
    assert "it \\| broke<br>badly" in to_markdown(REPORT)


def test_the_exit_status_tells_failure_and_nothing_run_from_success():
    passed, not_run = judged(GOOD), Outcome(cell=CELL, state=State.NOT_RUN, reason="no-index")
    refused = Outcome(cell=dataclasses.replace(CELL, scenario="absent"), state=State.PASSED)
    assert verified(refused, not_run).exit_status == 1
    assert REPORT.exit_status == 1
    assert verified(passed, not_run).exit_status == 0
    assert verified(not_run).exit_status == 1
    files = Outcome(cell=dataclasses.replace(CELL, scenario="files"), state=State.PASSED)
    assert verified(files).exit_status == 1, "nothing was computed"


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b'{"passed": 5}', r"Expected `array`, got `int` - at `\$\.passed`"),
        (b'{"report": [1]}', r"Expected `object \| null`, got `array`"),
        (b'{"libraries": {}}', "Expected `array`, got `object`"),
        (b"\xff", "not as it should be"),
        (b"", "not as it should be"),
    ],
)
def test_a_result_of_another_shape_is_told_with_its_place(raw, words):
    with pytest.raises(InputError, match=words):
        read_python(0, "", raw)


def test_a_result_may_say_more_than_is_asked():
    smoke = read_python(0, "", b'{"passed": ["a"], "report": {"version": "1.31.1", "more": 1}, "mood": "good"}')
    assert (smoke.passed, smoke.runtime_version) == (("a",), "1.31.1")
