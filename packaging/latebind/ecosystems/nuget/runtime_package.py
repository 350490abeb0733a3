"""Assembles the runtime's own NuGet package from its wheel, for tests where no feed can be reached."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from latebind.config.runtime import RuntimeUse
from latebind.ecosystems.nuget.nuspec import Nuspec, render_nuspec
from latebind.ecosystems.nuget.opc import write_nupkg
from latebind.errors import InputError
from latebind.semver import semantic_version
from latebind.system.archive import Entry
from latebind.tables.presets import RuntimePreset
from latebind.tables.targets import target
from latebind.verify.cases.standin import STAND_IN
from loadcheck.model import Rid

if TYPE_CHECKING:
    from latebind.verify.run.bench import Bench


def runtime_nupkg(bench: Bench, runtime: RuntimeUse, version: str) -> Path:
    """The runtime's nupkg around the library of its wheel, made once. Raises as Bench.library()."""
    rid, library = bench.case.target, bench.library(runtime, version)
    name = STAND_IN if bench.stands_in else runtime.traits.python.distribution
    folder = bench.supply.folder / "nupkgs" / f"{name}-{version}-{rid}"
    with bench.supply.once(folder) as aside:
        if aside is not None:
            assemble_runtime_nupkg(library, version, aside, rid=rid, runtime=runtime.traits)
    return next(folder.glob("*.nupkg"))


def assemble_runtime_nupkg(library: Path, version: str, outdir: Path, *, rid: Rid, runtime: RuntimePreset) -> Path:
    """Write the runtime's own NuGet package, in its official layout, around the library of its PyPI wheel.

    It is for tests where no feed can be reached; its description says so. Libraries are not compressed in it. Raises
    InputError when one cannot be read.
    """
    name = runtime.plain_name(target(rid).system)  # as in official packages
    files = {name: library}
    for glob in runtime.nuget.helpers:
        files |= {path.name: path for path in sorted(library.parent.glob(glob))}
    try:
        contents = {f"runtimes/{rid}/native/{name}": path.read_bytes() for name, path in files.items()}
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=str(library)) from error
    nuspec = Nuspec(
        id=runtime.nuget.ids[0],
        version=semantic_version(version),
        authors=("latebind tests",),
        description=f"{runtime.title} {version}, assembled for tests from the library of its PyPI wheel.",
        frameworks=("netstandard2.0",),
    )
    entries = [Entry(name=name, data=data, compressed=False) for name, data in contents.items()]
    path = outdir / f"{nuspec.id}.{nuspec.version}.nupkg"
    write_nupkg(path, nuspec, render_nuspec(nuspec), [*entries, Entry(name="lib/netstandard2.0/_._", data=b"")])
    return path
