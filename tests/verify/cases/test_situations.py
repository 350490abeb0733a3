"""Ways to make a library unusable, on a real one."""

from types import SimpleNamespace

import pytest
from tests.audit.corpus import Compiler

from latebind.errors import InputError
from latebind.verify.cases import situations as spoil

SOURCE = """\
#include <stdio.h>
const char* v(void) { puts("called"); return "1.31.1"; }
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return Compiler(tmp_path_factory.mktemp("spoil")).library(SOURCE)


def test_halves_noughts_and_texts(library):
    data = library.read_bytes()
    assert spoil.truncate(data) == data[: len(data) // 2]
    assert len(spoil.corrupt(data)) == len(data)
    assert not spoil.corrupt(data).startswith(b"\x7fELF")
    assert spoil.text(data).startswith(b"This is not a library")


def test_a_name_is_changed_in_place(library):
    data = library.read_bytes()
    changed = spoil.rename(data, "1.31.1", "2.31.1")
    assert len(changed) == len(data)
    assert b"\x002.31.1\x00" in changed


@pytest.mark.parametrize(("old", "new"), [("9.99.9", "8.88.8"), ("1.31.1", "10.31.1")])
def test_a_name_that_is_not_there_or_of_another_length_is_refused(library, old, new):
    with pytest.raises(InputError, match=r"does not contain"):
        spoil.rename(library.read_bytes(), old, new)


def test_a_needed_library_gets_a_name_that_no_system_has(library):
    needed, gone = spoil.dependency_of(library)
    assert needed.startswith("lib")
    assert len(gone) == len(needed)
    assert gone != needed


def test_a_file_that_needs_nothing_is_refused(tmp_path):
    (tmp_path / "text.so").write_bytes(b"no library")
    with pytest.raises(InputError, match="has no dependency that this test can rename"):
        spoil.dependency_of(tmp_path / "text.so")


def test_breaking_a_library_leaves_the_file_that_other_test_cases_have_a_link_to(tmp_path):
    shared, linked = tmp_path / "shared.so", tmp_path / "linked.so"
    shared.write_bytes(b"good")
    linked.hardlink_to(shared)
    spoil.Situation(spoil=spoil.truncate).break_files([linked])
    assert (shared.read_bytes(), linked.read_bytes()) == (b"good", b"go")


def test_a_minimum_is_raised_above_the_version_of_the_test_case():
    bench = SimpleNamespace(case=SimpleNamespace(version="1.31.1"))

    situation = spoil.too_old(bench, None)

    assert (situation.arguments, situation.values) == (("--runtime-minimum", "1.32"), {"raised": "1.32"})


def test_a_copy_of_a_runtime_has_its_neighbours(tmp_path):
    (tmp_path / "lib").mkdir()
    for name in ("libonnxruntime.so.1", "libonnxruntime_providers_shared.so"):
        (tmp_path / "lib" / name).write_text(name)
    library = tmp_path / "lib/libonnxruntime.so.1"
    bench = SimpleNamespace(library=lambda *_: library, case=SimpleNamespace(version="1.31.1"), work=tmp_path / "work")

    copy = spoil.copy_runtime(bench, None, "decoy")

    assert copy == tmp_path / "work/decoy/libonnxruntime.so.1"
    assert {path.name: path.read_text() for path in copy.parent.iterdir()} == {
        path.name: path.name for path in library.parent.iterdir()
    }
