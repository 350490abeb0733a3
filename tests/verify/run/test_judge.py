"""What is made of a consumer's result."""

import msgspec
import pytest

from latebind.backend.targets import Rid
from latebind.errors import InputError
from latebind.model import Case, State
from latebind.verify.cases.scenarios import scenario
from latebind.verify.declared import Scenario
from latebind.verify.run.judge import Expectation, judge
from latebind.verify.run.protocol import (
    CaseFailure,
    ConsumerResult,
    ConsumerRun,
    LoadError,
    RuntimeReport,
    SeenProcess,
    read_result,
    with_record,
)

CASE = Case(
    kind="wheel",
    target=Rid("linux-x64"),
    consumer="python3.11",
    runtime="onnxruntime",
    version="1.31.1",
    scenario="works",
)
ENV = "/environment"
GOOD = ConsumerResult(passed=("a", "b"), report=RuntimeReport("1.31.1"), libraries=("/environment/lib/x.so",))
DIFFERS = (CaseFailure("c", "differs"),)


def finish_run(status=0, **fields):
    """A consumer that ended with a good result, but for what is given."""
    return ConsumerRun(status=status, output="", result=msgspec.structs.replace(GOOD, **fields))


def judge_run(ended, chosen=None, view=None, **more):
    more = {"roots": (ENV,), "binds": ("1.31.1",), **more}
    return judge(CASE, Expectation(scenario=chosen or scenario("works"), **more), ended, view)


@pytest.mark.parametrize(
    ("passed", "failed", "summary"),
    [
        (("a",), (), "1 case passed"),
        (("a",), DIFFERS, "1 case passed, 1 also fails through the runtime's own API"),
        (
            ("a", *map(str, range(1147))),
            DIFFERS * 1002,
            "1,148 cases passed, 1,002 also fail through the runtime's own API",
        ),
    ],
)
def test_a_good_run_passes_and_its_summary_counts_the_cases(passed, failed, summary):
    outcome = judge_run(finish_run(passed=passed, failed=failed, status=int(bool(failed))), reference=frozenset("a"))
    assert (outcome.state, outcome.facts["passed"]) == (State.PASSED, len(passed))
    assert outcome.summary.startswith(summary)
    assert outcome.facts.get("excused", []) == ["c"] * len(failed)


@pytest.mark.parametrize(
    ("fields", "message", "phase"),
    [
        ({"status": 1, "failed": DIFFERS}, "c: differs", "inference"),
        ({"status": 139}, "ended by SIGSEGV (11) after it had written its result", "load"),
        ({"status": 3, "error": LoadError("no runtime")}, "no runtime", "load"),
        ({"passed": ()}, "0 cases passed, but at least 1 must pass", "inference"),
        ({"report": RuntimeReport("1.30.0")}, "bound runtime 1.30.0, expected 1.31.1", "load"),
        ({"libraries": ()}, "did not report which libraries", "load"),
        ({"libraries": ("/usr/lib/libonnxruntime.so",)}, "/usr/lib/libonnxruntime.so was loaded from outside", "load"),
        ({"libraries": ("/environment2/lib/x.so",)}, "/environment2/lib/x.so was loaded from outside", "load"),
    ],
)
def test_a_bad_run_fails_with_what_was_seen_and_how_far_it_came(fields, message, phase):
    outcome = judge_run(finish_run(**fields))
    assert outcome.facts["phase"] == phase
    assert outcome.state is State.FAILED
    assert message in outcome.reason


@pytest.mark.parametrize(("failed", "more"), [(1, ""), (5, ""), (6, "and 1 more"), (7, "and 2 more")])
def test_five_failures_are_shown_and_the_others_are_counted(failed, more):
    names = [f"case-{number}" for number in range(failed)]
    reason = judge_run(finish_run(1, failed=tuple(CaseFailure(name, "differs") for name in names))).reason
    assert reason.splitlines() == [f"{name}: differs" for name in names[:5]] + [more] * bool(more)


@pytest.mark.parametrize(
    ("loaded", "allowed", "passes"),
    [(1, 1, True), (2, 1, False), (0, 1, True), (2, 2, True), (3, 2, False), (1, 2, True), (1, 0, True), (9, 0, True)],
)
def test_a_process_has_no_more_copies_of_the_runtime_than_its_scenario_allows(loaded, allowed, passes):
    outcome = judge_run(finish_run(report=RuntimeReport("1.31.1", copies=loaded)), copies=allowed)
    assert outcome.state is (State.PASSED if passes else State.FAILED)
    assert outcome.reason == ("" if passes else f"{loaded} copies of the runtime are loaded, expected {allowed}")


