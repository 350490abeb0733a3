"""An error's phase depends on where it was raised, not on its words; data and counts on the runtime's version."""

import dataclasses
import errno
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from latebind.backend.targets import Rid
from latebind.config.file import load
from latebind.config.verification import VerifyData
from latebind.errors import InputError, LatebindError, NotRun, ToolError
from latebind.verify.cases.scenarios import scenario
from latebind.verify.declared import ConfiguredCase, Situation
from latebind.verify.run.machine import Machine, host_machine
from latebind.verify.run.protocol import CaseFailure, ConsumerResult
from latebind.verify.run.shared import choose_requirements
from latebind.verify.run.trial import PhaseError, Trial, failing_at, try_case
from tests.support.client import SEVERAL
from tests.verify.reports import row

PROJECT = load(SEVERAL)


def test_an_error_inside_gets_the_phase_and_keeps_its_words():
    with pytest.raises(PhaseError) as caught, failing_at("install"):
        raise ToolError("uv failed", where="a.log", advice="Look.")
    assert (caught.value.phase, str(caught.value)) == ("install", "a.log: uv failed\n  Look.")


def test_the_inner_phase_wins():
    with pytest.raises(PhaseError) as caught, failing_at("load"), failing_at("install"):
        raise InputError("no result")
    assert caught.value.phase == "install"


def test_not_run_passes_unchanged():
    with pytest.raises(NotRun), failing_at("install"):
        raise NotRun("no-dotnet", "there is no dotnet")
    assert not issubclass(NotRun, PhaseError)
    assert issubclass(PhaseError, LatebindError)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
@pytest.mark.parametrize("make", [lambda number: OSError(number, ""), lambda number: ToolError(os.strerror(number))])
def test_a_full_disk_is_no_failure_of_the_packages(tmp_path, number, make):
    trial = SimpleNamespace(work=tmp_path / "work", log=tmp_path / "log", case=row().case)

    def fail(_):
        raise make(number)

    with pytest.raises(OSError, match=r"\[Errno"):
        try_case(trial, fail)


@pytest.mark.parametrize(
    ("requires", "version", "expected"),
    [
        ({"1.19": ("old",), "1.31": ("new",)}, "1.19.2", "old"),
        ({"1.19": ("old",), "1.31": ("new",)}, "1.30.0", "old"),
        ({"1.19": ("old",), "1.31": ("new",)}, "1.31.1", "new"),
        ({"1.31": ("new",), "1.4": ("oldest",), "1.19": ("old",)}, "1.20.1", "old"),
        ({"1.19": ("old",), "1.31": ("new",)}, "1.18.1", "old"),
        ({"1.19": ("old",), "1.31": ("new",)}, "", "old"),
        ({"default": ("any",)}, "1.31.1", "any"),
        ({"default": ("any",), "1.31": ("new",)}, "1.33.0", "new"),
    ],
)
def test_data_are_those_of_the_newest_key_up_to_the_version(requires, version, expected):
    assert choose_requirements(VerifyData(script="cases.py", requires=requires), version) == (expected,)


def make_trial(runtime, shared=None, *, version="1.32.0", emulated=False):
    """A test case `works` of a distribution of ONNX Runtime, on this machine or an emulated one."""
    here = host_machine(Path("python3"))
    machine = Machine(rid=Rid("linux-arm64"), title="qemu", command=("qemu-aarch64",)) if emulated else here
    paths = dict.fromkeys(("work", "log"), Path("place"))
    case, bound = dataclasses.replace(row().case, runtime=runtime, version=version), PROJECT.document.runtime[0]
    configured = ConfiguredCase(
        case=case, bound_runtime=bound, package="", python="3.11", oldest="", trouble=None, native_only=False,
        stands_in=False,
    )  # fmt: skip
    return Trial(
        configured=configured, scenario=scenario("works"), config=PROJECT, machine=machine, shared=shared,
        artifacts=(), interpreters=(), **paths,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("version", "situation", "expected", "count"),
    [
        ("1.31.1", Situation(), "1.31.1", 1300),
        ("1.31.1", Situation(first="1.19.2"), "1.19.2", 1000),
        ("1.31.1", Situation(binds=("1.20.1",)), "1.20.1", 1000),
        ("1.31.1", Situation(binds=("1.31.1", "1.30.0")), "1.30.0", 1000),
        ("1.30.9", Situation(), "1.30.9", 1000),
        ("", Situation(), "", 1),
    ],
)
def test_data_and_counts_are_those_of_the_oldest_version_that_may_be_bound(version, situation, expected, count):
    trial = make_trial("onnxruntime", version=version)
    trial.__dict__["situation"] = situation  # which a scenario would set up
    assert trial.oldest_bound == expected
    assert trial.at_least() == count


@dataclasses.dataclass
class References:
    """Stands for Shared, and writes down which runtime's reference is asked for."""

    lacking: tuple[str, ...] = ()
    asked: list[str] = dataclasses.field(default_factory=list)
    settled: set[str] = dataclasses.field(default_factory=set)

    def reference(self, _machine, runtime, *, passed, is_settled, **_):
        self.asked.append(runtime)
        assert set(passed) == {"good"}
        self.settled = {case for case in ("good", "bad", "odd", "never") if is_settled(case)}
        if runtime in self.lacking:
            raise NotRun("no-distribution", f"the index has no {runtime}")
        return frozenset()

    def data(self, *_):
        return Path("data")


@pytest.mark.parametrize(
    ("runtime", "emulated", "lacking", "sample", "asked"),
    [
        ("onnxruntime", True, (), 0, ["onnxruntime==1.32.0"]),
        ("onnxruntime-gpu", False, (), 0, ["onnxruntime-gpu==1.32.0"]),
        ("onnxruntime-gpu", True, (), 25, ["onnxruntime==1.32.0"]),
        ("onnxruntime-gpu", True, ("onnxruntime==1.32.0",), 25, ["onnxruntime==1.32.0", "onnxruntime-gpu==1.32.0"]),
    ],
)
def test_an_emulated_machine_computes_all_cases_with_the_ordinary_distribution_alone(
    runtime, emulated, lacking, sample, asked
):
    shared = References(lacking)
    trial = make_trial(runtime, shared, emulated=emulated)
    assert trial.sample == sample
    assert trial.at_least() == (12 if sample else 1300)
    assert ("--sample" in trial.consumer_words()) == bool(sample)
    failed = (CaseFailure(name="bad", message="differs"),)
    trial.reference(ConsumerResult(passed=("good",), failed=failed, out_of_scope={"odd": "is a string"}))
    assert shared.asked == asked
    # Of a sample, nobody asks whether a case was ever tried.
    assert shared.settled == ({"good", "odd", "never"} if sample else {"good", "odd"})
