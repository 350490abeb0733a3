"""The user's cache folder, by the rules of each system."""

import pytest
from latebind.system.cache import user_cache

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
    found = user_cache({key: str(tmp_path / value) for key, value in environment.items()}, platform)
    assert found == tmp_path / expected
    assert found.is_dir()


def test_without_a_place_that_can_be_written_there_is_none(tmp_path):
    (tmp_path / "file").touch()
    assert user_cache({}, "linux") is None
    assert user_cache({"HOME": str(tmp_path / "file")}, "linux") is None
