"""The command `sbom`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from latebind.commands.common import Add, new_folder

if TYPE_CHECKING:
    from latebind.inventory import Wheel


def declare_sbom(add: Add) -> None:
    """`latebind sbom`."""
    command = add(
        "sbom", _sbom, "add an SBOM to any wheel; it lists the libraries, and the projects whose code is in them"
    )
    command.add_argument(
        "wheels",
        type=Path,
        nargs="+",
        metavar="WHEEL",
        help="wheels; they stay as they are unless --output is their folder",
    )
    command.add_argument(
        "--output",
        type=new_folder,
        default=Path("wheelhouse"),
        metavar="DIR",
        help="folder for the new wheels (default: wheelhouse/)",
    )
    command.add_argument(
        "--part",
        action="append",
        default=[],
        metavar="NAME@VERSION[=SUPPLIER]",
        help="a project whose code is in the wheel; replaces what latebind found under that name; may be repeated",
    )
    formats = ("cyclonedx-1.6", "cyclonedx-1.7")
    command.add_argument(
        "--format", choices=formats, default=formats[0], help=f"format of the SBOM (default: {formats[0]})"
    )
    command.add_argument(
        "--force",
        action="store_true",
        help="also add the SBOM to a wheel that has one, is signed or is in the output folder; removes the signatures",
    )


def _sbom(arguments: argparse.Namespace) -> int:
    from latebind.inventory import attach_sbom, find_contents, read_part

    named = [read_part(text) for text in arguments.part]
    for path in arguments.wheels:
        wheel = find_contents(path, named)
        new_wheel = attach_sbom(wheel, arguments.output, arguments.format, force=arguments.force)
        print(new_wheel)
        _describe(wheel)
    return 0


def _describe(wheel: Wheel) -> None:
    """Print what is in the SBOM, and what it lacks."""
    from latebind.system.log import LOG
    from latebind.text import plural

    parts = ", ".join(f"{part.name} {part.version}" for part in wheel.bill.linked if part.version)
    print(f"  {plural(len(wheel.bill.libraries), 'native file')}; contains: {parts or 'nothing known'}")
    for name in wheel.unversioned:
        text = f"warning: {wheel.path.name} contains {name}, but its version is unknown"
        LOG.say(f"{text}\n  help: --part {name}@VERSION")
