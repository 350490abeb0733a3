"""Compiles a package's managed project with the `dotnet` that is there; never writes into the source tree."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path, PurePath
from urllib.parse import quote, urlsplit
from xml.sax.saxutils import escape

import defusedxml.ElementTree

from latebind.backend.files import write_text
from latebind.compilers import dotnet
from latebind.config.project import MSBUILD_OUTPUTS
from latebind.errors import BuildError, ToolError
from latebind.semver import semantic_version
from latebind.system.files import copy_file
from latebind.system.folders import swap_in
from latebind.system.run import run

_TIME_LIMIT = 600.0
_SPECIAL = re.compile(r"[%$@'();?*]")
"""Characters that mean something in MSBuild's lists; %XX escapes them."""

SOURCES = "/_/"
"""What symbols call the folder of a managed project."""
_LINK_TARGETS = """<Project>
  <PropertyGroup Condition="'$(DebugType)' != 'none'">
    <SourceLink>{file}</SourceLink>
  </PropertyGroup>
</Project>
"""


_RAW = {
    "bitbucket.org": "https://api.bitbucket.org/2.0/repositories/{path}/src/{commit}",
    "codeberg.org": "https://codeberg.org/{path}/raw/commit/{commit}",
    "github.com": "https://raw.githubusercontent.com/{path}/{commit}",
    "gitlab.com": "https://gitlab.com/{path}/-/raw/{commit}",
}
"""Where hosts of repositories give a file of a commit as it is."""
_PATH = re.compile(r"[\w.~-]+(/[\w.~-]+)+", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class ManagedBuild:
    """A managed project compiled for one framework. `symbols` and `documentation` are None where it makes none.

    `satellites` are its translations, each in a folder of its culture: `de/Demo.resources.dll`.
    """

    framework: str
    """The short name of the target framework: `netstandard2.0`."""
    assembly: Path
    documentation: Path | None
    symbols: Path | None
    satellites: tuple[Path, ...] = ()


def build_managed(  # noqa: PLR0913  # a project, a version, two places, and what a caller may vary
    project: Path,
    output: Path,
    *,
    version: str,
    environment: Mapping[str, str],
    home: Path,
    apart: Iterable[Path] = (),
    source_link: str = "",
    required: Collection[str] = (),
) -> tuple[ManagedBuild, ...]:
    """Compile the one .csproj of a folder for each of its frameworks, deterministically, in the project's order.

    What is made goes below the folder `output`, into one folder for each framework. `version` is the project's,
    PEP 440. `home` keeps NuGet's cache and settings. Packages come from the feeds of the project's NuGet.config, or
    NuGet's own. The property LatebindFallbackSdk=true lets a project compile against reference assemblies that the SDK
    carries, and fetch nothing. `apart` are folders whose files are not the project's, though they may be below its own
    folder. `source_link` is the Source Link data of the sources, which the symbols call `SOURCES`. `required` are the
    ids of the packages that the nuspec requires. An earlier `output` stays when this fails.

    Raises NotRun (`no-dotnet`) without a .NET SDK, BuildError with the compiler's words, and for an assembly that needs
    what an application does not get.
    """
    csproj = _project_file(project)
    frameworks, name = _identity(csproj)
    program = dotnet.find(environment)
    env = dotnet.private(environment, home)
    if any(project.rglob("*.*.resx")):  # translations: without ICU, MSBuild takes no name for that of a culture
        env["DOTNET_SYSTEM_GLOBALIZATION_INVARIANT"] = "0"
    home.mkdir(parents=True, exist_ok=True)
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".managed-", dir=output.parent) as folder:
        work = Path(folder)
        common = {
            "Version": semantic_version(version),
            "Deterministic": "true",
            "NuGetAudit": "false",
            "LatebindFallbackSdk": "true",
            **_written_properties(work, _props(project, apart), source_link),
        }
        # One build for each framework: a build of several takes no single output folder.
        for framework in frameworks:
            built, obj = work / "out" / framework, work / "obj" / framework
            command: list[str | Path] = [program, "build", csproj, "--nologo", "-c", "Release", "-o", built]
            properties = common | _own_properties(framework, obj, project)
            try:
                run(
                    [*command, *(f"-p:{key}={value}" for key, value in properties.items())],
                    cwd=project,
                    env=env,
                    timeout=_TIME_LIMIT,
                )
            except ToolError as error:
                raise BuildError(f"the managed project does not compile: {error.message}", where=str(csproj)) from error
            _refuse_lacking(built, obj / "project.assets.json", csproj, name, required)
            _take(built, work / "taken" / framework, name)
        swap_in(work / "taken", output)
    return tuple(_result(output / framework, name, framework) for framework in frameworks)


