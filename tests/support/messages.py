"""Holds that a message of a loader or a tool finds its section of the page."""

from __future__ import annotations

from latebind.tables.messages import Section, find_section


def hold_section(message: str, title: str) -> Section:
    """The section that the message finds; its title begins with `title`."""
    section = find_section(message)
    assert section is not None, message
    assert section.title.startswith(title), message
    return section
