"""Holds wheels that were built natively against the cross-built ones of the same name and target.

    python -m ci.compare wheelhouse dist

Two compilers never give the same bytes. What must be the same is what a user can see: the libraries and their exports;
and the native ones must pass the audit, which holds imports and floor against the wheel's tag.
Exit status: 0 alike, 1 not, 2 nothing to compare.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from latebind.backend.targets import target
from latebind.release.packages import ReleasePackage, read_packages
from loadcheck.api import audit_paths

if TYPE_CHECKING:
    from collections.abc import Iterator


def compare(native: Path, cross: Path) -> Iterator[str]:
    """What differs, a sentence each."""
    for ours, other in _pairs(native, cross):
        name = ours.artifact.path.name
        if ours.exports.keys() != other.exports.keys():
            yield f"{name}: holds {', '.join(sorted(ours.exports))}, cross-built {', '.join(sorted(other.exports))}"
            continue
        for library, rids in ours.exports.items():
            for rid, names in rids.items():
                cross_exports = other.exports[library].get(rid, ())
                odd = sorted(set(names) ^ set(cross_exports))
                if odd:
                    yield f"{name}: {library} for {target(rid).rid} does not export the same: {', '.join(odd[:10])}"
        for finding in audit_paths([ours.artifact.path]).findings:
            if finding.severity == "error":
                yield f"{finding.subject}: {finding.code} {finding.message}"


def _pairs(native: Path, cross: Path) -> Iterator[tuple[ReleasePackage, ReleasePackage]]:
    """Wheels of the same project and target."""
    cross_built = {
        (package.name, package.targets): package for package in read_packages(cross) if package.artifact.kind == "wheel"
    }
    for package in read_packages(native):
        if package.artifact.kind == "wheel" and (package.name, package.targets) in cross_built:
            yield package, cross_built[package.name, package.targets]


def main(argv: list[str]) -> int:
    """Compare two folders."""
    if len(argv) != 2:  # noqa: PLR2004  # two folders
        print(__doc__, file=sys.stderr)
        return 2
    native, cross = map(Path, argv)
    number = len(list(_pairs(native, cross)))
    if not number:
        print(f"no wheel in {native} has one of the same name and target in {cross}", file=sys.stderr)
        return 2
    wrong = list(compare(native, cross))
    for sentence in wrong:
        print(sentence)
    print(f"{number} wheels compared, {len(wrong)} differences")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