def list_frameworks(project: Path) -> tuple[str, ...]:
    """The frameworks of the one .csproj of a folder, as its file states them. Raises BuildError."""
    return _identity(_project_file(project))[0]


def _own_properties(framework: str, obj: Path, project: Path) -> dict[str, str]:
    """What differs between the builds of one project; the output has the same bytes wherever project and `obj` are."""
    return {
        "TargetFramework": framework,
        # The default is a source file in the system's temporary folder, whose path the symbols name.
        "TargetFrameworkMonikerAssemblyAttributesPath": str(obj / "TargetFramework.cs"),
        # What the compiler writes of each folder instead of its path. %2C is MSBuild's comma.
        "PathMap": f"{obj}/=/_obj/%2C{project.resolve()}/={SOURCES}",
        "BaseIntermediateOutputPath": f"{obj}/",
    }


def _written_properties(work: Path, props: str, source_link: str) -> dict[str, str]:
    """The properties that name files of MSBuild's settings, which are written to a folder.

    The data for Source Link is that of latebind, and not that of an SDK or package, which reads the repository itself.
    The compiler refuses it for a project that makes no symbols.
    """
    write_text(work / "latebind.props", props)
    named = {"CustomBeforeMicrosoftCommonProps": str(work / "latebind.props")}
    if not source_link:
        return named
    write_text(work / "sourcelink.json", source_link)
    write_text(work / "latebind.targets", _LINK_TARGETS.format(file=escape(str(work / "sourcelink.json"))))
    return {**named, "CustomAfterMicrosoftCommonTargets": str(work / "latebind.targets"), "EnableSourceLink": "false"}


def _props(project: Path, apart: Iterable[Path]) -> str:
    """MSBuild's settings that keep folders out of the files that an SDK-style project takes without naming them.

    The SDK leaves out the folder that is given as BaseIntermediateOutputPath, and not what other builds left in obj/.
    """
    root = project.resolve()
    inside = [*MSBUILD_OUTPUTS, *(os.path.relpath(folder, root) for folder in apart if folder.is_relative_to(root))]
    excluded = "".join(
        f";{escape(_SPECIAL.sub(lambda match: f'%{ord(match[0]):X}', name))}/**" for name in sorted(inside)
    )
    return f"""<Project>
  <PropertyGroup>
    <DefaultItemExcludes>$(DefaultItemExcludes){excluded}</DefaultItemExcludes>
  </PropertyGroup>
</Project>
"""


def _refuse_lacking(built: Path, assets: Path, csproj: Path, name: str, required: Collection[str]) -> None:
    """Refuse references to what an application does not get: the package has one assembly, the nuspec names no more.

    The SDK copies other projects' assemblies into `built`. `assets` is what NuGet restored, in which references of the
    SDK itself and those with PrivateAssets="all" serve the build alone. Raises BuildError.
    """
    for other in sorted(set(built.glob("*.dll")) - {built / f"{name}.dll"}):
        raise BuildError(
            f"the managed project needs {other.name}, which the NuGet package will not contain",
            where=str(csproj),
            advice=f"Compile the sources of {other.stem} into this project instead of referencing another project or "
            "file.",
        )
    ids = {id_.lower() for id_ in required}
    frameworks = json.loads(assets.read_bytes())["project"]["frameworks"].values() if assets.is_file() else ()
    references = (framework.get("dependencies", {}) for framework in frameworks)
    for id_, reference in chain.from_iterable(map(dict.items, references)):
        serves_build = reference.get("autoReferenced") or reference.get("suppressParent") == "All"
        if reference.get("target") == "Package" and not serves_build and id_.lower() not in ids:
            raise BuildError(
                f"the managed project references the package {id_}, which the NuGet package will not require",
                where=str(csproj),
                advice='If only the build needs the package, write PrivateAssets="all". Otherwise remove the '
                "reference: the NuGet package requires only the package in nuget.runtime and those in `requires`.",
            )


