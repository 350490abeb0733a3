"""The command `loader-source`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from latebind.commands.common import Add, add_format, new_folder, open_project, print_json
from latebind.errors import LatebindError

if TYPE_CHECKING:
    from latebind.config.runtime import RuntimeUse


def declare_loader_source(add: Add) -> None:
    """`latebind loader-source`."""
    command = add(
        "loader-source", _write, "write the loader as one C file, C files for described runtimes, or a Python module"
    )
    form = command.add_mutually_exclusive_group()
    form.add_argument(
        "--single", action="store_true", help="write latebind.c and latebind.h, the whole loader, for any build system"
    )
    form.add_argument(
        "--python", action="store_true", help="write _runtime.py, with which a Python package finds the runtime"
    )
    command.add_argument(
        "--runtime",
        action="append",
        metavar="NAME",
        help="preset, for --single and --python; may be repeated (default: the runtimes of latebind.toml)",
    )
    add_format(command)
    command.add_argument(
        "output",
        type=new_folder,
        metavar="FOLDER",
        help="folder to write to; without an option, pass it to CMake as -DLATEBIND_DESCRIBED=FOLDER",
    )


def _write(arguments: argparse.Namespace) -> int:
    output = arguments.output.resolve()
    if arguments.runtime and not (arguments.single or arguments.python):
        raise LatebindError(
            "--runtime is for --single and --python", advice="Add --single; CMake has the presets already."
        )
    write = _single if arguments.single else _python if arguments.python else _for_cmake
    paths = write(arguments, output)
    if arguments.format == "json":
        print_json({"files": [str(path) for path in paths]})
        return 0
    for path in paths:
        print(path)
    return 0


def _for_cmake(arguments: argparse.Namespace, output: Path) -> list[Path]:
    from latebind.native.loadersource import write_sources

    config = open_project(arguments).config
    paths = write_sources(config, output)
    if not paths:
        raise LatebindError(
            "no runtime is described here, and presets need no files",
            where=config.file.name,
            advice="Describe one below [[runtime]] and [runtime.describe]; see examples/own-runtime.",
        )
    return paths


def _single(arguments: argparse.Namespace, output: Path) -> list[Path]:
    from latebind.native.loadersource import write_single

    return write_single(_choose_runtimes(arguments), output)


def _python(arguments: argparse.Namespace, output: Path) -> list[Path]:
    from latebind.adopt.runtime_module import FILE_NAME, render_runtime_module
    from latebind.backend.files import write_changed

    runtimes = _choose_runtimes(arguments)
    names = [FILE_NAME if len(runtimes) == 1 else f"_{runtime.name}{FILE_NAME}" for runtime in runtimes]
    texts = [render_runtime_module(runtime.traits) for runtime in runtimes]
    return write_changed(dict(zip(names, texts, strict=True)), output)


def _choose_runtimes(arguments: argparse.Namespace) -> list[RuntimeUse]:
    """The presets that are named, or else the runtimes of the project."""
    from latebind.config.runtime import RuntimeUse
    from latebind.tables.presets import preset

    named = dict.fromkeys(arguments.runtime or ())
    if named:
        return [RuntimeUse(preset=name, minimum=preset(name).floor) for name in named]
    return list(open_project(arguments).config.document.runtime)
