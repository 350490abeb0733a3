"""Each test that `.ci/run` leaves out is in one shard, and successive runs take all shards."""

import re
import subprocess
import sys

import pytest

from ci import shards
from ci.shards import SHARDS, choose_oldest, read_ledger
from tests.conftest import ROOT
from tests.support.running import run_checked

NAMES = [shard.name for shard in SHARDS]
LEFT_OUT = ("slow", "emulated", "workflows", "libraries")
"""The marks that `.ci/run` leaves out."""


def collect(folder, *options):
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *options]
    shown = subprocess.run(command, cwd=ROOT / folder, check=False, capture_output=True, text=True).stdout
    return [line for line in shown.splitlines() if "::" in line]


def commit(folder):
    identity = ("-c", "user.name=A Person", "-c", "user.email=a.person@example.com")
    run_checked("git", *identity, "commit", "--quiet", "--allow-empty", "--message", "more", cwd=folder)


@pytest.fixture
def ledger(tmp_path, monkeypatch):
    file = tmp_path / "green.toml"
    monkeypatch.setattr(shards, "LEDGER", file)
    monkeypatch.setattr(shards, "ROOT", tmp_path)
    run_checked("git", "init", "--quiet", cwd=tmp_path)
    commit(tmp_path)
    return file


def test_the_run_leaves_out_what_the_shards_run():
    text = (ROOT / ".ci/run").read_text("utf-8")
    (left_out,) = re.findall(r'-m "(.*)"', text)
    assert left_out == " and ".join(f"not {mark}" for mark in LEFT_OUT)
    assert "python3 ci/shards.py" in text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("folder", "session"), [(".", "tests"), ("latenn", "latenn-tests"), ("loadcheck", "loadcheck-tests")]
)
def test_each_test_is_in_one_shard(folder, session):
    if session == "loadcheck-tests":
        marked = collect(folder, "-m", "slow")
    else:
        marked = collect(folder, "-m", " or ".join(LEFT_OUT[:3]))
    run = [test for shard in SHARDS if shard.session == session for test in collect(folder, *shard.pytest)]
    assert marked
    assert sorted(run) == sorted(marked)


def test_successive_runs_take_all_shards(ledger):
    for name in NAMES:
        shards.record(name)
        commit(ledger.parent)
    assert [number for _, number in read_ledger().values()] == [*range(1, len(SHARDS) + 1)]
    taken = []
    for _ in SHARDS:
        shard = choose_oldest(read_ledger())
        taken.append(shard.name)
        shards.record(shard.name)
        commit(ledger.parent)
    assert taken == NAMES


def test_a_shard_that_never_passed_waits_until_it_is_named(ledger):
    assert choose_oldest(read_ledger()).name == NAMES[0]
    shards.record(NAMES[2])
    assert choose_oldest(read_ledger()).name == NAMES[2]


def test_a_shard_that_fails_is_not_recorded(ledger, monkeypatch, capfd):
    statuses = iter([0, 3])
    monkeypatch.setattr(shards.subprocess, "call", lambda *_, **__: next(statuses))
    assert shards.main(["adopt", "loader", "emulated"]) == 3
    assert list(read_ledger()) == ["loader"]
    assert "Shard loader passed. Commit green.toml.\n" in capfd.readouterr().out


@pytest.mark.slow
def test_a_python_that_is_not_here_is_no_success():
    nox = [sys.executable, "noxfile.py", "-s", "minimums"]
    options = ["3.99" if option == "3.10" else option for option in SHARDS[-1].nox]
    ended = subprocess.run([*nox, *options], cwd=ROOT, check=False, capture_output=True, text=True)
    assert ended.returncode == 1
    assert "Python interpreter 3.99 not found" in ended.stderr


def test_a_name_that_no_shard_has_is_refused(capsys):
    with pytest.raises(SystemExit) as ended:
        shards.main(["nativ"])
    assert ended.value.code == 2
    assert "there is no shard nativ; there are loadcheck, latenn," in capsys.readouterr().err


def test_the_ledger_has_shards_alone():
    assert set(read_ledger()) <= set(NAMES)
