"""For backend packages: where their library lies and who supplies their runtime, read from installed metadata.

No runtime is imported. The minimum and the distributions that supply the runtime are those of the backend package's
own extras, so that there is one number and one list.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

from latenn._installed import find_distribution

__all__ = ["Supply"]

_EXTRA = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)\s*>=\s*(?P<minimum>[0-9.]+)\s*;.*\bextra\s*==\s*[\"'](?P<extra>\w+)")


@dataclass(frozen=True)
class Supply:
    """What a backend package knows of itself; its methods are what latenn asks such a package for."""

    distribution: str
    """The backend's own distribution: `latenn-onnxruntime`."""
    package: str
    """The package that holds its library: `latenn_onnxruntime`."""
    folder: str
    """Where the wheels of the runtime hold it: `onnxruntime/capi`."""
    library: str
    """A regular expression that the file names of the runtime match."""

    def library_directory(self) -> str:
        """The folder of the backend library: the package's, but for an editable installation, which has another."""
        folders = list(import_module(self.package).__path__)
        return next((folder for folder in folders if any(Path(folder).glob("*latenn_backend_*"))), folders[0])

    def runtime_directories(self) -> list[str]:
        """The folder of the shared runtime of each installed distribution that has one."""
        folders = (self._runtime_folder(name) for name, _, _ in _suppliers(self.distribution))
        return list(dict.fromkeys(folder for folder in folders if folder))

    def runtime_advice(self, minimum: str | None = None) -> str:
        """The command that installs a usable runtime: an upgrade, a repair, or else the extra."""
        for name, floor, _ in _suppliers(self.distribution):
            version, needed = _version(name), minimum or floor
            if version:
                # What is new enough and yet of no use is damaged: an upgrade would find nothing to do.
                how = "--force-reinstall" if _numbers(version) >= _numbers(needed) else "--upgrade"
                return f'pip install {how} "{name}>={needed}"'
        extra = next((extra for _, _, extra in _suppliers(self.distribution)), "cpu")
        return f'pip install "{self.distribution}[{extra}]"'

    def runtime_note(self) -> str:
        """A sentence about an installed distribution whose wheel holds no shared runtime; "" when there is none."""
        for name, floor, _ in _suppliers(self.distribution):
            version = _version(name)
            if version and not self._runtime_folder(name):
                return (
                    f"{name} {version} is installed, but its wheel holds no shared library; "
                    f"the first that does is {name} {floor}."
                )
        return ""

    def _runtime_folder(self, name: str) -> str:
        """The folder in which a distribution's shared runtime lies; "" when it is not installed or has none."""
        installed = find_distribution(name)
        if installed is None:
            return ""
        folder = Path(str(installed.locate_file(self.folder)))
        try:
            return str(folder) if any(re.match(self.library, file.name) for file in folder.iterdir()) else ""
        except OSError:
            return ""


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
