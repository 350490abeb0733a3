from __future__ import annotations

import os
import shutil

import pytest

from latebind.errors import BuildError
from latebind.system.git import source_commit
from tests.support.running import run_checked

pytestmark = pytest.mark.skipif(
    shutil.which("git") is None, reason="not run: there is no git here: apt-get install git"
)


def git(folder, *arguments):
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    return run_checked(shutil.which("git"), *who, *arguments, cwd=folder, env=environment).strip()


@pytest.fixture
def project(tiny):
    git(tiny, "init", "-q")
    git(tiny, "add", "-A")
    git(tiny, "commit", "-qm", "one")
    return tiny


def find_commit(project, **variables):
    return source_commit(project / "latebind.toml", {"PATH": os.environ["PATH"], **variables})


def test_a_clean_tree_is_of_its_head(project):
    assert find_commit(project) == git(project, "rev-parse", "HEAD")


def test_untracked_files_such_as_outputs_do_not_count(project):
    (project / "dist").mkdir()
    (project / "dist" / "a.nupkg").write_bytes(b"1")

    assert find_commit(project) == git(project, "rev-parse", "HEAD")


def test_an_edited_tree_is_of_no_commit(project):
    with (project / "latebind.toml").open("a", encoding="utf-8") as file:
        file.write("\n")

    assert find_commit(project) == ""


def test_a_project_that_its_repository_does_not_track_is_of_no_commit(project, tmp_path):
    inner = project / "copy"
    shutil.copytree(project, inner, ignore=shutil.ignore_patterns(".git"))

    assert find_commit(inner) == ""


def test_without_a_repository_there_is_none(tiny):
    assert find_commit(tiny) == ""


def test_a_repository_without_a_commit_has_none(tiny):
    git(tiny, "init", "-q")
    git(tiny, "add", "-A")

    assert find_commit(tiny) == ""


def test_the_variables_of_gits_hooks_lead_nowhere_else(project, tmp_path):
    assert find_commit(project, GIT_DIR=str(tmp_path / "other")) == git(project, "rev-parse", "HEAD")


@pytest.mark.parametrize("text", ["a" * 40, "b" * 64, ""])
def test_what_is_said_outright_holds(project, text):
    assert find_commit(project, LATEBIND_COMMIT=text) == text


@pytest.mark.parametrize("text", ["main", "abc123", "A" * 40])
def test_what_is_no_full_hash_is_refused(project, text):
    with pytest.raises(BuildError, match="LATEBIND_COMMIT"):
        find_commit(project, LATEBIND_COMMIT=text)


def test_a_workflow_without_git_says_it_for_its_own_workspace_alone(tiny, tmp_path):
    sha = "c" * 40

    assert find_commit(tiny, GITHUB_WORKSPACE=str(tiny), GITHUB_SHA=sha) == sha
    assert find_commit(tiny, GITHUB_WORKSPACE=str(tmp_path / "elsewhere"), GITHUB_SHA=sha) == ""
