"""Every file that would be made, from which input; decides and runs nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from latebind.targets import target, wheel_tag

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from latebind.config import Config


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
        stages = [f"stage/{rid}/{package.component}" for rid in rids]
        if package.wheel is not None:
            stem = f"{config.wheel_name(name).replace('-', '_')}-{version}"
            for rid, stage in zip(rids, stages, strict=True):
                row = target(rid)
                tag = wheel_tag(row, config.floor(row))
                inputs = (stage, package.wheel.source)
                rows.append(Planned(file=f"{stem}-py3-none-{tag}.whl", kind="wheel", package=name, inputs=inputs))
            sources = (package.wheel.source, config.document.native.source, "loader", config.file.name)
            rows.append(Planned(file=f"{stem}.tar.gz", kind="sdist", package=name, inputs=sources))
        rows += _nupkgs(config, name, dict(zip(rids, stages, strict=True)))
    return tuple(rows)


def _nupkgs(config: Config, package: str, stages: Mapping[str, str]) -> list[Planned]:
    """One nupkg, or several when `split` says so outright: sizes, which decide otherwise, are not known here."""
    nuget, version = config.packages[package].nuget, config.project.version
    if nuget is None:
        return []
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
