"""Hashes this latebind: its code, that of loadcheck, and the versions of its libraries, which are part of every key."""

from __future__ import annotations

import platform
import zlib
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import loadcheck
from latebind.backend.files import digest
from latebind.backend.tree import hash_tree
from latebind.system.resources import folder

PACKAGE = Path(__file__).resolve().parent
LOADCHECK = Path(loadcheck.__file__).resolve().parent
_LIBRARIES = ("abi3info", "build", "hatchling", "jinja2", "msgspec", "packaging")


def fingerprint() -> str:
    """A hash of the code of latebind and loadcheck, of the libraries that they use, and of this Python.

    All code counts, whether the caller reaches it or not: a list of what it can't reach would have to be kept.
    """
    return digest([hash_code(), platform.python_version(), zlib.ZLIB_RUNTIME_VERSION])


def hash_code() -> str:
    """A hash of the code of latebind, of loadcheck and of the libraries that they use."""
    return _hash_code(PACKAGE, LOADCHECK)


@cache
def _hash_code(*packages: Path) -> str:
    trees = (*packages, folder("templates"), folder("loader"))
    return digest([*map(hash_tree, trees), *library_versions()])


def library_versions() -> list[str]:
    """The libraries whose versions affect what is made, each with its version."""
    return [f"{name} {_version(name)}" for name in _LIBRARIES]


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
