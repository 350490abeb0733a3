"""A process with more rights than its user: no environment variable chooses what it opens. Set-id copies, as root."""

import shutil

from tests.loader.situations import ENVIRONMENT
from tests.loader.test_loader import NAME
from tests.support.building import ROOT
from tests.support.raised import run_raised
from tests.support.sources import find_readers

__all__ = ["run_raised"]
THE_ONE_PLACE = {"loader/src/os_posix.c", "loader/src/os_windows.c"}


def test_the_loaders_own_variable_is_ignored_and_the_sentence_says_so(run_raised, plain):
    printed = run_raised("probe", "--text", **{ENVIRONMENT: str(plain.stand_in("good"))})
    assert printed.startswith("ONNX Runtime was not found")
    assert "This process has more rights than its user: environment variables are ignored." in printed
    assert ENVIRONMENT not in printed
    assert "environment:" not in printed


def test_the_list_of_library_folders_is_ignored(run_raised, plain, tmp_path):
    shutil.copy(plain.stand_in("good"), tmp_path / NAME)
    assert "not found" in run_raised("probe", "--text", LD_LIBRARY_PATH=str(tmp_path))


def test_the_environment_is_read_in_one_place():
    assert find_readers(ROOT / "loader") == THE_ONE_PLACE
