"""The command `loader-source`: arguments, one call, printing; decides nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from latebind.commands.common import configured
from latebind.errors import LatebindError

if TYPE_CHECKING:
    import argparse

    from latebind.commands.common import Add


def declare_loader_source(add: Add) -> None:
    """`latebind loader-source`."""
    command = add("loader-source", _write, "C files for the runtimes that latebind.toml describes, for CMake alone")
    command.add_argument("output_dir", type=Path, metavar="FOLDER", help="where they go; -DLATEBIND_DESCRIBED=FOLDER")


def _write(arguments: argparse.Namespace) -> int:
    from latebind.build.loadersource import write_sources  # noqa: PLC0415  # --help must be quick

    config, _ = configured(arguments)
    made = write_sources(config, arguments.output_dir.resolve())
    if not made:
        raise LatebindError(
            "no runtime is described here, and presets need no files",
            where=config.file.name,
            advice="Describe one below [[runtime]] and [runtime.describe]; see examples/own-runtime.",
        )
    for path in made:
        print(path)
    return 0
