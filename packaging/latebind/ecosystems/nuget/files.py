"""The names of nupkgs and of their symbol packages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from latebind.formats import Identity, PackageFormat
from latebind.semver import semantic_version
from latebind.tables.targets import targets

if TYPE_CHECKING:
    from pathlib import Path

    from latebind.config.config import Config

_PART = re.compile(r"(.+)\.runtime\.(?:win|linux|osx|android|ios|freebsd)[\w.]*(?:-\w+)+", re.IGNORECASE)
_VERSION_AFTER_ID = re.compile(r"\.\d+(\.\d+)+(-[^/]*)?$")


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


def _identify(path: Path) -> Identity:
    return Identity(name=nupkg_id(path.name), version=nupkg_version(path.name))


def _explain_foreign(file_name: str, config: Config) -> str:
    """Judged by name: `<id>.<version>.nupkg`, or `<id>.runtime.<rid>.<version>.nupkg` for a part of a split package."""
    ids = [package.nuget.id for package in config.packages.values() if package.nuget is not None]
    ours = {f"{id_}{part}".lower() for id_ in ids for part in ("", *(f".runtime.{rid}" for rid in targets()))}
    stem, version = file_name.lower().removesuffix(".nupkg"), f".{semantic_version(config.project.version).lower()}"
    if stem.removesuffix(version) in ours and stem.endswith(version):
        return ""
    return (
        f"not of version {config.project.version}" if _VERSION_AFTER_ID.sub("", stem) in ours else "of another project"
    )


def _name_project(config: Config, package: str) -> str:
    nuget = config.packages[package].nuget
    return nuget.id if nuget is not None else ""


FORMATS = (
    PackageFormat(
        suffix=".nupkg",
        kind="nupkg",
        audited_as="nupkg",
        is_installed=True,
        name_project=_name_project,
        promises_targets=True,
        is_semantic=True,
        headers=r"build/native/include/",
        identify=_identify,
        explain_foreign=_explain_foreign,
    ),
    PackageFormat(suffix=".snupkg", kind="snupkg", audited_as="nupkg", is_semantic=True, identify=_identify),
)
