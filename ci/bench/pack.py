"""Times `latebind pack` of latenn's packages, cold and unchanged, against plain wheels of the same files.

    python ci/bench/pack.py [--rounds N] [--write]

The stage for all targets is built first and not timed. The peer is `python -m build --wheel --no-isolation` with plain
hatchling, once for each wheel, over the wheel's own files lying ready: it does less (no nupkg, sdist, bill of
materials). Where there is a .NET SDK, `dotnet pack` makes a NuGet package of the files of each nupkg.
"""

from __future__ import annotations

import os
import shutil
import sys
import zipfile
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import msgspec
from measure import ROOT, Sample, add, in_turn, machine, options, ratio, run, summary, write

from ci.machines.pinned import cache

if TYPE_CHECKING:
    from pathlib import Path

_CALL = "import sys; from latebind.cli import main; sys.exit(main())"
_PROJECT = """[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "{name}"
version = "0.1.0"
[tool.hatch.build.targets.wheel]
only-include = ["payload"]
sources = ["payload"]
"""
_CSPROJ = """<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup>
    <TargetFramework>netstandard2.1</TargetFramework>
    <PackageId>{name}</PackageId>
    <IncludeBuildOutput>false</IncludeBuildOutput>
    <NoBuild>true</NoBuild>
    <NoWarn>NU5128;NU5100</NoWarn>
  </PropertyGroup>
  <ItemGroup><Content Include="payload/**" Pack="true" PackagePath="" /></ItemGroup>
</Project>
"""
_CONTAINER = ("_rels/", "package/", "[Content_Types].xml")  # NuGet's own parts, made anew by each packer


def latebind(work: Path, command: str) -> Sample:
    """One command of latebind on latenn, for all its targets."""
    rids = msgspec.toml.decode((ROOT / "latenn/latebind.toml").read_bytes())["targets"]["include"]
    targets = [word for rid in rids for word in ("--target", rid)]
    return run([sys.executable, "-c", _CALL, "-C", ROOT / "latenn", "--workdir", work, command, *targets])


def cold(work: Path) -> Sample:
    """Pack where nothing lies yet."""
    shutil.rmtree(work / "dist", ignore_errors=True)
    return latebind(work, "pack")


def payloads(work: Path, suffix: str, project: str, file: str) -> list[Path]:
    """A folder for each package of that kind, with its files and the peer's project file."""
    folders = []
    for package in sorted((work / "dist").rglob(f"*{suffix}")):
        folder = work / "peers" / package.name
        shutil.rmtree(folder, ignore_errors=True)
        with zipfile.ZipFile(package) as archive:
            names = [
                name
                for name in archive.namelist()
                if not name.startswith(_CONTAINER) and ".dist-info/" not in name and not name.endswith(".nuspec")
            ]
            archive.extractall(folder / "payload", names)
        (folder / file).write_text(project.format(name=package.name.split("-")[0].split(".0")[0]), encoding="utf-8")
        folders.append(folder)
    return folders


def wheels(folders: list[Path]) -> Sample:
    """A plain wheel of each folder."""
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir"]
    return add(run([*build, folder / "dist", folder]) for folder in folders)


def nupkgs(dotnet: str, folders: list[Path]) -> Sample:
    """A plain nupkg of each folder, restored before."""
    return add(run([dotnet, "pack", "--no-restore", "-o", folder / "dist", folder]) for folder in folders)


def main() -> None:
    """Measure, print, and keep the result when asked to."""
    arguments = options(__doc__, 5)
    os.environ.setdefault("DOTNET_CLI_TELEMETRY_OPTOUT", "1")
    work = cache() / "pack"
    before = machine()
    latebind(work, "build")
    cold(work)
    plain = payloads(work, ".whl", _PROJECT, "pyproject.toml")
    packed = [path for path in (work / "dist").rglob("*") if path.is_file()]
    contenders = {
        "latebind pack, cold": lambda: cold(work),
        "latebind pack, unchanged": lambda: latebind(work, "pack"),
        "hatchling, wheels alone": lambda: wheels(plain),
    }
    missing: dict[str, str] = {}
    if dotnet := shutil.which("dotnet"):
        folders = payloads(work, ".nupkg", _CSPROJ, "Payload.csproj")
        for folder in folders:
            run([dotnet, "restore", folder])
        contenders["dotnet pack, nupkgs alone"] = lambda: nupkgs(dotnet, folders)
    else:
        missing["dotnet pack"] = "there is no .NET SDK on this machine"
    samples = in_turn(contenders, arguments.rounds)
    document: dict[str, Any] = {
        "machine": before,
        "versions": {name: version(name) for name in ("hatchling", "build")},
        "input": {"packages": len(packed), "bytes": sum(path.stat().st_size for path in packed)},
        "contenders": summary(samples),
        "ratios": {
            key: {"cold to hatchling": ratio(samples, "latebind pack, cold", "hatchling, wheels alone", key)}
            for key in ("wall", "cpu")
        },
        "not run": missing,
    }
    if arguments.write:
        write("pack", document)


if __name__ == "__main__":
    main()