@pytest.mark.parametrize(
    ("fields", "more", "passes"),
    [
        ({"libraries": ("/other/x.so",)}, {"roots": (ENV, "/other")}, True),
        ({"libraries": ("/environment/x.so", "/home/y.so")}, {}, False),
        ({"report": RuntimeReport("1.20.1")}, {"binds": ("1.31.1", "1.20.1")}, True),
        ({"report": RuntimeReport("")}, {"binds": ()}, False),
        ({"status": 1, "failed": DIFFERS, "report": RuntimeReport("1.20.1")}, {}, False),
    ],
)
def test_what_was_loaded_is_what_was_installed(fields, more, passes):
    outcome = judge_run(finish_run(**fields), **more)
    assert outcome.state is (State.PASSED if passes else State.FAILED)
    if fields.get("failed"):  # the version is no news where a case failed
        assert outcome.reason == "c: differs"


def test_a_library_from_elsewhere_is_reported_with_the_environment():
    outcome = judge_run(finish_run(libraries=("/home/y.so",)), roots=(ENV, "/other"))
    assert outcome.reason == "/home/y.so was loaded from outside /environment"


def test_the_phase_of_a_run_that_loaded_and_computed_wrong_is_how_far_it_came():
    wrong = finish_run(1, failed=DIFFERS, libraries=("/elsewhere/x.so",))
    assert judge_run(wrong).facts == {"phase": "load"}
    assert judge_run(wrong).reason.splitlines() == [
        "/elsewhere/x.so was loaded from outside /environment",
        "c: differs",
    ]
    assert judge_run(finish_run(1, failed=DIFFERS)).facts == {"phase": "inference"}


@pytest.mark.parametrize(("status", "passes"), [(0, True), (1, True), (2, False), (3, False), (4, False), (127, False)])
def test_a_consumer_ends_in_one_of_two_ways(status, passes):
    assert (judge_run(finish_run(status)).state is State.PASSED) is passes


def test_what_the_reference_cannot_do_is_no_failure_and_what_it_can_is_one():
    ended = finish_run(status=1, failed=DIFFERS)
    assert judge_run(ended, reference=frozenset("ab")).state is State.PASSED
    assert "c: differs" in judge_run(ended, reference=frozenset("abc")).reason


def test_fewer_cases_than_configured_are_too_few():
    assert judge_run(finish_run(), at_least=2).state is State.PASSED
    assert "2 cases passed, but at least 3 must pass" in judge_run(finish_run(), at_least=3).reason


def test_a_case_that_was_never_tried_is_a_failure():
    assert "1 case was never tried: d" in judge_run(finish_run(), reference=frozenset("abd")).reason
    assert judge_run(finish_run(), reference=frozenset("abd"), is_sample=True).state is State.PASSED


CLEAN = SeenProcess(path=("/base/lib",), libraries=("/lib/x86_64/libc.so.6", "/environment/x.so"), variables=("HOME",))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, ""),
        (
            {"libraries": ("/work/build/libseveral.so",)},
            "/work/build/libseveral.so was mapped, from outside /environment",
        ),
        ({"path": ("/home/user/.local/lib/python3.11/site-packages",)}, "was on sys.path"),
        ({"variables": ("PYTHONPATH",)}, "the variable PYTHONPATH was set"),
        ({"variables": ("LD_PRELOAD",)}, "the variable LD_PRELOAD was set"),
        ({"libraries": ("/environment2/x.so",)}, "/environment2/x.so was mapped, from outside /environment"),
        ({"libraries": ("/environment2/libonnxruntime.so",)}, "a file of the runtime, was mapped from outside"),
        ({"path": ("/base2/lib",)}, "/base2/lib was on sys.path"),
        ({"libraries": ("/lib/libonnxruntime.so.1.19.2",)}, "a file of the runtime, was mapped from outside"),
        ({"libraries": ("C:\\windows\\system32\\onnxruntime.dll",)}, "a file of the runtime, was mapped from outside"),
        ({"libraries": ("C:\\windows\\system32\\kernel32.dll",)}, ""),
        ({"libraries": ("/System/Library/Frameworks/A.framework/A",)}, ""),
    ],
)
def test_an_environment_that_is_not_clean_fails_the_case(fields, message):
    view = msgspec.structs.replace(CLEAN, **fields)
    outcome = judge_run(finish_run(), view=view, base="/base", runtime=("libonnxruntime.so*", "onnxruntime.dll"))
    assert (outcome.state is State.PASSED) == (message == "")
    assert message in outcome.reason


