"""What npm packages say, for the audit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadcheck.engine.kinds import AuditedKind, Description, Pin, TwinFacts
from loadcheck.readers.package_json import MANIFEST, read_manifest
from loadcheck.tables.rids import PLATFORMS

if TYPE_CHECKING:
    from loadcheck.model import Rid
    from loadcheck.readers.contents import Contents
    from loadcheck.readers.package_json import Manifest


def _find_project(package: Contents) -> str:
    manifest = read_manifest(package)
    return manifest.platform[0] or manifest.text("name") if manifest else ""


def _find_twin_facts(package: Contents) -> TwinFacts | None:
    manifest = read_manifest(package)
    if manifest is None:
        return None
    files = {file.base: (package.subject(file.name), file.sha256) for file in package.native}
    version = manifest.text("version")
    pins = (
        Pin(id=part, range=text, version="" if "," in text or text.strip().startswith("[") else text.strip())
        for part, text in sorted(manifest.parts.items())
    )
    return TwinFacts(
        subject=package.subject(),
        kind="npm",
        project=package.project,
        version=version,
        native={rid: files for rid in PLATFORMS if files and _is_for(manifest, rid)},
        id=manifest.text("name"),
        exact=version,
        pins=tuple(pins),
        lists_all=True,
    )


def _is_for(manifest: Manifest, rid: Rid) -> bool:
    """Whether a package for one platform is for a target; without the field libc it is for glibc."""
    platform, libc = PLATFORMS[rid], manifest.read_values("libc")
    fields = (manifest.read_values("os"), manifest.read_values("cpu"))
    return fields == ((platform.os,), (platform.cpu,)) and (libc or ("glibc",))[0] == (platform.libc or "glibc")


def _find_description(package: Contents) -> Description | None:
    manifest = read_manifest(package)
    if manifest is None:
        return None
    files = {file.name.partition("/")[2].lower() for file in package.files}
    fields = manifest.fields
    has = {
        "description": bool(fields.get("description")),
        "README": any(name.partition(".")[0] == "readme" for name in files),
        "author": any(map(fields.get, ("author", "contributors", "maintainers"))),
        "link": any(map(fields.get, ("repository", "homepage"))),
        "license": any(map(fields.get, ("license", "licenses"))),
    }
    return manifest.inner, has


KINDS = (
    AuditedKind(
        kind="npm",
        is_text=lambda name, _size: name.count("/") == 1 and name.endswith(f"/{MANIFEST}"),
        find_project=_find_project,
        find_twin_facts=_find_twin_facts,
        find_description=_find_description,
    ),
)
