"""What nupkgs say, for the audit."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from loadcheck.engine.kinds import AuditedKind, Description, NativeFiles, Pin, TwinFacts
from loadcheck.readers.opc import readable_nuspec

if TYPE_CHECKING:
    from loadcheck.readers.contents import Contents

FEED_LIMIT = 250_000_000
"""Bytes of a package that the public feed takes: "250 MB" (learn.microsoft.com/nuget/nuget-org/publish-a-package)."""
_PART = re.compile(r"(.+)\.runtime\.(?:win|linux|osx|android|ios|freebsd)[\w.]*(?:-\w+)+", re.IGNORECASE)
BUILD_FOLDERS = ("build/", "buildtransitive/", "buildmultitargeting/", "buildcrosstargeting/")
"""Where NuGet looks for build files, in lower case."""
_NATIVE_FOLDER = re.compile(r"runtimes/([^/]+)/native/(.+)")
_RID_FOLDER = re.compile(r"runtimes/([^/]+)/")


def nupkg_id(file_name: str) -> str:
    """`Latenn.OnnxRuntime` of `Latenn.OnnxRuntime.1.2.3-rc.1.nupkg`: everything before the first numeric part."""
    parts = file_name.split(".")
    number = next((index for index, part in enumerate(parts) if part[:1].isdigit() and index), len(parts) - 1)
    return ".".join(parts[:number])


def nupkg_version(file_name: str) -> str:
    """`1.2.3-rc.1` of `Latenn.OnnxRuntime.1.2.3-rc.1.nupkg`."""
    stem = file_name.rpartition(".")[0]
    return stem[len(nupkg_id(file_name)) + 1 :]


def whole_id(package_id: str) -> str:
    """`Latenn` of `Latenn.runtime.linux-x64`, the part of a split package for one target; else the id itself."""
    match = _PART.fullmatch(package_id)
    return match[1] if match else package_id


def rid_folder(name: str) -> str:
    """The RID of a path below `runtimes/`, or ""."""
    match = _RID_FOLDER.match(name)
    return match[1] if match else ""


def native_place(name: str) -> tuple[str, str]:
    """RID and path below `runtimes/<rid>/native/`, or two empty strings."""
    match = _NATIVE_FOLDER.fullmatch(name)
    return (match[1], match[2]) if match else ("", "")


def _is_text(name: str, _size: int) -> bool:
    small = name.lower()
    is_of_build = small.startswith(BUILD_FOLDERS) and small.endswith((".props", ".targets"))
    return is_of_build or small.endswith((".nuspec", ".rels", ".psmdcp")) or name == "[Content_Types].xml"


def _find_twin_facts(package: Contents) -> TwinFacts | None:
    if package.is_symbols:
        return None
    native: NativeFiles = {}
    for file in package.native:
        rid, _ = native_place(file.name)
        if rid and not file.within:
            native.setdefault(rid, {})[file.base] = (package.subject(file.name), file.sha256)
    read = readable_nuspec(package)
    file_name = package.path.name
    id_ = read[1].fields.get("id", "") if read else nupkg_id(file_name)
    version = read[1].fields.get("version", "") if read else nupkg_version(file_name)
    parts = {
        dependency.id: dependency.version
        for dependency in (read[1].dependencies if read else ())
        if whole_id(dependency.id) != dependency.id
        and canonicalize_name(whole_id(dependency.id)) == canonicalize_name(id_)
    }
    return TwinFacts(
        subject=package.subject(),
        kind="nupkg",
        project=whole_id(id_),
        version=version,
        native=native,
        id=id_,
        exact=f"[{version}]",
        pins=tuple(Pin(id=part, range=text, version=_only_version(text)) for part, text in sorted(parts.items())),
        needs_all=True,
    )


def _only_version(text: str) -> str:
    is_exact = "," not in text and text.strip().startswith("[")
    return text.strip().strip("[]") if is_exact else ""


def _find_description(package: Contents) -> Description | None:
    """What a nuspec says besides what NuGet requires (LB405)."""
    read = readable_nuspec(package)
    if read is None or package.is_symbols:
        return None
    inner, spec = read
    is_linked = "repository" in spec.fields or bool(spec.fields.get("projectUrl"))
    has_license = bool(spec.fields.get("license") or spec.fields.get("licenseUrl"))
    fields = {"README": bool(spec.fields.get("readme")), "link": is_linked, "license": has_license}
    return inner, fields


KINDS = (
    AuditedKind(
        kind="nupkg",
        is_text=_is_text,
        find_project=lambda package: whole_id(nupkg_id(package.path.name)),
        find_rid=lambda _package, file: "" if file.within else rid_folder(file.name),
        find_twin_facts=_find_twin_facts,
        find_description=_find_description,
    ),
)
