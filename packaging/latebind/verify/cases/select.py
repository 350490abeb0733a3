"""Selects test cases: by the patterns of `-k`, by shares, and for the matrix of GitHub's jobs, which each have one."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from hashlib import sha256
from math import ceil
from typing import TYPE_CHECKING, Any

from latebind.backend.targets import Rid, target
from latebind.config.config import Config
from latebind.errors import InputError
from latebind.model import Case
from latebind.text import plural
from latebind.verify.cases.expand import Extent, expand_cases, is_too_old, list_lines
from latebind.verify.run.index import Answers

if TYPE_CHECKING:
    from latebind.verify.declared import ConfiguredCase

MAX_JOBS = 256
"""Jobs that one matrix may make (docs.github.com, "Actions limits", "Job Matrix")."""
MAX_BYTES = 1_000_000
"""All outputs of one job, "approximated based on UTF-16" (docs.github.com, "Passing information between jobs")."""
_MINOR = re.compile(r"3\.\d+")
CASES_PER_JOB = 40
"""They take some minutes, about as long as setting up a runner."""
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


def matrix(config: Config, rids: Sequence[Rid], pythons: Sequence[str], max_jobs: int = MAX_JOBS) -> dict[str, Any]:
    """`{"include": [{"target", "runner", "shard", "python", "pythons", "args"}]}`, one entry for each job.

    A target has no job for a Python that does not exist for it. `pythons` are all that do, one a line, with the job's
    own Python last, as actions/setup-python takes them.

    The number of shares follows from the configuration alone. A new version in the index changes the size of a share,
    never which test cases are run: each job selects its own by their ids.

    Raises InputError for an invalid Python version, when even one job for each target and Python is too many, and when
    the text is over GitHub's limit.
    """
    strange = [text for text in pythons if not _MINOR.fullmatch(text)]
    if strange:
        raise InputError(
            f"{strange[0]!r} is not a minor version of Python 3", where="--python", advice="Write it as 3.12."
        )
    hosted = [rid for rid in rids if target(rid).runner]  # GitHub has no machine for the others
    counts = {
        (rid, python): max(1, len(cases_of(config, rid, python)))
        for rid in hosted
        for python in pythons
        if not is_too_old(python, target(rid))
    }
    if len(counts) > max_jobs:
        raise InputError(
            f"{plural(len(hosted), 'target')} and {plural(len(pythons), 'Python')} need at least {len(counts)} jobs, "
            f"more than {max_jobs}",
            where="matrix",
            advice="Make several matrices: name fewer targets with --target, or fewer Pythons with --python.",
        )
    shares = _shares(counts, max_jobs)
    document = {
        "include": [
            _job(rid, python, index, shares[rid, python])
            for rid, python in counts
            for index in range(1, shares[rid, python] + 1)
        ]
    }
    size = len(matrix_json(document).encode("utf-16-le"))
    if size > MAX_BYTES:
        raise InputError(
            f"the matrix has {size:,} bytes as GitHub counts them, more than {MAX_BYTES:,}",
            where="matrix",
            advice="Allow fewer jobs: --max-jobs N.",
        )
    return document


def cases_of(config: Config, rid: Rid, python: str) -> tuple[ConfiguredCase, ...]:
    """The test cases of a target on its own machine with that Python, as far as they are known without the index."""
    others = tuple(minor for minor in config.document.verify.pythons if minor != python)
    extent = Extent(pythons={rid: python}, home=rid, others=others, everything=True)
    return expand_cases(list_lines(config, [rid], extent), Answers())


def matrix_json(document: Mapping[str, Any]) -> str:
    """One line, as an output of a job must be."""
    return json.dumps(document, separators=(",", ":")) + "\n"


def _shares(counts: Mapping[tuple[Rid, str], int], max_jobs: int) -> dict[tuple[Rid, str], int]:
    """How many jobs share each target's test cases: enough to keep them small, and at most `max_jobs` in all."""
    size = CASES_PER_JOB
    while True:
        shares = {key: ceil(number / size) for key, number in counts.items()}
        if sum(shares.values()) <= max_jobs:
            return shares
        size += 1


def _job(rid: Rid, python: str, index: int, number: int) -> dict[str, str]:
    share = f"{index}/{number}"
    arguments = ["verify", "--all", "--target", rid, *(["--shard", share] if number > 1 else [])]
    others = [minor for minor in target(rid).pythons if minor != python]
    return {
        "target": rid,
        "runner": target(rid).runner,
        "shard": share,
        "python": python,
        "pythons": "\n".join([*others, python]),
        "args": " ".join(arguments),
    }
