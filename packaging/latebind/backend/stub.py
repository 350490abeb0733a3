"""Builds the static library that is linked in a runtime's place, and installs it where build systems look for that."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from latebind.backend import members
from latebind.backend.cache import user_cache
from latebind.backend.errors import BuildError
from latebind.backend.files import digest, replacing, write_changed, write_text
from latebind.backend.recipe import StubRecipe
from latebind.backend.run import Run, run, tail
from latebind.backend.targets import Target
from latebind.backend.toolchain import Toolchain, require
from latebind.backend.tree import hash_tree

IN_FRONT = "lib/cmake/latebind/inFront.cmake"
"""The file that puts a stub in front of other runtimes: a value of CMAKE_PROJECT_TOP_LEVEL_INCLUDES."""
DESCRIBED, SOURCES, INCLUDE = "described", "sources", "include"
"""The folders of a stub's generated files: what CMake calls LATEBIND_DESCRIBED, what it compiles, more headers."""
OWN, COMMON, PART, NAMES = "own.c", "common.c", "part.c", "names.json"
"""What is compiled: what this stub alone has, what all have, under the loader's names, and one function; the names."""
_CACHE = "objects"
_TIME_LIMIT = 600.0


def run_step(
    argv: Sequence[str | Path], folder: Path, environment: Mapping[str, str], problem: str, run: Run = run
) -> None:
    """Run one step of a build. Raises BuildError with the problem and the output, or ToolError."""
    ended = run(argv, cwd=folder, env=environment, timeout=_TIME_LIMIT, check=False)
    if ended.returncode != 0:
        raise BuildError(f"{problem}\n{tail(ended.output)}")


def install_stub(  # noqa: PLR0913  # what it is made of, for what, and where
    recipe: StubRecipe,
    texts: Mapping[str, str],
    *,
    loader: Path,
    target: Target,
    floor: str,
    toolchain: Toolchain,
    folder: Path,
    prefix: Path,
    headers: Path | None = None,
    run: Run = run,
) -> None:
    """Build a stub in `folder` and install it in `prefix`; `headers` is a folder of headers to install as well.

    On Linux, the object of what all stubs have is kept in the user's cache. Raises BuildError or ToolError.
    """
    cmake, tree = require("cmake"), folder / "tree"
    is_linux = target.system == "linux"
    write_changed(texts if is_linux else _rename_common(texts), folder)
    sources = folder / SOURCES
    kept = _place_common(texts, loader, target, floor, toolchain) if is_linux else None
    definitions = {
        "CMAKE_MAKE_PROGRAM": require("ninja"),
        "CMAKE_BUILD_TYPE": "Release",
        "LATEBIND_DESCRIBED": folder / DESCRIBED,
        "LATEBIND_OWN": sources / OWN,
        "LATEBIND_COMMON": kept if kept and kept.exists() else sources / COMMON,
        f"LATEBIND_MINIMUM_{recipe.name}": recipe.minimum,
        **recipe.names,
        **(_add_members(sources) if is_linux else {}),
        **({"LATEBIND_HEADERS": headers} if headers else {}),
    }
    arguments = [f"-D{name}={value}" for name, value in definitions.items()]
    arguments += toolchain.configure(target, floor, folder / "toolchain")
    steps: list[list[str | Path]] = [
        [cmake, "-S", loader / "stub", "-B", tree, "-G", "Ninja", *arguments],
        [cmake, "--build", tree],
        [cmake, "--install", tree, "--prefix", prefix],
    ]
    environment = toolchain.environment(tree)
    for argv in steps:
        run_step(argv, folder, environment, f"the stub of {recipe.title} could not be built for {target.rid}", run)
    if kept and not kept.exists():
        with replacing(kept) as aside:
            shutil.copyfile(next(tree.glob(f"CMakeFiles/latebind_common.dir/**/{COMMON}.o")), aside)
    for name, text in texts.items():
        if name.startswith(f"{INCLUDE}/"):
            write_text(prefix / "include" / "latebind" / name.removeprefix(f"{INCLUDE}/"), text)


def _place_common(
    texts: Mapping[str, str], loader: Path, target: Target, floor: str, toolchain: Toolchain
) -> Path | None:
    """Where the user's cache has the object of what all stubs have, or will; None without a cache."""
    cache = user_cache()
    made_of = [texts[f"{SOURCES}/{COMMON}"], hash_tree(loader, modes=False), target.rid, floor, toolchain.fingerprint()]
    return cache / _CACHE / f"{digest(made_of)}.o" if cache else None


def _rename_common(texts: Mapping[str, str]) -> dict[str, str]:
    """The files of a stub, of which none has the loader's names."""
    told, file = json.loads(texts[f"{SOURCES}/{NAMES}"]), f"{SOURCES}/{COMMON}"
    return {**texts, file: members.rename_text(texts[file], told["runtime"], told["public"])}


def _add_members(sources: Path) -> dict[str, str | Path]:
    """CMake's variables for the objects that are copies."""
    python = ";".join([sys.executable, "-I", str(Path(members.__file__))])
    part = sources / PART
    return {
        "LATEBIND_MEMBERS": python,
        "LATEBIND_NAMES": sources / NAMES,
        **({"LATEBIND_PART": part} if part.exists() else {}),
    }
