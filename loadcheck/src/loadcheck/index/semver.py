"""Chooses versions by the ranges of node-semver, as npm reads them."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Version = tuple[tuple[int, int, int], bool, tuple[tuple[int, int, str], ...]]
"""The three numbers, whether it is a release, and the parts of a pre-release; they sort as SemVer says."""
_Bound = tuple[str, Version]
_VERSION = re.compile(r"[v=\s]*(\d{1,16})\.(\d{1,16})\.(\d{1,16})(?:-([\w.-]+))?(?:\+[\w.-]+)?", re.ASCII)
_PARTIAL = re.compile(
    r"[v=\s]*(?P<major>\d{1,16}|[xX*])(?:\.(?P<minor>\d{1,16}|[xX*])(?:\.(?P<patch>\d{1,16}|[xX*])"
    r"(?:-(?P<pre>[\w.-]+))?(?:\+[\w.-]+)?)?)?",
    re.ASCII,
)
_SPACED = re.compile(r"(<=|>=|<|>|=|~>|~|\^)\s+")
_COMPARATOR = re.compile(r"(<=|>=|<|>|=|~>|~|\^|)(.*)")
_LEAST: Version = ((0, 0, 0), False, ())
_MOST_ALTERNATIVES = 100


def parse_version(text: str) -> Version | None:
    """A version that compares by value; None for a text that is none."""
    match = _VERSION.fullmatch(text)
    return _make((match[1], match[2], match[3]), match[4] or "") if match else None


def find_admitted(versions: Iterable[str], range_: str) -> list[str]:
    """The versions that a range admits, ascending. Raises ValueError for a text that is no range."""
    alternatives = [list(_read_bounds(part.strip())) for part in range_.split("||")[:_MOST_ALTERNATIVES]]
    parsed = ((version, text) for text in versions if (version := parse_version(text)))
    return [text for version, text in sorted(parsed) if any(_admits(bounds, version) for bounds in alternatives)]


def _make(numbers: tuple[str, str, str], pre: str) -> Version:
    major, minor, patch = map(int, numbers)
    parts = tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in pre.split(".") if part)
    return (major, minor, patch), not pre, parts


def _admits(bounds: list[_Bound], version: Version) -> bool:
    """Whether a version is within all bounds; a pre-release only if a bound is one of the same three numbers."""
    numbers, is_release, _ = version
    if not is_release and not any(bound[2] and bound[0] == numbers for _, bound in bounds):
        return False
    return all(_compare(version, operator, bound) for operator, bound in bounds)


def _compare(version: Version, operator: str, bound: Version) -> bool:
    if operator == "=":
        return version == bound
    if operator in (">", "<"):
        return version > bound if operator == ">" else version < bound
    return version >= bound if operator == ">=" else version <= bound


def _read_bounds(text: str) -> Iterator[_Bound]:
    first, dash, last = text.partition(" - ")
    if dash:
        yield from _read_comparator(f">={first.strip()}")
        yield from _read_comparator(f"<={last.strip()}")
    else:
        for comparator in _SPACED.sub(r"\1", text).split():
            yield from _read_comparator(comparator)


def _read_comparator(text: str) -> Iterator[_Bound]:
    """The bounds of `^1.2`, `~1`, `1.x`, `>=1.2.3-rc.1`."""
    operator, version = _COMPARATOR.fullmatch(text).groups()  # type: ignore[union-attr]  # it matches any text
    match = _PARTIAL.fullmatch(version)
    if match is None:
        raise ValueError(text)
    given = [*map(int, takewhile(str.isdecimal, filter(None, match.group("major", "minor", "patch"))))]
    if not given:
        if operator in ("<", ">"):
            yield "<", _LEAST  # nothing
        return
    major, minor, patch = (*given, 0, 0)[:3]
    low = _make((str(major), str(minor), str(patch)), match["pre"] or "")
    if operator in ("^", "~", "~>"):
        yield ">=", low
        yield "<", _start(_end_of_caret(given) if operator == "^" else _end(given[:2]))
    elif len(given) == 3:  # noqa: PLR2004  # the three numbers of a version
        yield operator or "=", low
    else:
        yield from _read_partial(operator, low, _start(_end(given)))


def _read_partial(operator: str, low: Version, end: Version) -> Iterator[_Bound]:
    """The bounds of a version without its last numbers: `1.2` is all from 1.2.0 to before 1.3.0."""
    if operator in ("", "=", ">="):
        yield ">=", low
    elif operator == ">":
        yield ">=", end
    if operator in ("", "=", "<="):
        yield "<", end
    elif operator == "<":
        yield "<", _start(list(low[0]))


def _end(given: list[int]) -> list[int]:
    """Where the last of some numbers has grown by one."""
    return [*given[:-1], given[-1] + 1]


def _end_of_caret(given: list[int]) -> list[int]:
    """Where the first number that is not zero, or the last that is given, has grown by one."""
    place = next((index for index, number in enumerate(given) if number), len(given) - 1)
    return _end(given[: place + 1])


def _start(numbers: list[int]) -> Version:
    """What comes before each pre-release of a version: the `-0` that node-semver adds to upper bounds."""
    major, minor, patch = (*numbers, 0, 0)[:3]
    return (major, minor, patch), False, ()
