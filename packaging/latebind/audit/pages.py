"""Renders a documentation page for each check, and their index, from the registry; writes nothing."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from latebind.audit.registry import FAMILIES, Check, checks
from latebind.resources import folder

_FOLDER = Path("docs/checks")


def render_page(check: Check) -> str:
    """The page of one check, in Markdown."""
    environment = Environment(  # noqa: S701  # Markdown, not HTML
        loader=FileSystemLoader(folder("templates")),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("check.md.j2").render(check=check, family=FAMILIES[check.code[:3]])


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
