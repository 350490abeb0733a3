"""What a project's workflow and CONTRIBUTING.md install is installed, without an index that has latebind."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from shutil import which

import pytest
import yaml

from latebind.adopt.new import project_files
from latebind.installation import find_commit, list_requirements
from tests.conftest import ROOT
from tests.programs import assert_success, run_checked, run_program

INSTALL = "Install latebind"


@pytest.fixture(scope="module")
def files():
    return project_files("demo", "c", "A Person")


@pytest.fixture(scope="module")
def step(files):
    """What the first step that installs latebind runs, and its variables."""
    workflow = yaml.safe_load(files[".github/workflows/latebind.yml"])
    steps = [step for job in workflow["jobs"].values() for step in job.get("steps", ())]
    return next(step["run"] for step in steps if step.get("name") == INSTALL), workflow["env"]


def test_all_places_install_the_same(files, step):
    requirements = list_requirements("native", "verify")
    assert step[1]["LATEBIND"].split() == [*requirements]
    installed = files["CONTRIBUTING.md"].partition("pip install")[2].partition("\nlatebind pack")[0]
    assert re.findall(r'"(.+)"', installed) == [*requirements]


def test_what_is_from_git_brings_loadcheck_from_there():
    if not find_commit():
        pytest.skip("not run: latebind was not installed from a repository")
    places = [requirement.partition("@")[2] for requirement in list_requirements()]
    assert places[0] == f"{places[1]}#subdirectory=loadcheck"


def is_here(commit):
    return run_program("git", "-C", ROOT, "cat-file", "-e", commit).returncode == 0


@pytest.mark.slow
@pytest.mark.builds
@pytest.mark.parametrize("place", ["workflow", "CONTRIBUTING.md"])
def test_it_is_installed_from_git(tmp_path, files, step, place):
    """git gets the repository from this clone, under its own address."""
    if not find_commit() or not is_here(find_commit()):
        pytest.skip("not run: latebind was not installed from this repository")
    run_checked(sys.executable, "-m", "uv", "venv", "--quiet", "--seed", tmp_path / "venv")
    clone = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": f"url.file://{ROOT}.insteadOf",
             "GIT_CONFIG_VALUE_0": "https://github.com/latebind/latebind"}  # fmt: skip
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PIP_FIND"))}
    env = {**kept, **clone, "PATH": f"{tmp_path / 'venv/bin'}:{os.environ['PATH']}"}
    command, variables = step
    if place == "CONTRIBUTING.md":
        text = files[place].partition("```console\n")[2]
        command, variables = text.partition("\nlatebind pack")[0], {}
    ended = subprocess.run(
        [which("bash"), "-eo", "pipefail", "-c", command], env={**env, **variables}, cwd=tmp_path,
        capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    assert_success(ended)
    assert_success(run_program(tmp_path / "venv/bin/latebind", "--version"))
