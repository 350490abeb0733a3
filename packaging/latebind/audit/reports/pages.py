"""Renders the documentation page of each check and their index."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from latebind.audit.engine.catalog import FAMILIES, own_checks
from latebind.audit.engine.profiles import PROFILES
from latebind.templates import render

if TYPE_CHECKING:
    from latebind.audit.engine.registry import Check

_FORMATS = {"elf": "ELF", "macho": "Mach-O", "pe": "PE"}


def render_page(check: Check) -> str:
    """The page of one check, in Markdown; also what `latebind audit --explain` prints."""
    return render(
        "check.md.j2",
        check=check,
        family=f"checks of {check.origin}" if check.origin else FAMILIES[check.code[:3]],
        formats=[_FORMATS[name] for name in check.formats],
    )


def check_pages() -> dict[str, str]:
    """The page of each of latebind's own checks, with links to its neighbours, by path on the site."""
    codes = list(own_checks())
    pages: dict[str, str] = {}
    for position, (code, check) in enumerate(own_checks().items()):
        neighbours = [(f"← {name}", name) for name in codes[max(position - 1, 0) : position]]
        neighbours += [("All checks", "index")]
        neighbours += [(f"{name} →", name) for name in codes[position + 1 : position + 2]]
        links = " · ".join(f"[{text}]({name}.md)" for text, name in neighbours)
        pages[f"checks/{code}.md"] = f"{render_page(check)}\n---\n\n{links}\n"
    return pages


def check_index() -> str:
    """The list of all checks by family. On the site each code becomes a link to its page."""
    lines = ["# Checks of `latebind audit`", "", _INTRODUCTION]
    lines += [
        "",
        "| `--profile` | applies |",
        "|---|---|",
        *(f"| `{name}` | {what} |" for name, what in PROFILES.items()),
    ]
    for family, family_checks in groupby(own_checks().values(), key=lambda check: check.code[:3]):
        lines += ["", f"## {family}xx {FAMILIES[family]}", "", *_HEAD]
        lines += [
            f"| {check.code} | {check.severity} | {check.title} | {check.because} | {', '.join(check.profiles)} |"
            for check in family_checks
        ]
    return "\n".join(lines) + "\n"


_HEAD = ("| Code | Severity | What it finds | Why this severity | Profiles |", "|---|---|---|---|---|")
_INTRODUCTION = """`latebind audit --explain LB101` explains a check: why it exists, an example, how to fix
findings and how to suppress them. The site has the same pages. A profile chooses checks:
[choose what the audit reports](../howto/audit.md).
[Write your own check](../howto/checks.md) shows how to add checks for your organization.

| Severity | What it means |
|---|---|
| error | The package cannot be installed, loaded, imported or found as it promises, or it lets someone in |
| warning | It fails, or will fail, for some of its users |
| note | Hygiene: nothing fails |

Each check has one severity; clearer or milder cases may have another. Each row gives the reason."""
