"""Checks LB406, LB407 and LB410: whether the packages of one project agree with each other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from latebind.audit import platforms
from latebind.audit.layout import native_place
from latebind.audit.opc import readable_nuspec
from latebind.audit.registry import Hit, Skip, check
from latebind.audit.subject import nupkg_id, nupkg_version, whole_id

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from latebind.audit.policy import Policy
    from latebind.audit.subject import Contents


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinFacts:
    """What the comparison needs of a package. `native` maps RID to file name to (subject of the file, SHA-256)."""

    subject: str
    is_wheel: bool
    project: str
    """The distribution or the NuGet id; for a part of a split package, the id of the whole."""
    version: str
    native: Mapping[str, Mapping[str, tuple[str, str]]]
    id: str = ""
    """A nupkg's own id."""
    pins: tuple[tuple[str, str], ...] = ()
    """Id and range of the parts that a nupkg depends on."""
    is_sdk: bool = False
    """Whether it is an SDK archive, which holds libraries of several packages and is nobody's twin."""


def twin_facts(package: Contents) -> TwinFacts | None:
    """The facts of a wheel or nupkg; None for anything else."""
    if package.kind == "wheel" and package.wheel is not None:
        rids = {rid for name in package.wheel.platforms if (rid := platforms.rid_of_tag(name))}
        rows = {
            file.base: (package.subject(file.name), file.sha256)
            for file in package.native
            if not file.is_module and not file.base.endswith(".pyd")  # only Python uses a module
        }
        native: dict[str, dict[str, tuple[str, str]]] = dict.fromkeys(sorted(rids), rows)
        return TwinFacts(
            subject=package.subject(),
            is_wheel=True,
            project=package.wheel.project,
            version=package.wheel.version,
            native=native,
        )
    if package.kind == "nupkg" and not package.is_symbols:
        return _nupkg_facts(package)
    if package.sdk is not None:
        rows = {file.base: (package.subject(file.name), file.sha256) for file in package.native}
        version, native = package.sdk["version"], {package.sdk["rid"]: rows}
        return TwinFacts(
            subject=package.subject(), is_wheel=False, project="", version=version, native=native, is_sdk=True
        )
    return None


def _nupkg_facts(package: Contents) -> TwinFacts:
    native: dict[str, dict[str, tuple[str, str]]] = {}
    for file in package.native:
        rid, _ = native_place(file.name)
        if rid:
            native.setdefault(rid, {})[file.base] = (package.subject(file.name), file.sha256)
    found = readable_nuspec(package)
    name = package.path.name
    id_ = found[1].fields.get("id", "") if found else nupkg_id(name)
    version = found[1].fields.get("version", "") if found else nupkg_version(name)
    rows = found[1].dependencies if found else ()
    pins = {row.id: row.version for row in rows if whole_id(row.id) != row.id and _same(whole_id(row.id), id_)}
    return TwinFacts(
        subject=package.subject(),
        is_wheel=False,
        project=whole_id(id_),
        version=version,
        native=native,
        id=id_,
        pins=tuple(sorted(pins.items())),
    )


@check(
    "LB406",
    "Library differs between packages",
    "error",
    because="Twins promise the same library.",
    scope="set",
    kinds=("wheel", "nupkg", "sdk"),
    formats=("elf", "macho", "pe"),
    example="liblatenn.so of the wheel and of the nupkg have different SHA-256",
    cure="Pack both from one build: latebind pack.",
)
def twins_differ(packages: Sequence[TwinFacts], policy: Policy) -> Iterator[Hit | Skip]:
    """The wheel, the nupkg and the SDK archive of one version promise the same library.

    If their bytes differ, one of them was not built from what was tested.
    """
    archives = [row for row in packages if row.is_sdk]
    for one in archives:
        for other in packages:
            if not other.is_sdk and _version(other.version) == _version(one.version):
                yield from _differing(one, other)
    for wheel, nupkg in _pairs(packages, policy):
        yield from _differing(wheel, nupkg)


def _differing(one: TwinFacts, two: TwinFacts) -> Iterator[Hit]:
    """The libraries of one name that differ."""
    for rid in sorted(one.native.keys() & two.native.keys()):
        ours, theirs = one.native[rid], two.native[rid]
        for name in sorted(ours.keys() & theirs.keys()):
            (path, digest), (other, other_digest) = ours[name], theirs[name]
            if digest != other_digest:
                seen = (f"{_word(one)} sha256 {digest}", f"{_word(two)} sha256 {other_digest}")
                yield Hit(inner=path, message=f"differs from {other}", evidence=seen)


def _word(row: TwinFacts) -> str:
    return "wheel" if row.is_wheel else "sdk" if row.is_sdk else "nupkg"


@check(
    "LB407",
    "File missing from the wheel or nupkg",
    "error",
    because="The library is not found in one of the two ecosystems.",
    scope="set",
    kinds=("wheel", "nupkg"),
    formats=("elf", "macho", "pe"),
    example="liblatenn_backend.so is in the wheel, but not in runtimes/linux-x64/native/",
    cure="Pack both from one build: latebind pack.",
)
def twin_lacks(packages: Sequence[TwinFacts], policy: Policy) -> Iterator[Hit | Skip]:
    """A library that only one of the two packages contains works in one ecosystem and fails in the other."""
    for wheel, nupkg in _pairs(packages, policy):
        for rid, rows in sorted(wheel.native.items()):
            others = nupkg.native.get(rid, {})
            yield from _lacking(rows, nupkg, others, rid)
            if others:
                yield from _lacking(others, wheel, rows, rid)
    yield from _unpaired(packages, policy)


