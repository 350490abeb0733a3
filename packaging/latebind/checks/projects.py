"""Checks of what a project promises.

LB201 and LB204: whether its binaries export what the configuration lists; LB406 and LB407: whether its packages have
the same libraries.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from itertools import product
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from latebind.checks.policy import TWINS, find_rules
from latebind.config.package import list_missing_exports
from latebind.text import plural
from loadcheck.api import INSTALLED, Hit, Hits, Skip, check, some
from loadcheck.api import first as first_of
from loadcheck.facts import CXX, FIX_ON_MACOS, TwinFacts, audited_kinds, list_offered_exports, read_version

if TYPE_CHECKING:
    from loadcheck.api import Policy
    from loadcheck.facts import Contents, File, Format, Image

_WITH_TAGS = "wheel"
"""What is for the targets in its name alone, so that others of the same name have the rest."""
_OWN_ENTRY = ("PyInit_", "PyModExport_")


@check(
    "LB201",
    "Export that the configuration does not allow",
    "error",
    profiles=("all",),
    because="The configuration promises which symbols are exported.",
    example='liblatenn.so exports lb_bind; allowed: ["latenn_*"]',
    fix="Compile with -fvisibility=hidden and mark the functions to export, or add the symbol to the package's "
    "`exports`.",
)
def export_outside_policy(package: Contents, file: File, image: Image, policy: Policy) -> Hits:
    """Every export is an interface that other code can bind to, and a name that can clash with another library's.

    The check applies if the configuration lists what a package exports. The C++ symbols of a Python module do not
    count: nobody links against a module, and pybind11 and nanobind export their exceptions on Windows. LB202 reports
    such symbols.
    """
    allowed = find_rules(policy).allowed_exports(file.base or package.path.name, package.project)
    if allowed is None:
        return
    names = [export.name for export in list_offered_exports(image)]
    entries = [name for name in names if name.startswith(_OWN_ENTRY)]
    surplus = [
        name
        for name in names
        if not any(fnmatchcase(name, glob) for glob in allowed)
        if name not in entries and not (entries and name.startswith(CXX))
    ]
    is_for_macos = image.format == "macho" and all(name.startswith(CXX) for name in surplus)
    if surplus:
        yield Hit(
            cause="of macOS" * is_for_macos,
            names=tuple(surplus),
            message=f"exports {plural(len(surplus), 'symbol')} that `exports` does not list: {first_of(surplus)}",
            evidence=(f"allowed: {', '.join(allowed) or 'none'}", *some(surplus)),
            fix=FIX_ON_MACOS * is_for_macos,
        )


@check(
    "LB204",
    "Export missing",
    "error",
    profiles=("all",),
    because="Callers cannot find a function that the configuration promises.",
    example="liblatenn.so does not export latenn_load",
    fix="Export the symbol: mark it in the sources, and in CMakeLists.txt, add it to latebind_exports(), which hides "
    "what matches none of its patterns. Or correct the package's `exports`; a name with a wildcard requires nothing.",
)
def export_missing(package: Contents, policy: Policy) -> Hits:
    """A name without a wildcard in `exports` is a promise. If the export is missing, loading or the first call fails.

    One library of the package must export the symbol on each platform. The check applies if the configuration lists
    what a package exports.
    """
    groups: dict[tuple[tuple[str, ...], str, Format], list[tuple[File, Image]]] = {}
    for file, image in package.images:
        listed = find_rules(policy).allowed_exports(file.base or package.path.name, package.project)
        if listed is not None and image.file_type == "shared":
            groups.setdefault((listed, file.folder, image.format), []).append((file, image))
    for (listed, _, _), libraries in groups.items():
        names = sorted({export.name for _, image in libraries for export in list_offered_exports(image)})
        missing = list_missing_exports(listed, [image for _, image in libraries])
        if missing:
            yield Hit(
                names=tuple(missing),
                message=f"does not export {', '.join(missing)}, which the configuration lists",
                evidence=(f"exports {', '.join(some(names)) or 'nothing'}",),
                inner=libraries[0][0].name,
            )


@check(
    "LB406",
    "Packages of one version differ",
    "error",
    profiles=("all",),
    because="All packages of one version promise the same library.",
    kinds=INSTALLED,
    example="liblatenn.so in the wheel and liblatenn.so in the nupkg have different checksums",
    fix="Make all packages from one build.",
)
def twins_differ(packages: Sequence[TwinFacts], policy: Policy) -> Hits:
    """The wheel, the nupkg, the npm packages, the JAR and the SDK archives of one version promise the same library.

    If the library's bytes differ, one of the packages contains a build that was not tested.
    """
    collections = [package for package in packages if not _is_whole(package)]
    wholes = [package for package in packages if _is_whole(package)]
    for collection, package in product(collections, wholes):
        if read_version(package.version) == read_version(collection.version):
            yield from _find_differences(collection, package)
    for first, second in _pairs(packages, policy):
        yield from _find_differences(first, second)


def _find_differences(first: TwinFacts, second: TwinFacts) -> Hits:
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
    example="liblatenn_backend.so is in the wheel, but not in runtimes/linux-x64/native/",
    fix="Make all packages from one build.",
)
def twin_lacks(packages: Sequence[TwinFacts], policy: Policy) -> Hits:
    """A library that only one of the packages contains works in one ecosystem and fails in the other."""
    for first, second in _pairs(packages, policy):
        for rid, files in sorted(first.native.items()):
            others = second.native.get(rid, {})
            yield from _find_lacking(files, second, others, rid)
            if others:
                yield from _find_lacking(others, first, files, rid)
    yield from _find_unpaired(packages, policy)


def _is_whole(package: TwinFacts) -> bool:
    return package.kind in TWINS


def _find_lacking(
    files: Mapping[str, tuple[str, str]],
    other: TwinFacts,
    others: Mapping[str, tuple[str, str]],
    rid: str,
) -> Hits:
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
    for named in find_rules(policy).twins:
        twins = {kind: [twin for twin in packages if _is_named(twin, kind, name)] for kind, name in named.items()}
        for kind in [kind for kind, of_kind in twins.items() if not of_kind]:
            for twin in (twin for of_kind in twins.values() for twin in of_kind):
                yield Skip(
                    inner=twin.subject,
                    reason=f"this audit does not include {named[kind]}, which promises the same library",
                )
    for rid, other in _find_uncovered(packages, policy):
        yield Skip(inner=other, reason=f"this audit includes no {_WITH_TAGS} for {rid}")


def _find_uncovered(packages: Sequence[TwinFacts], policy: Policy) -> Iterator[tuple[str, str]]:
    """Target and twin, for each target for which no package with tags of the audit has the twin's files."""
    pairs = [pair for pair in _pairs(packages, policy) if pair[0].kind == _WITH_TAGS]
    for subject in dict.fromkeys(pair[1].subject for pair in pairs):
        of_subject = [pair for pair in pairs if pair[1].subject == subject]
        covered = {rid for tagged, _ in of_subject for rid in tagged.native}
        for rid in sorted(of_subject[0][1].native.keys() - covered):
            yield rid, subject


