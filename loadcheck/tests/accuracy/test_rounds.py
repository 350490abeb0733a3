"""The rounds of drawn packages: what is counted, and rows without a verdict, which fail the count."""

from __future__ import annotations

import hashlib
import os
import sys
import zipfile
from dataclasses import replace

import pytest
from accuracy import downloads, drawing, imports, rounds

from loadcheck import InputError
from loadcheck.index.download import Answer
from loadcheck.index.pages import IndexFile

ROW = rounds.Observation("a-1-cp311-cp311-linux_x86_64.whl", "0", "error", "LB107", "x", "right", "readelf shows it")


@pytest.mark.parametrize("ledger", sorted(rounds.ROUNDS.glob("*.csv")), ids=lambda path: path.stem)
def test_a_round_has_a_verdict_for_each_row_and_no_package_of_another(ledger):
    rows = rounds.read_ledger(ledger)
    assert list(rounds.list_problems(ledger.name, rows)) == []
    [own] = [each for each in rounds.read_rounds() if each.number == int(ledger.stem)]
    others = {name for each in rounds.read_rounds() if each != own for name in each.drawn}
    assert others.isdisjoint(own.drawn)


@pytest.mark.parametrize("earlier", rounds.read_rounds(), ids=lambda each: str(each.number))
def test_what_was_wrong_in_a_round_agrees_with_its_counts(earlier):
    missed = {(file, reason) for file, _, verdict, reason in earlier.wrong if verdict == "missed"}
    wrong = [row for row in earlier.wrong if row[2] in {"exaggerated", "false"}]
    errors, warnings, failures = (total - right for _, right, total in earlier.counts)
    assert (len(wrong), len(missed)) == (errors + warnings, failures)


@pytest.mark.parametrize("change", [{"verdict": ""}, {"verdict": "reported"}, {"reason": ""}])
def test_a_row_without_a_valid_verdict_is_a_problem(change):
    [problem] = rounds.list_problems("1.csv", [ROW, replace(ROW, **change)])
    assert problem.startswith("1.csv: a-1-cp311-cp311-linux_x86_64.whl error LB107: needs a verdict (right, ")


def test_what_could_not_run_needs_no_verdict():
    assert not [*rounds.list_problems("1.csv", [replace(ROW, source="import", text="not run: x", verdict="")])]


def test_failures_with_one_cause_count_once():
    rows = [
        ROW,
        replace(ROW, verdict="false"),
        replace(ROW, source="import", verdict="reported", reason="no libfoo.so"),
        replace(ROW, source="auditwheel", verdict="reported", reason="no libfoo.so"),
        replace(ROW, source="auditwheel", verdict="missed", reason="another"),
        replace(ROW, source="auditwheel", verdict="no failure", reason="a note"),
    ]
    assert [*rounds.count_verdicts(rows)] == [
        ("errors that are right", 1, 2),
        ("warnings that are right", 0, 0),
        ("failures that are reported", 1, 2),
    ]


def test_the_interval_is_wilsons():
    assert rounds.interval(16, 23) == pytest.approx((0.4914, 0.8440), abs=1e-3)
    assert rounds.interval(0, 0) == (0.0, 1.0)


def test_a_projects_newest_wheels_with_binaries_are_listed(monkeypatch):
    files = [
        IndexFile("a-1.9-cp311-cp311-win_amd64.whl", "", "1.9"),
        IndexFile("a-1.10-cp311-cp311-win_amd64.whl", "", "1.10"),
        IndexFile("a-1.11-py3-none-any.whl", "", "1.11"),
        IndexFile("a-1.12-cp311-cp311-win_amd64.whl", "", "1.12", is_yanked=True),
        IndexFile("a-1.13.tar.gz", "", "1.13"),
    ]
    monkeypatch.setattr(downloads, "list_files", lambda _: files)
    assert [found.name for found in drawing.list_wheels("a")] == ["a-1.10-cp311-cp311-win_amd64.whl"]


@pytest.mark.parametrize(
    ("file", "project"),
    [("Foo_Bar-1.0-cp311-cp311-win_amd64.whl", "foo-bar"), ("scope-name-linux-x64-1.2.3.tgz", "scope-name-linux-x64")],
)
def test_a_package_belongs_to_a_project(file, project):
    assert drawing.project_of(file) == project


