r"""Writes the table of a runtime's functions, packaging/latebind/tables/functions/<runtime>.toml, from its wheels.

    pip download --no-deps --dest wheels openvino==2025.0.0     # and each later version; the newest for all systems
    python -m ci.gen.functions openvino wheels 'openvino_c[.0-9]*(so|dylib|dll)[.0-9]*$' '^ov_' \\
        --texts '^ov_property_key'

A function's version is that of the oldest wheel for Linux that has it. A system lacks a function of a newest wheel if
no wheel for that system has it. Texts that are exported as variables are read from the newest wheel, which must run
here.
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
    from collections.abc import Iterable

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
    had: dict[str, set[str]] = {}
    newest_names: dict[str, set[str]] = {}
    for wheel in wheels:
        exports = [export for export in exports_of(wheel, arguments.library) if re.match(arguments.names, export.name)]
        is_linux, system = "linux" in wheel.name, system_of(wheel)
        functions = [  # PE does not tell functions and variables apart
            export.name
            for export in exports
            if not re.match(arguments.texts, export.name) and (export.kind == "func" or not is_linux)
        ]
        newest_names[system] = set(functions)
        had[system] = had.get(system, set()).union(functions)
        for name in functions:
            first.setdefault(name, release(wheel) if is_linux else UNKNOWN)
        if is_linux:
            texts = {export.name: "" for export in exports if re.match(arguments.texts, export.name)}
            newest = wheel
    if texts:
        texts = values(newest, arguments.library, sorted(texts))
    every = set[str]().union(*newest_names.values())
    absent = {system: sorted(every - names) for system, names in sorted(had.items())}
    path = TABLES / f"{arguments.runtime}.toml"
    origin = f"{arguments.runtime} {release(wheels[0])} to {version(newest)}"
    path.write_text(table(first, texts, absent, origin), encoding="utf-8")
    print(f"written: {path.name}, {len(first)} functions, {len(texts)} texts")
    return 0


def system_of(wheel: Path) -> str:
    """The system that a wheel is for."""
    return next((system for sign, system in (("macosx", "macos"), ("-win", "windows")) if sign in wheel.name), "linux")


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


def table(first: dict[str, str], texts: dict[str, str], absent: dict[str, list[str]], origin: str) -> str:
    """The file: functions by the version that has them first, those that systems lack, and texts by name."""
    lines = [f"# Written by ci/gen/functions.py from the wheels of {origin}; do not edit.", "[functions]"]
    for number in sorted(set(first.values()), key=Version):
        lines += list_names(f'"{number}"', (name for name in sorted(first) if first[name] == number))
    lacking = {system: names for system, names in absent.items() if names}
    lines += ["", "[absent]"] if lacking else []
    for system, names in lacking.items():
        lines += list_names(system, names)
    if texts:
        lines += ["", "[texts]", *(f'{name} = "{text}"' for name, text in sorted(texts.items()))]
    return "\n".join(lines) + "\n"


def list_names(key: str, names: Iterable[str]) -> list[str]:
    """The lines of one list."""
    text = ", ".join(f'"{name}"' for name in names)
    return [f"{key} = [", textwrap.fill(text, 118, initial_indent="  ", subsequent_indent="  "), "]"]


if __name__ == "__main__":
    raise SystemExit(main())