def _wholes(packages: Sequence[TwinFacts]) -> list[TwinFacts]:
    """The packages, with the parts of a split package merged into the whole, which comes first."""
    together: dict[object, TwinFacts] = {}
    for package in sorted(filter(_is_whole, packages), key=lambda package: package.id.lower()):
        named = (package.kind, canonicalize_name(package.project), read_version(package.version))
        key = package.subject if package.kind == _WITH_TAGS else named
        earlier = together.get(key)
        together[key] = replace(earlier, native={**earlier.native, **package.native}) if earlier else package
    return list(together.values())


def _pairs(packages: Sequence[TwinFacts], policy: Policy) -> Iterator[tuple[TwinFacts, TwinFacts]]:
    """Twins: packages of one version whose names the configuration pairs, or whose names have the same letters."""
    kinds = list(audited_kinds())
    for first, second in product(_wholes(packages), repeat=2):
        is_in_order = kinds.index(first.kind) < kinds.index(second.kind)
        if is_in_order and read_version(first.version) == read_version(second.version):
            is_named = any(
                all(_is_named(twin, twin.kind, names.get(twin.kind, "")) for twin in (first, second))
                for names in find_rules(policy).twins
            )
            if is_named or (not find_rules(policy).twins and _letters(first) == _letters(second)):
                yield first, second


def _is_named(package: TwinFacts, kind: str, name: str) -> bool:
    return package.kind == kind and canonicalize_name(package.project) == canonicalize_name(name)


def _letters(package: TwinFacts) -> str:
    """A project's name without case, hyphens and dots: what its names on different feeds have in common."""
    return "".join(filter(str.isalnum, package.project.lower()))
