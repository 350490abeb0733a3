"""The tokenizer of CMake files: commands with their arguments and places, whatever surrounds them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from latebind.adopt.cmake import commands


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("project(a)", [("project", ("a",))]),
        ("PROJECT ( a\n  VERSION 1.2 )", [("project", ("a", "VERSION", "1.2"))]),
        ('set(x "a (b) # c")', [("set", ("x", "a (b) # c"))]),
        ("set(x [==[a ]] (b]==])", [("set", ("x", "a ]] (b"))]),
        ("# project(a)\n#[[ project(b) ]]\nproject(c)", [("project", ("c",))]),
        ("if(A AND (B OR C))\nendif()", [("if", ("A", "AND", "B", "OR", "C")), ("endif", ())]),
        ("set(x a;b ${y} $<$<BOOL:1>:z>)", [("set", ("x", "a", "b", "${y}", "$<$<BOOL:1>:z>"))]),
        ('set(x "a\\"b" c\\ d)', [("set", ("x", 'a\\"b', "c\\ d"))]),
        ("project(a", []),
        ("", []),
    ],
)
def test_commands_and_their_arguments(text, expected):
    assert [(command.name, command.words) for command in commands(text)] == expected


def test_places_are_those_of_the_text():
    text = "# first\nset(x a)\nlink( a\n  b )\n"
    command = commands(text)[1]
    assert text[command.start : command.end] == "link( a\n  b )"
    assert [text[argument.start : argument.end] for argument in command.arguments] == ["a", "b"]
    assert command.line == 3


@given(st.text(alphabet='ab ()#[]="\\\n;${}<>', max_size=60))
def test_any_text_ends_well(text):
    for command in commands(text):
        assert text[command.end - 1] == ")"
