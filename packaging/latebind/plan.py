"""Every file that would be made, from which input; decides and runs nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from latebind.errors import InputError
from latebind.filenames import nupkg_file, part_id, sdist_file, snupkg_file, symbols_file, wheel_file
from latebind.model import NotMade
from latebind.tables.targets import host_rid, target

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from latebind.config.config import Config
    from latebind.config.document import Package
    from latebind.model import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedFile:
    """One file that `latebind pack` would make."""

    file: str
    kind: str
    package: str
    inputs: tuple[str, ...]


def plan(config: Config, rids: Sequence[str]) -> tuple[PlannedFile, ...]:
    """The files of all packages for those targets, in the order of the configuration."""
    rows: list[PlannedFile] = []
    for name, package in config.packages.items():
        suited = [rid for rid in rids if not unsupplied(config, name, rid)]
        stages = [f"stage/{rid}/{package.component}" for rid in suited]
        if package.wheel is not None:
            for rid, stage in zip(suited, stages, strict=True):
                if package.wheel.kind == "cpython" and rid != host_rid():
                    continue  # that machine's own CPython makes it
                file = wheel_file(config, name, rid, config.floor(target(rid)))
                rows.append(PlannedFile(file=file, kind="wheel", package=name, inputs=(stage, package.wheel.source)))
            sources = (package.wheel.source, config.document.native.source, "loader", config.file.name)
            rows.append(PlannedFile(file=sdist_file(config, name), kind="sdist", package=name, inputs=sources))
        rows += _nupkgs(config, name, dict(zip(suited, stages, strict=True)))
    if config.document.native.symbols:
        components = sorted({package.component for package in config.packages.values()})
        rows += [
            PlannedFile(
                file=symbols_file(config, rid),
                kind="symbols",
                package=config.project.name,
                inputs=tuple(f"stage/{rid}/{one}" for one in components),
            )
            for rid in rids
        ]
    return tuple(rows)


def _nupkgs(config: Config, package: str, stages: Mapping[str, str]) -> list[PlannedFile]:
    """One nupkg, or several when `split` says so outright: sizes, which decide otherwise, are not known here."""
    nuget = config.packages[package].nuget
    if nuget is None or not stages:
        return []
    version = config.project.version
    managed = (nuget.managed,) if nuget.managed else ()
    split = nuget.split is True
    whole = (config.file.name, *managed) if split else (*stages.values(), *managed)
    rows = [PlannedFile(file=nupkg_file(nuget.id, version), kind="nupkg", package=package, inputs=whole)]
    rows += [
        PlannedFile(file=nupkg_file(part_id(nuget.id, rid), version), kind="nupkg", package=package, inputs=(stage,))
        for rid, stage in (stages.items() if split else ())
    ]
    if managed:
        rows.append(PlannedFile(file=snupkg_file(nuget.id, version), kind="snupkg", package=package, inputs=managed))
    return rows


def refuse_missing(config: Config, *, sources: bool = True, scripts: bool = True) -> None:
    """Refuse a configuration that names files which are not there, before anything is built or installed for them.

    `sources` are those that packages are made from, `scripts` those that verify them. Raises InputError with all.
    """
    named = [*(_sources(config) if sources else ()), *(_scripts(config) if scripts else ())]
    missing = [f"{key} = {name}" for key, name in named if name and not (config.root / name).exists()]
    if missing:
        raise InputError(
            f"not there: {', '.join(missing)}", where=config.file.name, advice="Correct the path or remove the key."
        )


def _sources(config: Config) -> Iterator[tuple[str, str]]:
    project = config.project
    yield from (("project.readme", project.readme), ("project.icon", project.icon))
    yield "project.license_file", project.license_file
    for name, package in config.packages.items():
        if package.wheel is not None:
            yield f"package.{name}.wheel.source", f"{package.wheel.source}/pyproject.toml"
        if package.nuget is not None:
            yield f"package.{name}.nuget.managed", package.nuget.managed
            yield f"package.{name}.nuget.icon", package.nuget.icon


def _scripts(config: Config) -> Iterator[tuple[str, str]]:
    verify = config.document.verify
    yield from (("verify.python", verify.python), ("verify.reference", verify.reference))
    yield from (("verify.dotnet", verify.dotnet), ("verify.c", verify.c))
    data = {"data": verify.data, **{f"own.{name}.data": own.data for name, own in verify.own.items()}}
    yield from ((f"verify.{key}.script", row.script) for key, row in data.items() if row is not None)


def unsupplied(config: Config, package: str, rid: str) -> str:
    """Why a package is of no use on a target: nobody supplies the runtime that it binds for its C library; "" if not.

    Such a package would install and never work.
    """
    use, row = config.runtime_of(package), target(rid)
    libc = use.known.libc if use else ()
    if use is None or row.system != "linux" or not libc or row.libc in libc:
        return ""
    return f"{use.known.title} exists for {' and '.join(libc)} only, and {rid} is {row.libc}"


def refused(config: Config, rids: Sequence[str]) -> tuple[NotMade, ...]:
    """What is not made for some of those targets because it could never work there."""
    rows = [
        (name, kind, unsupplied(config, name, rid))
        for name, package in config.packages.items()
        for kind in _kinds(package)
        for rid in rids
    ]
    return tuple(NotMade(package=name, kind=kind, reason="no-runtime", message=why) for name, kind, why in rows if why)


def _kinds(package: Package) -> list[Kind]:
    kinds: list[Kind] = ["wheel"] if package.wheel is not None else []
    return [*kinds, "nupkg"] if package.nuget is not None else kinds
