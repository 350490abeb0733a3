"""The action audits what it is pointed at, annotates, summarises, and fails for a bad package."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import zipfile

import pytest
import yaml

from latebind import action
from tests.conftest import ROOT
from tests.support.running import make_environment, run_checked, run_program


@pytest.fixture
def run(tmp_path, monkeypatch):
    """What the action runs in the environment that its step has made."""
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    monkeypatch.setenv("AUDIT_SARIF", str(tmp_path / "audit.sarif"))

    def audit(path):
        monkeypatch.setenv("AUDIT_PATHS", str(path))
        return action.main()

    return audit


def test_a_bad_package_fails_with_an_annotation_and_a_summary(run, tmp_path, capfd):
    wheel = tmp_path / "bad-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("bad/__init__.py", "")
    assert run(wheel) == 1
    printed = capfd.readouterr().out
    assert "::error title=LB" in printed
    assert "## ❌ loadcheck" in (tmp_path / "summary.md").read_text("utf-8")
    assert '"2.1.0"' in (tmp_path / "audit.sarif").read_text("utf-8")


def test_a_profile_chooses_the_checks(run, tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("AUDIT_PROFILE", "runtime")
    with zipfile.ZipFile(tmp_path / "bad-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr("bad/__init__.py", "")
    assert run(tmp_path) == 0
    assert "--profile runtime" in capfd.readouterr().out


@pytest.mark.parametrize("where", [".", "here"])
def test_a_project_applies_its_own_rules(run, tmp_path, tiny, monkeypatch, capfd, where):
    """By default, every check applies to a project; `.` names the current folder as well as its path does."""
    monkeypatch.chdir(tiny)
    monkeypatch.setenv("AUDIT_PROJECT", "." if where == "." else str(tiny))
    with zipfile.ZipFile(tmp_path / "bad-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr("bad/__init__.py", "")
    assert run(tmp_path) == 1
    assert "--profile" not in capfd.readouterr().out


def test_a_missing_path_is_refused(run, tmp_path, capfd):
    assert run(tmp_path / "none") == 2
    assert "no such file or folder" in capfd.readouterr().err


def test_no_module_of_the_working_folder_is_imported(tmp_path):
    step = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))["runs"]["steps"][-1]
    for name in ("argparse", "latebind", "pip", "venv"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('of the working folder')")
    commands = [line.split() for line in step["run"].splitlines() if " -m " in line]
    assert len(commands) == 4
    for _, *options in commands:
        module = options[: options.index("-m") + 2]
        ended = run_program(sys.executable, *module, "--help", cwd=tmp_path, env={**os.environ, "AUDIT_PATHS": "none"})
        assert "of the working folder" not in ended.stderr


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="not run: bash of this system may be another's")
def test_its_step_makes_an_environment_of_the_same_sources_and_audits_there(tmp_path):
    step = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))["runs"]["steps"][-1]
    variables = {
        "RUNNER_TEMP": str(tmp_path),
        "RUNNER_OS": "Linux",
        "GITHUB_ACTION_PATH": str(ROOT),
        "PYTHON": sys.executable,
        "AUDIT_PATHS": "x",
    }
    environment = {**os.environ, **variables}

    ended = run_program(shutil.which("bash"), "-e", "-c", step["run"], cwd=tmp_path, env=environment)

    assert ended.returncode == 2
    assert "no such file or folder" in ended.stderr
    binaries = tmp_path / "latebind-audit" / "bin"
    assert (binaries / "latebind").is_file()
    run_checked(binaries / "python", "-m", "pip", "check")
    requirements = (ROOT / "ci/action-requirements.txt").read_text("utf-8")
    locked = dict(re.findall(r"^([\w.-]+)==([\w.]+)", requirements, re.MULTILINE))
    listed = json.loads(run_checked(binaries / "python", "-m", "pip", "list", "--format", "json"))
    installed = {entry["name"].lower().replace("_", "-"): entry["version"] for entry in listed}
    own = {"latebind", "loadcheck", "pip", "setuptools"}
    assert {name: installed[name] for name in installed.keys() - own}.items() <= locked.items()


@pytest.mark.slow
@pytest.mark.parametrize("hook", ["loadcheck", "latebind-audit"])
def test_a_hook_of_pre_commit_audits_dist(tmp_path, monkeypatch, hook):
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path / "home"))
    environment = make_environment(tmp_path / "venv", "pre-commit")
    git, project = shutil.which("git"), tmp_path / "project"
    run_checked(git, "init", "--quiet", project)
    commit = run_checked(git, "-C", ROOT, "rev-parse", "HEAD").strip()
    settings = {"repos": [{"repo": str(ROOT), "rev": commit, "hooks": [{"id": hook}]}]}
    (project / ".pre-commit-config.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    run_checked(
        sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", project / "dist", "packaging"
    )
    words = (environment.parent / "pre-commit", "run", "--all-files", "--hook-stage", "pre-push")
    assert "Passed" in run_checked(*words, cwd=project)

    with zipfile.ZipFile(project / "dist/bad-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr("bad/__init__.py", "")
    ended = run_program(*words, cwd=project)
    assert ended.returncode == 1
    assert "error   LB501 has no RECORD" in ended.stdout
