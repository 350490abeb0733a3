"""The pages of the checks, and their index."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from loadcheck.api import FAMILIES, checks, render_page

if TYPE_CHECKING:
    from loadcheck.api import Check


def _published() -> dict[str, Check]:
    """The checks of loadcheck and latebind, by code."""
    return {code: check for code, check in checks().items() if not check.origin}


def check_pages() -> dict[str, str]:
    """The page of each of latebind's own checks, with links to its neighbours, by path on the site."""
    codes = list(_published())
    pages: dict[str, str] = {}
    for position, (code, check) in enumerate(_published().items()):
        neighbours = [(f"← {name}", name) for name in codes[max(position - 1, 0) : position]]
        neighbours += [("All checks", "index")]
        neighbours += [(f"{name} →", name) for name in codes[position + 1 : position + 2]]
        links = " · ".join(f"[{text}]({name}.md)" for text, name in neighbours)
        pages[f"checks/{code}.md"] = f"{render_page(check)}\n---\n\n{links}\n"
    return pages


def check_index() -> str:
    """The list of all checks by family. On the site each code becomes a link to its page."""
    lines = ["# Checks", "", _INTRODUCTION]
    for family, family_checks in groupby(_published().values(), key=lambda check: check.code[:3]):
        lines += ["", f"## {family}xx {FAMILIES[family]}", "", "| Code | What it finds | Severity |", "|---|---|---|"]
        lines += [f"| {check.code} | {check.title} | {check.severity} |" for check in family_checks]
    return "\n".join(lines) + "\n"


_INTRODUCTION = """A check is a rule that `loadcheck` and `latebind audit` hold against each file of a package.
`loadcheck --explain CODE` prints its page. [Choose checks](../howto/audit.md#choose-checks), or
[write your own](../howto/checks.md).

| Severity | Meaning |
|---|---|
| error | The package cannot be installed, found, loaded or imported where it should work, or has a security hole |
| warning | The package fails for some of its users, or under a condition that the finding names (`assumes:`) |
| note | Nothing fails, but the package could be better |"""
