"""The fuzzer finds nothing in the audit, and finds what is broken on purpose."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import fuzz
import pytest
from latebind.audit.pool import Died, Pool, WorkerLimits
from latebind.errors import InputError
from latebind.model import AuditReport

ROOT = Path(__file__).resolve().parents[2]


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
    command = [sys.executable, ROOT / "ci" / "fuzz.py", "--count", "2000"]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("2000 cases in ")
    assert "0 went wrong" in done.stdout


def broken(report):
    del report
    raise KeyError("a defect")


def writes(paths):
    Path(f"{paths[0]}.more").write_text("x", encoding="utf-8")
    return AuditReport(subjects=1)


def starts(paths):
    subprocess.run([sys.executable, "-c", ""], check=True)
    return AuditReport(subjects=len(paths))


def dawdles(paths):
    time.sleep(0.2)
    raise InputError("not readable", where=str(paths[0]))


@pytest.mark.parametrize(
    ("audit", "says"),
    [(broken, "KeyError: 'a defect'"), (writes, ".more'"), (starts, "subprocess.Popen"), (dawdles, "took 0.")],
)
def test_what_is_broken_on_purpose_is_found(subjects, monkeypatch, audit, says):
    monkeypatch.setattr(fuzz, "audit_here", audit)
    monkeypatch.setattr(fuzz, "SECONDS", 0.1 if audit is dawdles else 60)
    _, wrong = fuzz.fuzz(fuzz.Chunk(subjects, 1, 0, 1), lambda _: None)
    assert len(wrong) == 1
    assert says in wrong[0]


def test_too_much_memory_is_found(subjects, monkeypatch):
    monkeypatch.setattr(fuzz, "MEMORY", 1 << 20)
    _, wrong = fuzz.fuzz(fuzz.Chunk(subjects, 1, 0, 1), lambda _: None)
    assert "MB of memory" in wrong[-1]


def test_a_worker_that_dies_names_the_case_and_the_command_line_is_asked(subjects):
    with Pool(dies, 1, WorkerLimits(seconds=20)) as pool:
        (died,) = pool.run([fuzz.Chunk(subjects, 1, 3, 5)])
    assert isinstance(died, Died)
    assert died.part == "3"
    assert fuzz.by_command(fuzz.Chunk(subjects, 1, 3, 5), 3, died.how) == []
    assert fuzz.by_command(fuzz.Chunk(subjects, 1, 3, 5), 3, "failed inside") == ["case 3: the worker failed inside"]


def dies(chunk, tell):
    tell(str(chunk.first))
    os._exit(9)


def test_cases_are_the_same_in_every_run_and_others_with_another_seed(subjects, tmp_path):
    files = [(path.name, path.read_bytes()) for path in subjects.iterdir()]

    def made(seed):
        paths = [fuzz.write_case(files, seed, number, tmp_path) for number in range(20)]
        return [path.read_bytes() for path in paths]

    assert made(1) == made(1) != made(2)
