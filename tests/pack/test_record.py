"""dist/ records what its packages were made from, so that a change is found without build/."""

import shutil

import pytest

from latebind.config.project import read_project
from latebind.native.sources import hash_inputs
from latebind.pack.make import inspect_dist
from latebind.pack.record import Record, list_changes, read_record
from tests.support.client import BOUND, edit, pack_project, write_files
from tests.support.running import assert_success

SOURCE = "native/tiny.c"


def changes(folder, commit=""):
    return list_changes(
        read_record(folder / "dist"), hash_inputs(read_project(folder / "latebind.toml", folder)), commit
    )


@pytest.mark.builds
def test_nothing_changed_right_after_packing(packed_tiny):
    pack_project(packed_tiny)
    record = read_record(packed_tiny / "dist")
    assert {"latebind.toml", SOURCE, "python/tiny/pyproject.toml", "native/CMakeLists.txt"} <= record.sources.keys()
    assert not changes(packed_tiny)


@pytest.mark.builds
def test_packages_that_can_no_longer_be_packed_are_out_of_date(packed_tiny):
    edit(packed_tiny / "latebind.toml", 'version = "1.2.3"', 'version = "1!2.3"')
    outdated = inspect_dist(read_project(packed_tiny / "latebind.toml", packed_tiny)).outdated
    assert set(outdated) == read_record(packed_tiny / "dist").packages.keys() > {"nupkg tiny"}


@pytest.mark.builds
def test_each_change_is_named_without_the_build_folder(packed_tiny):
    pack_project(packed_tiny)
    shutil.rmtree(packed_tiny / "build", ignore_errors=True)
    edit(packed_tiny / SOURCE, "return", "return 1 +")
    (packed_tiny / "native/more.c").write_text("", encoding="utf-8")
    (packed_tiny / "python/tiny/src/tiny/__init__.py").unlink()
    assert changes(packed_tiny) == [
        "native/more.c was added", f"{SOURCE} was changed", "python/tiny/src/tiny/__init__.py was removed",
    ]  # fmt: skip


@pytest.mark.builds
def test_ends_of_lines_do_not_count(packed_tiny):
    pack_project(packed_tiny)
    text = (packed_tiny / SOURCE).read_bytes()
    (packed_tiny / SOURCE).write_bytes(text.replace(b"\n", b"\r\n"))
    assert not changes(packed_tiny)


def test_only_files_of_both_sides_count_at_the_same_commit():
    record = Record(commit="1" * 40, sources={"a": "1", "_version.py": "1"})
    assert not list_changes(record, {"a": "1", "new": "1"}, "1" * 40)
    assert list_changes(record, {"a": "2", "new": "1"}, "1" * 40) == ["a was changed"]
    assert len(list_changes(record, {"a": "1", "new": "1"}, "2" * 40)) == 2


@pytest.mark.builds
def test_the_record_knows_each_byte_of_the_packages(packed_tiny):
    result = pack_project(packed_tiny)
    assert read_record(packed_tiny / "dist").files == {one.path.name: one.sha256 for one in result.artifacts}


@pytest.mark.builds
@pytest.mark.parametrize("option", [(), ("--dist", "dist")], ids=["own", "named"])
def test_verify_fails_for_broken_sources_also_without_build_and_quietly(latebind, tiny, option):
    write_files(tiny, {"latebind.toml": BOUND + '\n[verify]\npython = "smoke.py"\n', "smoke.py": ""})
    assert_success(latebind("-C", tiny, "pack"))
    shutil.rmtree(tiny / "build")
    (tiny / SOURCE).write_text("this is not C\n", encoding="utf-8")

    done = latebind("-q", "-C", tiny, "verify", *(tiny / word if word == "dist" else word for word in option))

    assert done.returncode != 0
    assert SOURCE.rpartition("/")[2] in done.stderr
    if option:
        assert f"the packages are out of date: {SOURCE} was changed after packing" in done.stderr
