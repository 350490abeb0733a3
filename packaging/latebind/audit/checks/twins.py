"""Checks LB406, LB407 and LB410: whether the packages of one project agree with each other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Literal

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from latebind.audit.checks.layout import native_place
from latebind.audit.engine import platforms
from latebind.audit.engine.registry import Hit, Skip, check
from latebind.audit.engine.supply import plain_letters
from latebind.audit.readers.contents import nupkg_id, nupkg_version, whole_id
from latebind.audit.readers.opc import readable_nuspec
from latebind.audit.readers.package_json import read_manifest
from latebind.tables.targets import npm_platform, targets

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from latebind.audit.engine.policy import Policy
    from latebind.audit.readers.contents import Contents
    from latebind.audit.readers.package_json import Manifest

TwinKind = Literal["wheel", "nupkg", "npm", "sdk"]
_KINDS: tuple[TwinKind, ...] = ("wheel", "nupkg", "npm")
"""An SDK archive holds libraries of several packages, so it is not a twin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinFacts:
    """What the comparison needs of a package. `native` maps RID to file name to (subject of the file, SHA-256)."""

    subject: str
    kind: TwinKind
    project: str
    """The distribution, the NuGet id or npm's name; for a package of one target, that of the whole."""
    version: str
    native: Mapping[str, Mapping[str, tuple[str, str]]]
    id: str = ""
    """The nupkg's own id, or the npm package's own name."""
    pins: tuple[tuple[str, str], ...] = ()
    """Id and range of the parts that it depends on."""

    @property
    def exactly(self) -> str:
        """The range that allows only its own version."""
        return f"[{self.version}]" if self.kind == "nupkg" else self.version


def twin_facts(package: Contents) -> TwinFacts | None:
    """The facts of a wheel, a nupkg, an npm package or an SDK archive; None for anything else."""
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
            kind="wheel",
            project=package.wheel.project,
            version=package.wheel.version,
            native=native,
        )
    if package.kind == "nupkg" and not package.is_symbols:
        return _nupkg_facts(package)
    if package.sdk is not None:
        rows = {file.own_name: (package.subject(file.name), file.sha256) for file in package.native}
        version, native = package.sdk["version"], {package.sdk["rid"]: rows}
        return TwinFacts(subject=package.subject(), kind="sdk", project="", version=version, native=native)
    manifest = read_manifest(package)
    return _npm_facts(package, manifest) if manifest else None


def _npm_facts(package: Contents, manifest: Manifest) -> TwinFacts:
    rows = {file.base: (package.subject(file.name), file.sha256) for file in package.native}
    return TwinFacts(
        subject=package.subject(),
        kind="npm",
        project=package.project,
        version=manifest.text("version"),
        native={rid: rows for rid in targets() if rows and _is_for(manifest, rid)},
        id=manifest.text("name"),
        pins=tuple(sorted(manifest.parts.items())),
    )


def _is_for(manifest: Manifest, rid: str) -> bool:
    """Whether a package for one platform is for a target; without the field libc it is for glibc."""
    platform, libc = npm_platform(rid), manifest.chosen("libc")
    fields = (manifest.chosen("os"), manifest.chosen("cpu"))
    return fields == ((platform.os,), (platform.cpu,)) and (libc or ("glibc",))[0] == (platform.libc or "glibc")


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
        kind="nupkg",
        project=whole_id(id_),
        version=version,
        native=native,
        id=id_,
        pins=tuple(sorted(pins.items())),
    )


@check(
    "LB406",
    "Packages of one version differ",
    "error",
    because="Twins promise the same library.",
    kinds=(*_KINDS, "sdk"),
    formats=("elf", "macho", "pe"),
    example="liblatenn.so of the wheel and of the nupkg have different SHA-256",
    cure="Pack all from one build: latebind pack.",
)
def twins_differ(packages: Sequence[TwinFacts], policy: Policy) -> Iterator[Hit | Skip]:
    """The wheel, the nupkg, the npm packages and the SDK archives of one version promise the same library.

    If their bytes differ, one of them was not built from what was tested.
    """
    for one in packages:
        for other in packages if one.kind == "sdk" else ():
            if other.kind != "sdk" and _version(other.version) == _version(one.version):
                yield from _differing(one, other)
    for one, two in _pairs(packages, policy):
        yield from _differing(one, two)


def _differing(one: TwinFacts, two: TwinFacts) -> Iterator[Hit]:
    """The libraries that have the same name but differ."""
    for rid in sorted(one.native.keys() & two.native.keys()):
        ours, theirs = one.native[rid], two.native[rid]
        for name in sorted(ours.keys() & theirs.keys()):
            (path, digest), (other, other_digest) = ours[name], theirs[name]
            if digest != other_digest:
                seen = (f"{one.kind} sha256 {digest}", f"{two.kind} sha256 {other_digest}")
                yield Hit(inner=path, message=f"differs from {other}", evidence=seen)


@check(
    "LB407",
    "File missing from one of the packages",
    "error",
    because="The library is not found in one of the ecosystems.",
    kinds=_KINDS,
    formats=("elf", "macho", "pe"),
    example="liblatenn_backend.so is in the wheel, but not in runtimes/linux-x64/native/",
    cure="Pack all from one build: latebind pack.",
)
def twin_lacks(packages: Sequence[TwinFacts], policy: Policy) -> Iterator[Hit | Skip]:
    """A library that only one of the packages contains works in one ecosystem and fails in the other."""
    for one, two in _pairs(packages, policy):
        for rid, rows in sorted(one.native.items()):
            others = two.native.get(rid, {})
            yield from _lacking(rows, two, others, rid)
            if others:
                yield from _lacking(others, one, rows, rid)
    yield from _unpaired(packages, policy)


