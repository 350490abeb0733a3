"""What loaders print and how to fix it (messages.toml): `latebind doctor --message` and docs/howto/messages.md."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urljoin

import msgspec

from loadcheck.text import DOCS

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = f"{DOCS}/howto/messages.md"
PARTS = (
    ("cause", "Cause"),
    ("see", "Check"),
    ("user", "Users"),
    ("maintainer", "Maintainers"),
)
"""The parts of a section and their headings, in the order of the page."""

_LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A family of messages with one cause; its parts are Markdown, with links relative to the page."""

    title: str
    patterns: tuple[str, ...]
    """Regular expressions, each of which finds the family in a message."""
    messages: tuple[str, ...]
    """As programs print them, with … for what differs."""
    cause: str
    maintainer: str
    see: str = ""
    user: str = ""

    def parts(self) -> Iterator[tuple[str, str]]:
        """The heading and the text of each part that the section has."""
        texts = ((heading, getattr(self, name).strip()) for name, heading in PARTS)
        return ((heading, text) for heading, text in texts if text)

    @property
    def address(self) -> str:
        """The section on the page, by the anchor that GitHub and the site make from the title."""
        return f"{PAGE}#" + re.sub(r"[^ \w-]", "", self.title.lower()).replace(" ", "-")

    def text(self) -> str:
        """The section for a terminal: no code marks, and links with their whole address."""
        parts = (f"{heading}:\n{text}" for heading, text in self.parts())
        plain = _LINK.sub(lambda link: f"{link[1]} ({urljoin(PAGE, link[2])})", "\n\n".join(parts))
        return f"{self.title}\n\n{plain.replace('`', '')}\n\nSee {self.address}"


@cache
def sections() -> tuple[Section, ...]:
    """Every section, in the order of the page."""
    data = Path(__file__).with_name("messages.toml").read_bytes()
    return msgspec.toml.decode(data, type=dict[str, tuple[Section, ...]])["section"]


def find_section(message: str) -> Section | None:
    """The first section with a pattern that matches the message."""
    fits = (
        section
        for section in sections()
        if any(re.search(pattern, message, re.IGNORECASE | re.DOTALL) for pattern in section.patterns)
    )
    return next(fits, None)