def test_a_scenario_may_bind_another_version_than_its_case():
    older = finish_run(report=RuntimeReport("1.19.2"))
    assert judge_run(older, binds=("1.19.2",)).state is State.PASSED
    assert "bound runtime 1.31.1, expected 1.19.2" in judge_run(finish_run(), binds=("1.19.2",)).reason
    assert judge_run(older, binds=()).state is State.PASSED
    assert "expected one that reports its version" in judge_run(finish_run(report=None), binds=()).reason


NEGATIVE = Scenario(name="absent", title="", says=("{title} was not found", "{minimum}"))


@pytest.mark.parametrize(
    ("ended", "problem"),
    [
        (finish_run(3, error=LoadError("ONNX Runtime was not found; 1.19 is needed")), ""),
        (finish_run(3, error=LoadError("ONNX Runtime was not found")), 'the error message lacks "1.19"'),
        (finish_run(3, error=LoadError("Segmentation fault")), "the error message lacks"),
        (finish_run(), "loading was expected to fail"),
        (finish_run(3), "the consumer ended with status 3, but its result has no error message"),
        (finish_run(139), "loading was expected to fail, but the consumer ended by SIGSEGV (11)"),
    ],
)
def test_a_negative_scenario_expects_the_error_message(ended, problem):
    outcome = judge_run(ended, NEGATIVE, values={"title": "ONNX Runtime", "minimum": "1.19"})
    assert (outcome.state is State.PASSED) == (problem == "")
    assert problem in outcome.reason


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b'{"passed": 5}', r"Expected `array`, got `int` - at `\$\.passed`"),
        (b'{"report": [1]}', r"Expected `object \| null`, got `array`"),
        (b'{"libraries": {}}', "Expected `array`, got `object`"),
        (b"{x", r"^verify/smoke.py wrote invalid JSON: object keys must be strings at byte 1"),
        (b"\xff", r"^verify/smoke.py wrote invalid JSON: invalid character at byte 0"),
        (b"", r"^verify/smoke.py wrote invalid JSON: "),
    ],
)
def test_an_invalid_result_is_an_error_with_its_place(raw, message):
    with pytest.raises(InputError, match=message):
        read_result(raw, "verify/smoke.py")


@pytest.mark.parametrize(
    ("since", "minimum", "says"),
    [
        ("1.20", "1.19", "1 case passed; CreateLoraAdapter needs ONNX Runtime 1.20, but the minimum is 1.19"),
        ("1.20", "1.22", "1 case passed; the code calls nothing newer than ONNX Runtime 1.20, but the minimum is 1.22"),
        ("1.14", "1.19", "1 case passed"),
        ("1.19", "1.19", "1 case passed"),
    ],
)
def test_what_the_stub_recorded_is_compared_with_the_minimum(tmp_path, since, minimum, says):
    report = {"version": "1.31.1", "path": "/environment/x.so", "runtime": "onnxruntime"}
    calls = [("onnxruntime", "F", "1.2"), ("onnxruntime", "CreateLoraAdapter", since), ("openvino", "ov_x", "2026.4")]
    lines = [{"report": report}]
    lines += [{"runtime": name, "function": function, "since": version} for name, function, version in calls]
    record = tmp_path / "result.record"
    record.write_bytes(b"\n".join(map(msgspec.json.encode, lines)))
    result = with_record(ConsumerResult(passed=("a",)), record)
    values = {"title": "ONNX Runtime", "minimum": minimum, "floor": "1.19"}
    outcome = judge_run(ConsumerRun(status=0, output="", result=result), values=values)
    assert (outcome.state, outcome.summary) == (State.PASSED, says)
    record.write_bytes(b"{")
    with pytest.raises(InputError, match="the record of the stub is damaged"):
        with_record(ConsumerResult(), record)


def test_a_result_may_say_more_than_is_asked():
    result = read_result(b'{"passed": ["a"], "report": {"version": "1.31.1", "more": 1}, "mood": "good"}', "x")
    assert (result.passed, result.version) == (("a",), "1.31.1")
