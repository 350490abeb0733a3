"""The command `loader-source`."""

from __future__ import annotations

import argparse
from pathlib import Path

from latebind.commands.common import Add, add_format, new_folder, open_project, print_json
from latebind.errors import LatebindError


def declare_loader_source(add: Add) -> None:
    """`latebind loader-source`."""
    command = add("loader-source", _write, "write the loader as one C file, or write C files for described runtimes")
    command.add_argument(
        "--single", action="store_true", help="write latebind.c and latebind.h, the whole loader, for any build system"
    )
    command.add_argument(
        "--runtime",
        action="append",
        metavar="NAME",
        help="preset that --single includes; may be repeated (default: the runtimes of latebind.toml)",
    )
    add_format(command)
    command.add_argument(
        "output",
        type=new_folder,
        metavar="FOLDER",
        help="folder to write to; without --single, pass it to CMake as -DLATEBIND_DESCRIBED=FOLDER",
    )


def _write(arguments: argparse.Namespace) -> int:
    output = arguments.output.resolve()
    paths = _single(arguments, output) if arguments.single or arguments.runtime else _for_cmake(arguments, output)
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
    from latebind.config.runtime import RuntimeUse
    from latebind.native.loadersource import write_single
    from latebind.tables.presets import preset

    if not arguments.single:
        raise LatebindError("--runtime is for --single", advice="Add --single; CMake has the presets already.")
    if arguments.runtime:
        names = dict.fromkeys(arguments.runtime)
        return write_single([RuntimeUse(preset=name, minimum=preset(name).floor) for name in names], output)
    return write_single(open_project(arguments).config.document.runtime, output)
