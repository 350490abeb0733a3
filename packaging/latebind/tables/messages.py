"""What loaders print and how to fix it: `latebind doctor --message`, which reads docs/howto/messages.md."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from latebind.system.resources import messages_page
from latebind.text import DOCS

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = f"{DOCS}/howto/messages.md"
_LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")
_SECTION = re.compile(r"<!-- patterns\n(.*?)\n-->\n\n(?:```text\n(.*?)\n```\n\n)?(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A family of messages with one cause."""

    title: str
    patterns: tuple[str, ...]
    """Regular expressions, each of which finds the family in a message."""
    messages: tuple[str, ...]
    """The texts that programs print, with … for what differs."""
    body: str
    """The cause and the fixes in Markdown, with links relative to the page."""

    @property
    def address(self) -> str:
        """The section on the page, by the anchor that GitHub and the site make from the title."""
        return f"{PAGE}#" + re.sub(r"[^ \w-]", "", self.title.lower()).replace(" ", "-")

    def text(self) -> str:
        """The section for a terminal: no code marks, and links with their whole address."""
        plain = _LINK.sub(lambda link: f"{link[1]} ({urljoin(PAGE, link[2])})", self.body).replace("`", "")
        headed = re.sub(r"^\*\*(.+)\*\*\n", r"\1:", plain, flags=re.MULTILINE)
        return f"{self.title}\n\n{headed}\n\nSee {self.address}"


@cache
def sections() -> tuple[Section, ...]:
    """Every section, in the order of the page."""
    return tuple(_read_sections(messages_page().read_text("utf-8")))


def _read_sections(page: str) -> Iterator[Section]:
    for chunk in page.split("\n## ")[1:]:
        title, _, rest = chunk.partition("\n\n")
        ((patterns, messages, body),) = _SECTION.findall(rest.strip())
        yield Section(
            title=title, patterns=tuple(patterns.splitlines()), messages=tuple(messages.splitlines()), body=body
        )


def find_section(message: str) -> Section | None:
    """The first section with a pattern that matches the message."""
    fits = (
        section
        for section in sections()
        if any(re.search(pattern, message, re.IGNORECASE | re.DOTALL) for pattern in section.patterns)
    )
    return next(fits, None)
