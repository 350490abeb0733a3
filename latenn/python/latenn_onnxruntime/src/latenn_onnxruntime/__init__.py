"""latenn's backend for ONNX Runtime: tells latenn where the backend library lies and where a runtime may lie.

Everything is read from installed metadata; no runtime is imported. The minimum and the distributions that supply the
runtime are those of this package's own extras, so that there is one number and one list.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import metadata
from pathlib import Path

__all__ = ["library_directory", "runtime_advice", "runtime_directories", "runtime_note"]

_DISTRIBUTION = "latenn-onnxruntime"
_FOLDER = "onnxruntime/capi"
_LIBRARY = re.compile(r"^(libonnxruntime\.so.*|libonnxruntime\..*dylib|onnxruntime\.dll)$")
_EXTRA = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)\s*>=\s*(?P<minimum>[0-9.]+)\s*;\s*extra\s*==\s*[\"'](?P<extra>\w+)")


def library_directory() -> str:
    """The folder of the backend library: this one, but for an editable installation, which keeps it elsewhere."""
    own = str(Path(__file__).parent)
    return next((folder for folder in __path__ if any(Path(folder).glob("*latenn_backend_onnxruntime.*"))), own)


def runtime_directories() -> list[str]:
    """The folder of the shared runtime of each installed distribution that has one."""
    folders = (_runtime_folder(name) for name, _ in _suppliers())
    return list(dict.fromkeys(folder for folder in folders if folder))


def runtime_advice(minimum: str | None = None) -> str:
    """The command that brings a usable runtime: an upgrade of what is installed, a repair of it, else the extra."""
    for name, floor in _suppliers():
        version, needed = _version(name), minimum or floor
        if version:
            # What is new enough and yet of no use is damaged: an upgrade would find nothing to do.
            how = "--force-reinstall" if _numbers(version) >= _numbers(needed) else "--upgrade"
            return f'pip install {how} "{name}>={needed}"'
    return f'pip install "{_DISTRIBUTION}[cpu]"'


def runtime_note() -> str:
    """A sentence about an installed distribution whose wheel holds no shared runtime; "" when there is none."""
    for name, floor in _suppliers():
        version = _version(name)
        if version and not _runtime_folder(name):
            return (
                f"{name} {version} is installed, but its wheel holds no shared library; "
                f"the first that does is {name} {floor}."
            )
    return ""


@cache
def _suppliers() -> tuple[tuple[str, str], ...]:
    """(distribution, minimum) of each extra, in the order of the metadata."""
    try:
        requires = metadata.requires(_DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        requires = []
    matches = [_EXTRA.match(line) for line in requires]
    return tuple((match["name"], match["minimum"]) for match in matches if match)


def _numbers(version: str) -> tuple[int, ...]:
    """`1.31.1rc2` as (1, 31, 1)."""
    found = re.match(r"\d+(\.\d+)*", version)
    return tuple(int(part) for part in found[0].split(".")) if found else ()


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _runtime_folder(name: str) -> str:
    """The folder in which a distribution's shared runtime lies; "" when it is not installed or has none."""
    try:
        folder = Path(str(metadata.distribution(name).locate_file(_FOLDER)))
        return str(folder) if any(_LIBRARY.match(file.name) for file in folder.iterdir()) else ""
    except (metadata.PackageNotFoundError, OSError):
        return ""
