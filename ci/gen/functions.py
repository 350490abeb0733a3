r"""Writes the table of a runtime's functions, packaging/latebind/tables/functions/<runtime>.toml, from its wheels.

    pip download --no-deps --dest wheels openvino==2025.0.0     # and each later version; the newest for all systems
    python -m ci.gen.functions openvino wheels 'openvino_c[.0-9]*(so|dylib|dll)[.0-9]*$' '^ov_' \\
        --texts '^ov_property_key'

A function's version is that of the oldest wheel for Linux that has it. Texts that are exported as variables are read
from the newest wheel, which must run here.
"""

from __future__ import annotations

import argparse
import ctypes
import re
import tempfile
import textwrap
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.utils import parse_wheel_filename
from packaging.version import Version

from loadcheck.facts import read_image

if TYPE_CHECKING:
    from loadcheck.binary.image import Export

TABLES = Path(__file__).resolve().parents[2] / "packaging" / "latebind" / "tables" / "functions"
UNKNOWN = "0.0"
"""The version of functions that no wheel for Linux has."""


def main() -> int:
    """Read the wheels and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runtime")
    parser.add_argument("wheels", type=Path)
    parser.add_argument("library", help="what the path of the library in a wheel matches")
    parser.add_argument("names", help="what a name must match")
    parser.add_argument("--texts", default="$.", help="what a name of a variable matches that points at a text")
    arguments = parser.parse_args()
    wheels = sorted(arguments.wheels.glob("*.whl"), key=lambda path: ("linux" not in path.name, version(path)))
    first: dict[str, str] = {}
    texts: dict[str, str] = {}
    for wheel in wheels:
        exports = [export for export in exports_of(wheel, arguments.library) if re.match(arguments.names, export.name)]
        is_linux = "linux" in wheel.name
        for export in exports:  # PE does not tell functions and variables apart
            if not re.match(arguments.texts, export.name) and (export.kind == "func" or not is_linux):
                first.setdefault(export.name, release(wheel) if is_linux else UNKNOWN)
        if is_linux:
            texts = {export.name: "" for export in exports if re.match(arguments.texts, export.name)}
            newest = wheel
    if texts:
        texts = values(newest, arguments.library, sorted(texts))
    path = TABLES / f"{arguments.runtime}.toml"
    path.write_text(
        table(first, texts, f"{arguments.runtime} {release(wheels[0])} to {version(newest)}"), encoding="utf-8"
    )
    print(f"written: {path.name}, {len(first)} functions, {len(texts)} texts")
    return 0


def version(wheel: Path) -> Version:
    """The version of a wheel."""
    return parse_wheel_filename(wheel.name)[1]


def release(wheel: Path) -> str:
    """Its version as the loader writes it: 2025.0, 2.1.3."""
    number = version(wheel)
    return f"{number.major}.{number.minor}" + (f".{number.micro}" if number.micro else "")


def exports_of(wheel: Path, pattern: str) -> tuple[Export, ...]:
    """What the library of a wheel exports."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if re.search(pattern, name))
        image = read_image(archive.read(name), name)
        return image.exports if image else ()


def values(wheel: Path, pattern: str, names: list[str]) -> dict[str, str]:
    """The texts that variables of the library point at."""
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
        (name,) = (name for name in archive.namelist() if re.search(pattern, name))
        library = ctypes.CDLL(str(Path(folder) / name))
        return {name: (ctypes.c_char_p.in_dll(library, name).value or b"").decode() for name in names}


def table(first: dict[str, str], texts: dict[str, str], origin: str) -> str:
    """The file: functions by the version that has them first, and texts by name."""
    lines = [f"# Written by ci/gen/functions.py from the wheels of {origin}; do not edit.", "[functions]"]
    for number in sorted(set(first.values()), key=Version):
        names = ", ".join(f'"{name}"' for name in sorted(first) if first[name] == number)
        lines += [f'"{number}" = [', textwrap.fill(names, 118, initial_indent="  ", subsequent_indent="  "), "]"]
    if texts:
        lines += ["", "[texts]", *(f'{name} = "{text}"' for name, text in sorted(texts.items()))]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    raise SystemExit(main())
