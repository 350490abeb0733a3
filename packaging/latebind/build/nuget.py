"""Packs staged native files and a compiled managed project as a nupkg; compiles nothing and asks no network.

Layout: `runtimes/<rid>/native/` flat, since NuGet flattens it on copy; `lib/<framework>/` for the managed part, or
an empty `_._` there, which tells NuGet that a package of native files alone suits that framework.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from latebind.archive import Entry, sha256
from latebind.build.sbom import FILE_NAME, sbom
from latebind.errors import BuildError
from latebind.model import Artifact
from latebind.nuget.nuspec import Dependency, Nuspec, render, same_minor, semantic_version
from latebind.nuget.opc import CoreProperties, write_nupkg

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from latebind.build.managed import ManagedBuild
    from latebind.build.stage import Stage
    from latebind.config import Config, NugetConfig

NATIVE_ONLY_FRAMEWORK = "netstandard2.0"
"""What a package without managed code declares: the oldest framework that all supported .NET implement."""


def pack_nupkg(  # noqa: PLR0913  # what is packed, from what, to where, and what the caller alone knows
    config: Config,
    package: str,
    stages: Sequence[Stage],
    outdir: Path,
    *,
    managed: ManagedBuild | None = None,
    commit: str = "",
) -> Artifact:
    """Write `<Id>.<version>.nupkg` of a package into `outdir`; equal inputs give equal bytes.

    `stages` are the targets to put in; `managed` is what build_managed made of `nuget.managed`; `commit` is the
    sources' commit where it is known.

    Raises BuildError: no native library for a target, a managed part that is configured and missing, two files of
    one name, a managed and a native file whose names differ by case alone, metadata that a feed would refuse.
    """
    nuget = _settings(config, package)
    if bool(nuget.managed) != (managed is not None):
        what = "was not built" if nuget.managed else "is not configured (nuget.managed)"
        raise BuildError(f"the managed part of {nuget.id} {what}", where=f"package.{package}")
    if not stages:
        raise BuildError(f"no target is staged for {nuget.id}", advice="Run `latebind build` first.")
    nuspec = describe(config, package, framework=managed.framework if managed else "", commit=commit)
    component = config.packages[package].component
    native = [entry for stage in stages for entry in _native(stage, component)]
    purl = f"pkg:nuget/{nuspec.id}@{nuspec.version}"
    bill = Entry(name=f"sbom/{FILE_NAME}", data=sbom(config, package, stages, purl))
    files = [*native, *_managed(managed), *_readme(config), bill]
    _refuse_twins(files, where=nuget.id)
    path = outdir / f"{nuspec.id}.{nuspec.version}.nupkg"
    properties = CoreProperties(
        identifier=nuspec.id,
        version=nuspec.version,
        creator=", ".join(nuspec.authors),
        description=nuspec.description,
        keywords=" ".join(nuspec.tags),
    )
    write_nupkg(path, render(nuspec), files, properties)
    made_from = tuple(str(library) for stage in stages for library in stage.libraries(component))
    return Artifact(path=path, kind="nupkg", sha256=sha256(path), size=path.stat().st_size, made_from=made_from)


def describe(config: Config, package: str, *, framework: str = "", commit: str = "") -> Nuspec:
    """What the nupkg of a package says of itself. `framework` is the managed part's, "" for none.

    Raises BuildError when the package has no [package.<name>.nuget] table, or its version has no form in NuGet.
    """
    nuget, project = _settings(config, package), config.project
    return Nuspec(
        id=nuget.id,
        version=semantic_version(project.version),
        authors=project.authors or (project.name,),
        description=nuget.description or project.description or project.name,
        framework=framework or NATIVE_ONLY_FRAMEWORK,
        license=project.license,
        readme=project.readme.rpartition("/")[2],
        repository=project.repository,
        commit=commit,
        tags=nuget.tags,
        dependencies=(*_siblings(config, package), *_runtime(config, package)),
    )


def _settings(config: Config, package: str) -> NugetConfig:
    nuget = config.packages[package].nuget
    if nuget is None:
        raise BuildError(f"package {package} is not configured as a nupkg", where=f"package.{package}.nuget")
    return nuget


def _siblings(config: Config, package: str) -> tuple[Dependency, ...]:
    version = same_minor(config.project.version)
    others = (config.packages[name].nuget for name in config.packages[package].requires)
    return tuple(Dependency(id=other.id, range=version) for other in others if other is not None)


def _runtime(config: Config, package: str) -> tuple[Dependency, ...]:
    """The runtime's own package, from the one minimum, where the configuration asks for it."""
    id_, use = _settings(config, package).runtime, config.runtime_of(package)
    if not id_:
        return ()
    if use is None:
        raise BuildError(
            f"nuget.runtime is {id_}, and package {package} binds no runtime",
            where=f"package.{package}",
            advice="Add [[runtime]] with its preset, or name it in package.<name>.runtime.",
        )
    return (Dependency(id=id_, range=semantic_version(use.minimum)),)


def _native(stage: Stage, component: str) -> list[Entry]:
    return [
        Entry(name=f"runtimes/{stage.rid}/native/{library.name}", data=library.read_bytes())
        for library in stage.libraries(component)
    ]


def _managed(managed: ManagedBuild | None) -> list[Entry]:
    if managed is None:
        return [Entry(name=f"lib/{NATIVE_ONLY_FRAMEWORK}/_._", data=b"")]
    files = (managed.assembly, managed.documentation)
    return [Entry(name=f"lib/{managed.framework}/{file.name}", data=file.read_bytes()) for file in files if file]


def _readme(config: Config) -> list[Entry]:
    if not config.project.readme:
        return []
    path = config.root / config.project.readme
    try:
        return [Entry(name=path.name, data=path.read_bytes().replace(b"\r\n", b"\n"))]
    except OSError as error:
        raise BuildError(f"the readme cannot be read: {error.strerror}", where=f"project.readme = {path}") from error


def _refuse_twins(files: Sequence[Entry], *, where: str) -> None:
    """Refuse file names that are equal when case is ignored within what one application gets side by side.

    Publishing puts managed and native files into one folder: on a file system without case the native `vx.dll`
    replaces the managed `Vx.dll`, and on others the copy that NuGet itself makes does.
    """
    seen: dict[tuple[str, str], str] = {}
    managed = {name.rpartition("/")[2].lower(): name for name in (file.name for file in files) if name[:4] == "lib/"}
    for name in (file.name for file in files):
        folder, _, base = name.rpartition("/")
        other = seen.setdefault((folder, base.lower()), name)
        if other is not name:
            raise BuildError(f"two files are named {base} in {folder}", where=where)
        twin = managed.get(base.lower(), name)
        if folder.startswith("runtimes/") and twin != name:
            raise BuildError(
                f"{twin} and {name} would overwrite each other when an application is published",
                where=where,
                advice="Give the native library another name.",
            )
