"""Fits text to a terminal: lines end between words, the words that judge have colors, and addresses are links."""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_NARROWEST = 40
_DEEPEST = 3
"""The continuation of a line begins at most at this part of the width."""
_COLUMNS = re.compile(r" *(?:\S+(?: \S+)* {2,}|\S+ (?=LB\d))?")
"""The start of a line in a table, whose last column is continued below itself."""
_ADDRESS = re.compile(r"https?://[^\s<>\"]*[^\s<>\".,:;)\]]")
_PLAIN = "\033[0m"
_COLORS = {"error": "\033[1;31m", "warning": "\033[33m", "note": "\033[36m", "fix:": "\033[1;36m"}
"""By the first word of a line."""


def fit_terminal(
    text: str,
    colors: Mapping[str, str] = _COLORS,
    links: Mapping[str, str] | None = None,
    stream: TextIO | None = None,
) -> str:
    """A text for people as a stream's terminal shows it best; unchanged where the stream is none.

    `colors` are escape sequences by a line's first word, and `links` addresses by what is shown of them. A line that
    people copy, such as a command, is not for this: its parts would be lines.
    """
    stream = stream or sys.stdout
    if not _is_screen(stream):
        return text
    width = max(shutil.get_terminal_size().columns, _NARROWEST)
    is_colored = shows_colors(stream)
    lines = [part for line in text.split("\n") for part in _fit_line(line, width, colors if is_colored else {})]
    fitted = "\n".join(lines)
    if not is_colored:
        return fitted
    fitted = _ADDRESS.sub(lambda match: _link(match[0], match[0]), fitted)
    for shown, address in (links or {}).items():
        fitted = fitted.replace(shown, _link(shown, address))
    return fitted


def shows_colors(stream: TextIO) -> bool:
    """Whether a stream is a terminal that knows escape sequences, and the user wants them (no-color.org)."""
    knows_them = os.name != "nt" or {"WT_SESSION", "TERM"} & os.environ.keys()
    return bool(_is_screen(stream) and knows_them and not os.environ.get("NO_COLOR"))


def _is_screen(stream: TextIO) -> bool:
    """Whether a stream is a terminal whose cursor moves."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def _fit_line(line: str, width: int, colors: Mapping[str, str]) -> Iterator[str]:
    """The line, in parts if it is too long for the terminal. A word that is longer than the terminal stays whole."""
    if len(line) <= width:
        parts = [line]
    else:
        margin, deepest = len(line) - len(line.lstrip(" ")), width // _DEEPEST
        start = _COLUMNS.match(line)
        column = start.end() if start else 0
        parts = textwrap.wrap(
            line.lstrip(" "), width, initial_indent=" " * min(margin, deepest),
            subsequent_indent=" " * (column if margin < column <= deepest else min(margin + 2, deepest)),
            break_long_words=False, break_on_hyphens=False, expand_tabs=False, replace_whitespace=False,
        )  # fmt: skip
    first, *others = parts or [""]
    word = first.split(maxsplit=1)[0] if first.strip() else ""
    yield first.replace(word, f"{colors[word]}{word}{_PLAIN}", 1) if word in colors else first
    yield from others


def _link(shown: str, address: str) -> str:
    """Text that terminals open on a click: OSC 8; others show the text alone."""
    return f"\033]8;;{address}\033\\{shown}\033]8;;\033\\"
