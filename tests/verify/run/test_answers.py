"""What is made of the index's answers: decisions on a small index of the test's own, which uv is really asked about."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from latebind.backend.targets import Rid
from latebind.errors import NotRun
from latebind.verify.run import installers
from latebind.verify.run.index import BELOW_FLOOR, EACH_MINOR, Answers, Question, ask, raised_minimum
from latebind.verify.run.installers import installer
from tests.support.running import not_run
from tests.verify.release_index import serve, write_index, write_wheel

X64, ARM, INTEL, WINDOWS = "manylinux_2_28_x86_64", "manylinux_2_28_aarch64", "macosx_11_0_x86_64", "win_amd64"
INDEX = (
    ("1.18.1", "py3-none", X64),
    ("1.19.2", "cp310-cp310", X64),
    ("1.20.0", "py3-none", X64),
    ("1.20.4", "py3-none", X64),
    ("1.22.0", "py3-none", X64),
    ("1.31.0", "py3-none", X64),
    ("1.20.0", "py3-none", ARM),
    ("1.22.0", "py3-none", ARM),
    ("1.18.0", "py3-none", INTEL),
    ("2.0.0", "py3-none", WINDOWS),
)
"""Wheels of the engine: 1.19 for one CPython alone, 1.21 never, and none from 1.19 on for macOS on Intel."""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    root = tmp_path_factory.mktemp("index")
    wheels = [
        write_wheel(root / "wheels", "engine", version, f"{python}-{platform}", {"engine.py": b""})
        for version, python, platform in INDEX
    ]
    write_index(root, "day", wheels)
    with serve(root) as server:
        yield f"{server}/day/simple"


@pytest.fixture
def tool(address, tmp_path, monkeypatch):
    for key in ("UV_FIND_LINKS", "PIP_FIND_LINKS", "UV_INDEX", "UV_EXTRA_INDEX_URL", "UV_OFFLINE"):
        monkeypatch.delenv(key, raising=False)
    monkeypatch.setenv("UV_DEFAULT_INDEX", address)
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "home").mkdir()
    return installer(tmp_path / "home")


PLAIN = Question(distribution="engine", minimum="1.19", entry="latest", target=Rid("linux-x64"), python="3.11")
ANSWERS = {
    ("linux-x64", "latest"): ("1.31.0",),
    ("linux-x64", BELOW_FLOOR): ("1.18.1",),
    ("linux-x64", EACH_MINOR): ("1.20.4", "1.22.0", "1.31.0"),
    ("linux-x64", "1.22.0"): ("1.22.0",),
    ("linux-x64", "1.20.*"): ("1.20.4",),
    # Another CPython has the minimum, so that it must be tried with that one.
    ("linux-x64", "minimum"): "the index has no engine==1.19.*,>=1.19 for Python 3.11, only for 3.10",
    # Nobody can install the minimum, so that it is the first version that there is.
    ("linux-arm64", "minimum"): ("1.20.0",),
    ("linux-arm64", "1.19.2"): "the index has no engine==1.19.2 for this target and Python",
    ("linux-arm64", BELOW_FLOOR): "the index has no engine<1.19 for this target and Python",
    ("linux-arm64", EACH_MINOR): ("1.20.0", "1.22.0"),
    ("osx-x64", "latest"): "the newest engine that the index has for osx-x64 is 1.18.0, but 1.19 or newer is needed",
    ("osx-x64", "minimum"): "the newest engine that the index has for osx-x64 is 1.18.0, but 1.19 or newer is needed",
    ("win-x64", "latest"): ("2.0.0",),
    ("win-x64", EACH_MINOR): (),  # another major version has no minors in common
    ("win-x64", "minimum"): "the index has no engine==1.19.*,>=1.19 for this target and Python",
    ("linux-arm", "latest"): "uv cannot look for wheels for linux-arm",
}
"""By target and entry: the versions, or why there is none."""


def test_what_the_index_answers_for_each_entry(tool):
    questions = {replace(PLAIN, target=Rid(rid), entry=entry): answer for (rid, entry), answer in ANSWERS.items()}
    answers = ask(questions, tool, Path(sys.executable))
    said = {**answers.found, **{question: trouble.message for question, trouble in answers.trouble.items()}}
    assert said == questions
    for entry, answer in (("minimum", "1.19.2"), ("latest", "1.31.0")):
        of_library = replace(PLAIN, entry=entry, python="")  # whichever CPython the wheel is for
        assert ask([of_library], tool, Path(sys.executable)).found == {of_library: (answer,)}
    assert {trouble.reason for trouble in answers.trouble.values()} == {"no-distribution"}


@pytest.mark.parametrize(
    ("changes", "answer"),
    [
        ({"python": "3.10", "entry": "minimum"}, ("1.19.2",)),
        ({"python": "3.10", "entry": EACH_MINOR}, ("1.19.2", "1.20.4", "1.22.0", "1.31.0")),
        ({"minimum": "1.20.1", "entry": EACH_MINOR}, ("1.20.4", "1.22.0", "1.31.0")),
        ({"minimum": "1.20.1", "entry": "minimum"}, ("1.20.4",)),
        ({"minimum": "1.31", "entry": "latest"}, ("1.31.0",)),
        ({"minimum": "1.31", "entry": EACH_MINOR}, ("1.31.0",)),
        ({"minimum": "1.31", "entry": "latest", "prereleases": True}, ("1.31.0",)),
    ],
)
def test_a_minimum_and_a_python_bound_the_answer(tool, changes, answer):
    question = replace(PLAIN, **changes)
    assert ask([question], tool, Path(sys.executable)).found == {question: answer}


def test_an_index_that_fails_is_not_taken_for_one_without_the_version(tool, monkeypatch):
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    asked = [replace(PLAIN, entry=entry, target=Rid("linux-arm64")) for entry in ("minimum", "latest", EACH_MINOR)]
    answers = ask(asked, tool, Path(sys.executable))
    assert [answers.trouble[question].reason for question in asked] == ["no-index"] * 3


def test_the_registry_of_npm_answers_its_own_questions(tool):
    npm, absent = replace(PLAIN, npm=True), replace(PLAIN, npm=True, distribution="absent")

    def registry(question, folder):
        assert folder == tool.home
        if question == absent:
            raise NotRun("no-distribution", "npm has none")
        return ("1.0.0", "2.0.0")

    answers = ask([npm, PLAIN, absent, npm], tool, Path(sys.executable), npm=registry)
    assert answers.found == {npm: ("1.0.0", "2.0.0"), PLAIN: ("1.31.0",)}
    assert {question: trouble.message for question, trouble in answers.trouble.items()} == {absent: "npm has none"}


def test_the_oldest_version_is_the_one_for_the_minimum():
    oldest = replace(PLAIN, entry="minimum")
    answers = Answers(found={oldest: ("1.19.2", "1.20.0"), PLAIN: ("1.31.0",)})
    assert (answers.find_oldest(PLAIN), answers.find_oldest(oldest)) == ("1.19.2", "1.19.2")
    assert answers.find_oldest(replace(PLAIN, python="3.12")) == ""


@pytest.mark.parametrize(("version", "raised"), [("1.31.1", "1.32"), ("1.9", "1.10"), ("2.0.0rc1", "2.1")])
def test_a_raised_minimum_is_the_next_minor_version(version, raised):
    assert raised_minimum(version) == raised


# ---- an index that stops answering


def test_the_cache_answers_when_the_index_stops_to_and_only_then(tool, monkeypatch, capsys):
    python = Path(sys.executable)
    assert tool.resolve("engine", python, Rid("linux-arm64")) == "1.22.0"
    with not_run("no-distribution"):
        tool.resolve("engine>9", python, Rid("linux-arm64"))
    assert not tool.offline.is_set()

    resolve, calls = installers._resolve, []

    def fail_online(argv, environment, requirement):
        calls.append(offline := environment.get("UV_OFFLINE", ""))
        if not offline:
            raise NotRun("no-index", "http://index gave no usable answer: 503")
        return resolve(argv, environment, requirement)

    monkeypatch.setattr(installers, "_resolve", fail_online)
    with not_run("no-index", "http://index gave no usable answer"):
        tool.resolve("other", python, Rid("linux-arm64"))
    assert (calls, tool.offline.is_set()) == (["", "1"], False)
    assert tool.resolve("engine", python, Rid("linux-arm64")) == "1.22.0"
    assert (calls[2:], tool.offline.is_set()) == (["", "1"], True)
    assert "http://index gave no usable answer; using only what uv has cached" in capsys.readouterr().err
    with not_run("no-index", "the package index gave no usable answer, and uv's cache has no other"):
        tool.resolve("other", python, Rid("linux-arm64"))
    assert calls[4:] == ["1"]


def test_an_answer_of_the_index_is_final(tool, monkeypatch):
    calls = []

    def lack(_argv, environment, _requirement):
        calls.append(environment.get("UV_OFFLINE", ""))
        raise NotRun("no-distribution", "none")

    monkeypatch.setattr(installers, "_resolve", lack)
    with not_run("no-distribution", "none"):
        tool.resolve("engine", Path(sys.executable))
    assert calls == [""]
