"""The command `stub`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from latebind.commands.common import add_format, add_target, print_json
from latebind.errors import LatebindError

if TYPE_CHECKING:
    import argparse

    from latebind.build.stub import Stub
    from latebind.commands.common import Add
    from latebind.tables.presets import RuntimePreset


def declare_stub(add: Add) -> None:
    """`latebind stub`."""
    command = add("stub", _stub, "make the static library that programs link instead of a runtime")
    command.add_argument("runtime", metavar="RUNTIME", help="preset of the runtime: onnxruntime")
    add_target(command)
    command.add_argument(
        "--output", type=Path, required=True, metavar="DIR", help="folder for one of each target, such as linux-x64"
    )
    command.add_argument("--minimum", metavar="VERSION", help="oldest version to bind (default: the preset's)")
    command.add_argument(
        "--headers", type=Path, metavar="DIR", help="folder of the official headers to install as well"
    )
    command.add_argument(
        "--source", action="store_true", help="write one C file and a header instead, for any compiler"
    )
    add_format(command)


def _stub(arguments: argparse.Namespace) -> int:
    from latebind.system.parallel import each  # noqa: PLC0415  # --help must be quick

    output: Path = arguments.output.resolve()
    known, minimum = _chosen(arguments)
    if arguments.source:
        made = _sources(minimum, output)
    else:
        stubs = _stubs(arguments, known, minimum)
        each(lambda stub: stub.make(output / stub.target.rid), stubs)
        made = [output / stub.target.rid for stub in stubs]
    if arguments.format == "json":
        print_json({"paths": [str(path) for path in made]})
    else:
        print("\n".join(map(str, made)))
    return 0


def _sources(minimum: str, output: Path) -> list[Path]:
    """Write the stub as sources; the files."""
    from latebind.build.amalgamation import amalgamation  # noqa: PLC0415
    from latebind.system.archive import write_text  # noqa: PLC0415
    from latebind.system.resources import cmake_dir  # noqa: PLC0415

    texts = amalgamation(cmake_dir(), minimum)
    output.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        write_text(output / name, text)
    return [output / name for name in texts]


def _chosen(arguments: argparse.Namespace) -> tuple[RuntimePreset, str]:
    """The runtime, and the oldest version to bind. Raises LatebindError for one without a stub, or no version."""
    from latebind.config.described import RUNTIME_VERSION  # noqa: PLC0415
    from latebind.tables.presets import preset, with_stub  # noqa: PLC0415

    known = preset(arguments.runtime)
    if not known.stub:
        raise LatebindError(f"there is no stub of {known.title}", advice=f"These have one: {with_stub()}.")
    minimum = arguments.minimum or known.floor
    if not RUNTIME_VERSION.match(minimum):
        raise LatebindError(f"{minimum!r} is not a version", advice="Write it as 1.19 or 1.19.2.")
    return known, minimum


def _stubs(arguments: argparse.Namespace, known: RuntimePreset, minimum: str) -> list[Stub]:
    """One for each target. Raises LatebindError for a target or headers that are not there, NotRun without zig."""
    from latebind.build.stub import Stub  # noqa: PLC0415
    from latebind.build.toolchain import toolchain  # noqa: PLC0415
    from latebind.system.resources import cmake_dir  # noqa: PLC0415
    from latebind.tables.targets import host_rid, target, targets  # noqa: PLC0415

    headers = arguments.headers and arguments.headers.resolve()
    if headers and not list(headers.rglob("*.h")):
        raise LatebindError("holds no header", where=str(headers), advice="Name the folder of the official headers.")
    names = arguments.target or [host_rid()]
    rows = [target(name) for name in (targets() if "all" in names else dict.fromkeys(names))]
    return [
        Stub(
            runtime=known.name,
            minimum=minimum,
            target=row,
            floor=row.floor,
            toolchain=toolchain("zig", row),
            loader=cmake_dir(),
            headers=headers,
        )
        for row in rows
    ]
