"""Compares the Pythons that a wheel is installed for with those that its modules are for, as a set."""

from __future__ import annotations

import re
from contextlib import suppress
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING

from packaging.specifiers import SpecifierSet

from loadcheck.engine.wording import join_names
from loadcheck.tables import pythonabi

if TYPE_CHECKING:
    from collections.abc import Collection

    from loadcheck.readers.contents import Contents, File, WheelName

_OLDEST, _LATEST = 10, 15
"""The minor versions of CPython 3 that get fixes in November 2026 (PEP 619, PEP 790). Nobody misses older ones."""
_VERSION = re.compile(r"(?<![\d.])3[._]?(?P<minor>\d{1,2})(?=[._-]\D)")
_PATCHES = ("0", "99")


def find_missing(package: Contents, wheel: WheelName, served: Collection[int]) -> list[int]:
    """The minor versions for which a wheel is installed, and that are not served.

    Those before the first that is served count only while CPython maintains them.
    """
    first = min(_OLDEST, *served) if served else _OLDEST
    return sorted(minor for minor in list_promised(package, wheel) if minor not in served and minor >= first)


def list_served(package: Contents, file: File) -> list[int] | None:
    """The minor versions that find a module by the names of its files; None if every Python does."""
    served: set[int] = set()
    for name in package.twins[file.folder, file.stem]:
        abi = pythonabi.module_abi(name)
        if abi in ("", "abi3", "abi3t"):
            return None
        digits = re.fullmatch(r"cp3(\d+)m?", abi)
        served |= {int(digits[1])} if digits else set()
    return sorted(served)


def list_versioned_twins(package: Contents, file: File) -> list[int] | None:
    """The minor versions of libraries whose names differ in that alone (`shim_3.9.so`, `shim_3.10.so`).

    The package's own code chooses one of them. None where a library has no such twin, or is a module.
    """
    if not _VERSION.search(file.base) or pythonabi.module_abi(file.base):
        return None
    same = _VERSION.sub("3", file.base)
    bases = [other.base for other in package.native if other.folder == file.folder]
    twins = [base for base in bases if _VERSION.sub("3", base) == same]
    minors = {int(match["minor"]) for base in twins for match in _VERSION.finditer(base)}
    return sorted(minors) if len(minors) > 1 else None


def format_minors(minors: Collection[int]) -> str:
    """Minor versions for people: `CPython 3.9, 3.11 to 3.13 and 3.15`."""
    runs = [[*run] for _, run in groupby(enumerate(sorted(minors)), lambda pair: pair[1] - pair[0])]
    names = [f"3.{run[0][1]}" if len(run) == 1 else f"3.{run[0][1]} to 3.{run[-1][1]}" for run in runs]
    return f"CPython {join_names(names)}"


def format_tags(wheel: WheelName) -> str:
    """The Python and ABI tags of a wheel, as in its file name."""
    return f"{'.'.join(wheel.pythons)}-{'.'.join(wheel.abis)}"


def requires_python(package: Contents) -> str:
    """What METADATA says in Requires-Python; "" where it says nothing, or cannot be read."""
    return "".join((package.metadata or {}).get("requires_python", ())[:1])


@lru_cache(maxsize=1)  # asked for each module
def admitted_pythons(limits: str) -> SpecifierSet:
    """The versions of Python that Requires-Python admits: all if it cannot be read."""
    with suppress(ValueError):
        return SpecifierSet(limits)
    return SpecifierSet()


def list_promised(package: Contents, wheel: WheelName) -> set[int]:
    """The minor versions for which installers take a wheel, by its tags and Requires-Python."""
    tagged: set[int] = set()
    for tag in wheel.pythons:
        version = pythonabi.floor_of(tag)
        if generic := re.fullmatch(r"py3(\d*)", tag):  # py312 is for 3.12 and newer
            tagged |= set(range(int(generic[1] or 0), _LATEST + 1))
        elif version:
            is_open = not {"abi3", "abi3t"}.isdisjoint(wheel.abis)
            tagged |= set(range(version[1], _LATEST + 1)) if is_open else {version[1]}
    admitted = admitted_pythons(requires_python(package))
    return {minor for minor in tagged if any(admitted.contains(f"3.{minor}.{patch}") for patch in _PATCHES)}
