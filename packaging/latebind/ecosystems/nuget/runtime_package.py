"""Assembles the runtime's own NuGet package from its wheel, for tests where no feed can be reached."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from latebind.backend.targets import Rid, target
from latebind.config.runtime import RuntimeUse
from latebind.ecosystems.nuget.nuspec import Nuspec, render_nuspec
from latebind.ecosystems.nuget.opc import write_nupkg
from latebind.errors import InputError
from latebind.semver import semantic_version
from latebind.system.archive import Entry
from latebind.tables.presets import RuntimePreset
from latebind.verify.cases.expand import STAND_IN

if TYPE_CHECKING:
    from latebind.verify.run.trial import Trial


def runtime_nupkg(trial: Trial, runtime: RuntimeUse, version: str) -> Path:
    """The runtime's nupkg around the library of its wheel, made once. Raises as Trial.library()."""
    rid, library = trial.case.target, trial.library(runtime, version)
    name = STAND_IN if trial.configured.stands_in else runtime.traits.python.distribution
    folder = trial.shared.folder / "nupkgs" / f"{name}-{version}-{rid}"
    with trial.shared.once(folder) as aside:
        if aside is not None:
            assemble_runtime_nupkg(library, version, aside, rid=rid, runtime=runtime.traits)
    return next(folder.glob("*.nupkg"))


def add_runtime(trial: Trial, runtime: RuntimeUse, version: str, folder: Path) -> None:
    """Add the runtime's unpacked nupkg to a folder of others. Raises as above.

    It has copies: a system takes two links to one file for one library, and scenarios load the wheel's as another one.
    """
    package = folder / runtime.traits.nuget.ids[0].lower()
    for name, path in _list_files(trial.library(runtime, version), trial.case.target, runtime.traits).items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, package / name)


def assemble_runtime_nupkg(library: Path, version: str, outdir: Path, *, rid: Rid, runtime: RuntimePreset) -> Path:
    """Write the runtime's own NuGet package, in its official layout, around the library of its PyPI wheel.

    It is for tests where no feed can be reached; its description says so. Libraries are not compressed in it. Raises
    InputError when one cannot be read.
    """
    try:
        contents = {name: path.read_bytes() for name, path in _list_files(library, rid, runtime).items()}
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


def _list_files(library: Path, rid: Rid, runtime: RuntimePreset) -> dict[str, Path]:
    """The libraries by their places in the package, as official ones have them."""
    files = {runtime.plain_name(target(rid).system): library}
    for glob in runtime.nuget.helpers:
        files |= {path.name: path for path in sorted(library.parent.glob(glob))}
    return {f"runtimes/{rid}/native/{name}": path for name, path in files.items()}
