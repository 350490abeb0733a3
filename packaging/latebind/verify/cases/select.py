"""Selects test cases: the expressions of `-k` and the shares of `--shard`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from hashlib import sha256
from typing import TYPE_CHECKING

from latebind.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from latebind.model import Case

    Selector = Callable[[Case], bool]

_TOKEN = re.compile(r"[()]|[^\s()]+")
_DEEPEST, _LONGEST = 50, 100
"""Nested parentheses: more would only test the depth of Python's stack."""
_ADVICE = "Write words or globs of a test case's id, joined by and, or, not, parentheses: -k 'win and 1.2*'."


def selector(expression: str) -> Selector:
    """The predicate of an expression: words joined by `and`, `or`, `not` and parentheses.

    A word is a glob, in upper or lower case. It matches a whole name in the test case's id (`win-x64`, `1.31.1`) or a
    part of one between dashes (`win`, `x64`, `dotnet`); `python` matches every Python. A word with a slash is
    matched against the whole id. `not` binds strongest, then `and`.

    Raises InputError with the position of a syntax error.
    """
    parser = _Parser(expression, [*_TOKEN.finditer(expression)])
    return parser.parse()


def any_of(expressions: Sequence[str]) -> str:
    """The expression that matches what any of several does. Raises InputError as `selector` does."""
    if len(expressions) < 2 or not all(expressions):  # noqa: PLR2004  # an empty one matches everything
        return min(expressions, default="")
    for expression in expressions:
        selector(expression)
    return " or ".join(f"({expression})" for expression in expressions)


def selectable_words(case: Case) -> frozenset[str]:
    """What a word of an expression may match, in lower case."""
    names = {case.kind, case.target, case.consumer, case.runtime, case.version, case.scenario}
    parts = {part for name in names for part in name.split("-")}
    matchable = names | parts | {case.consumer_kind, *(() if case.runtime else ("no-runtime",))}
    return frozenset(name.lower() for name in matchable if name)


def read_shard(text: str) -> tuple[int, int]:
    """`2/5` as (2, 5). Raises InputError for anything but two numbers, the first from 1 to the second."""
    index, slash, count = text.partition("/")
    if (
        slash
        and all(number.isascii() and number.isdigit() for number in (index, count))
        and 1 <= int(index) <= int(count)
    ):
        return int(index), int(count)
    raise InputError(f"{text} is not a share", where="--shard", advice="Write the share and how many there are: 2/5.")


def in_shard(case: Case, index: int, count: int) -> bool:
    """Whether a test case belongs to share `index` of `count`, counted from 1.

    The id alone decides. So a test case keeps its share when others come or go, and when machines ask the index at
    different times, each test case is still run by one of them.
    """
    return int.from_bytes(sha256(case.id.encode()).digest()[:8], "big") % count == index - 1


def shard(cases: Iterable[Case], index: int, count: int) -> tuple[Case, ...]:
    """The test cases of one share, in their order; all shares together are the test cases, each once."""
    return tuple(case for case in cases if in_shard(case, index, count))


@dataclass(slots=True)
class _Parser:
    """Recursive descent over: or := and ("or" and)*; and := not ("and" not)*; not := "not"* (word | "(" or ")")."""

    text: str
    tokens: list[re.Match[str]]
    at: int = 0
    depth: int = 0

    def parse(self) -> Selector:
        condition = self._any()
        if self.at < len(self.tokens):
            raise self._error("expected 'and' or 'or' before" if self._next() != ")" else "unmatched")
        return condition

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
        return lambda case: any(option(case) for option in options)

    def _all(self) -> Selector:
        conditions = [self._operand()]
        while self._take("and"):
            conditions.append(self._operand())
        return lambda case: all(condition(case) for condition in conditions)

    def _operand(self) -> Selector:
        denied = False
        while self._take("not"):
            denied = not denied
        condition = self._inner() if self._take("(") else self._word()
        return (lambda case: not condition(case)) if denied else condition

    def _inner(self) -> Selector:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self._error(f"more than {_DEEPEST} nested parentheses before")
        condition = self._any()
        if not self._take(")"):
            raise self._error("expected ) before")
        self.depth -= 1
        return condition

    def _word(self) -> Selector:
        if self._next() in {"", ")", "and", "or"}:
            raise self._error("expected a word before")
        glob = self._next().lower()
        self.at += 1
        if "/" in glob:
            return lambda case: fnmatchcase(case.id.lower(), glob)
        return lambda case: any(fnmatchcase(name, glob) for name in selectable_words(case))

    def _error(self, what: str) -> InputError:
        """The position after `what` is the next token, or the end."""
        if self.at < len(self.tokens):
            token = self.tokens[self.at]
            position = f"{token[0]}, at character {token.start() + 1}"
        else:
            position = "its end"
        shown = self.text if len(self.text) < _LONGEST else f"{self.text[:_LONGEST]}…"
        return InputError(f"{what} {position}", where=f"-k {shown!r}", advice=_ADVICE)
