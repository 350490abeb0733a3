"""Which of the cells a run is about: the expressions of `-k` and the shares of `--shard`; runs nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from hashlib import sha256
from typing import TYPE_CHECKING

from latebind.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from latebind.model import Cell

    Selector = Callable[[Cell], bool]

_TOKEN = re.compile(r"[()]|[^\s()]+")
_DEEPEST = 50
"""Parentheses in parentheses: nobody writes more, and Python's stack ends somewhere."""
_ADVICE = "Write words or globs of a cell's id, joined by and, or, not and parentheses: -k 'win and 1.2*'."


def matches(cell: Cell, expression: str) -> bool:
    """Whether a cell is meant by an expression. Raises InputError as `selector` does."""
    return selector(expression)(cell)


def selector(expression: str) -> Selector:
    """The test that an expression describes: words joined by `and`, `or`, `not` and parentheses.

    A word is a glob, whatever the case of its letters. It means a cell when it matches a whole name in the cell's id
    (`win-x64`, `1.31.1`, `too-old`) or a part of one between dashes (`win`, `x64`, `dotnet`); `python` means every
    Python. A word with a slash is matched against the whole id. `not` binds strongest, then `and`.

    Raises InputError with the place of what cannot be read.
    """
    parser = _Parser(expression, [*_TOKEN.finditer(expression)])
    return parser.whole()


def any_of(expressions: Sequence[str]) -> str:
    """The expression that matches what any of several does. Raises InputError as `selector` does, for each of them."""
    if len(expressions) < 2 or not all(expressions):  # noqa: PLR2004  # an empty one matches everything
        return min(expressions, default="")
    for expression in expressions:
        selector(expression)
    return " or ".join(f"({expression})" for expression in expressions)


def names(cell: Cell) -> frozenset[str]:
    """What a word of an expression may match, in small letters."""
    whole = {cell.kind, cell.target, cell.consumer, cell.runtime, cell.version, cell.scenario}
    parts = {part for name in whole for part in name.split("-")}
    found = whole | parts | {cell.consumer_kind, *(() if cell.runtime else ("no-runtime",))}
    return frozenset(name.lower() for name in found if name)


def read_shard(text: str) -> tuple[int, int]:
    """`2/5` as (2, 5). Raises InputError for anything but two numbers, the first from 1 to the second."""
    index, slash, count = text.partition("/")
    if slash and all(word.isascii() and word.isdigit() for word in (index, count)) and 1 <= int(index) <= int(count):
        return int(index), int(count)
    raise InputError(f"{text} is no share", where="--shard", advice="Write the share and how many there are: 2/5.")


def in_shard(cell: Cell, index: int, count: int) -> bool:
    """Whether a cell belongs to share `index` of `count`, counted from 1.

    The id alone decides. So a cell keeps its share when others come or go, and when machines ask the index at
    different times, each cell is still run by one of them.
    """
    return int.from_bytes(sha256(cell.id.encode()).digest()[:8], "big") % count == index - 1


def shard(cells: Iterable[Cell], index: int, count: int) -> tuple[Cell, ...]:
    """The cells of one share, in their order; all shares together are the cells, each once."""
    return tuple(cell for cell in cells if in_shard(cell, index, count))


@dataclass(slots=True)
class _Parser:
    """Recursive descent over: or := and ("or" and)*; and := not ("and" not)*; not := "not"* (word | "(" or ")")."""

    text: str
    tokens: list[re.Match[str]]
    at: int = 0
    depth: int = 0

    def whole(self) -> Selector:
        found = self._any()
        if self.at < len(self.tokens):
            raise self._error("and or or is missing before" if self._next() != ")" else "nothing is open before")
        return found

    def _next(self) -> str:
        return self.tokens[self.at][0] if self.at < len(self.tokens) else ""

    def _take(self, token: str) -> bool:
        if self._next() != token:
            return False
        self.at += 1
        return True

    def _any(self) -> Selector:
        options = [self._all()]
        while self._take("or"):
            options.append(self._all())
        return lambda cell: any(option(cell) for option in options)

    def _all(self) -> Selector:
        conditions = [self._one()]
        while self._take("and"):
            conditions.append(self._one())
        return lambda cell: all(condition(cell) for condition in conditions)

    def _one(self) -> Selector:
        denied = False
        while self._take("not"):
            denied = not denied
        found = self._inner() if self._take("(") else self._word()
        return (lambda cell: not found(cell)) if denied else found

    def _inner(self) -> Selector:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self._error(f"more than {_DEEPEST} parentheses are open before")
        found = self._any()
        if not self._take(")"):
            raise self._error("a ) is missing before")
        self.depth -= 1
        return found

    def _word(self) -> Selector:
        if self._next() in {"", ")", "and", "or"}:
            raise self._error("a word is missing before")
        glob = self._next().lower()
        self.at += 1
        if "/" in glob:
            return lambda cell: fnmatchcase(cell.id.lower(), glob)
        return lambda cell: any(fnmatchcase(name, glob) for name in names(cell))

    def _error(self, what: str) -> InputError:
        """`what` ends with "before"; the place is the next token, or the end."""
        if self.at < len(self.tokens):
            token = self.tokens[self.at]
            place = f"{token[0]}, at character {token.start() + 1}"
        else:
            place = "its end"
        return InputError(f"{what} {place}", where=f"-k {self.text!r}", advice=_ADVICE)
