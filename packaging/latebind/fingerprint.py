"""Hashes this latebind: its code, that of loadcheck, and the versions of its libraries, which are part of every key."""

from __future__ import annotations

import platform
import zlib
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import loadcheck
from latebind.backend.files import digest
from latebind.backend.tree import hash_file, hash_tree, is_scratch
from latebind.system.resources import folder

PACKAGE = Path(__file__).resolve().parent
LOADCHECK = Path(loadcheck.__file__).resolve().parent
OF_AUDITS = ("loadcheck/api.py", "loadcheck/audit.py", "loadcheck/checks", "loadcheck/cli.py", "loadcheck/reports")
"""The parts of loadcheck that only an audit reaches, for `fingerprint()`."""
_LIBRARIES = ("abi3info", "build", "hatchling", "jinja2", "msgspec", "packaging")


def fingerprint(*others: str) -> str:
    """A hash of latebind's code, templates and loader, of the libraries that it uses, and of this Python.

    `others` are the top-level folders and modules that the caller cannot reach (`verify`, `loadcheck/cli.py`).
    Everything else counts, so that a new module is never missed. tests/test_reach.py compares these lists with the
    imports.
    """
    return digest([hash_code(*others), platform.python_version(), zlib.ZLIB_RUNTIME_VERSION])


def hash_code(*others: str) -> str:
    """The same for what doesn't depend on the version of Python."""
    return _fingerprint(PACKAGE, LOADCHECK, others)


@cache
def _fingerprint(package: Path, auditor: Path, others: tuple[str, ...]) -> str:
    paths = {path.name: path for path in package.iterdir()}
    paths |= {f"loadcheck/{path.name}": path for path in auditor.iterdir()}
    chosen = sorted((name, path) for name, path in paths.items() if name not in others and not is_scratch(path.name))
    parts = [f"{name} {hash_tree(path) if path.is_dir() else hash_file(path)}" for name, path in chosen]
    parts += [hash_tree(folder("templates")), hash_tree(folder("loader"))]
    return digest([*parts, *library_versions()])


def library_versions() -> list[str]:
    """The libraries whose versions affect what is made, each with its version."""
    return [f"{name} {_version(name)}" for name in _LIBRARIES]


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
