"""Compiles a package's managed project with the `dotnet` that is there; never writes into the source tree."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import defusedxml.ElementTree

from latebind.build.stage import swap_in
from latebind.errors import BuildError, ToolError
from latebind.nuget import dotnet
from latebind.nuget.nuspec import semantic_version
from latebind.run import run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_TIME_LIMIT = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ManagedBuild:
    """A compiled managed project. `symbols` and `documentation` are None where the project makes none."""

    framework: str
    """The short name of its target framework: `netstandard2.0`."""
    assembly: Path
    documentation: Path | None
    symbols: Path | None


def build_managed(  # noqa: PLR0913  # a project, a version, two places, and what a caller may vary
    project: Path,
    output: Path,
    *,
    version: str,
    environment: Mapping[str, str],
    home: Path,
    sources: Sequence[str] = (),
) -> ManagedBuild:
    """Compile the one .csproj of a folder into the folder `output`, deterministically.

    `version` is the project's, PEP 440. `home` keeps NuGet's cache and settings. `sources` are the package feeds
    that the project needs; with none, nothing is fetched and the property LatebindFallbackSdk=true tells the
    project to compile against the reference assembly that the SDK carries. An earlier `output` stays when this
    fails.

    Raises NotRun (`no-dotnet`) without a .NET SDK, BuildError with the compiler's words.
    """
    csproj = _project_file(project)
    framework, name = _identity(csproj)
    program = dotnet.find(environment)
    home.mkdir(parents=True, exist_ok=True)
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".managed-", dir=output.parent) as folder:
        work = Path(folder)
        feeds = work / "NuGet.config"
        dotnet.write_nuget_config(feeds, sources)
        properties = {
            "Version": semantic_version(version),
            "Deterministic": "true",
            # Otherwise a source file in the system's temporary folder, whose path the symbols name.
            "TargetFrameworkMonikerAssemblyAttributesPath": str(work / "obj" / "TargetFramework.cs"),
            "PathMap": _path_map({work / "obj": "/_/obj/", project.resolve(): "/_/"}),
            "BaseIntermediateOutputPath": f"{work / 'obj'}/",
            "RestoreConfigFile": str(feeds),
            "LatebindFallbackSdk": "false" if sources else "true",
        }
        argv: list[str | Path] = [
            program,
            "build",
            csproj,
            "--nologo",
            "-c",
            "Release",
            "-o",
            work / "out",
            *_defines(properties),
        ]
        try:
            run(argv, cwd=project, env=dotnet.private(environment, home), timeout=_TIME_LIMIT)
        except ToolError as error:
            raise BuildError(f"the managed project does not compile: {error.message}", where=str(csproj)) from error
        _take(work / "out", work / "taken", name)
        swap_in(work / "taken", output)
    return _result(output, name, framework)


def _take(out: Path, taken: Path, name: str) -> None:
    """Keep what belongs into a package; .deps.json and copies of references do not."""
    taken.mkdir()
    for suffix in (".dll", ".xml", ".pdb"):
        file = out / f"{name}{suffix}"
        if file.is_file():
            shutil.copyfile(file, taken / file.name)


def _result(output: Path, name: str, framework: str) -> ManagedBuild:
    assembly, documentation, symbols = (output / f"{name}{suffix}" for suffix in (".dll", ".xml", ".pdb"))
    if not assembly.is_file():
        raise BuildError(f"the managed project made no {assembly.name}", advice="Set AssemblyName to what it makes.")
    return ManagedBuild(
        framework=framework,
        assembly=assembly,
        documentation=documentation if documentation.is_file() else None,
        symbols=symbols if symbols.is_file() else None,
    )


def _project_file(folder: Path) -> Path:
    found = sorted(folder.glob("*.csproj"))
    if len(found) != 1:
        what = "no .csproj" if not found else f"{len(found)} .csproj files"
        raise BuildError(
            f"the managed project's folder holds {what}", where=str(folder), advice="Set package.<name>.nuget.managed."
        )
    return found[0]


def _identity(csproj: Path) -> tuple[str, str]:
    """Target framework and assembly name as the project file states them."""
    try:
        root = defusedxml.ElementTree.parse(csproj).getroot()
    except (defusedxml.ElementTree.ParseError, ValueError) as error:  # ValueError: entities, which have no use here
        raise BuildError(f"not readable as XML: {error}", where=str(csproj)) from error
    if root is None:
        raise BuildError("an empty project file", where=str(csproj))
    framework = (root.findtext(".//TargetFramework") or "").strip()
    if not framework or "$(" in framework:
        raise BuildError("no single <TargetFramework> is stated", where=str(csproj))
    return framework, (root.findtext(".//AssemblyName") or csproj.stem).strip()


def _path_map(folders: Mapping[Path, str]) -> str:
    """The compiler's PathMap: what it writes of each folder instead of its path. %2C is MSBuild's comma."""
    return "%2C".join(f"{folder}/={name}" for folder, name in folders.items())


def _defines(properties: Mapping[str, str]) -> list[str]:
    return [f"-p:{key}={value}" for key, value in properties.items()]
