"""Makes the runtime's NuGet package for tests where no feed can be reached; it is never published."""

from __future__ import annotations

from typing import TYPE_CHECKING

from latebind.errors import InputError
from latebind.model import Rid
from latebind.nuget.nuspec import Nuspec, render, semantic_version
from latebind.nuget.opc import CoreProperties, write_nupkg
from latebind.system.archive import Entry
from latebind.tables.presets import preset
from latebind.tables.targets import target

if TYPE_CHECKING:
    from pathlib import Path

    from latebind.tables.presets import RuntimePreset


def assemble_runtime_nupkg(
    library: Path, version: str, outdir: Path, *, rid: str = "linux-x64", runtime: RuntimePreset | None = None
) -> Path:
    """Write the runtime's own NuGet package, in its official layout, around the library of its PyPI wheel.

    `library` is the shared runtime of the wheel (`onnxruntime/capi/libonnxruntime.so.1.X.Y`); in the package it has
    the name that the official one gives it (`libonnxruntime.so`). The description says what the package is.

    What the library's bytes are is not looked at: a scenario may want a broken one.

    Raises InputError when the library cannot be read.
    """
    known = runtime or preset("onnxruntime")
    system = target(Rid(rid)).system
    # The official packages use the name without a version: the last of each system's list.
    name = getattr(known.names, system)[-1]
    try:
        data = library.read_bytes()
    except OSError as error:
        raise InputError(f"the runtime's library cannot be read: {error.strerror}", where=str(library)) from error
    nuspec = Nuspec(
        id=known.nuget.ids[0],
        version=semantic_version(version),
        authors=("latebind tests",),
        description=f"{known.title} {version}, assembled for tests from the library of its PyPI wheel.",
        frameworks=("netstandard2.0",),
    )
    files = [
        Entry(name=f"runtimes/{rid}/native/{name}", data=data),
        Entry(name="lib/netstandard2.0/_._", data=b""),
    ]
    path = outdir / f"{nuspec.id}.{nuspec.version}.nupkg"
    properties = CoreProperties(
        identifier=nuspec.id, version=nuspec.version, creator=nuspec.authors[0], description=nuspec.description
    )
    write_nupkg(path, render(nuspec), files, properties)
    return path
