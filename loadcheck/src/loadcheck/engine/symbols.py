"""Which versions of C libraries, libstdc++, libc++ and CPython define a symbol, by the lists in this folder."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from loadcheck.binary.floors import numeric
from loadcheck.engine.platforms import data

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadcheck.binary.floors import Version

_FIRST_CXX11 = (3, 4, 21)
"""GCC 5 has strings of another layout, in a namespace of its own."""


def is_libc_symbol(name: str, libc: Literal["glibc", "musl", "darwin"]) -> bool:
    """Whether a C library, of macOS libSystem, defines a symbol, in any version and on any architecture."""
    return name in _list_symbols(libc)


@cache
def _list_symbols(libc: str) -> frozenset[str]:
    """The names in a list that generate/libc_symbols.py or generate/darwin_symbols.py takes from ziglang."""
    _, _, names = Path(__file__).with_name(f"{libc}.txt").read_text("ascii").partition("\n")
    return frozenset(names.split())


def is_libm_alone(name: str, arch: str) -> bool:
    """Whether glibc defines a symbol in libm.so.6 and in none of its other libraries, on a processor."""
    table = _read_groups("libm")
    return name in table.get("*", ()) or name in table.get(arch, ())


def glibc_since(name: str) -> Version:
    """The glibc that first defined a symbol, if that is one after 2.17; () for others."""
    return _list_glibc_since().get(name, ())


@cache
def _list_glibc_since() -> Mapping[str, Version]:
    return {name: numeric(version) for version, names in _read_groups("glibcsince").items() for name in names}


def cxx_since(name: str) -> Version:
    """The GLIBCXX version that added a name of libstdc++ after GCC 4.8; () for older and unknown ones."""
    for version, names in _read_groups("libstdcxx").items():
        if name in names:
            return numeric(version.removeprefix("GLIBCXX_"))
    return _FIRST_CXX11 if "__cxx11" in name else ()


def musl_since(name: str) -> Version:
    """The musl that added a function, as far as platforms.toml knows; () for others."""
    return next((numeric(version) for version, names in data().musl_since.items() if name in names), ())


def macos_since(name: str, library: str) -> Version:
    """The macOS whose library first defined a symbol, as far as platforms.toml knows; () for others."""
    if library.startswith(("/usr/lib/libc++.", "/usr/lib/libc++abi.")):
        by_pattern = data().macos_cxx.items()
        return next((numeric(version) for version, forms in by_pattern if _compile(forms).match(name)), ())
    return _list_macos_since().get(name, ()) if library.startswith("/usr/lib/lib") else ()


@cache
def _list_macos_since() -> Mapping[str, Version]:
    """The names of libSystem and libobjc that only newer versions of macOS have."""
    groups = {**_read_groups("darwin"), "*": frozenset[str]()}
    headers = {name: numeric(version) for version, names in groups.items() for name in names}
    return headers | {name: numeric(version) for version, names in data().macos_libc.items() for name in names}


def pythons_with(name: str) -> frozenset[int]:
    """The minor versions of CPython 3 that export a name, if some do and others do not; none for other names."""
    return _list_pythons().get(name, frozenset())


@cache
def _list_pythons() -> Mapping[str, frozenset[int]]:
    groups = _read_groups("cpython").items()
    return {name: frozenset(map(int, key.split())) for key, names in groups for name in names}


@cache
def known_pythons() -> frozenset[int]:
    """The minor versions of CPython 3 whose names are known."""
    return frozenset().union(*_list_pythons().values())


@cache
def _read_groups(name: str) -> Mapping[str, frozenset[str]]:
    """The names in a list that a program in generate/ has written, by the line above them that ends with a colon."""
    groups: dict[str, set[str]] = {}
    key = ""
    for line in Path(__file__).with_name(f"{name}.txt").read_text("ascii").splitlines()[1:]:
        if line.endswith(":"):
            key = line[:-1]
        else:
            groups.setdefault(key, set()).update(line.split())
    return {key: frozenset(names) for key, names in groups.items()}


@cache
def _compile(forms: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(forms))
