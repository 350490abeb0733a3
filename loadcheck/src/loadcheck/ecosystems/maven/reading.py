"""What JARs say, for the audit."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from loadcheck.ecosystems.maven.pom import DESCRIBING, Pom, read_pom
from loadcheck.engine.kinds import AuditedKind, Description, TwinFacts
from loadcheck.errors import InputError
from loadcheck.tables.rids import PLATFORMS

if TYPE_CHECKING:
    from loadcheck.model import Rid
    from loadcheck.readers.contents import Contents, File

NATIVE = re.compile(r"(?:.*/)?native/(?P<platform>[^/]+)/[^/]+")
"""Where JARs hold the libraries of a platform: ONNX Runtime's, and latebind's."""
_METADATA = re.compile(r"META-INF/maven/(?P<group>[^/]+)/(?P<name>[^/]+)/pom\.xml")
_MAX_POM = 16 * 1024**2


def find_pom(package: Contents) -> tuple[str, Pom] | None:
    """The POM of a JAR of one artifact, and its place; None where there is none or several, or it cannot be read."""
    names = [name for name in package.texts if _METADATA.fullmatch(name)]
    try:
        return (names[0], read_pom(package.texts[names[0]], names[0])) if len(names) == 1 else None
    except InputError:
        return None


def find_rid(_package: Contents, file: File) -> str:
    """The target of a file by its folder: `native/linux-x64`, or `ai/onnxruntime/native/linux-aarch64`."""
    match = NATIVE.fullmatch(file.name)
    return name_platforms().get(match["platform"], "") if match else ""


def name_platforms() -> dict[str, Rid]:
    """What folders are called in JARs, each with its target."""
    names = {platform.jar: rid for rid, platform in PLATFORMS.items() if platform.jar}
    return {**names, **{rid: rid for rid in PLATFORMS}}


def _find_project(package: Contents) -> str:
    """The artifact of a JAR; "" for one that took in others, and so has several POMs."""
    matches = [match for file in package.files if (match := _METADATA.fullmatch(file.name))]
    return f"{matches[0]['group']}:{matches[0]['name']}" if len(matches) == 1 else ""


def _find_twin_facts(package: Contents) -> TwinFacts | None:
    pom = find_pom(package)
    if pom is None:
        return None
    native: dict[str, dict[str, tuple[str, str]]] = {}
    for file in package.native:
        if rid := find_rid(package, file):
            native.setdefault(rid, {})[file.base] = (package.subject(file.name), file.sha256)
    return TwinFacts(
        subject=package.subject(), kind="jar", project=package.project, version=pom[1].version, native=native
    )


def _find_description(package: Contents) -> Description | None:
    """What Maven Central requires of a POM ("Requirements", Required Metadata).

    It also refuses versions that end with -SNAPSHOT.
    """
    found = find_pom(package)
    if found is None or found[1].has_parent:
        return None
    fields = {f"<{key}>": key in found[1].described for key in DESCRIBING}
    fields["<licenses>"] = any(found[1].licenses)
    fields["release version, but a snapshot's"] = not found[1].version.endswith("-SNAPSHOT")
    return found[0], fields


KINDS = (
    AuditedKind(kind="maven"),
    AuditedKind(
        kind="jar",
        is_text=lambda name, size: size <= _MAX_POM and _METADATA.fullmatch(name) is not None,
        find_project=_find_project,
        find_rid=find_rid,
        find_twin_facts=_find_twin_facts,
        find_description=_find_description,
    ),
)
