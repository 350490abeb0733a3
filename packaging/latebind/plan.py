"""Every file that would be made, from which input; decides and runs nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from latebind.pythonabi import abi_tags
from latebind.targets import host_rid, target, wheel_tag

if TYPE_CHECKING:
    from collections.abc import Sequence

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
            abi = abi_tags(package.wheel.kind)
            for rid, stage in zip(rids, stages, strict=True):
                if package.wheel.kind == "cpython" and rid != host_rid():
                    continue  # that machine's own CPython makes it
                row = target(rid)
                tag = wheel_tag(row, config.floor(row))
                inputs = (stage, package.wheel.source)
                rows.append(Planned(file=f"{stem}-{abi}-{tag}.whl", kind="wheel", package=name, inputs=inputs))
            sources = (package.wheel.source, config.document.native.source, "loader", config.file.name)
            rows.append(Planned(file=f"{stem}.tar.gz", kind="sdist", package=name, inputs=sources))
        if package.nuget is not None:
            managed = (package.nuget.managed,) if package.nuget.managed else ()
            file = f"{package.nuget.id}.{version}.nupkg"
            rows.append(Planned(file=file, kind="nupkg", package=name, inputs=(*stages, *managed)))
    return tuple(rows)
