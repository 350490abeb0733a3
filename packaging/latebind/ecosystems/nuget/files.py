"""The names of nupkgs and of their symbol packages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from latebind.backend.targets import targets
from latebind.config.config import Config
from latebind.config.package import NugetConfig, Package
from latebind.formats import Identity, made_as
from latebind.semver import semantic_version
from loadcheck.facts import nupkg_id, nupkg_version

_VERSION_AFTER_ID = re.compile(r"\.\d+(\.\d+)+(-[^/]*)?$")


def nupkg_file(id_: str, version: str) -> str:
    """`Tiny.1.0.0-rc.1.nupkg`. `version` is PEP 440's. Raises BuildError for one that NuGet cannot express."""
    return f"{id_}.{semantic_version(version)}.nupkg"


def snupkg_file(id_: str, version: str) -> str:
    """`Tiny.1.0.0-rc.1.snupkg`, as nupkg_file()."""
    return f"{id_}.{semantic_version(version)}.snupkg"


def part_id(id_: str, rid: str) -> str:
    """The id of the package that holds one target of a split package: `Latenn.runtime.linux-x64`."""
    return f"{id_}.runtime.{rid}"


def nuget_tables(packages: Mapping[str, Package]) -> dict[str, NugetConfig]:
    """The packages that become nupkgs, by name, with their tables."""
    return {name: package.nuget for name, package in packages.items() if package.nuget is not None}


def _identify(path: Path) -> Identity:
    return Identity(name=nupkg_id(path.name), version=nupkg_version(path.name))


def _explain_foreign(file_name: str, config: Config) -> str:
    """Judged by name: `<id>.<version>.nupkg`, or `<id>.runtime.<rid>.<version>.nupkg` for a part of a split package."""
    tables = nuget_tables(config.packages).values()
    ours = {f"{table.id}{part}".lower() for table in tables for part in ("", *(f".runtime.{rid}" for rid in targets()))}
    stem, version = file_name.lower().removesuffix(".nupkg"), f".{semantic_version(config.project.version).lower()}"
    if stem.removesuffix(version) in ours and stem.endswith(version):
        return ""
    return (
        f"not of version {config.project.version}" if _VERSION_AFTER_ID.sub("", stem) in ours else "of another project"
    )


FORMATS = (
    made_as(
        ".nupkg",
        name_project=lambda config, package: nuget.id if (nuget := nuget_tables(config.packages).get(package)) else "",
        is_semantic=True,
        headers=r"build/native/include/",
        identify=_identify,
        explain_foreign=_explain_foreign,
    ),
    made_as(".snupkg", is_semantic=True, identify=_identify),
)

REASONS = (
    ("no-dotnet", "there is no .NET SDK on this machine", "a .NET SDK"),
    (
        "no-sdk",
        "the .NET SDK on this machine is too old for this kind of application",
        "a .NET SDK, 8.0 or newer",
    ),
    (
        "no-mono",
        "there is no Mono with the reference assemblies of .NET Framework on this machine",
        "Mono with the reference assemblies of .NET Framework",
    ),
)
