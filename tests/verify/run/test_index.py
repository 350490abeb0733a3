"""What the index is asked for, and what its answers are for each target."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from packaging.version import Version

from latebind.backend.targets import Rid, host_rid
from latebind.config.file import load
from latebind.errors import NotRun
from latebind.verify.cases.expand import Extent, expand_cases, list_lines, move_lines, questions
from latebind.verify.run.index import BELOW_FLOOR, EACH_MINOR, Question, ask, describe_older_latest, requirement
from latebind.verify.run.installers import installer
from tests.support.client import BOUND, write_client
from tests.verify.release_index import serve, write_index, write_wheel


def question(entry, rid="linux-x64", distribution="onnxruntime"):
    return Question(distribution=distribution, minimum="1.19", entry=entry, target=Rid(rid), python="3.11")


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ("minimum", "onnxruntime==1.19.*,>=1.19"),
        (BELOW_FLOOR, "onnxruntime<1.19"),
        ("1.22.0", "onnxruntime==1.22.0"),
    ],
)
def test_what_the_index_is_asked_for(entry, text):
    assert requirement(question(entry)) == text


@pytest.mark.builds
def test_the_index_knows_which_versions_there_are_for_which_target(tmp_path):
    (tmp_path / "home").mkdir()
    minors, intel, absent = question(EACH_MINOR), question("latest", "osx-x64"), question("1.19.77")
    answers = ask([minors, intel, absent], installer(tmp_path / "home"), Path(sys.executable))
    reasons = {error.reason for error in answers.trouble.values()}
    if "no-index" in reasons:
        pytest.skip("not run: the package index cannot be reached")
    versions = answers.found[minors]
    assert versions[:2] == ("1.19.2", "1.20.1")
    assert len(versions) >= 13
    # The last wheel for macOS on Intel; newer versions are for Linux, Windows and Apple's own processor alone.
    assert answers.found[intel] == ("1.23.2",)
    assert isinstance(answers.trouble[absent], NotRun)
    assert answers.trouble[absent].reason == "no-distribution"


def test_the_newest_prerelease_is_an_answer_only_if_it_is_newer_and_asked_for(tmp_path, monkeypatch):
    releases = {"engine": ("1.30.0", "1.31.0", "1.32.0a1", "1.32.0rc1"), "other": ("1.31.0rc2", "1.31.0")}
    wheels = [
        write_wheel(tmp_path / "wheels", name, version, "py3-none-any", {f"{name}.py": b""})
        for name, versions in releases.items()
        for version in versions
    ]
    write_index(tmp_path, "day", wheels)
    engine, other = (replace(question("latest", host_rid(), name), prereleases=True) for name in releases)
    plain = replace(engine, prereleases=False)
    (tmp_path / "home").mkdir()
    with serve(tmp_path) as address:
        monkeypatch.setenv("UV_DEFAULT_INDEX", f"{address}/day/simple")
        monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "cache"))
        monkeypatch.setenv("PIP_FIND_LINKS", "")
        answers = ask([engine, other, plain], installer(tmp_path / "home"), Path(sys.executable))
    assert answers.trouble == {}
    assert answers.found == {engine: ("1.31.0", "1.32.0rc1"), other: ("1.31.0",), plain: ("1.31.0",)}


@pytest.mark.builds
def test_the_minimum_is_the_first_version_that_a_target_has_for_any_python(tmp_path):
    (tmp_path / "home").mkdir()
    # The index never had 1.19 for Windows on arm64. For Linux it has, though not for this CPython; and the last version
    # for macOS on Intel is below the minimum.
    first, newer = question("minimum", "win-arm64"), replace(question("minimum"), python="3.14")
    none = replace(question("minimum", "osx-x64"), minimum="1.25")
    older = [replace(none, entry=entry) for entry in ("latest", EACH_MINOR)]
    answers = ask([first, newer, none, *older], installer(tmp_path / "home"), Path(sys.executable))
    reasons = {error.reason for error in answers.trouble.values()}
    if "no-index" in reasons:
        pytest.skip("not run: the package index cannot be reached")
    assert [Version(text) >= Version("1.20") for text in answers.found[first]] == [True]
    assert {asked: error.reason for asked, error in answers.trouble.items()} == dict.fromkeys(
        (newer, none, *older), "no-distribution"
    )
    says = "the newest onnxruntime that the index has for osx-x64 is 1.23.2, but 1.25 or newer is needed"
    assert {answers.trouble[asked].message for asked in older} == {says}


@pytest.fixture
def answers_of(tmp_path):
    """Asks the index; skips where it does not answer."""
    (tmp_path / "home").mkdir()

    def ask_index(*questions):
        answers = ask(questions, installer(tmp_path / "home"), Path(sys.executable))
        if "no-index" in {error.reason for error in answers.trouble.values()}:
            pytest.skip("not run: the package index cannot be reached")
        return answers

    return ask_index


@pytest.mark.builds
def test_the_minimum_for_older_pythons_alone_is_tried_with_one_of_them(answers_of, tmp_path):
    text = BOUND.replace('"1.20"', '"1.19"') + '\n[verify]\npython = "native/tiny.c"\n'
    config = load(write_client(tmp_path / "tiny", latebind=text) / "latebind.toml")
    home = Rid("linux-x64")
    lines = list_lines(config, [home], Extent(pythons={home: "3.13"}, home=home))
    answers = answers_of(*questions(lines))
    assert answers.list_other_pythons()[:2] == ("3.12", "3.11")
    says = {trouble.message for question, trouble in answers.trouble.items() if question.entry == "minimum"}
    assert says == {"the index has no onnxruntime==1.19.*,>=1.19 for Python 3.13, only for 3.8 to 3.12"}
    for installed, chosen in (([], "3.12"), (["3.13", "3.11"], "3.11")):
        moved = move_lines(lines, answers, installed, home)
        asked = {question.python for question in questions(moved) if question.entry == "minimum"}
        assert chosen in asked
        cases = expand_cases(moved, answers.merge(answers_of(*questions(moved))))
        minimum = next(case for case in cases if case.case.scenario == "works" and "minimum" in case.entries)
        assert (minimum.case.consumer, minimum.case.version) == (f"python{chosen}", "1.19.2")
    assert move_lines(lines, answers, [], Rid("win-x64")) == lines  # the machine of another target has one Python


@pytest.mark.builds
def test_an_older_python_does_not_hold_back_what_only_needs_the_library(answers_of):
    held, free = replace(question("latest"), python="3.10"), replace(question("latest"), python="")
    answers = answers_of(held, free)
    assert answers.found[held] == ("1.23.2",)
    assert Version(answers.found[free][0]) >= Version("1.32")
    (note,) = describe_older_latest(answers, answers_of)
    assert note.startswith("note: onnxruntime 1.23.2 is the latest for Python 3.10 on linux-x64; 1.3")
    (again,) = describe_older_latest(answers_of(held), answers_of)
    assert again == note
    assert [*describe_older_latest(answers_of(question("latest")), answers_of)] == []
