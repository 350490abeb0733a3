"""Chooses the checks of an audit run: a profile, or codes and their prefixes."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from loadcheck.engine.catalog import checks
from loadcheck.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from loadcheck.model import Profile


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Which checks run: those of `profile`, or those of `select`, without those of `ignore`.

    `select` and `ignore` hold codes and prefixes of codes, such as `LB1`. If both match a check, the longer one counts;
    if both are equal, `ignore` does. A check that always runs is left out only if `ignore` names its whole code.
    """

    profile: Profile = "all"
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The options of this choice, with a count unless all checks run: `--profile loads: 37 of 61 checks`."""
        chosen = f"--select {','.join(self.select)}" if self.select else f"--profile {self.profile}"
        if self.ignore:
            chosen += f" --ignore {','.join(self.ignore)}"
        count = sum(map(self.takes, checks()))
        return chosen if count == len(checks()) else f"{chosen}: {count} of {len(checks())} checks"

    @property
    def is_any_left(self) -> bool:
        """Whether it has a check besides those that always run."""
        return any(self.takes(code) for code, check in checks().items() if not check.always)

    def takes(self, code: str) -> bool:
        """Whether a check runs."""
        check = checks()[code]
        if check.always:
            return code not in self.ignore
        selected = _longest(code, self.select) if self.select else int(self.profile in check.profiles)
        return selected > _longest(code, self.ignore)


def _longest(code: str, prefixes: Iterable[str]) -> int:
    return max((len(prefix) for prefix in prefixes if code.startswith(prefix)), default=0)


def read_codes(texts: Iterable[str], where: str) -> tuple[str, ...]:
    """Codes and prefixes as users write them: in upper or lower case, with or without commas.

    Raises UserError, naming the nearest code, for one that matches no check.
    """
    written = [part.strip() for text in texts for part in text.split(",")]
    distinct = {text.upper(): text for text in written if text}
    for code, text in distinct.items():
        if not any(existing.startswith(code) for existing in checks()):
            near = get_close_matches(code, [*checks(), *{existing[:3] for existing in checks()}], n=1, cutoff=0.0)[0]
            title = f", {checks()[near].title}" if near in checks() else ""
            raise UserError(
                f"{text} matches no check",
                where=where,
                advice=f"Did you mean {near}{title}? loadcheck --explain LB107 explains a check.",
            )
    return tuple(distinct)
