"""Builds the stand-in for a runtime."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from latebind.system.resources import folder as resource
from latebind.tables.targets import target
from latebind.verify.cases.standin import SOURCES
from latebind.verify.run.native import build_library_for

if TYPE_CHECKING:
    from pathlib import Path

    from latebind.config.runtime import RuntimeUse
    from latebind.verify.run.supply import Supply
    from loadcheck.model import Rid

STOOD_IN = "a library of latebind's own stood in for the runtime"


def build_stand_in(supply: Supply, runtime: RuntimeUse, version: str, rid: Rid) -> Path:
    """The library that says it is a version of the runtime, made once for a target. Raises NotRun without zig."""
    name = runtime.traits.plain_name(target(rid).system)
    folder = supply.folder / "stand-ins" / f"{runtime.name}-{version}-{rid}"
    with supply.once(folder) as aside:
        if aside is not None:
            tree = folder.with_suffix(".build")
            shutil.rmtree(tree, ignore_errors=True)
            defines = (
                f"-DSTAND_IN={runtime.preset}", f"-DNAME={name}", f"-DVERSION={version}",
                f"-DLOADER={resource('loader')}",
            )  # fmt: skip
            build_library_for(rid, supply.config.floor(target(rid)), SOURCES, tree, *defines)
            shutil.move(tree / name, aside / name)
            shutil.rmtree(tree)
    return folder / name
