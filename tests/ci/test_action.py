"""The action audits what it is pointed at, annotates, summarises, and fails for a bad package."""

from __future__ import annotations

import sys
import zipfile

import action
import pytest

from tests.programs import run_checked


@pytest.fixture
def run(tmp_path, monkeypatch):
    """The action in this very environment: that a venv can be made is not what is asked."""
    monkeypatch.setattr(action, "_environment", lambda: sys.executable)
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
    assert "## ❌ latebind audit" in (tmp_path / "summary.md").read_text("utf-8")
    assert '"2.1.0"' in (tmp_path / "audit.sarif").read_text("utf-8")


def test_a_profile_chooses_the_checks(run, tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("AUDIT_PROFILE", "runtime")
    with zipfile.ZipFile(tmp_path / "bad-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr("bad/__init__.py", "")
    assert run(tmp_path) == 0
    assert "--profile runtime" in capfd.readouterr().out


def test_a_missing_path_is_refused(run, tmp_path, capfd):
    assert run(tmp_path / "none") == 2
    assert "no such file or folder" in capfd.readouterr().err


@pytest.mark.slow
def test_its_environment_has_latebind_of_the_same_sources(tmp_path, monkeypatch):
    monkeypatch.setenv("RUNNER_TEMP", str(tmp_path))
    python = action._environment()
    assert run_checked(python, "-m", "latebind.cli", "--version").startswith("latebind ")