def _take(out: Path, taken: Path, name: str) -> None:
    """Keep what belongs in a package; .deps.json and copies of references do not."""
    taken.mkdir(parents=True)
    for file in (*(out / f"{name}{suffix}" for suffix in (".dll", ".xml", ".pdb")), *_find_satellites(out, name)):
        if file.is_file():
            copy_file(file, taken / file.relative_to(out))


def _find_satellites(folder: Path, name: str) -> tuple[Path, ...]:
    return tuple(sorted(folder.glob(f"*/{name}.resources.dll")))


def _result(output: Path, name: str, framework: str) -> ManagedBuild:
    assembly, documentation, symbols = (output / f"{name}{suffix}" for suffix in (".dll", ".xml", ".pdb"))
    if not assembly.is_file():
        raise BuildError(
            f"the managed project did not make {assembly.name}",
            advice="In the .csproj file, set <AssemblyName> to a literal name: latebind reads the name only there.",
        )
    return ManagedBuild(
        framework=framework,
        assembly=assembly,
        documentation=documentation if documentation.is_file() else None,
        symbols=symbols if symbols.is_file() else None,
        satellites=_find_satellites(output, name),
    )


def _project_file(folder: Path) -> Path:
    projects = sorted(folder.glob("*.csproj"))
    if len(projects) != 1:
        what = "no .csproj" if not projects else f"{len(projects)} .csproj files"
        raise BuildError(
            f"the managed project's folder contains {what}",
            where=str(folder),
            advice="In package.<name>.nuget.managed, name a folder with exactly one .csproj.",
        )
    return projects[0]


def _identity(csproj: Path) -> tuple[tuple[str, ...], str]:
    """Target frameworks and assembly name as the project file states them."""
    try:
        root = defusedxml.ElementTree.parse(csproj).getroot()
    except (defusedxml.ElementTree.ParseError, ValueError) as error:  # ValueError: entities, which have no use here
        raise BuildError(f"not readable as XML: {error}", where=str(csproj)) from error
    if root is None:
        raise BuildError("an empty project file", where=str(csproj))
    stated = root.findtext(".//TargetFrameworks") or root.findtext(".//TargetFramework") or ""
    frameworks = tuple(dict.fromkeys(name.strip() for name in stated.split(";") if name.strip()))
    if not frameworks or "$(" in stated:
        raise BuildError(
            "has no <TargetFramework> or <TargetFrameworks> with literal names",
            where=str(csproj),
            advice="Write the frameworks themselves: <TargetFrameworks>netstandard2.0;net8.0</TargetFrameworks>.",
        )
    return frameworks, (root.findtext(".//AssemblyName") or csproj.stem).strip()


def source_link(repository: str, commit: str, folder: PurePath, mapped: str) -> str:
    """The JSON text for sources in a folder of a repository that the symbols call `mapped`.

    "" without a commit, and for a host whose addresses of files are unknown.
    """
    address = urlsplit(repository)
    path = address.path.strip("/").removesuffix(".git")
    raw = _RAW.get(address.hostname or "") if address.scheme in ("http", "https") else None
    if raw is None or not commit or not _PATH.fullmatch(path):
        return ""
    subfolder = "".join(f"/{quote(part)}" for part in folder.parts)
    return json.dumps({"documents": {f"{mapped}*": f"{raw.format(path=path, commit=commit)}{subfolder}/*"}}) + "\n"
