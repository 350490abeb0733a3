"""Text of comments as Markdown."""

from __future__ import annotations

import re


def escape_markdown(text: str) -> str:
    """The text with what Markdown would take for markup made plain, but for what stands between backticks."""
    parts = re.split(r"(```.*?```|`[^`\n]+`)", text, flags=re.DOTALL)
    return "".join(part if part.startswith("`") else _plain(part) for part in parts)


def _plain(text: str) -> str:
    return text.replace("<", "&lt;").replace("*", "\\*")
