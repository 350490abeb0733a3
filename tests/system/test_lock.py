"""The lock of a working folder, also in one that an untrusted repository has filled."""

import pytest

from latebind.system.lock import LIVE, LOCK, exclusive


def test_the_lock_writes_to_the_working_folder_and_leaves_nothing_live(tmp_path):
    with exclusive(tmp_path):
        assert (tmp_path / LIVE).read_text("ascii")
    assert (tmp_path / LOCK).exists()
    assert not (tmp_path / LIVE).exists()


@pytest.mark.parametrize("name", [LIVE, LOCK])
def test_a_link_of_a_cloned_repository_is_not_written_through(tmp_path, name):
    victim, folder = tmp_path / "victim", tmp_path / "clone"
    victim.write_text("precious", encoding="utf-8")
    (folder / name).parent.mkdir(parents=True)
    (folder / name).symlink_to(victim)
    try:
        with exclusive(folder):
            pass
    except OSError:
        assert name == LOCK
    assert victim.read_text("utf-8") == "precious"
