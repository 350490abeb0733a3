"""Messages lead a user to what an installed latebind has: no file of latebind's repository, and no program of it."""

from __future__ import annotations

import ast
import re

import pytest

from loadcheck import text
from tests.conftest import ROOT

PRODUCTS = (ROOT / "packaging" / "latebind", ROOT / "loadcheck/src/loadcheck")
OF_THE_REPOSITORY = re.compile(r"(?<![\w/])docs/[\w/-]+\.md|python3? (-m (machines|ci|research|bench)\b|noxfile)")
PAGE = re.compile(r"\{DOCS\}/([\w/-]+\.md)(?:#([\w-]+))?")


def list_texts(source):
    """The strings of a module except its docstrings."""
    tree = ast.parse(source)
    documents = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    constants = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in documents)
    return [node.value for node in constants if isinstance(node.value, str)]


def read_sources():
    paths = (path for product in PRODUCTS for path in product.rglob("*.py"))
    return {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in paths}


def find_unreachable(source):
    return [string for string in list_texts(source) if OF_THE_REPOSITORY.search(string)]


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ('advice = "docs/verify.md describes machine files"', 1),
        ('advice = f"make {it} again: python -m ci.machines DEST."', 1),
        ('"""docs/verify.md describes the file."""', 0),
        ('advice = f"{DOCS}/verify.md describes machine files"', 0),
        ('advice = "Write it as https://github.com/latebind/latebind/blob/main/docs/verify.md describes."', 0),
        ('advice = "Install uv: python -m pip install uv"', 0),
    ],
)
def test_what_only_the_repository_has_is_found_in_messages(source, count):
    assert len(find_unreachable(source)) == count


def test_no_message_names_what_only_the_repository_has():
    sources = read_sources()
    assert {name: found for name, source in sources.items() if (found := find_unreachable(source))} == {}


def test_each_page_that_a_message_names_exists():
    assert text.DOCS.endswith("/blob/main/docs")
    named = {match.groups() for source in read_sources().values() for match in PAGE.finditer(source)}
    assert len(named) > 3
    for page, anchor in named:
        headings = re.findall(r"^#+ (.*)", (ROOT / "docs" / page).read_text("utf-8"), re.MULTILINE)
        assert anchor is None or anchor in {heading.lower().replace(" ", "-") for heading in headings}, page
