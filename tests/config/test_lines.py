"""Line numbers of keys, checked against a parser on texts that hypothesis makes."""

import string

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from latebind.config.lines import line_of, place_of

TEXT = """\
# a comment
title = "x"
[a.b]
c = 1
d = { e = 2 }
text = '''
c = 3
[z]
'''
[[rows]]
n = 1
[[rows]]
n = 2
[rows.inner]
"quoted key" = 3
x.y = 4
"""


def test_known_places():
    expected = {
        ("title",): 2,
        ("a", "b"): 3,
        ("a", "b", "c"): 4,
        ("a", "b", "d", "e"): 5,
        ("a", "b", "text"): 6,
        ("rows", 0, "n"): 11,
        ("rows", 1): 12,
        ("rows", 1, "n"): 13,
        ("rows", 1, "inner", "quoted key"): 15,
        ("rows", 1, "inner", "x", "y"): 16,
        ("a", "b", "absent"): 3,
        ("nowhere",): 1,
    }
    assert {path: line_of(TEXT, path) for path in expected} == expected


names = st.text(string.ascii_lowercase, min_size=1, max_size=6)
tables = st.dictionaries(names, st.dictionaries(names, st.integers(0, 9), max_size=5), max_size=5)


@given(tables)
def test_every_key_is_found_where_it_is_written(document):
    lines, line_numbers = [], {}
    for table, pairs in document.items():
        lines.append(f"[{table}]")
        for key, value in pairs.items():
            lines += ["# between", f"  {key} = {value}"]
            line_numbers[table, key] = len(lines)
    text = "\n".join(lines)
    assert msgspec.toml.decode(text) == document
    assert {path: line_of(text, path) for path in line_numbers} == line_numbers


@given(st.text(max_size=200), st.lists(st.one_of(names, st.integers(0, 3)), max_size=4))
def test_no_text_makes_it_fail(text, path):
    assert 1 <= line_of(text, tuple(path)) <= max(1, len(text.splitlines()))


@pytest.mark.parametrize(
    ("path", "message", "marked"),
    [
        (("a", "b", "c"), "expected a text", "1"),
        (("a", "b", "d"), "unknown key 'e'", "e"),
        (("a", "b", "d"), "unknown key", "d"),
        (("title",), "'x' is not a name", "x"),
        (("rows", 1), "'n' is missing here", "rows"),
    ],
)
def test_carets_lie_below_what_the_message_is_about(path, message, marked):
    where, excerpt = place_of("latebind.toml", TEXT, path, message)
    line, carets = excerpt.splitlines()
    assert where == f"latebind.toml:{line_of(TEXT, path)}"
    assert line[carets.index("^") : carets.rindex("^") + 1] == marked


def test_a_line_that_would_fill_the_screen_is_named_and_not_shown():
    short, long = f'name = "{480 * "x"}"\n', f'name = "{500 * "x"}"\n'
    assert place_of("a.toml", short, ("name",), "wrong")[1].count("x") == 480
    assert place_of("a.toml", long, ("name",), "wrong") == ("a.toml:1", "")


def test_a_key_that_no_line_belongs_to_shows_none():
    assert place_of("f", TEXT, ("nowhere",), "nowhere is missing") == ("f:1", "")


@given(st.text(max_size=200), st.lists(st.one_of(names, st.integers(0, 3)), max_size=4), st.text(max_size=40))
def test_every_text_and_message_gives_a_place(text, path, message):
    where, excerpt = place_of("f", text, tuple(path), message)
    assert where.startswith("f:")
    assert excerpt == "" or "^" in excerpt
