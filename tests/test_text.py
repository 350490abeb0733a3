"""Text of third parties in terminals and documents."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from latebind.text import decisive_line, ending
from loadcheck.text import encodable, markdown_code, markdown_text, plural, printable, printable_lines


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
        ("one\n\t::add-mask::x", "one\n\t\\x3a:add-mask::x"),
        ("x ##[set-output name=a]b", "x ##\\x5bset-output name=a]b"),
        ("std::string ## [x]", "std::string ## [x]"),
    ],
)
def test_no_line_is_a_command_of_a_workflow(text, form):
    assert printable(text, kept="\n\t") == form


def test_a_tab_is_visible_in_a_name_and_indents_a_line():
    assert printable("a\tb.so") == "a\\tb.so"
    assert printable_lines("make:\n\tcc -c a.c\x1b") == "make:\n    cc -c a.c\\x1b"


def test_code_stays_code():
    assert markdown_code("a`b|c\x1b") == "`a'b\\|c\\x1b`"


@pytest.mark.parametrize(("count", "form"), [(0, "0 cells"), (1, "1 cell"), (2, "2 cells")])
def test_numbers_agree_with_their_nouns(count, form):
    assert plural(count, "cell") == form


@pytest.mark.parametrize(
    ("status", "form"),
    [
        (0, "ended with status 0"),
        (3, "ended with status 3"),
        (-11, "ended by SIGSEGV (11)"),
        (139, "ended by SIGSEGV (11)"),
        (-6, "ended by SIGABRT (6)"),
        (145, "ended with status 145"),
        (150, "ended with status 150"),
        (255, "ended with status 255"),
        (0xC0000005, "ended by an access violation (0xC0000005)"),
    ],
)
def test_signals_have_names(status, form):
    assert ending(status) == form


CHAINED = """\
Traceback (most recent call last):
  File "a.py", line 1, in f
KeyError: 'x'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "a.py", line 3, in <module>
    raise OSError(
        "no runtime")
OSError: no runtime
help: install one
"""
DOTNET = (
    "Unhandled exception. System.DllNotFoundException: Unable to load tiny\n   at Tiny.Add()\n   at Program.Main()\n"
)
NODE = """\
node:internal/modules/cjs/loader:1210
  throw err;
  ^

Error: Cannot find module 'tiny'
Require stack:
- /a.cjs
    at Module._resolveFilename (node:internal/modules/cjs/loader:1207:15) {
  code: 'MODULE_NOT_FOUND'
}

Node.js v20.20.2
"""


@pytest.mark.parametrize(
    ("output", "line"),
    [
        (CHAINED, "OSError: no runtime"),
        (DOTNET, "System.DllNotFoundException: Unable to load tiny"),
        (NODE, "Error: Cannot find module 'tiny'"),
        ("terminate called\n  what():  no runtime\n\n", "what():  no runtime"),
        ("", ""),
    ],
    ids=["Python", ".NET", "Node.js", "C++", "nothing"],
)
def test_the_exception_is_the_line_that_counts(output, line):
    assert decisive_line(output) == line
