"""Renders a documentation page for each check, and their index, from the registry; writes nothing."""

from __future__ import annotations

from pathlib import Path

from latebind.audit.registry import FAMILIES, Check, checks
from latebind.templates import render

_FOLDER = Path("docs/checks")


def render_page(check: Check) -> str:
    """The page of one check, in Markdown; also what `--explain` prints."""
    return render("check.md.j2", check=check, family=FAMILIES[check.code[:3]])


def render_pages() -> dict[Path, str]:
    """All pages and the index by their path in the repository."""
    pages = {_FOLDER / f"{code}.md": render_page(check) for code, check in checks().items()}
    return {**pages, _FOLDER / "index.md": _index()}


def _index() -> str:
    lines = ["# Checks of `latebind audit`", ""]
    lines.append("Each page says why the check is there, shows an example and tells what mends it.")
    for family, title in FAMILIES.items():
        lines += ["", f"## {family}xx {title}", "", "| code | severity | what it finds |", "|---|---|---|"]
        lines += [
            f"| [{code}]({code}.md) | {check.severity} | {check.title} |"
            for code, check in checks().items()
            if code.startswith(family)
        ]
    return "\n".join(lines) + "\n"
