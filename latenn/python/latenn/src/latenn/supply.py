"""For backend packages: where their library and their runtime lie, and which command installs the runtime.

The runtime is the one that Python would import; it is not imported. Messages name the distributions and the minimum of
the backend package's own extras, so that there is one number and one list.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

from latenn._installed import find_distribution, find_package

__all__ = ["Supply"]

_BELOW_PREFIX = "Library/bin" if sys.platform == "win32" else "lib"
"""Where conda-forge has the library of a package."""
_EXTRA = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)\s*>=\s*(?P<minimum>[0-9.]+)\s*;.*\bextra\s*==\s*[\"'](?P<extra>\w+)")


@dataclass(frozen=True)
class Supply:
    """What a backend package knows of itself; its methods are what latenn asks such a package for."""

    distribution: str
    """The backend's own distribution: `latenn-onnxruntime`."""
    package: str
    """The package that holds its library: `latenn_onnxruntime`."""
    folder: str
    """Where the runtime's package holds it: `onnxruntime/capi`."""
    library: str
    """A regular expression that the file names of the runtime match."""

    def library_directory(self) -> str:
        """The folder of the backend library: the package's, but for an editable installation, which has another."""
        folders = list(import_module(self.package).__path__)
        return next((folder for folder in folders if any(Path(folder).glob("*latenn_backend_*"))), folders[0])

    def runtime_directories(self) -> list[str]:
        """The folders with the shared runtime that belongs to the package which Python would import."""
        package, _, below = self.folder.partition("/")
        folders = []
        for location in map(Path, find_package(package)):
            prefixes = {Path(sys.prefix), Path(sys.base_prefix)}.intersection(location.parents)
            folders += [location / below, *(prefix / _BELOW_PREFIX for prefix in prefixes)]
        return [str(path) for path in folders if any(re.match(self.library, file.name) for file in path.glob("*"))]

    def runtime_advice(self, minimum: str | None = None) -> str:
        """The command that installs a usable runtime: an upgrade, a repair, or else the extra."""
        if installed := self._find_supplier():
            name, version, floor = installed
            needed = minimum or floor
            # What is new enough and yet of no use is damaged: an upgrade would find nothing to do.
            how = "--force-reinstall" if _numbers(version) >= _numbers(needed) else "--upgrade"
            return f'pip install {how} "{name}>={needed}"'
        extra = next((extra for _, _, extra in _suppliers(self.distribution)), "cpu")
        return f'pip install "{self.distribution}[{extra}]"'

    def runtime_note(self) -> str:
        """A sentence about an installed distribution whose wheel holds no shared runtime; "" when there is none."""
        installed = self._find_supplier()
        if installed is None or self.runtime_directories():
            return ""
        name, version, floor = installed
        return (
            f"{name} {version} is installed, but its wheel holds no shared library; "
            f"the first that does is {name} {floor}."
        )

    def _find_supplier(self) -> tuple[str, str, str] | None:
        """The first installed distribution that supplies the runtime, its version, and the minimum."""
        suppliers = ((name, _version(name), floor) for name, floor, _ in _suppliers(self.distribution))
        return next((supplier for supplier in suppliers if supplier[1]), None)


@cache
def _suppliers(distribution: str) -> tuple[tuple[str, str, str], ...]:
    """(distribution, minimum, extra) of each extra of a backend's distribution, in the order of the metadata."""
    installed = find_distribution(distribution)
    matches = [_EXTRA.match(line) for line in (installed and installed.requires) or []]
    return tuple((match["name"], match["minimum"], match["extra"]) for match in matches if match)


def _numbers(version: str) -> tuple[int, ...]:
    """`1.31.1rc2` as (1, 31, 1)."""
    match = re.match(r"\d+(\.\d+)*", version)
    return tuple(int(part) for part in match[0].split(".")) if match else ()


def _version(name: str) -> str:
    installed = find_distribution(name)
    return installed.version if installed else ""
