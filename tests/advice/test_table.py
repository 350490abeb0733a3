"""Each message that names a command, an option, a key or a file has a row: a test that tries it, or the reason why not.

A test is marked with the advice that it tries, @pytest.mark.advice("..."); untried.toml has all other advice.
"""

from __future__ import annotations

import ast
from collections import Counter
from itertools import pairwise

import msgspec
import pytest

from tests.advice.collect import OPTIONS, PRODUCTS, collect_advice, list_named, what_it_names
from tests.advice.following import list_written
from tests.conftest import ROOT

TRIALS = sorted((ROOT / "tests/advice").glob("test_*.py"))
UNTRIED = msgspec.toml.decode((ROOT / "tests/advice/untried.toml").read_bytes())


def list_tried():
    """The advice in the marks of tests, and of what makes marks of its first argument."""
    nodes = (node for path in TRIALS for node in ast.walk(ast.parse(path.read_text("utf-8"))))
    calls = [(ast.unparse(node.func), node.args) for node in nodes if isinstance(node, ast.Call)]
    marks = [*(args for name, args in calls if name == "pytest.mark.advice"),
             *(args[:1] for name, args in calls if name == "trial")]  # fmt: skip
    return {arg.value for args in marks for arg in args if isinstance(arg, ast.Constant)}


def list_untried():
    return [text for reason in UNTRIED.values() for text in reason]


def test_all_advice_was_tried_or_has_a_reason():
    named = list_named()
    assert sorted(named.keys() - list_tried() - set(list_untried())) == []


def test_no_row_is_about_advice_that_is_gone():
    assert sorted({*list_tried(), *list_untried()} - collect_advice(*PRODUCTS).keys()) == []


def test_no_advice_has_two_rows():
    twice = [text for text, count in Counter(list_untried()).items() if count > 1]
    assert twice + sorted(list_tried() & set(list_untried())) == []


def test_no_value_that_ends_a_command_is_followed_by_a_full_stop():
    """Who copies the command would copy the stop: `-C .` would become `-C ..`."""
    assert [text for text in list_named() if find_glued(text)] == []


def find_glued(text):
    """Values of options, and last words of commands, that a full stop follows."""
    words = text.split()
    values = [word for option, word in pairwise(words) if option in OPTIONS]
    return [word for word in (*values, *(command[-1] for command in list_written(text))) if word.endswith("{}.")]


@pytest.mark.parametrize(
    ("source", "texts"),
    [
        ('raise UserError("bad", advice="Run: latebind pack")', {"Run: latebind pack"}),
        ('raise UserError("bad", advice=f"latebind -C {folder} ci")', {"latebind -C {} ci"}),
        (
            'def f():\n    fix = "latebind ci" if old else _N\n    go(fix)\n_N = "latebind new x"\n',
            {"latebind ci", "latebind new x"},
        ),
        ('check(fix=_fix(1))\ndef _fix(n):\n    return f"latebind ci {n}" if n else ""\n', {"latebind ci {}", ""}),
        ('for key, advice in find():\n    pass\ndef find():\n    yield "bad", "latebind ci"\n', {"latebind ci"}),
        ("class Row:\n    what: str\n    fix: str\nRow('x', 'latebind doctor')\n", {"latebind doctor"}),
        ("say('latebind doctor')", {"latebind doctor"}),
        ("print('cd {folder}'.format(folder=1))", {"cd {}"}),
        ("raise UserError('latebind doctor')", set()),
    ],
)
def test_advice_is_found_where_it_is_made(tmp_path, source, texts):
    (tmp_path / "p").mkdir()
    (tmp_path / "p/a.py").write_text(source, encoding="utf-8")
    assert collect_advice(tmp_path / "p").keys() == texts


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("Make the packages first: latebind pack.", {"command"}),
        ("latebind reads the name only there.", set()),
        ("Run: pip install {}", {"command"}),
        ("Leave out --target.", {"option"}),
        ("Compile with -fvisibility=hidden.", set()),
        ('Write toolchain = "zig" below [targets.{}].', {"key"}),
        ("Set package.{}.wheel.name.", {"key"}),
        ("Open {}.{} instead.", set()),
        ("Correct CMakeLists.txt.", {"file"}),
    ],
)
def test_what_a_text_names_is_known_from_parsers_and_schema(text, kinds):
    assert what_it_names(text) == kinds
