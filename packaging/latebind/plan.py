"""Every file that would be made, from which input; decides and runs nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from latebind.model import SYMBOLS_SUFFIX, NotMade
from latebind.nuget.nuspec import semantic_version
from latebind.pythonabi import abi_tags
from latebind.targets import host_rid, target, wheel_tag

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from latebind.config import Config
    from latebind.document import Package
    from latebind.model import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """One file that `latebind pack` would make."""

    file: str
    kind: str
    package: str
    inputs: tuple[str, ...]


def plan(config: Config, rids: Sequence[str]) -> tuple[Planned, ...]:
    """The files of all packages for those targets, in the order of the configuration."""
    version = config.project.version
    rows: list[Planned] = []
    for name, package in config.packages.items():
        suited = [rid for rid in rids if not unsupplied(config, name, rid)]
        stages = [f"stage/{rid}/{package.component}" for rid in suited]
        if package.wheel is not None:
            stem = f"{config.wheel_name(name).replace('-', '_')}-{version}"
            abi = abi_tags(package.wheel.kind)
            for rid, stage in zip(suited, stages, strict=True):
                if package.wheel.kind == "cpython" and rid != host_rid():
                    continue  # that machine's own CPython makes it
                row = target(rid)
                tag = wheel_tag(row, config.floor(row))
                inputs = (stage, package.wheel.source)
                rows.append(Planned(file=f"{stem}-{abi}-{tag}.whl", kind="wheel", package=name, inputs=inputs))
            sources = (package.wheel.source, config.document.native.source, "loader", config.file.name)
            rows.append(Planned(file=f"{stem}.tar.gz", kind="sdist", package=name, inputs=sources))
        rows += _nupkgs(config, name, dict(zip(suited, stages, strict=True)))
    if config.document.native.symbols:
        components = sorted({package.component for package in config.packages.values()})
        rows += [
            Planned(
                file=symbols_file(config, rid),
                kind="symbols",
                package=config.project.name,
                inputs=tuple(f"stage/{rid}/{one}" for one in components),
            )
            for rid in rids
        ]
    return tuple(rows)


def symbols_file(config: Config, rid: str) -> str:
    """The place of a target's archive of debug symbols below dist/."""
    return f"symbols/{config.project.name}-{config.project.version}-{rid}{SYMBOLS_SUFFIX}"


def _nupkgs(config: Config, package: str, stages: Mapping[str, str]) -> list[Planned]:
    """One nupkg, or several when `split` says so outright: sizes, which decide otherwise, are not known here."""
    nuget = config.packages[package].nuget
    if nuget is None or not stages:
        return []
    version = semantic_version(config.project.version)
    managed = (nuget.managed,) if nuget.managed else ()
    split = nuget.split is True
    whole = (config.file.name, *managed) if split else (*stages.values(), *managed)
    rows = [Planned(file=f"{nuget.id}.{version}.nupkg", kind="nupkg", package=package, inputs=whole)]
    rows += [
        Planned(file=f"{nuget.id}.runtime.{rid}.{version}.nupkg", kind="nupkg", package=package, inputs=(stage,))
        for rid, stage in (stages.items() if split else ())
    ]
    if managed:
        rows.append(Planned(file=f"{nuget.id}.{version}.snupkg", kind="snupkg", package=package, inputs=managed))
    return rows


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