def test_only_wheels_for_this_machine_have_an_interpreter(tmp_path, monkeypatch):
    python = tmp_path / "3.11.7" / "bin" / "python3.11"
    python.parent.mkdir(parents=True)
    python.touch()
    monkeypatch.setenv("LATEBIND_PYTHONS", str(tmp_path))
    imports.find_python.cache_clear()
    imports._interpreter.cache_clear()

    assert imports.find_python("a-1-cp38-abi3-manylinux_2_17_x86_64.whl") == python
    assert imports.find_python("a-1-py3-none-linux_x86_64.whl") == python
    for tags in ("cp39-cp39-linux_x86_64", "cp311-cp311-win_amd64", "cp311-cp311-musllinux_1_2_x86_64"):
        assert imports.find_python(f"a-1-{tags}.whl") is None
    imports.find_python.cache_clear()
    imports._interpreter.cache_clear()


def test_the_page_lists_what_was_wrong():
    assert "| 1 | 130 | errors that are right | 7 of 9 | 45% to 94% |" in rounds.page()
    assert "| LB310 | false | CPython 3.7 on Windows looks for" in rounds.page()


@pytest.mark.skipif(os.geteuid() != 0, reason="not run: only root can start processes as nobody")
def test_an_interpreter_that_nobody_can_start_is_not_blamed_on_the_wheel(tmp_path, monkeypatch):
    tmp_path.chmod(0o700)
    python = tmp_path / "3.11.7" / "bin" / "python3.11"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n', encoding="utf-8")  # nobody can't read the folder
    python.chmod(0o755)
    monkeypatch.setattr(imports, "find_python", lambda _: python)
    wheel = tmp_path / "a-1-cp311-cp311-linux_x86_64.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("a.so", b"")
    assert imports.import_wheel(wheel).startswith("not run: nobody can't start python3.11")


def test_what_threads_say_is_written_before_and_measured_after(tmp_path):
    (tmp_path / "a-1.tgz").write_bytes(b"")
    table = tmp_path / "threads.tsv"
    table.write_text("a-1.tgz\thttps://example.invalid/1\tdoes not load\n", encoding="utf-8")
    ledger = tmp_path / "4.csv"
    rounds.append_rows(ledger, rounds.note_threads(table, tmp_path))
    [seen] = rounds.read_ledger(ledger)
    assert (seen.file, seen.source, seen.text) == ("a-1.tgz", "thread", "https://example.invalid/1: does not load")
    [problem] = rounds.list_problems("4.csv", [seen])
    assert "reported, missed, no failure" in problem


def test_names_whose_summary_mentions_a_compiled_language_are_drawn_by_a_seed(tmp_path, monkeypatch):
    names = tmp_path / "names.tsv"
    names.write_text("a\ta Rust core\nb\tpure\nc\tC++ bindings\nd\tRust\ne\n", encoding="utf-8")
    monkeypatch.setattr(drawing, "list_wheels", lambda name: [name])
    monkeypatch.setattr(downloads, "download", lambda name, _: tmp_path / name)
    drawn = [path.name for path in drawing.draw_wheels(names, 1, 3, {"d"})]
    assert sorted(drawn) == ["a", "c", "e"]
    assert drawn == [path.name for path in drawing.draw_wheels(names, 1, 3, {"d"})]


def test_a_pinned_wheel_comes_from_the_index_and_has_its_hash(tmp_path, monkeypatch):
    name, data = "a-1-py3-none-any.whl", b"wheel"
    digest = hashlib.sha256(data).hexdigest()
    monkeypatch.setenv("LATEBIND_BENCH_CACHE", str(tmp_path))
    monkeypatch.setattr(downloads, "list_files", lambda _: [IndexFile(name, "https://example.invalid", "1", digest)])
    monkeypatch.setattr(downloads.Downloader, "get", lambda *_: Answer(data=data, url=""))

    assert downloads.find_pinned(name, digest).read_bytes() == data
    with pytest.raises(InputError, match="another SHA-256"):
        downloads.find_pinned(name, "0" * 64)
    with pytest.raises(InputError, match="no such wheel"):
        downloads.find_pinned("b-1-py3-none-any.whl", digest)
