"""The user's cache folder, by the rules of each system."""

import os

import pytest

from latebind.backend.cache import user_cache
from latebind.verify.run.access import NOBODY, is_root

CASES = {
    "XDG": ("linux", {"XDG_CACHE_HOME": "xdg", "HOME": "home"}, "xdg/latebind"),
    "Linux": ("linux", {"HOME": "home"}, "home/.cache/latebind"),
    "macOS": ("darwin", {"XDG_CACHE_HOME": "xdg", "HOME": "home"}, "home/Library/Caches/latebind"),
    "Windows": ("win32", {"LOCALAPPDATA": "local", "HOME": "home"}, "local/latebind/Cache"),
    "the variable": ("linux", {"LATEBIND_CACHE": "own", "HOME": "home"}, "own"),
}


@pytest.mark.parametrize("name", CASES)
def test_the_folder_is_found_by(tmp_path, name):
    platform, environment, expected = CASES[name]
    folder = user_cache({key: str(tmp_path / value) for key, value in environment.items()}, platform)
    assert folder == tmp_path / expected
    assert folder.is_dir()


def test_without_a_place_that_can_be_written_there_is_none(tmp_path):
    (tmp_path / "file").touch()
    assert user_cache({}, "linux") is None
    assert user_cache({"HOME": str(tmp_path / "file")}, "linux") is None


@pytest.mark.parametrize("name", ["XDG_CACHE_HOME", "HOME"])
def test_a_relative_folder_is_not_below_the_working_folder(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    assert user_cache({name: "relative"}, "linux") is None
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_others_may_change_is_not_used(tmp_path):
    open_folder = tmp_path / "open"
    open_folder.mkdir()
    open_folder.chmod(0o1777)
    assert user_cache({"LATEBIND_CACHE": str(open_folder)}) is None
    open_folder.chmod(0o755)
    assert user_cache({"LATEBIND_CACHE": str(open_folder)}) == open_folder


@pytest.mark.skipif(not is_root(), reason="not run: only root can give files to other users")
def test_a_folder_of_another_user_is_not_used(tmp_path):
    os.chown(tmp_path, NOBODY, NOBODY)
    assert user_cache({"LATEBIND_CACHE": str(tmp_path)}) is None
