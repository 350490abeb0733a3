"""Writes a wheel again with an SBOM in it (PEP 770)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from latebind.build.sbom import render_bill, sbom_name
from latebind.errors import InputError
from latebind.model import SbomFormat
from latebind.system.wheelfile import rewrite_wheel

if TYPE_CHECKING:
    from latebind.inventory.find import Wheel


def attach_sbom(wheel: Wheel, folder: Path, format_: SbomFormat, *, force: bool = False) -> Path:
    """Write the wheel with its SBOM into a folder, and return the new file; equal inputs give equal bytes.

    With `force` also where it has SBOMs, of which latebind's own is replaced, and where it is signed: the signature,
    which covers RECORD, is left out. Raises InputError without, for a wheel in that folder, and for one that cannot be
    written again.
    """
    if wheel.signatures and not force:
        raise InputError(
            f"is signed: {wheel.signatures[0]} covers RECORD, which an SBOM changes",
            where=str(wheel.path),
            advice="Add the SBOM before signing, or remove the signature with --force.",
        )
    if wheel.sboms and not force:
        raise InputError(
            f"has an SBOM already: {', '.join(wheel.sboms)}",
            where=str(wheel.path),
            advice="Add another SBOM with --force. This replaces only an SBOM that latebind added.",
        )
    output = folder / wheel.path.name
    if output.resolve() == wheel.path.resolve() and not force:
        raise InputError(
            "would be replaced by the new wheel",
            where=str(wheel.path),
            advice="Name another folder with --output, or replace the wheel with --force.",
        )
    name = f"{wheel.info}/sboms/{sbom_name(format_)}"
    data = render_bill(wheel.bill, format_)
    rewrite_wheel(wheel.path, output, f"{wheel.info}/RECORD", {name: data}, without=wheel.signatures)
    return output
