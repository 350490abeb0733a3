"""In which order test cases run, and a machine's `jobs`: how many of its test cases run at once."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Semaphore
from types import SimpleNamespace

import pytest

from latebind.backend.targets import Rid
from latebind.model import Case, Outcome, State
from latebind.system.parallel import Running
from latebind.verify import runner
from latebind.verify.choose import describe_machine, order_cases
from latebind.verify.run.machine import Machine

MACHINE = Machine(rid=Rid("win-arm64"), title="", command=("run",), level="glue", jobs=1)


@pytest.mark.parametrize(
    ("places", "most"), [({}, 4), ({"win-arm64": Semaphore(1)}, 1), ({"osx-x64": Semaphore(1)}, 4)]
)
def test_no_more_test_cases_than_jobs_run_at_once(monkeypatch, tmp_path, places, most):
    running, highest, lock = 0, 0, threading.Lock()

    def try_case(trial, _run_case):
        nonlocal running, highest
        with lock:
            running += 1
            highest = max(highest, running)
        time.sleep(0.2)
        with lock:
            running -= 1
        return Outcome(case=trial.configured.case, state=State.PASSED)

    monkeypatch.setattr(runner, "try_case", try_case)
    monkeypatch.setattr(runner, "able", lambda *_: (MACHINE, ()))
    monkeypatch.setattr(runner, "find_run", lambda *_: None)
    monkeypatch.setattr(runner, "Trial", SimpleNamespace)
    memory = SimpleNamespace(key=lambda *_: "", recall=lambda *_: None, keep=lambda *_: None)
    run = SimpleNamespace(
        config=None, artifacts=(), shared=None, unusable={}, running=Running(),
        chosen=SimpleNamespace(request=SimpleNamespace(fresh=False), folder=tmp_path), memory=memory, places=places,
        began=time.monotonic(), starts={},
    )  # fmt: skip
    names = [f"c-{number}" for number in range(4)]
    cases = [
        Case(kind="wheel", target=MACHINE.rid, consumer=name, runtime="", version="", scenario="works")
        for name in names
    ]
    with ThreadPoolExecutor(4) as pool:
        outcomes = list(pool.map(lambda case: runner._find_outcome(run, SimpleNamespace(case=case)), cases))
    assert {outcome.state for outcome in outcomes} == {State.GLUE}
    assert highest == most
    assert set(run.starts) == {case.id for case in cases}
    assert (max(run.starts.values()) >= 0.6) is (most == 1)


def test_long_test_cases_run_first_and_then_each_target_in_turn():
    rows = [("linux-x64", "path"), ("linux-x64", "works"), ("linux-x64", "frozen"), ("linux-x64", "too-old"),
            ("linux-x64", "absent"), ("linux-x64", "fork"), ("win-arm64", "path"), ("win-arm64", "absent")]  # fmt: skip
    cases = [
        SimpleNamespace(case=Case(kind="wheel", target=rid, consumer="c", runtime="", version="", scenario=name))
        for rid, name in rows
    ]
    ordered = [(one.case.target, one.case.scenario) for one in order_cases(cases)]
    assert ordered[:2] == [("linux-x64", "frozen"), ("linux-x64", "works")]
    assert [target for target, _ in ordered[2:]] == 2 * (2 * ["linux-x64"] + ["win-arm64"])


def test_a_report_states_the_targets_of_its_share():
    request = SimpleNamespace(rids=("linux-x64", "osx-arm64"), machines={}, shard=(2, 3))

    machine = describe_machine(request)

    assert (machine["targets"], machine["share"]) == ("linux-x64 osx-arm64", "2/3")
