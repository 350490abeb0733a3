"""The command `loader-source`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from latebind.commands.common import add_format, configured, print_json
from latebind.errors import LatebindError

if TYPE_CHECKING:
    import argparse

    from latebind.commands.common import Add


def declare_loader_source(add: Add) -> None:
    """`latebind loader-source`."""
    command = add("loader-source", _write, "write C files for described runtimes, to build with plain CMake")
    add_format(command)
    command.add_argument(
        "output", type=Path, metavar="FOLDER", help="folder to write to; then cmake -DLATEBIND_DESCRIBED=FOLDER"
    )


def _write(arguments: argparse.Namespace) -> int:
    from latebind.build.loadersource import write_sources  # noqa: PLC0415  # --help must be quick

    config, _ = configured(arguments)
    made = write_sources(config, arguments.output.resolve())
    if not made:
        raise LatebindError(
            "no runtime is described here, and presets need no files",
            where=config.file.name,
            advice="Describe one below [[runtime]] and [runtime.describe]; see examples/own-runtime.",
        )
    if arguments.format == "json":
        print_json({"files": [str(path) for path in made]})
        return 0
    for path in made:
        print(path)
    return 0
