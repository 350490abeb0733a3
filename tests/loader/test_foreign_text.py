"""Text from outside is shown, never obeyed: the same characters are hidden in C, Python and Node.js.

loader/tables/hidden.toml has them. What the languages know by themselves is held against it, character by character.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ci.gen import hidden
from latebind.text import printable
from tests.conftest import ROOT
from tests.support.needs import require_programs

REPLACED = "\ufffd"
HIDDEN = {code for row in hidden.ranges() for code in range(row.first, row.last + 1)}
STEERING = {"Cc", "Cf", "Zl", "Zp"}
EXAMPLES = [
    "\x1b[2J",
    "\x9b2J",
    "\x85",
    "a\u202eb",
    "\u2066x\u2069",
    "\u200b",
    "\u2028",
    "\ufeff",
    "\U000e0041",
    "\xad",
]
ALL = [chr(code) for code in range(1, sys.maxunicode + 1) if not 0xD800 <= code <= 0xDFFF]


def is_steering(char: str) -> bool:
    return unicodedata.category(char) in STEERING


def test_the_table_has_all_that_steers_and_no_letter():
    assert {ord(char) for char in ALL if is_steering(char)} <= HIDDEN
    kept = {"L", "N", "P", "S"}
    assert [chr(code) for code in HIDDEN if unicodedata.category(chr(code))[0] in kept] == []


def show_in_c(programs, texts: list[bytes]) -> list[bytes]:
    command = [programs.folder / "unit", "show"]
    done = subprocess.run(command, input=b"".join(text + b"\0" for text in texts), capture_output=True, check=True)
    return done.stdout.split(b"\0")[:-1]


def test_c_hides_what_the_table_has_and_shows_the_rest(plain):
    shown = show_in_c(plain, [f"<{char}>".encode() for char in ALL])
    wrong = [
        hex(ord(char))
        for char, text in zip(ALL, shown, strict=True)
        if text.decode("utf-8") != f"<{REPLACED if ord(char) in HIDDEN else char}>"
    ]
    assert wrong == []


@settings(max_examples=300, deadline=None)
@given(texts=st.lists(st.binary(max_size=40).map(lambda data: data.replace(b"\0", b"")), min_size=1))
def test_c_shows_any_bytes_as_valid_text(plain, texts):
    for text in show_in_c(plain, texts):
        assert not HIDDEN & {ord(char) for char in text.decode("utf-8")}


def test_python_packages_hide_the_same():
    source = (ROOT / "templates/find_runtime.py.j2").read_text("utf-8")
    names: dict[str, object] = {}
    function = re.search(r"^def _show.*?^    return [^\n]*\n", source, re.MULTILINE | re.DOTALL)
    assert function
    exec(function[0], names)  # noqa: S102 - a function of the project
    show = names["_show"]
    assert callable(show)
    assert [char for char in ALL if is_steering(char) and show(char) != REPLACED] == []
    assert show("é漢/a b") == "é漢/a b"


def test_node_packages_hide_the_same(tmp_path):
    (node,) = require_programs("node")
    source = (ROOT / "templates/npm/latebind-trusted.cjs.j2").read_text("utf-8")
    function = re.search(r"^function show.*?^}\n", source, re.MULTILINE | re.DOTALL)
    assert function
    script = tmp_path / "show.cjs"
    codes = json.dumps([ord(char) for char in ALL if is_steering(char)])
    script.write_text(
        f"{function[0]}\nconst seen = {codes}.filter((code) => show(String.fromCodePoint(code)) !== '\\ufffd');\n"
        "console.log(JSON.stringify([seen, show('é漢/a b😀'), show('\\ud800')]));\n"
    )
    done = subprocess.run([node, script], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [[], "é漢/a b😀", REPLACED]


@pytest.mark.parametrize("example", EXAMPLES)
def test_reports_of_the_tools_hide_the_same(example):
    assert not (HIDDEN - {0x0A}) & {ord(char) for char in printable(example)}


def test_reports_of_the_tools_hide_all_that_steers():
    assert [char for char in ALL if is_steering(char) and char in printable(char)] == ["\n"]
