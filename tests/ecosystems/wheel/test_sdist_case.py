"""The test case of an sdist: pip builds a wheel without latebind, and the wheel is imported."""

import os

import pytest

from latebind.backend.targets import host_rid
from latebind.config.project import read_project
from latebind.model import State
from latebind.verify.choose import Request
from latebind.verify.runner import verify
from tests.support.client import PORTABLE_CMAKE, edit, write_files, write_portable

pytestmark = pytest.mark.builds

MODULE = "python/tiny/src/tiny/__init__.py"


def verify_sdist(folder):
    """The result of the project's sdist case."""
    project = read_project(folder / "latebind.toml", folder)
    (result,) = verify(project, Request(rids=(host_rid(),), patterns=("sdist",))).cases
    return result


@pytest.fixture
def tree(tmp_path):
    """A project whose CMake project reads a file in the native folder."""
    write_portable(tmp_path / "tiny", [host_rid()])
    edit(tmp_path / "tiny/latebind.toml", 'nuget = { id = "Tiny" }\n', "")
    cmake = PORTABLE_CMAKE.replace("add_library", "file(READ banner.txt BANNER)\nadd_library", 1)
    return write_files(tmp_path / "tiny", {"native/banner.txt": "tiny\n", "native/CMakeLists.txt": cmake})


def test_an_sdist_with_all_its_files_is_built_and_imported(tree):
    result = verify_sdist(tree)
    assert (result.outcome, result.summary) == (State.PASSED, "pip built 1 wheel, which was imported"), result.reason
    assert not (tree / "build/verify/work").exists() or not any((tree / "build/verify/work").iterdir())
    assert verify_sdist(tree).cached


def test_an_sdist_that_lacks_a_file_of_the_build_fails_with_the_file(tree):
    (tree / "native/banner.txt").rename(tree / "banner.txt")
    edit(tree / "native/CMakeLists.txt", "READ banner.txt", "READ ../banner.txt")
    result = verify_sdist(tree)
    assert result.outcome is State.FAILED
    assert "pip cannot build tiny-1.2.3.tar.gz" in result.reason
    assert "banner.txt" in result.reason


def test_an_sdist_whose_module_cannot_be_imported_fails(tree):
    edit(tree / MODULE, "", "import tiny_of_nobody\n", 1)
    result = verify_sdist(tree)
    assert result.outcome is State.FAILED
    assert "tiny_of_nobody" in result.reason


def test_an_sdist_whose_build_requirements_no_index_has_is_not_run(tree, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    result = verify_sdist(tree)
    assert (result.outcome, result.reason) == (State.NOT_RUN, "no-index"), result.summary
    assert "hatchling" in result.summary
