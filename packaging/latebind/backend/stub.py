"""Builds the static library that is linked in a runtime's place, and installs it where build systems look for that."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from latebind.backend import members
from latebind.backend.errors import BuildError
from latebind.backend.files import write_changed, write_text
from latebind.backend.recipe import StubRecipe
from latebind.backend.run import Run, run, tail
from latebind.backend.targets import Target
from latebind.backend.toolchain import Toolchain, require

IN_FRONT = "lib/cmake/latebind/inFront.cmake"
"""The file that puts a stub in front of other runtimes: a value of CMAKE_PROJECT_TOP_LEVEL_INCLUDES."""
DESCRIBED, SINGLE, INCLUDE = "described", "single", "include"
"""The folders of a stub's generated files: what CMake calls LATEBIND_DESCRIBED, the stub as one file, more headers."""
PART, ROWS = "part.c", "rows.json"
"""Beside the stub as one file: one function, and what it knows of each."""
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

    Raises BuildError or ToolError.
    """
    cmake, tree = require("cmake"), folder / "tree"
    write_changed(texts, folder)
    single = folder / SINGLE
    definitions = {
        "CMAKE_MAKE_PROGRAM": require("ninja"),
        "CMAKE_BUILD_TYPE": "Release",
        "LATEBIND_DESCRIBED": folder / DESCRIBED,
        "LATEBIND_SINGLE": single / f"latebind_{recipe.name}.c",
        f"LATEBIND_MINIMUM_{recipe.name}": recipe.minimum,
        **recipe.names,
        **(_add_parts(single) if f"{SINGLE}/{PART}" in texts else {}),
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
    for name, text in texts.items():
        if name.startswith(f"{INCLUDE}/"):
            write_text(prefix / "include" / "latebind" / name.removeprefix(f"{INCLUDE}/"), text)


def _add_parts(single: Path) -> dict[str, str | Path]:
    """CMake's variables for the objects of a stub's functions."""
    python = ";".join([sys.executable, "-I", str(Path(members.__file__))])
    return {"LATEBIND_PART": single / PART, "LATEBIND_ROWS": single / ROWS, "LATEBIND_MEMBERS": python}
