"""axe-core, which finds what keeps people from using a page with a keyboard, a screen reader or weak eyes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ci.machines import make_once
from tests.support.npm_tools import install

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

PINNED = "axe-core@4.14.1"


def install_axe(kept_builds: Path) -> str:
    """The script, from npm once for all tests; the test is skipped where its registry cannot be reached."""

    def make(folder: Path) -> None:
        (folder / "package.json").write_text("{}")
        install(folder, PINNED)

    folder = make_once(kept_builds / PINNED, make)
    return (folder / "node_modules" / "axe-core" / "axe.min.js").read_text("utf-8")


def find_violations(page: Page, script: str) -> list[str]:
    """What axe-core finds in an opened page: each rule with the element that breaks it, and why."""
    page.evaluate(script)
    found = page.evaluate("axe.run({resultTypes: ['violations']})")
    return [
        f"{rule['id']}: {node['html']}: {node['failureSummary']}"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]
