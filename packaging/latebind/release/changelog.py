"""The section of a changelog that is about one version, in the form of Keep a Changelog; writes nothing."""

from __future__ import annotations

import re

from latebind.config.config import Config

_HEADING = re.compile(r"^## +\[?(?P<title>[^\]\s]+)\]?.*$", re.MULTILINE)
UNRELEASED = "Unreleased"


def section(text: str, version: str) -> str:
    """The body below `## [version]`, else below `## [Unreleased]`, without the heading; "" when there is neither."""
    headings = list(_HEADING.finditer(text))
    ends = [*(heading.start() for heading in headings), len(text)][1:]
    bodies = {
        heading["title"].casefold(): text[heading.end() : end].strip()
        for heading, end in zip(headings, ends, strict=True)
    }
    return bodies.get(version.casefold()) or bodies.get(UNRELEASED.casefold(), "")


def names(text: str, version: str) -> bool:
    """Whether the changelog has a section for exactly that version."""
    return any(heading["title"].casefold() == version.casefold() for heading in _HEADING.finditer(text))


def heading(config: Config, *, named: bool) -> str:
    """The first line of a release's changelog; `named` is whether the project's changelog has the version."""
    return f"# {config.project.name} {config.project.version}{'' if named else ', ' + UNRELEASED.lower()}"
