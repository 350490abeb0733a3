"""latebind itself on the Pythons of other systems: the same bytes and the same JSON as here."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from latebind.pack.record import RECORD
from latebind.verify.run.installers import foreign_installer, installer
from tests.conftest import ROOT
from tests.support.client import built_wheel, write_portable
from tests.support.running import CLI

pytestmark = [pytest.mark.emulated, pytest.mark.slow]
RIDS = ["linux-x64", "linux-arm64", "win-x64"]
TARGETS = [argument for rid in RIDS for argument in ("--target", rid)]
WRONG_NAME = "tiny-1.2.3-py3-none-manylinux_2_28_x86_64.whl"


def hashes(folder):
    """Of the packages; their record has the versions of the libraries that made them."""
    packages = (path for path in folder.iterdir() if path.is_file() and path.name != RECORD)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in packages}


@pytest.fixture(scope="module")
def run_there(machine, tmp_path_factory):
    """Run a command line of latebind on the machine; paths among its words are translated."""
    work = tmp_path_factory.mktemp("a tool")
    wheels = [str(built_wheel(source, work)) for source in (ROOT, ROOT / "loadcheck")]
    environment = work / "an environment"
    tool = foreign_installer(machine, installer(work))
    tool.create(environment, machine.python, work / "log")
    tool.install(environment, wheels, log=work / "log")

    def run(*arguments):
        command = machine.argv(machine.python_of(environment), "-I", "-m", "latebind.cli", *arguments)
        return subprocess.run(command, check=False, capture_output=True, stdin=subprocess.DEVNULL, timeout=600)

    return run


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A project with native files that were built here, its packages, and a wheel under another's name."""
    folder = write_portable(tmp_path_factory.mktemp("a project") / "tiny", RIDS)
    here(folder, "built", "build", *TARGETS)
    return folder


def here(folder, workdir, *arguments):
    command = [*CLI, "-C", folder, "--workdir", folder.parent / workdir, *arguments]
    return subprocess.run(command, check=False, capture_output=True, stdin=subprocess.DEVNULL, timeout=600)


def test_plan_pack_and_audit_give_the_same_as_here(machine, run_there, project):
    built, ours, theirs = (project.parent / name for name in ("built", "ours", f"theirs {machine.rid}"))

    def there(*arguments):
        return run_there("-C", project, "--workdir", theirs, *arguments)

    assert here(project, "ours", "stage", "--import", built / "stage").returncode == 0
    imported = there("stage", "--import", built / "stage")
    assert imported.returncode == 0, imported.stderr
    assert imported.stdout.replace(b"stage\\", b"stage/") == here(project, "ours", "stage").stdout

    planned, expected = there("plan", *TARGETS), here(project, "ours", "plan", *TARGETS)
    names = planned.stdout.decode().replace(machine.path(theirs / "dist"), str(ours / "dist"))
    assert names.replace("dist\\", "dist/") == expected.stdout.decode()

    packed, expected = there("pack", *TARGETS), here(project, "ours", "pack", *TARGETS)
    assert packed.returncode == 0, packed.stderr
    assert hashes(theirs / "dist") == hashes(ours / "dist")
    assert len(hashes(ours / "dist")) == len(RIDS) + 2
    assert packed.stdout.replace(b"dist\\", b"dist/") == expected.stdout

    audited, expected = there("audit", "--format", "json"), here(project, "ours", "audit", "--format", "json")
    assert (audited.returncode, audited.stdout) == (0, expected.stdout), audited.stderr
    assert json.loads(audited.stdout)["subjects"] == len(RIDS) + 2


@pytest.mark.parametrize("form", ["json", "sarif"])
def test_findings_are_the_same_as_here(machine, run_there, project, form):
    here(project, "ours", "pack", *TARGETS)
    bad = project.parent / "bad"
    bad.mkdir(exist_ok=True)
    shutil.copy(project.parent / "ours" / "dist" / "tiny-1.2.3-py3-none-win_amd64.whl", bad / WRONG_NAME)

    theirs = run_there("-C", project, "audit", bad, "--format", form)
    ours = here(project, "ours", "audit", bad, "--format", form)

    assert (theirs.returncode, ours.returncode) == (1, 1), theirs.stderr
    assert theirs.stdout.decode() == ours.stdout.decode()


def test_output_in_any_script_goes_through_a_pipe(run_there, tmp_path):
    folder = tmp_path / "日本 ä"
    folder.mkdir()
    done = run_there("audit", folder)
    assert done.returncode == 2
    assert "日本 ä" in done.stderr.decode("utf-8")
    assert b"\r" not in done.stderr


def test_doctor_runs_there(run_there):
    done = run_there("doctor")
    assert done.returncode == int(b"nothing can be built here" in done.stderr), done.stderr  # without zig or a compiler
    assert "python" in done.stdout.decode()


def test_all_that_a_program_started_ends_with_it(machine, tmp_path):
    """By a job on Windows. Linux is tried where it is real: qemu gives its programs an empty list of processes."""
    if machine.rid != "win-x64":
        pytest.skip("not run: /proc of an emulated Linux lists nothing")
    script = Path(__file__).with_name("held.py")
    command = machine.argv(machine.python, script, ROOT / "packaging", ROOT / "loadcheck/src", tmp_path)
    ended = subprocess.run(command, check=False, capture_output=True, stdin=subprocess.DEVNULL, timeout=300)
    assert ended.stdout.decode().splitlines() == ["its limit of 10 s", "limit True False", "kill True False"], ended
