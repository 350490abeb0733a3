"""Text of third parties in terminals and documents."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadcheck.text import encodable, markdown_code, markdown_text, plural, printable


@given(st.text())
def test_nothing_that_steers_a_terminal_or_breaks_a_line_of_markdown_remains(text):
    assert all(char == "\n" or char.isprintable() for char in printable(text))
    for form in (markdown_code(text), markdown_text(text, 50)):
        assert form.isprintable()
        encodable(form).encode()


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("a|b", "a\\|b"),
        ("<img>", "\\<img\\>"),
        ("[x](y) *b*", "\\[x\\](y) \\*b\\*"),
        ("@somebody #1", "\\@somebody \\#1"),
        ("one\ntwo", "one two"),
        ("x" * 60, "x" * 16 + " ... " + "x" * 34),
        (
            "a/" * 30 + " is old; 1.33 or newer is needed: upgrade it",
            "a/" * 8 + " ... 1.33 or newer is needed: upgrade it",
        ),
        ("first\n" + "x\n" * 30 + "ValueError: last", "first x x x x x  ... " + "x " * 8 + "ValueError: last"),
    ],
)
def test_text_is_no_markdown(text, form):
    assert markdown_text(text, 50) == form


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("::set-output name=a::b", "\\x3a:set-output name=a::b"),
        ("one\n  ::add-mask::x", "one\n  \\x3a:add-mask::x"),
        ("one\n \n::add-mask::x", "one\n \n\\x3a:add-mask::x"),
        ("x ##[set-output name=a]b", "x ##\\x5bset-output name=a]b"),
        ("std::string ## [x]", "std::string ## [x]"),
    ],
)
def test_no_line_is_a_command_of_a_workflow(text, form):
    assert printable(text) == form


def test_a_tab_is_visible_in_a_name():
    assert printable("a\tb.so") == "a\\tb.so"


def test_code_stays_code():
    assert markdown_code("a`b|c\x1b") == "`a'b\\|c\\x1b`"


@pytest.mark.parametrize(("count", "form"), [(0, "0 cells"), (1, "1 cell"), (2, "2 cells")])
def test_numbers_agree_with_their_nouns(count, form):
    assert plural(count, "cell") == form
