"""Check LB410: whether the parts of a split package are those that it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadcheck.engine.check import Hit, Hits, Skip, check
from loadcheck.engine.supply import comparable_version

if TYPE_CHECKING:
    from collections.abc import Sequence

    from packaging.version import Version

    from loadcheck.engine.kinds import Pin, TwinFacts


@check(
    "LB410",
    "Split package incomplete",
    "error",
    because="The package does not work without its parts.",
    kinds=("nupkg", "npm"),
    example="Latenn 1.0.0 depends on Latenn.runtime.win-x64, which exists as 1.1.0 only",
    fix="Pack the main package and its parts together, and publish the parts first.",
)
def split_incomplete(packages: Sequence[TwinFacts]) -> Hits:
    """A package that keeps its native files in other packages, one per target, does not work without them.

    With a part of another version, a project restores and builds, but the managed code then calls a library that does
    not match it.
    """
    for whole in packages:
        own = [part for part in packages if (part.kind, part.project) == (whole.kind, whole.project)]
        parts = [part for part in own if part.id != whole.id]
        audited = {(part.id.lower(), read_version(part.version)) for part in parts}
        for pin in whole.pins:
            stated = f"{pin.id} {pin.range}"
            if not pin.version or read_version(pin.version) != read_version(whole.version):
                yield Hit(
                    cause=f"pin {pin.id}",
                    inner=whole.subject,
                    message=f"depends on {stated} instead of exactly its own version",
                    evidence=(stated, f"version: {whole.version}"),
                    fix=f'Write "{whole.exact}" as the version of {pin.id} in the nuspec or in package.json.',
                )
            elif parts and (pin.id.lower(), read_version(pin.version)) not in audited and _is_needed(whole, pin, parts):
                seen = ", ".join(sorted(part.subject for part in parts))
                text = f"depends on {stated}, which is missing"
                yield Hit(cause=f"missing {pin.id}", inner=whole.subject, message=text, evidence=(seen,))
        pinned = {pin.id for pin in whole.pins}
        for part in parts if whole.lists_all and whole.id == whole.project else ():
            if part.id not in pinned and read_version(part.version) == read_version(whole.version):
                text, seen = (
                    f"does not depend on {part.id}, so nothing installs it",
                    f"missing: {part.id} {part.version}",
                )
                yield Hit(cause=f"unlisted {part.id}", inner=whole.subject, message=text, evidence=(seen,))
        if whole.pins and not parts:
            yield Skip(inner=whole.subject, reason="this audit includes none of its parts")


def _is_needed(whole: TwinFacts, pin: Pin, parts: Sequence[TwinFacts]) -> bool:
    """Whether the audit must include a part. Where only one of the parts is installed, only a wrong version counts."""
    return whole.needs_all or any(part.id == pin.id for part in parts)


def read_version(text: str) -> Version | str:
    """A version that compares by value, without build metadata, or the text itself if it is not a version."""
    return comparable_version(text.partition("+")[0].lower())
