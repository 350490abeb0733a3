"""The fuzzer finds nothing in the audit, and finds what is broken on purpose."""

import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

from loadcheck import AuditReport
from loadcheck.engine.pool import Died
from tests.conftest import ROOT
from tests.support import fuzz
from tests.support.running import run_checked


@pytest.fixture
def subjects(tmp_path):
    """One file that no case needs to make sense of."""
    folder = tmp_path / "subjects"
    folder.mkdir()
    shutil.copy(sys.executable, folder / "tool.so")
    (folder / "tool.so").write_bytes((folder / "tool.so").read_bytes()[:4096])
    return folder


@pytest.mark.slow
def test_mutated_packages_and_binaries_of_every_target(tmp_path):
    command = [sys.executable, "-m", "tests.support.fuzz", "--count", "2000"]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    printed = run_checked(*command, cwd=ROOT, env=environment, timeout=600)
    assert printed.startswith("2000 cases in ")
    assert "\n0 went wrong" in printed


def raise_defect(report):
    del report
    raise KeyError("a defect")


def writes(paths):
    Path(f"{paths[0]}.more").write_text("x", encoding="utf-8")
    return AuditReport(subjects=1)


def starts(paths):
    run_checked(sys.executable, "-c", "")
    return AuditReport(subjects=len(paths))


@pytest.mark.parametrize(
    ("audit", "error", "says"),
    [
        (raise_defect, KeyError, "a defect"),
        (writes, RuntimeError, r"\.more'"),
        (starts, RuntimeError, r"subprocess\.Popen"),
    ],
)
def test_what_is_broken_on_purpose_is_found(subjects, monkeypatch, audit, error, says):
    monkeypatch.setattr(fuzz, "audit_here", audit)
    with pytest.raises(error, match=says):
        fuzz.audit_cases([subjects / "tool.so"], lambda _: None)


@pytest.mark.parametrize(
    ("how", "outcome"),
    [
        ("was killed by SIGSEGV", "killed a worker"),
        ("failed with a bug in latebind: KeyError: 1", "wrong"),
        ("exceeded its limit of 5 s", "wrong"),
        ("exceeded its limit of 2048 MiB of memory", "wrong"),
    ],
)
def test_only_a_crash_in_native_code_may_end_a_worker(how, outcome):
    assert fuzz.outcome(Died(part="x.so", how=how)) == outcome


def test_cases_are_the_same_in_every_run_and_others_with_another_seed(subjects, tmp_path):
    files = [(path.name, path.read_bytes()) for path in subjects.iterdir()]

    def write_cases(seed):
        folder = Path(tempfile.mkdtemp(dir=tmp_path))
        paths = [fuzz.write_case(files, seed, number, folder) for number in range(20)]
        return [path.read_bytes() for path in paths]

    assert write_cases(1) == write_cases(1) != write_cases(2)
