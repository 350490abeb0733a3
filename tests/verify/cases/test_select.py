"""Expressions over test cases, and shares of them."""

import contextlib
import dataclasses
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from latebind.config.file import load
from latebind.errors import InputError
from latebind.model import Case, Rid
from latebind.verify.cases.expand import Extent, expand_cases, questions
from latebind.verify.cases.index import BELOW_FLOOR, Answers
from latebind.verify.cases.select import any_of, read_shard, selectable_words, selector, shard

CONFIG = load(Path(__file__).resolve().parents[3] / "latenn" / "latebind.toml")
VERSIONS = {"minimum": ("1.19.2",), "latest": ("1.31.1",), BELOW_FLOOR: ("1.18.1",)}
RIDS = (Rid("linux-x64"), Rid("linux-arm64"), Rid("win-x64"))
SCOPE = Extent(pythons=dict.fromkeys(RIDS, "3.11"), home=RIDS[0])
ANSWERS = Answers(found={question: VERSIONS[question.entry] for question in questions(CONFIG, RIDS, SCOPE)})
CASES = tuple(configured.case for rid in RIDS for configured in expand_cases(CONFIG, rid, SCOPE, ANSWERS))
CASE = Case(kind="wheel", target=Rid("win-x64"), consumer="python3.11", runtime="onnxruntime", version="1.22.0",
            scenario="too-old")  # fmt: skip
NUPKG = dataclasses.replace(CASE, kind="nupkg", consumer="dotnet-build", runtime="Microsoft.ML.OnnxRuntime")


@pytest.mark.parametrize(
    ("expressions", "meant"),
    [([], 3), (["win"], 1), (["win", "arm64"], 2), (["x64 and win", "linux and not arm64"], 2), (["win", ""], 3)],
)
def test_several_expressions_select_what_any_of_them_does(expressions, meant):
    cases = [dataclasses.replace(CASE, target=rid) for rid in RIDS]
    expression = any_of(expressions)
    assert sum(not expression or selector(expression)(case) for case in cases) == meant


def test_each_of_several_expressions_must_be_whole():
    with pytest.raises(InputError, match="win"):
        any_of(["(win", "x64)"])


@pytest.mark.parametrize(
    ("expression", "meant"),
    [
        ("win", True),
        ("win-x64", True),
        ("wi", False),
        ("win*", True),
        ("WIN", True),
        ("x64", True),
        ("python", True),
        ("python3.1?", True),
        ("1.2*", True),
        ("1.2", False),
        ("too-old", True),
        ("old", True),
        ("win and 1.2*", True),
        ("linux and 1.2*", False),
        ("linux or 1.2*", True),
        ("not linux", True),
        ("not not win", True),
        ("not (win or linux)", False),
        ("linux and win or wheel", True),  # and binds stronger than or
        ("linux and (win or wheel)", False),
        ("not linux and wheel", True),  # not binds strongest
        ("wheel/win-x64/*", True),
        ("*/1.22.0/*", False),
        ("*-1.22.0/*", True),
        ("no-runtime", False),
        ("[", False),
        ("((win))", True),
    ],
)
def test_words_are_globs_over_the_names_of_a_case(expression, meant):
    assert selector(expression)(CASE) is meant


def test_a_package_id_is_found_whatever_its_letters():
    assert selector("microsoft.ml.onnxruntime and dotnet and build")(NUPKG)


def test_a_cell_without_a_runtime_has_a_word_of_its_own():
    assert selector("no-runtime")(dataclasses.replace(CASE, runtime="", version=""))


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("", "expected a word before its end"),
        ("   ", "expected a word before its end"),
        ("win and", "expected a word before its end"),
        ("and win", "expected a word before and, at character 1"),
        ("win or or 1", "expected a word before or, at character 8"),
        ("win linux", "expected 'and' or 'or' before linux, at character 5"),
        ("(win", r"expected \) before its end"),
        ("win)", r"unmatched \), at character 4"),
        ("()", r"expected a word before \), at character 2"),
        ("not", "expected a word before its end"),
        ("(" * 10_000, "more than 50 nested parentheses"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_place(expression, message):
    with pytest.raises(InputError, match=message) as caught:
        selector(expression)
    assert "-k 'win and 1.2*'" in str(caught.value)


NAMES = {name for case in CASES for name in selectable_words(case)} - {"and", "or", "not"}
WORDS = st.sampled_from(sorted(NAMES | {"1.*", "dot*", "wheel/*", "none"}))
TREES = st.recursive(
    WORDS,
    lambda inner: st.one_of(
        st.tuples(st.just("not"), inner),
        st.tuples(inner, st.sampled_from(["and", "or"]), inner),
    ),
    max_leaves=8,
)


def render_tree(tree):
    if isinstance(tree, str):
        return tree
    return f"({' '.join(render_tree(part) if part not in ('and', 'or', 'not') else part for part in tree)})"


def evaluate_tree(tree, case):
    """The same, by Python's own operators."""
    if isinstance(tree, str):
        return selector(tree)(case)
    if tree[0] == "not":
        return not evaluate_tree(tree[1], case)
    left, operator, right = tree
    ends = (evaluate_tree(left, case), evaluate_tree(right, case))
    return all(ends) if operator == "and" else any(ends)


@given(tree=TREES, case=st.sampled_from(CASES))
def test_an_expression_means_what_logic_says(tree, case):
    assert selector(render_tree(tree))(case) is evaluate_tree(tree, case)


@given(text=st.text(alphabet="()andortwi *1.[]!/-\n\0", max_size=40))
def test_any_text_is_an_expression_or_a_clear_error(text):
    with contextlib.suppress(InputError):
        selector(text)(CASE)


@given(count=st.integers(1, 40))
def test_shares_are_all_cells_each_once(count):
    shares = [shard(CASES, index, count) for index in range(1, count + 1)]
    assert sorted(case.id for share in shares for case in share) == sorted(case.id for case in CASES)


@given(chosen=st.sets(st.sampled_from(CASES)), count=st.integers(1, 8))
def test_a_cell_keeps_its_share_when_others_go(chosen, count):
    for index in range(1, count + 1):
        remaining = [case for case in shard(CASES, index, count) if case in chosen]
        assert remaining == list(shard([case for case in CASES if case in chosen], index, count))


def test_a_share_is_read():
    assert read_shard("2/5") == (2, 5)


@pytest.mark.parametrize("text", ["", "0/5", "6/5", "2", "2/", "/5", "a/b", "-1/5", "1/5/2", "²/5", "1.0/2"])
def test_no_share_is_refused(text):
    with pytest.raises(InputError, match="is not a share"):
        read_shard(text)
