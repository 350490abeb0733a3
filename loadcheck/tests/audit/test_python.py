"""Python code of packages, as the audit parses it."""

import pytest

from loadcheck.readers.opened import parse_python


def test_code_has_a_tree_and_no_warning_of_it_is_shown():
    assert len(parse_python(b"a = '\\d'\nb = 1\n").body) == 2


@pytest.mark.parametrize(
    "code",
    [b"def f(:", b"a = '\0'", b"a = '\xff'", b"# coding: odd\n", b"-" * 20_000 + b"1"],
    ids=["unfinished", "zero byte", "not UTF-8", "an unknown encoding", "too deep"],
)
def test_code_that_python_refuses_has_no_tree(code):
    assert parse_python(code) is None
