"""The fingerprint of latebind: whatever packing imports changes it, and then packages are made again."""

import shutil

import pytest

from latebind import fingerprint
from tests.support.client import pack_project


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A latebind and a loadcheck of the test's own, for the fingerprint alone; the folder with both."""
    for name in ("PACKAGE", "LOADCHECK"):
        source = getattr(fingerprint, name)
        folder = shutil.copytree(source, tmp_path / source.name, ignore=shutil.ignore_patterns("__pycache__"))
        monkeypatch.setattr(fingerprint, name, folder)
    fingerprint._hash_code.cache_clear()
    yield tmp_path
    fingerprint._hash_code.cache_clear()


def now():
    fingerprint._hash_code.cache_clear()
    return fingerprint.fingerprint()


@pytest.mark.parametrize(
    "name",
    ["latebind/pack/untracked.py", "latebind/backend/targets.toml", "loadcheck/archive.py", "loadcheck/binary/elf.py"],
)
def test_each_file_is_part_of_it(copy, name):
    before = now()
    (copy / name).write_bytes((copy / name).read_bytes() + b"#")
    assert now() != before


def test_a_module_that_is_new_is_part_of_it(copy):
    before = now()
    (copy / "latebind" / "novel.py").touch()
    assert now() != before


@pytest.mark.slow
def test_packages_are_made_again_when_the_code_that_writes_zips_has_changed(copy, tiny):
    def times():
        pack_project(tiny)
        return {path.name: path.stat().st_mtime_ns for path in (tiny / "dist").iterdir()}

    first = times()
    assert times() == first
    with (copy / "loadcheck" / "archive.py").open("a", encoding="utf-8") as file:
        file.write("# changed\n")
    fingerprint._hash_code.cache_clear()
    second = times()
    assert second.keys() == first.keys()
    assert all(second[name] != first[name] for name in first)