@check(
    "LB410",
    "Split package incomplete",
    "error",
    because="The package does not work without its parts.",
    kinds=("nupkg", "npm"),
    example="Latenn 1.0.0 depends on Latenn.runtime.win-x64, which exists as 1.1.0 only",
    cure="Pack the whole and its parts together with latebind pack, and publish the parts first.",
)
def split_incomplete(packages: Sequence[TwinFacts]) -> Iterator[Hit | Skip]:
    """A package that keeps its native files in other packages, one per target, does not work without them.

    With a part of another version, a project restores and builds, but the managed code then calls a library that does
    not match it.
    """
    for whole in packages:
        parts = [
            row for row in packages if (row.kind, row.project) == (whole.kind, whole.project) and row.id != whole.id
        ]
        there = {(row.id.lower(), _version(row.version)) for row in parts}
        for part, text in whole.pins:
            pin = text.strip().strip("[]")
            is_plain = "," not in text and text.strip().startswith("[") == (whole.kind == "nupkg")
            if not is_plain or _version(pin) != _version(whole.version):
                yield Hit(
                    inner=whole.subject,
                    message=f"depends on {part} {text} instead of exactly its own version",
                    evidence=(f"{part} {text}", f"version: {whole.version}"),
                    fix=f'Write "{whole.exactly}" as its version in the nuspec or in package.json.',
                )
            elif parts and (part.lower(), _version(pin)) not in there and _is_needed(whole, part, parts):
                seen = ", ".join(sorted(row.subject for row in parts))
                yield Hit(inner=whole.subject, message=f"depends on {part} {text}, which is missing", evidence=(seen,))
        for row in parts if (whole.kind, whole.id) == ("npm", whole.project) else ():
            if row.id not in dict(whole.pins) and _version(row.version) == _version(whole.version):
                text = f"does not depend on {row.id}, which nothing installs then"
                yield Hit(inner=whole.subject, message=text, evidence=(f"missing: {row.id} {row.version}",))
        if whole.pins and not parts:
            yield Skip(inner=whole.subject, reason="this audit includes none of its parts")


def _is_needed(whole: TwinFacts, part: str, parts: Sequence[TwinFacts]) -> bool:
    """Whether the audit must include a part. Of npm's parts only one is installed, so only a wrong version counts."""
    return whole.kind == "nupkg" or any(row.id == part for row in parts)


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
    for named in policy.twins:
        found = {kind: [row for row in packages if _is_named(row, kind, name)] for kind, name in named.items()}
        for kind in [kind for kind, rows in found.items() if not rows]:
            for row in (row for rows in found.values() for row in rows):
                yield Skip(inner=row.subject, reason=f"this audit does not include its twin {named[kind]}")
    for rid, other in _without_wheel(packages, policy):
        yield Skip(inner=other, reason=f"this audit includes no wheel for {rid}")


def _without_wheel(packages: Sequence[TwinFacts], policy: Policy) -> Iterator[tuple[str, str]]:
    pairs = [pair for pair in _pairs(packages, policy) if pair[0].kind == "wheel"]
    for subject in dict.fromkeys(pair[1].subject for pair in pairs):
        covered = {rid for wheel, other in pairs if other.subject == subject for rid in wheel.native}
        native = next(other.native for _, other in pairs if other.subject == subject)
        for rid in sorted(native.keys() - covered):
            yield rid, subject


def _wholes(packages: Sequence[TwinFacts]) -> list[TwinFacts]:
    """The packages, with the parts of a split package merged into the whole, which comes first."""
    together: dict[object, TwinFacts] = {}
    for row in sorted((row for row in packages if row.kind != "sdk"), key=lambda row: row.id.lower()):
        named = (row.kind, canonicalize_name(row.project), _version(row.version))
        key = row.subject if row.kind == "wheel" else named
        known = together.get(key)
        together[key] = replace(known, native={**known.native, **row.native}) if known else row
    return list(together.values())


def _pairs(packages: Sequence[TwinFacts], policy: Policy) -> Iterator[tuple[TwinFacts, TwinFacts]]:
    """Twins: packages of one version whose names the configuration pairs, or whose names have the same letters."""
    for one, two in product(_wholes(packages), repeat=2):
        if _KINDS.index(one.kind) < _KINDS.index(two.kind) and _version(one.version) == _version(two.version):
            named = any(
                all(_is_named(row, row.kind, names.get(row.kind, "")) for row in (one, two)) for names in policy.twins
            )
            if named or (not policy.twins and plain_letters(one.project) == plain_letters(two.project)):
                yield one, two


def _is_named(row: TwinFacts, kind: str, name: str) -> bool:
    return row.kind == kind and _same(row.project, name)


def _same(one: str, two: str) -> bool:
    return canonicalize_name(one) == canonicalize_name(two)


def _version(text: str) -> Version | str:
    try:
        return Version(text.partition("+")[0])
    except InvalidVersion:
        return text.lower()
