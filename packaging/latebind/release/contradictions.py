"""Finds contradictions in a release: parts that disagree, or a breaking change that the version does not announce."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.version import Version

from latebind.backend.tree import hash_file, list_tree
from latebind.formats import find_format, verified_kinds
from latebind.native.bill import read_sbom, version_range
from latebind.release.api import may_break
from latebind.release.layout import CONFIG, PACKAGES, SURFACE, VERIFICATION
from latebind.semver import LARGEST_IN_NPM, semantic_version, version_of

if TYPE_CHECKING:
    from latebind.pack.record import Record
    from latebind.release.derive import Derived
    from latebind.release.packages import ReleasePackage

_SHOWN = 3
_AGAIN = "Pack and verify again: latebind pack, latebind verify. Then make the release again."


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """One thing that is wrong with a release: which file, why, and what to do."""

    file: str
    why: str
    fix: str = _AGAIN


def contradictions(derived: Derived) -> Iterator[Contradiction]:
    """Everything that is wrong between the parts of a release."""
    for package in derived.packages:
        yield from _version(package, derived.config.project.version)
        yield from _minimums(package, derived)
    yield from _check_verified(derived)
    yield from _check_audit(derived)
    yield from _check_breaks(derived)
    yield from _check_replaced(derived)


def find_stale(dist: Path, record: Record, changes: Sequence[str]) -> Iterator[Contradiction]:
    """Packages that are not as they were packed, and sources that changed since."""
    fix = "Pack and verify again: latebind pack --target all, latebind verify."
    for name, packed in sorted(record.files.items()):
        if (actual := hash_file(dist / name)) != packed:
            why = f"has SHA-256 {actual[:16]}..., but was packed with {packed[:16]}..." if actual else "is not there"
            yield Contradiction(file=f"{PACKAGES}/{name}", why=why, fix=fix)
    if record.files:
        extra = sorted({path.relative_to(dist).as_posix() for path in list_tree(dist)} - record.files.keys())
        for name in (name for name in extra if find_format(name.rpartition("/")[2]) is not None):
            yield Contradiction(file=f"{PACKAGES}/{name}", why="was not packed with the others", fix="Remove it.")
    for change in changes[:_SHOWN]:
        yield Contradiction(file=PACKAGES, why=f"is out of date: {change} after packing", fix=fix)


def _version(package: ReleasePackage, version: str) -> Iterator[Contradiction]:
    form = find_format(package.artifact.path.name)
    if form is not None and form.is_semantic:
        same = package.version.lower() == semantic_version(version, LARGEST_IN_NPM).lower()
    else:
        same = version_of(package.version) == Version(version)
    if not same:
        why = f"has version {package.version}, but the release has {version}"
        yield Contradiction(file=f"{PACKAGES}/{package.artifact.path.name}", why=why, fix=f"Remove it. {_AGAIN}")


def _minimums(package: ReleasePackage, derived: Derived) -> Iterator[Contradiction]:
    """Check that each runtime's range in a package's SBOM is that of the configured minimum."""
    if not package.bill:
        return
    runtimes = {runtime.name: runtime for runtime in derived.config.document.runtime}
    for name, stated in read_sbom(package.bill).ranges:
        runtime = runtimes.get(name)
        if runtime is None or stated != version_range(runtime):
            minimum = runtime.minimum if runtime else "nothing about it"
            why = f"its SBOM lists {name} {stated}, but {CONFIG} says {minimum}"
            yield Contradiction(file=f"{PACKAGES}/{package.artifact.path.name}", why=why)


def _check_verified(derived: Derived) -> Iterator[Contradiction]:
    """Check that exactly these packages were verified, byte for byte."""
    verified = {package.file: package.sha256 for package in derived.report.packages}
    here = {package.artifact.path.name: package.artifact for package in derived.packages}
    fix = "Verify these packages: latebind verify --dist DIR --all, and make the release from that report."
    for name in sorted(verified.keys() | here.keys()):
        if name not in here:
            yield Contradiction(file=VERIFICATION, why=f"names {name}, which is not in {PACKAGES}/", fix=fix)
        elif name not in verified:
            if here[name].kind not in verified_kinds():
                continue
            yield Contradiction(file=f"{PACKAGES}/{name}", why=f"is not among the packages of {VERIFICATION}", fix=fix)
        elif verified[name] != here[name].sha256:
            why = f"has SHA-256 {here[name].sha256[:16]}..., but {VERIFICATION} has {verified[name][:16]}..."
            yield Contradiction(file=f"{PACKAGES}/{name}", why=why, fix=fix)


def _check_audit(derived: Derived) -> Iterator[Contradiction]:
    for finding in derived.audit.findings:
        if finding.severity == "error":
            yield Contradiction(
                file=f"{PACKAGES}/{finding.subject}", why=f"{finding.code} {finding.message}", fix=finding.fix
            )


def _check_breaks(derived: Derived) -> Iterator[Contradiction]:
    breaks = [change for change in derived.changes if change.breaking]
    if derived.old is None or not breaks or may_break(derived.old.version, derived.new.version):
        return
    before = Version(derived.old.version)
    least = f"{before.major + 1}.0.0" if before.major else f"0.{before.minor + 1}.0"
    fix = f"Undo the change, or give the release version {least} or higher."
    for change in breaks:
        why = f"{change.how} since {derived.old.version}, which breaks callers: {change.what}"
        yield Contradiction(file=SURFACE, why=why, fix=fix)


def _check_replaced(derived: Derived) -> Iterator[Contradiction]:
    """Check that a version that was released before is released with the same bytes."""
    old, new = derived.old, derived.new
    if old is None or Version(old.version) != Version(new.version):
        return
    fix = f"No index replaces a file: set another version than {new.version} in {CONFIG}, and pack and verify it."
    if not old.packages:
        yield Contradiction(file=CONFIG, why=f"has the version {new.version}, which was released before", fix=fix)
    for name, released in sorted(old.packages.items()):
        if new.packages.get(name, released) != released:
            why = f"{new.version} was released before with another file of this name (SHA-256 {released[:16]}...)"
            yield Contradiction(file=f"{PACKAGES}/{name}", why=why, fix=fix)
