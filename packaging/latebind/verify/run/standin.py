"""Builds what latebind itself brings to a test case: the stand-in for a runtime, and the library of another package."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from latebind.config.runtime import RuntimeUse
from latebind.system.resources import folder as resource
from latebind.tables.targets import target
from latebind.templates import render
from latebind.verify.cases.standin import SOURCES
from latebind.verify.run.native import build_library_for, build_tree
from loadcheck.model import Rid

if TYPE_CHECKING:
    from latebind.verify.cases.machine import Machine
    from latebind.verify.run.supply import Supply

STOOD_IN = "a library of latebind's own stood in for the runtime"
_BESIDE = "beside"


def build_stand_in(supply: Supply, floor: str, runtime: RuntimeUse, version: str, rid: Rid) -> Path:
    """The library that says it is a version of the runtime, made once for a target. Raises NotRun without zig."""
    name = runtime.traits.plain_name(target(rid).system)
    folder = supply.folder / "stand-ins" / f"{runtime.name}-{version}-{rid}"
    with supply.once(folder) as aside:
        if aside is not None:
            tree = folder.with_name(f"{folder.name}.build")  # with_suffix() would cut the name at the version's dot
            shutil.rmtree(tree, ignore_errors=True)
            defines = (
                f"-DSTAND_IN={runtime.preset}", f"-DNAME={name}", f"-DVERSION={version}",
                f"-DLOADER={resource('loader')}",
            )  # fmt: skip
            build_library_for(rid, floor, SOURCES, tree, *defines)
            shutil.move(tree / name, aside / name)
            shutil.rmtree(tree)
    return folder / name


def build_beside(supply: Supply, floor: str, machine: Machine) -> Path:
    """The library of a project that `latebind new` writes, once for a machine. Raises NotRun without a compiler."""
    folder = supply.folder / "stand-ins" / f"{_BESIDE}-{machine.rid}"
    with supply.once(folder) as aside:
        if aside is not None:
            for ending in ("c", "h"):
                text = render(f"new/library.{ending}.j2", name=_BESIDE, module=_BESIDE, macro=_BESIDE.upper())
                (aside / f"{_BESIDE}.{ending}").write_text(text, encoding="utf-8")
            defines = f"-DWRITTEN={aside}", f"-Dlatebind_DIR={resource('loader')}"
            build_tree(machine, floor, SOURCES.with_name(_BESIDE), aside / "build", *defines)
    return folder / "build" / f"{_BESIDE}.dll"
