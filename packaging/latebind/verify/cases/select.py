"""Selects test cases: the patterns of `-k` and the shares of `--shard`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from hashlib import sha256

from latebind.errors import InputError
from latebind.model import Case

_EXPRESSION = re.compile(r"[\s()]")
_SHARE = re.compile(r"([0-9]{1,9})/([0-9]{1,9})")
_ADVICE = (
    "Repeat -k for alternatives: -k win -k osx. To match several words at once, write a glob for the id: "
    "-k '*/win-*/*-1.2*/*'. To leave test cases out: -k '!win'."
)


def check_patterns(patterns: Sequence[str]) -> tuple[str, ...]:
    """The patterns of `-k`. Raises InputError for one with `and`, `or`, `not` or parentheses."""
    for pattern in patterns:
        if _EXPRESSION.search(pattern):
            raise InputError("takes one word or glob, not an expression", where=f"-k {pattern!r}", advice=_ADVICE)
    return tuple(patterns)


def is_selected(case: Case, patterns: Sequence[str]) -> bool:
    """Whether a test case matches any of the patterns, or there are none; and none of those that begin with `!`."""
    excluded = [pattern.removeprefix("!") for pattern in patterns if pattern.startswith("!")]
    included = [pattern for pattern in patterns if not pattern.startswith("!")]
    is_included = not included or any(_matches(case, pattern) for pattern in included)
    return is_included and not any(_matches(case, pattern) for pattern in excluded)


def _matches(case: Case, pattern: str) -> bool:
    """Whether a pattern fits: a part of the id, some names of it, or a glob of one name or of the whole id.

    Upper and lower case are the same.
    """
    glob, identity = pattern.lower(), case.id.lower()
    is_glob = bool(set(glob) & set("*?["))
    if "/" in glob:
        return fnmatchcase(identity, glob) if is_glob else f"/{glob.strip('/')}/" in f"/{identity}/"
    if not is_glob:
        return glob in identity
    names = (case.kind, case.target, case.consumer, case.runtime, case.version, case.scenario)
    return any(fnmatchcase(name.lower(), glob) for name in names)


def read_shard(text: str) -> tuple[int, int]:
    """`2/5` as (2, 5). Raises InputError for anything but two numbers, the first from 1 to the second."""
    match = _SHARE.fullmatch(text)
    if match and 1 <= int(match[1]) <= int(match[2]):
        return int(match[1]), int(match[2])
    advice = "Write the number of the share and the number of shares: 2/5."
    raise InputError(f"{text} is not a share", where="--shard", advice=advice)


def in_shard(case: Case, index: int, count: int) -> bool:
    """Whether a test case belongs to share `index` of `count`, counted from 1: each belongs to one.

    The id alone decides. So a test case keeps its share when others come or go, and when machines ask the index at
    different times, each test case is still run by one of them.
    """
    return int.from_bytes(sha256(case.id.encode()).digest()[:8], "big") % count == index - 1
