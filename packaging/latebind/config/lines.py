"""Finds and shows the line of a key in TOML text that a parser has already accepted; for error messages only."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

Key = str | int

_PART = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""
_DOTTED = rf"{_PART}(?:\s*\.\s*{_PART})*"
_HEADER = re.compile(rf"^\s*(\[\[?)\s*({_DOTTED})\s*\]\]?")
_PAIR = re.compile(rf"^\s*({_DOTTED})\s*=")
_QUOTED = re.compile(r"'([^'\n]+)'")
_VALUE = r"""(?:"[^"\n]*"|'[^'\n]*'|[^\s,#\[\]{}]+)"""
_LONGEST_LINE = 500
_FENCE = re.compile(r'"""|' + r"'''")


def line_of(text: str, path: tuple[Key, ...]) -> int:
    """The line, from 1, on which the key at `path` or its nearest known parent is written.

    Keys inside a one-line table count as the line of that table.
    """
    best_length, best_line = 0, 1
    for key, line in _keys(text):
        shared = _count_shared(key, path)
        if shared == len(key) and shared > best_length:
            best_length, best_line = shared, line
    return best_line


def place_of(name: str, text: str, path: tuple[Key, ...], message: str) -> tuple[str, str]:
    """`name:line` of the key at `path` in a TOML text, and that line with carets below what a message is about.

    That is the first quoted word of the message that the line has, else the value of the key, else the key. A key
    that nothing in the text belongs to has no excerpt.
    """
    number = line_of(text, path)
    if not any(_count_shared(key, path) for key, _ in _keys(text)):
        return f"{name}:{number}", ""
    return f"{name}:{number}", show_line(text, number, *_find_mark(text.splitlines()[number - 1], path, message))


def show_line(text: str, number: int, start: int, end: int = 0) -> str:
    """A line, counted from 1, with carets below the columns from `start`, counted from 0, up to `end`.

    A line that would fill the screen gives "".
    """
    line = text.splitlines()[number - 1]
    if len(line) > _LONGEST_LINE:
        return ""
    before = "".join("\t" if character == "\t" else " " for character in line[:start])
    margin = " " * len(str(number))
    return f"  {number} | {line}\n  {margin} | {before}{'^' * max(end - start, 1)}"


def _find_mark(line: str, path: tuple[Key, ...], message: str) -> tuple[int, int]:
    for word in _QUOTED.findall(message):
        if match := re.search(rf"(?<!\w){re.escape(word)}(?!\w)", line):
            return match.span()
    name = re.escape(str(next((key for key in reversed(path) if isinstance(key, str)), "")))
    if not message.startswith("unknown key") and (match := re.search(rf"\b{name}[\"']?\s*=\s*({_VALUE})", line)):
        return match.span(1)
    match = re.search(rf"(?<![\w-]){name}(?![\w-])", line) if name else None
    return match.span() if match else (len(line) - len(line.lstrip()), len(line.rstrip()))


def headers(text: str) -> Iterator[tuple[str, tuple[Key, ...] | None]]:
    """Each line with the path of the table that it opens; None for lines that open none."""
    fenced = False
    for line in text.splitlines():
        inside = fenced
        if len(_FENCE.findall(line)) % 2:
            fenced = not fenced
        header = None if inside else _HEADER.match(line)
        yield line, _parts(header[2]) if header else None


def _count_shared(key: tuple[Key, ...], path: tuple[Key, ...]) -> int:
    count = 0
    for written, asked in zip(key, path, strict=False):
        if written != asked:
            break
        count += 1
    return count


def _keys(text: str) -> Iterator[tuple[tuple[Key, ...], int]]:
    table: tuple[Key, ...] = ()
    counts: dict[tuple[Key, ...], int] = {}
    fenced = False
    for number, line in enumerate(text.splitlines(), start=1):
        inside = fenced
        if len(_FENCE.findall(line)) % 2:
            fenced = not fenced
        if inside:
            continue
        if header := _HEADER.match(line):
            table = _parts(header[2])
            if header[1] == "[[":
                counts[table] = counts.get(table, -1) + 1
            table = _index_table(table, counts)
            yield table, number
        elif pair := _PAIR.match(line):
            keys = _parts(pair[1])
            for length in range(1, len(keys) + 1):
                yield table + keys[:length], number


def _parts(dotted: str) -> tuple[Key, ...]:
    return tuple(part.strip("\"'") for part in re.findall(_PART, dotted))


def _index_table(table: tuple[Key, ...], counts: dict[tuple[Key, ...], int]) -> tuple[Key, ...]:
    """The table's path, with an index after every array of tables that it is in."""
    out: list[Key] = []
    for length in range(1, len(table) + 1):
        out.append(table[length - 1])
        if table[:length] in counts:
            out.append(counts[table[:length]])
    return tuple(out)
