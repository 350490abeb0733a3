"""Reports of several machines are merged, or refused."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from latebind.errors import InputError
from latebind.model import State
from latebind.verify.report.data import Provenance, read_report
from latebind.verify.report.merge import merge
from latebind.verify.report.render import write_reports
from tests.support.running import assert_refused, assert_success
from tests.verify.reports import report, row

LINUX = {"target": "linux-x64", "python": "3.11.7"}
WINDOWS = {"target": "win-x64", "python": "3.12.1"}
STATES = ("failed", "passed", "passed, emulated", "glue passed", "not run")


def on(machine, *cases, **more):
    return report(*cases, machine=machine, **more)


@given(states=st.lists(st.sampled_from(STATES), min_size=1, max_size=4))
def test_of_each_cell_the_weightiest_outcome_counts(states):
    reports = {f"{n}.json": on({"target": f"m{n}"}, row(state)) for n, state in enumerate(states)}
    (added,) = merge(reports).cases
    assert added.outcome.value == min(states, key=STATES.index)
    assert states[added.machine] == added.outcome.value
    ran = [state for state in states if state != "not run"]
    assert len(added.elsewhere) == max(0, len(ran) - 1)


def test_a_failure_names_both_machines(latebind, tmp_path):
    merged = merge({"a": on(LINUX, row()), "b": on(WINDOWS, row("failed", reason="it crashed"))})
    assert merged.machines == (LINUX, WINDOWS)
    assert (merged.cases[0].machine, merged.cases[0].elsewhere[0].machine) == (1, 0)
    assert merged.exit_status == 1
    write_reports(merged, tmp_path, lambda _: "")
    message = "failed on machine 2, win-x64; passed on machine 1, linux-x64"
    assert all(message in (tmp_path / f"verify.{kind}").read_text("utf-8") for kind in ("md", "xml", "html"))


def test_merging_what_was_merged_gives_the_same_outcomes():
    first, second = on(LINUX, row(), row("not run", target="win-x64")), on(WINDOWS, row(target="win-x64"))
    third = on({"target": "linux-x64", "python": "3.14"}, row("failed", reason="no"))
    once = merge({"1": first, "2": second, "3": third})
    twice = merge({"12": merge({"1": first, "2": second}), "3": third})
    assert once == twice
    assert {case.id: case.outcome for case in once.cases} == {
        row().id: State.FAILED,
        row(target="win-x64").id: State.PASSED,
    }


@pytest.mark.parametrize(
    ("packages", "refusal"),
    [
        (({"x.tar.gz": "1" * 64}, {"x.tar.gz": "2" * 64}), r"x\.tar\.gz is 1{16}… in a and 2{16}… in b"),
        ((["x.tar.gz", "y.tar.gz"], ["x.tar.gz"]), r"b: lacks the package y\.tar\.gz, which serves every target"),
        ((["X.1.0.nupkg"], []), r"b: lacks the package X\.1\.0\.nupkg, which serves every target"),
        ((["x-1.0-py3-none-any.whl"], []), "lacks the package"),
        ((["x-1.0-py3-none-win_amd64.whl"], []), "lacks the package .*, though it ran test cases of win-x64"),
        (([], ["x-1.0-py3-none-manylinux_2_28_x86_64.whl"]), "a: lacks the package .* ran test cases of linux-x64"),
        ((["X.runtime.win-x64.1.0.nupkg"], []), "though it ran test cases of win-x64"),
        ((["x-win32-x64-1.0.0.tgz"], []), "though it ran test cases of win-x64"),
    ],
)
def test_other_packages_are_refused_by_name(packages, refusal):
    first, second = packages
    with pytest.raises(InputError, match=refusal) as caught:
        merge({"a": on(LINUX, row(), packages=first), "b": on(WINDOWS, row(target="win-x64"), packages=second)})
    assert "Build once" in str(caught.value)


@pytest.mark.parametrize(
    "only_first",
    [
        "x-1.0-py3-none-manylinux_2_28_x86_64.whl",
        "X.runtime.linux-x64.1.0.nupkg",
        "x-1.0-linux-x64-symbols.zip",
        "x-darwin-arm64-1.0.0.tgz",
    ],
)
def test_a_machine_may_lack_what_is_for_other_targets_alone(only_first):
    first = on(LINUX, row(), packages=["x.tar.gz", only_first])
    second = on(WINDOWS, row(target="win-x64"), row("not run"), packages=["x.tar.gz"])
    assert [package.file for package in merge({"a": first, "b": second}).packages] == sorted([only_first, "x.tar.gz"])


def test_an_npm_package_for_musl_is_not_one_for_glibc():
    files = ["x-linux-x64-musl-1.0.0.tgz", "x.snupkg"]
    merged = merge({"a": on(LINUX, row()), "b": on(WINDOWS, row(target="win-x64"), packages=files)})
    assert [package.file for package in merged.packages] == files


def test_the_sources_are_those_of_all_reports_and_must_not_differ():
    """A machine without git knows no commit."""
    first, second, other = (
        msgspec.structs.replace(report(row(version=commit or "1.0")), source=Provenance(project="x", commit=commit))
        for commit in ("a" * 40, "", "b" * 40)
    )
    assert merge({"a": first, "b": second}).source == first.source
    with pytest.raises(InputError, match="the reports differ in commit"):
        merge({"a": first, "c": other})


def test_a_report_that_is_given_twice_is_refused():
    with pytest.raises(InputError, match=r"a\.json and b\.json: is the same report"):
        merge({"a.json": on(LINUX, row()), "b.json": on(LINUX, row())})


@pytest.fixture
def two(tmp_path):
    files = []
    for name, shown in (
        ("a", on(LINUX, row(), row("not run", target="win-x64"))),
        ("b", on(WINDOWS, row(target="win-x64"))),
    ):
        write_reports(shown, tmp_path / name, lambda case, name=name: f"log of {case.id} on {name}")
        files.append(tmp_path / name / "verify.json")
    return files


def test_the_command_writes_all_files_and_brings_the_logs(latebind, tmp_path, two):
    printed = assert_success(latebind("verify", "--merge", *two, "--output", tmp_path / "all"))
    assert printed == f"2 passed, 0 failed, 0 not run. Report: {tmp_path / 'all' / 'verify.html'}\n"
    merged = read_report(tmp_path / "all" / "verify.json")
    logs = {case.target: (tmp_path / "all" / case.log).read_text("utf-8") for case in merged.cases}
    assert logs["win-x64"] == f"log of {row(target='win-x64').id} on b"
    assert logs["linux-x64"].endswith("on a")
    assert "on b" in (tmp_path / "all" / "verify.html").read_text("utf-8")
    assert (tmp_path / "all" / "verify.md").is_file()
    assert (tmp_path / "all" / "verify.xml").is_file()


def test_the_command_refuses_and_leaves_nothing(latebind, tmp_path, two):
    document = json.loads(two[1].read_text("utf-8"))
    document["packages"][0]["sha256"] = "f" * 64
    two[1].write_text(json.dumps(document), encoding="utf-8")
    ended = latebind("verify", "--merge", *two, "--output", tmp_path / "all")
    assert_refused(ended, "the packages differ: x.snupkg is 0000000000000000… in")
    assert not (tmp_path / "all").exists()


def test_the_command_refuses_a_file_that_is_named_twice(latebind, tmp_path, two):
    ended = latebind("verify", "--merge", two[0], two[0].parent / ".." / "a" / "verify.json", "--output", tmp_path)
    assert (ended.returncode, "is given twice" in ended.stderr) == (2, True)


def test_a_failed_cell_is_the_exit_status(latebind, tmp_path, two):
    document = json.loads(two[1].read_text("utf-8"))
    document["cases"][0].update(outcome="failed", reason="it broke")
    two[1].write_text(json.dumps(document), encoding="utf-8")
    ended = latebind("verify", "--merge", *two, "--output", tmp_path / "all", "--format", "markdown")
    assert ended.returncode == 1
    assert "### Failed" in ended.stdout
