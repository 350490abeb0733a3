"""Checks LB504 and LB506: which distributions of the runtime a package requires."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from latebind.audit.engine.registry import Hit, Skip, check
from latebind.audit.engine.supply import requirement_rows
from latebind.audit.readers.opc import readable_nuspec
from latebind.audit.readers.package_json import read_manifest
from latebind.filenames import npm_version

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from latebind.audit.engine.policy import Policy
    from latebind.audit.readers.contents import Contents
    from latebind.model import Severity
    from latebind.tables.presets import RuntimePreset


@check(
    "LB504",
    "Dependency that contradicts the minimum",
    "error",
    because="It contradicts the configured minimum. A warning for pins where none is configured, a note for caps.",
    kinds=("wheel", "nupkg", "npm"),
    example="Requires-Dist: onnxruntime==1.20.1",
    cure='Declare the configured minimum only: onnxruntime>=1.19, version="1.19.0" in a nuspec, ">=1.19.0" as a peer.',
)
def dependency_contradicts(package: Contents, policy: Policy, runtime: RuntimePreset) -> Iterator[Hit | Skip]:
    """A late-binding library runs on every release from its minimum on.

    A pinned or capped runtime prevents users from installing the release they need. A lower minimum allows releases
    that cannot work, and a higher one rules out releases that would.
    """
    minimum = policy.minimums.get(runtime.name, "")
    if package.kind == "wheel":
        names = {canonicalize_name(name) for name in runtime.python.extras.values()}
        if package.project not in names:
            yield from _requirements(package, names, minimum)
    elif package.kind == "npm":
        if minimum and runtime.npm and policy.peers.get(package.project) == runtime.name:
            yield from _peer(package, runtime.npm, minimum)
    elif package.project not in runtime.nuget.ids:
        yield from _dependencies(package, {name.lower() for name in runtime.nuget.ids}, minimum)


@check(
    "LB506",
    "One distribution of the runtime required",
    "warning",
    because="It fails for users of another distribution of the runtime.",
    kinds=("wheel",),
    example="Requires-Dist: onnxruntime>=1.19",
    cure="Move each distribution to an extra of its own: cpu, gpu, directml, ...",
)
def supplier_required(package: Contents, runtime: RuntimePreset) -> Iterator[Hit | Skip]:
    """Several distributions install the runtime in the same folder, so any two of them overwrite each other.

    An unconditional requirement installs the plain one next to the one that the user chose, such as the GPU build.
    """
    inner = f"{package.dist_info}/METADATA"
    names = {canonicalize_name(name) for name in runtime.python.extras.values()}
    if len(names) == 1 or package.project in names:
        return
    matching = [
        (text, requirement)
        for text, requirement in requirement_rows(package)
        if canonicalize_name(requirement.name) in names
    ]
    chosen = [text for text, requirement in matching if "extra" in str(requirement.marker or "")]
    for text, requirement in matching:
        if text not in chosen:
            yield Hit(
                inner=inner,
                message=f"always requires {requirement.name}, one of {len(names)} distributions of {runtime.title}"
                f"{', and offers them as extras' if chosen else ''}",
                evidence=(text, *chosen),
            )


def _requirements(package: Contents, names: Collection[str], minimum: str) -> Iterator[Hit]:
    inner = f"{package.dist_info}/METADATA"
    for text, requirement in requirement_rows(package):
        if canonicalize_name(requirement.name) not in names:
            continue
        closed = [str(part) for part in requirement.specifier if part.operator in ("==", "===", "<", "<=", "~=")]
        lower = [part.version for part in requirement.specifier if part.operator in (">=", ">")]
        if closed:
            severity = _pin_severity(minimum, closed)
            message = f"pins or caps {requirement.name}: {', '.join(closed)}"
            yield Hit(inner=inner, message=message, evidence=(text,), severity=severity)
        elif minimum and (len(lower) != 1 or comparable_version(lower[0]) != comparable_version(minimum)):
            asked = f">={lower[0]}" if lower else "any version"
            yield Hit(
                inner=inner,
                message=f"requires {requirement.name} {asked}, but the configured minimum is {minimum}",
                evidence=(text, f"minimum: {minimum}"),
                fix=f"Declare {requirement.name}>={minimum}. latebind pack writes it from the configuration.",
            )


def _pin_severity(minimum: str, closed: list[str]) -> Severity:
    """An error in a project that configures a minimum; elsewhere a cap is a choice, and a pin stops some users."""
    if minimum:
        return "error"
    return "warning" if any(part.startswith("==") for part in closed) else "note"


def _dependencies(package: Contents, ids: set[str], minimum: str) -> Iterator[Hit]:
    nuspec_file = readable_nuspec(package)
    if nuspec_file is None:
        return
    inner, spec = nuspec_file
    for dependency in spec.dependencies:
        if dependency.id.lower() not in ids:
            continue
        text = dependency.version.replace(" ", "")
        low, _, high = text.strip("[]()").partition(",")
        if text.startswith(("[", "(")) and (high or "," not in text):
            yield Hit(
                inner=inner,
                message=f"pins or caps {dependency.id}: {dependency.version}",
                evidence=(f"{dependency.id} {dependency.version}",),
            )
        elif minimum and comparable_version(low) != comparable_version(minimum):
            yield Hit(
                inner=inner,
                message=f"requires {dependency.id} from {low or 'any version'}, "
                f"but the configured minimum is {minimum}",
                evidence=(f"{dependency.id} {dependency.version}", f"minimum: {minimum}"),
            )


def _peer(package: Contents, name: str, minimum: str) -> Iterator[Hit]:
    """The main package's peer; packages for one platform have none."""
    manifest = read_manifest(package)
    if manifest is None or manifest.platform[0]:
        return
    text = str(manifest.table("peerDependencies").get(name, ""))
    low = text.replace(" ", "").removeprefix(">=")
    if low == text or comparable_version(low) != comparable_version(minimum):
        what = f"has {name} {text} as a peer" if text else f"does not name {name} as a peer"
        yield Hit(
            inner=manifest.inner,
            message=f"{what}, but the configured minimum is {minimum}",
            evidence=(f"peerDependencies: {name} {text or 'missing'}", f"minimum: {minimum}"),
            fix=f'Write "{name}": ">={npm_version(minimum)}" into peerDependencies. latebind pack does.',
        )


def comparable_version(text: str) -> Version | str:
    """A version that compares by value, or the text itself if it is not a version."""
    try:
        return Version(text)
    except InvalidVersion:
        return text
