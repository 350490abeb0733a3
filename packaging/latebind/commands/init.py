"""The command `init`: shows how a project links its runtime, as its build system says, and what to write."""

from __future__ import annotations

import shlex
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from latebind.errors import InputError
from loadcheck.text import DOCS, printable

if TYPE_CHECKING:
    import argparse

    from latebind.commands.common import Add

_OTHERS = {
    "meson.build": "Meson",
    "setup.py": "setuptools",
    "configure": "a configure script",
    "configure.ac": "autoconf",
    "Makefile": "make",
    "Cargo.toml": "Cargo",
}
"""The build systems that latebind does not ask, by the file at a project's top."""
_RUNS = "runs the project's own CMake code in a temporary folder, for at most {minutes} minutes"
_NO_LINK = "no target links a runtime that latebind knows, so there is nothing to bind late"
_DOWNLOAD = "To let the project download its dependencies: latebind init --download"
_INSTALL = "Install what CMake asks for, and run this again."
_THERE = "latebind.toml is there already"


def declare_init(add: Add) -> None:
    """`latebind init`."""
    init = add("init", _init, "show how a CMake project links its runtime, and make it bind late")
    init.add_argument("folder", type=Path, nargs="?", metavar="FOLDER", help="the project (default: this folder)")
    init.add_argument("--apply", action="store_true", help="write the latebind.toml that is shown")
    init.add_argument("--download", action="store_true", help="let CMake download the project's dependencies")


def _init(arguments: argparse.Namespace) -> int:
    from latebind.adopt.configured import LIMIT, configure
    from latebind.adopt.plan import list_facts, list_obstacles, plan_configuration

    folder = arguments.folder or arguments.project
    root = folder.resolve()
    if not root.is_dir():
        raise InputError("is not a folder", where=str(root), advice="Name the project's folder: latebind init FOLDER.")
    if not (root / "CMakeLists.txt").is_file():
        _print_lines(_describe_other(root))
        return 0
    _print_lines(_RUNS.format(minutes=int(LIMIT / 60)))
    with TemporaryDirectory() as scratch:
        configured = configure(root, Path(scratch).resolve(), may_download=arguments.download)
    if configured.error:
        _print_lines(*list_facts(configured))
        advice = _DOWNLOAD if configured.downloads and not arguments.download else _INSTALL
        raise InputError(f"CMake cannot configure the project:\n{configured.error}", where=str(root), advice=advice)
    obstacles = list(list_obstacles(configured))
    if obstacles:
        _print_lines("cannot bind late as it is:", *obstacles)
        return 0
    _print_lines(*(list_facts(configured) if configured.links else [_NO_LINK]))
    if not configured.links:
        return 0
    latebind = "latebind" if root == Path.cwd() else shlex.join(["latebind", "-C", str(folder)])
    if (root / "latebind.toml").is_file():
        _print_lines(_THERE, f"next: {latebind} pack")
        return 0
    planned = plan_configuration(root, configured)
    print(planned.render_diff(root), end="")
    if arguments.apply:
        planned.write()
        _print_lines("written: latebind.toml", f"next: {latebind} pack")
    else:
        _print_lines(f"next: {latebind} init --apply  # writes this file")
    return 0


def _describe_other(root: Path) -> str:
    """What to do with a project that has no CMakeLists.txt at its top."""
    system = next((title for file, title in _OTHERS.items() if (root / file).is_file()), "")
    built = f"builds with {system}, which latebind init does not ask" if system else "has no CMakeLists.txt"
    return f"{root.name} {built}. To bind its runtime late with its own build: {DOCS}/howto/other-builds.md"


def _print_lines(*lines: str) -> None:
    """Print what may hold names of an untrusted project."""
    for line in lines:
        print(printable(line))