@check(
    "LB410",
    "Split package incomplete",
    "error",
    because="The package does not work without its parts.",
    scope="set",
    kinds=("nupkg",),
    example="Latenn 1.0.0 depends on Latenn.runtime.win-x64, which exists as 1.1.0 only",
    cure="Pack the whole and its parts together with latebind pack, and publish the parts first.",
)
def split_incomplete(packages: Sequence[TwinFacts]) -> Iterator[Hit | Skip]:
    """A package that keeps its native files in one package per target does not work without them.

    A part of another version restores and builds, but the managed code then calls a library that does not fit it.
    """
    for whole in packages:
        parts = [row for row in packages if row.project == whole.project and row.id != whole.id and not row.is_wheel]
        there = {(row.id.lower(), _version(row.version)) for row in parts}
        for part, text in whole.pins:
            pin = text.strip().strip("[]")
            exact = text.strip().startswith("[") and "," not in text and _version(pin) == _version(whole.version)
            if not exact:
                yield Hit(
                    inner=whole.subject,
                    message=f"depends on {part} {text} instead of exactly its own version",
                    evidence=(f"{part} {text}", f"version: {whole.version}"),
                    fix=f'Write version="[{whole.version}]" in the nuspec.',
                )
            elif parts and (part.lower(), _version(pin)) not in there:
                seen = ", ".join(sorted(row.subject for row in parts))
                yield Hit(inner=whole.subject, message=f"depends on {part} {text}, which is missing", evidence=(seen,))
        if whole.pins and not parts:
            yield Skip(inner=whole.subject, reason="this audit includes none of its parts")


def _lacking(
    rows: Mapping[str, tuple[str, str]],
    other: TwinFacts,
    others: Mapping[str, tuple[str, str]],
    rid: str,
) -> Iterator[Hit]:
    for name in sorted(rows.keys() - others.keys()):
        yield Hit(
            inner=rows[name][0],
            message=f"is not in {other.subject} for {rid}",
            evidence=(f"{other.subject} has for {rid}: {', '.join(sorted(others)) or 'nothing'}",),
        )


def _unpaired(packages: Sequence[TwinFacts], policy: Policy) -> Iterator[Skip]:
    """The twins that the configuration names, if the audit includes only one of them."""
    packages = _wholes(packages)
    for distribution, package_id in policy.twins:
        wheels = [row for row in packages if row.is_wheel and _same(row.project, distribution)]
        nupkgs = [row for row in packages if not row.is_wheel and _same(row.project, package_id)]
        for row in (*wheels, *nupkgs) if not (wheels and nupkgs) else ():
            missing = package_id if wheels else distribution
            yield Skip(inner=row.subject, reason=f"this audit does not include its twin {missing}")
    for wheel, nupkg in _nupkg_only(packages, policy):
        yield Skip(inner=nupkg, reason=f"this audit includes no wheel for {wheel}")


def _nupkg_only(packages: Sequence[TwinFacts], policy: Policy) -> Iterator[tuple[str, str]]:
    pairs = list(_pairs(packages, policy))
    for nupkg in dict.fromkeys(pair[1].subject for pair in pairs):
        covered = {rid for wheel, other in pairs if other.subject == nupkg for rid in wheel.native}
        native = next(other.native for _, other in pairs if other.subject == nupkg)
        for rid in sorted(native.keys() - covered):
            yield rid, nupkg


def _wholes(packages: Sequence[TwinFacts]) -> list[TwinFacts]:
    """The packages, with the parts of a split package merged into the whole, which comes first."""
    together: dict[object, TwinFacts] = {}
    for row in sorted((row for row in packages if not row.is_sdk), key=lambda row: (row.is_wheel, row.id.lower())):
        key = row.subject if row.is_wheel else (canonicalize_name(row.project), _version(row.version))
        known = together.get(key)
        together[key] = replace(known, native={**known.native, **row.native}) if known else row
    return list(together.values())


def _pairs(packages: Sequence[TwinFacts], policy: Policy) -> Iterator[tuple[TwinFacts, TwinFacts]]:
    """Twins: wheels and nupkgs of one version whose names the configuration pairs, or whose letters are the same."""
    packages = _wholes(packages)
    for wheel in packages:
        for nupkg in packages:
            if wheel.is_wheel and not nupkg.is_wheel and _version(wheel.version) == _version(nupkg.version):
                named = any(_same(wheel.project, one) and _same(nupkg.project, two) for one, two in policy.twins)
                if named or (not policy.twins and _letters(wheel.project) == _letters(nupkg.project)):
                    yield wheel, nupkg


def _same(one: str, two: str) -> bool:
    return canonicalize_name(one) == canonicalize_name(two)


def _letters(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum())


def _version(text: str) -> Version | str:
    try:
        return Version(text.partition("+")[0])
    except InvalidVersion:
        return text.lower()
