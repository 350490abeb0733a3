"""Checks LB406, LB407 and LB410: whether the packages of one project agree with each other."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from loadcheck.engine.reader import Pin, TwinFacts, find_reader, package_readers
from loadcheck.engine.registry import INSTALLED, TWINS, Hit, Skip, check
from loadcheck.engine.supply import plain_letters

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from loadcheck.engine.policy import Policy


@check(
    "LB406",
    "Packages of one version differ",
    "error",
    profiles=("all",),
    because="All packages of one version promise the same library.",
    kinds=INSTALLED,
    formats=("elf", "macho", "pe"),
    example="liblatenn.so in the wheel and liblatenn.so in the nupkg have different checksums",
    fix="Make all packages from one build.",
)
def twins_differ(packages: Sequence[TwinFacts], policy: Policy) -> Iterator[Hit | Skip]:
    """The wheel, the nupkg, the npm packages, the JAR and the SDK archives of one version promise the same library.

    If the library's bytes differ, one of the packages contains a build that was not tested.
    """
    collections = [package for package in packages if not _is_whole(package)]
    wholes = [package for package in packages if _is_whole(package)]
    for collection, package in product(collections, wholes):
        if _version(package.version) == _version(collection.version):
            yield from _find_differences(collection, package)
    for first, second in _pairs(packages, policy):
        yield from _find_differences(first, second)


def _find_differences(first: TwinFacts, second: TwinFacts) -> Iterator[Hit]:
    """The libraries that have the same name but differ."""
    for rid in sorted(first.native.keys() & second.native.keys()):
        ours, theirs = first.native[rid], second.native[rid]
        for name in sorted(ours.keys() & theirs.keys()):
            (path, digest), (other, other_digest) = ours[name], theirs[name]
            if digest != other_digest:
                seen = (f"{first.kind} sha256 {digest}", f"{second.kind} sha256 {other_digest}")
                yield Hit(cause=f"{second.kind} {rid}", inner=path, message=f"differs from {other}", evidence=seen)


@check(
    "LB407",
    "File missing from one of the packages",
    "error",
    profiles=("all",),
    because="Users of one of the ecosystems do not get the library.",
    kinds=TWINS,
    formats=("elf", "macho", "pe"),
    example="liblatenn_backend.so is in the wheel, but not in runtimes/linux-x64/native/",
    fix="Make all packages from one build.",
)
def twin_lacks(packages: Sequence[TwinFacts], policy: Policy) -> Iterator[Hit | Skip]:
    """A library that only one of the packages contains works in one ecosystem and fails in the other."""
    for first, second in _pairs(packages, policy):
        for rid, files in sorted(first.native.items()):
            others = second.native.get(rid, {})
            yield from _find_lacking(files, second, others, rid)
            if others:
                yield from _find_lacking(others, first, files, rid)
    yield from _find_unpaired(packages, policy)


@check(
    "LB410",
    "Split package incomplete",
    "error",
    profiles=("loads",),
    because="The package does not work without its parts.",
    kinds=("nupkg", "npm"),
    example="Latenn 1.0.0 depends on Latenn.runtime.win-x64, which exists as 1.1.0 only",
    fix="Pack the main package and its parts together, and publish the parts first.",
)
def split_incomplete(packages: Sequence[TwinFacts]) -> Iterator[Hit | Skip]:
    """A package that keeps its native files in other packages, one per target, does not work without them.

    With a part of another version, a project restores and builds, but the managed code then calls a library that does
    not match it.
    """
    for whole in packages:
        parts = [
            part
            for part in packages
            if (part.kind, part.project) == (whole.kind, whole.project) and part.id != whole.id
        ]
        audited = {(part.id.lower(), _version(part.version)) for part in parts}
        for pin in whole.pins:
            stated = f"{pin.id} {pin.range}"
            if not pin.version or _version(pin.version) != _version(whole.version):
                yield Hit(
                    cause=f"pin {pin.id}",
                    inner=whole.subject,
                    message=f"depends on {stated} instead of exactly its own version",
                    evidence=(stated, f"version: {whole.version}"),
                    fix=f'Write "{whole.exact}" as the version of {pin.id} in the nuspec or in package.json.',
                )
            elif parts and (pin.id.lower(), _version(pin.version)) not in audited and _is_needed(whole, pin, parts):
                seen = ", ".join(sorted(part.subject for part in parts))
                yield Hit(
                    cause=f"missing {pin.id}",
                    inner=whole.subject,
                    message=f"depends on {stated}, which is missing",
                    evidence=(seen,),
                )
        pinned = {pin.id for pin in whole.pins}
        for part in parts if whole.lists_all and whole.id == whole.project else ():
            if part.id not in pinned and _version(part.version) == _version(whole.version):
                text = f"does not depend on {part.id}, so nothing installs it"
                yield Hit(
                    cause=f"unlisted {part.id}",
                    inner=whole.subject,
                    message=text,
                    evidence=(f"missing: {part.id} {part.version}",),
                )
        if whole.pins and not parts:
            yield Skip(inner=whole.subject, reason="this audit includes none of its parts")


def _is_needed(whole: TwinFacts, pin: Pin, parts: Sequence[TwinFacts]) -> bool:
    """Whether the audit must include a part. Where only one of the parts is installed, only a wrong version counts."""
    return whole.needs_all or any(part.id == pin.id for part in parts)


def _is_whole(package: TwinFacts) -> bool:
    return find_reader(package.kind).is_whole


def _find_lacking(
    files: Mapping[str, tuple[str, str]],
    other: TwinFacts,
    others: Mapping[str, tuple[str, str]],
    rid: str,
) -> Iterator[Hit]:
    for name in sorted(files.keys() - others.keys()):
        yield Hit(
            cause=f"{other.kind} {rid}",
            inner=files[name][0],
            message=f"is not in {other.subject} for {rid}",
            evidence=(f"{other.subject} has for {rid}: {', '.join(sorted(others)) or 'nothing'}",),
        )


def _find_unpaired(packages: Sequence[TwinFacts], policy: Policy) -> Iterator[Skip]:
    """The twins that the configuration names, if the audit includes only one of them."""
    packages = _wholes(packages)
    for named in policy.twins:
        twins = {kind: [twin for twin in packages if _is_named(twin, kind, name)] for kind, name in named.items()}
        for kind in [kind for kind, of_kind in twins.items() if not of_kind]:
            for twin in (twin for of_kind in twins.values() for twin in of_kind):
                yield Skip(
                    inner=twin.subject,
                    reason=f"this audit does not include {named[kind]}, which promises the same library",
                )
    for rid, kind, other in _find_uncovered(packages, policy):
        yield Skip(inner=other, reason=f"this audit includes no {kind} for {rid}")


def _find_uncovered(packages: Sequence[TwinFacts], policy: Policy) -> Iterator[tuple[str, str, str]]:
    """Target, kind and twin, for each target for which no package with tags of the audit has the twin's files."""
    pairs = [pair for pair in _pairs(packages, policy) if find_reader(pair[0].kind).has_tags]
    for subject in dict.fromkeys(pair[1].subject for pair in pairs):
        of_subject = [pair for pair in pairs if pair[1].subject == subject]
        covered = {rid for tagged, _ in of_subject for rid in tagged.native}
        for rid in sorted(of_subject[0][1].native.keys() - covered):
            yield rid, of_subject[0][0].kind, subject


