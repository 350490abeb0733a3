"""A project in a repository, and a release of it that may be published; both are packed once."""

import shutil

import pytest

from latebind.config.file import load
from latebind.release.make import make_release
from tests.release.conftest import release_inputs  # noqa: F401  # a fixture
from tests.support.running import run_checked

IGNORED = "/dist/\n/reports/\n/build/\n/stage/\n"
GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@b")


def commit_all(root):
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "One"]):
        run_checked(*GIT, *arguments, cwd=root)
    return root


@pytest.fixture
def project(release_inputs, tmp_path):  # noqa: F811  # the fixture
    """The small project with a clean commit."""
    root = shutil.copytree(
        release_inputs.project.config.root, tmp_path / "tiny", ignore=shutil.ignore_patterns("build", "stage")
    )
    (root / ".gitignore").write_text(IGNORED, encoding="utf-8")
    return commit_all(root)


@pytest.fixture
def release(release_inputs, tmp_path):  # noqa: F811  # the fixture
    """A release folder of the same project."""
    make_release(release_inputs, tmp_path / "release", dry_run=False)
    return tmp_path / "release"


@pytest.fixture
def config(project):
    return load(project / "latebind.toml")
