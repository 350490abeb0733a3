"""Finds the line of a key in TOML text that a parser has already accepted; for error messages only."""

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