def _wholes(packages: Sequence[TwinFacts]) -> list[TwinFacts]:
    """The packages, with the parts of a split package merged into the whole, which comes first."""
    together: dict[object, TwinFacts] = {}
    for package in sorted(filter(_is_whole, packages), key=lambda package: package.id.lower()):
        named = (package.kind, canonicalize_name(package.project), _version(package.version))
        key = package.subject if find_reader(package.kind).has_tags else named
        earlier = together.get(key)
        together[key] = replace(earlier, native={**earlier.native, **package.native}) if earlier else package
    return list(together.values())


def _pairs(packages: Sequence[TwinFacts], policy: Policy) -> Iterator[tuple[TwinFacts, TwinFacts]]:
    """Twins: packages of one version whose names the configuration pairs, or whose names have the same letters."""
    kinds = list(package_readers())
    for first, second in product(_wholes(packages), repeat=2):
        is_in_order = kinds.index(first.kind) < kinds.index(second.kind)
        if is_in_order and _version(first.version) == _version(second.version):
            is_named = any(
                all(_is_named(twin, twin.kind, names.get(twin.kind, "")) for twin in (first, second))
                for names in policy.twins
            )
            if is_named or (not policy.twins and plain_letters(first.project) == plain_letters(second.project)):
                yield first, second


def _is_named(package: TwinFacts, kind: str, name: str) -> bool:
    return package.kind == kind and canonicalize_name(package.project) == canonicalize_name(name)


def _version(text: str) -> Version | str:
    try:
        return Version(text.partition("+")[0])
    except InvalidVersion:
        return text.lower()
