"""Patterns of test cases, and shares of them."""

import contextlib
import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from latebind.backend.targets import Rid
from latebind.config.file import load
from latebind.errors import InputError
from latebind.model import Case
from latebind.verify.cases.expand import Extent, expand_cases, list_lines, questions
from latebind.verify.cases.select import check_patterns, in_shard, is_selected, read_shard
from latebind.verify.run.index import BELOW_FLOOR, Answers
from tests.support.client import SEVERAL

CONFIG = load(SEVERAL)
VERSIONS = {"minimum": ("1.19.2",), "latest": ("1.31.1",), BELOW_FLOOR: ("1.18.1",)}
RIDS = (Rid("linux-x64"), Rid("linux-arm64"), Rid("win-x64"))
SCOPE = Extent(pythons=dict.fromkeys(RIDS, "3.11"), home=RIDS[0])
LINES = list_lines(CONFIG, RIDS, SCOPE)
ANSWERS = Answers(found={question: VERSIONS[question.entry] for question in questions(LINES)})
CASES = tuple(configured.case for configured in expand_cases(LINES, ANSWERS))
CASE = Case(kind="wheel", target=Rid("win-x64"), consumer="python3.11", runtime="onnxruntime", version="1.22.0",
            scenario="too-old")  # fmt: skip
NUPKG = dataclasses.replace(CASE, kind="nupkg", consumer="dotnet-build", runtime="Microsoft.ML.OnnxRuntime")


@pytest.mark.parametrize(
    ("patterns", "count"),
    [
        ((), 3),
        (("win",), 1),
        (("win", "arm64"), 2),
        (("!win",), 2),
        (("x64", "!win"), 1),
        (("!win", "!arm64"), 1),
        (("win", "!win"), 0),
        (("win", ""), 3),
        (("!",), 0),
    ],
)
def test_patterns_are_alternatives_and_some_leave_test_cases_out(patterns, count):
    cases = [dataclasses.replace(CASE, target=rid) for rid in RIDS]
    assert sum(is_selected(case, check_patterns(patterns)) for case in cases) == count


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        ("win", True),
        ("win-x64", True),
        ("win-x", True),
        ("wheel/", True),
        ("whee/", False),
        ("win*", True),
        ("WIN", True),
        ("x64", True),
        ("python", True),
        ("python3.1?", True),
        ("1.2*", True),
        ("1.22", True),
        ("1.2.", False),
        ("2*", False),  # a glob is about a whole name
        ("too-old", True),
        ("old", True),
        ("linux", False),
        ("wheel/win-x64/*", True),
        ("*/win-*/*-1.2*/*", True),
        ("*/linux-*/*-1.2*/*", False),
        ("*/1.22.0/*", False),
        ("*-1.22.0/*", True),
        ("wheel/win-x64", True),
        ("win-x64/python", False),  # names are whole
        ("no-runtime", False),
        ("[", False),
    ],
)
def test_a_pattern_is_a_part_of_an_id_or_a_glob(pattern, matches):
    assert is_selected(CASE, check_patterns([pattern])) is matches
    assert is_selected(CASE, check_patterns([f"!{pattern}"])) is not matches


def test_a_package_id_is_found_whatever_its_letters():
    assert is_selected(NUPKG, ["microsoft.ml.onnxruntime"])


def test_a_test_case_without_a_runtime_has_a_word_of_its_own():
    assert is_selected(dataclasses.replace(CASE, runtime="", version=""), ["no-runtime"])


def test_the_id_of_a_test_case_selects_it_alone():
    for case in CASES:
        assert [other.id for other in CASES if is_selected(other, [case.id])] == [case.id]


@pytest.mark.parametrize("expression", ["win and 1.2*", "win or osx", "not win", "(win)", "works and (win or osx)"])
def test_an_expression_is_refused_with_what_to_write_instead(expression):
    with pytest.raises(InputError, match="takes one word or glob, not an expression") as caught:
        check_patterns(["linux", expression])
    assert expression in caught.value.where
    assert "-k win -k osx" in caught.value.advice
    assert "-k '*/win-*/*-1.2*/*'" in caught.value.advice
    assert "-k '!win'" in caught.value.advice


@given(text=st.text(alphabet="!()andortwi *1.[]/-\n\0", max_size=40))
def test_any_text_is_a_pattern_or_a_clear_error(text):
    with contextlib.suppress(InputError):
        is_selected(CASE, check_patterns([text]))


def choose_share(cases, index, count):
    return [case for case in cases if in_shard(case, index, count)]


@given(count=st.integers(1, 40))
def test_shares_are_all_cells_each_once(count):
    shares = [choose_share(CASES, index, count) for index in range(1, count + 1)]
    assert sorted(case.id for share in shares for case in share) == sorted(case.id for case in CASES)


@given(chosen=st.sets(st.sampled_from(CASES)), count=st.integers(1, 8))
def test_a_cell_keeps_its_share_when_others_go(chosen, count):
    for index in range(1, count + 1):
        remaining = [case for case in choose_share(CASES, index, count) if case in chosen]
        assert remaining == choose_share([case for case in CASES if case in chosen], index, count)


def test_a_share_is_read():
    assert read_shard("2/5") == (2, 5)


@pytest.mark.parametrize("text", ["", "0/5", "6/5", "2", "2/", "/5", "a/b", "-1/5", "1/5/2", "²/5", "1.0/2"])
def test_no_share_is_refused(text):
    with pytest.raises(InputError, match="is not a share"):
        read_shard(text)
