"""Which Pythons an extension module supports: the names of module files and of Python's library, the stable ABI."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

PythonVersion = tuple[int, int]

OWN_ABI_TAG = re.compile(r"cp3[0-9]{1,2}t?")
"""The ABI tag of one CPython: `cp313t`."""
ABI3T = (3, 15)
"""The first CPython with a stable ABI of free-threaded builds, and the first that finds `.abi3t.so` (PEP 803)."""
_LAST_WITH_M = 7
_POSIX = re.compile(r"\.(?:cpython-3(?P<minor>\d+)(?P<flags>[a-z]*)|(?P<abi3>abi3t?))(?:-[\w-]+)?\.so$")
_WINDOWS = re.compile(r"(?:_d)?\.cp3(?P<minor>\d+)(?P<flags>[a-z]*)-\w+\.pyd$")

_PYTHON_LIBRARY = re.compile(
    r"(?:^|/)(?:python3(?P<dll>\d+)(?P<dll_t>t?)(?:_d)?\.dll$|libpython3\.(?P<so>\d+)(?P<so_t>t?)[a-z]*\.|"
    r"python(?P<mac_t>t?)\.framework/versions/3\.(?P<mac>\d+))"
)
"""How the library of one CPython is called on Windows, Linux and macOS, in lower case."""


@dataclass(frozen=True, slots=True)
class StableName:
    """A name of the stable ABI."""

    name: str
    since: PythonVersion
    is_data: bool


def floor_of(tag: str) -> PythonVersion | None:
    """The oldest CPython of a stable-ABI kind, the one of a Python tag: (3, 10) of `cp310-abi3` and `cp310`."""
    match = re.fullmatch(r"cp3([0-9]{1,2})(-abi3(\.abi3t)?)?", tag)
    return (3, int(match[1])) if match else None


def module_abi(file_name: str) -> str:
    """The ABI that a module's file name says it is for: `abi3`, `abi3t`, `cp311`, `cp313t`; "" when it says none.

    A plain `.pyd` states none: on Windows stable-ABI modules have that name, and others may have it. Until CPython 3.7,
    the ABI has an `m`, which modules on Windows leave out: `.cp37-win_amd64.pyd` is for cp37m (bpo-36707).
    """
    match = _POSIX.search(file_name) or _WINDOWS.search(file_name)
    if match is None:
        return ""
    if file_name.endswith(".pyd") and int(match["minor"]) <= _LAST_WITH_M and not match["flags"]:
        return f"cp3{match['minor']}m"
    return match.groupdict().get("abi3") or f"cp3{match['minor']}{match['flags']}"


def parse_linked_python(library: str) -> str:
    """The CPython 3 whose library a path names: `39` of python39.dll, `313t` of libpython3.13t.so.1.0; "" for none."""
    match = _PYTHON_LIBRARY.search(library.lower())
    if match is None:
        return ""
    parts = {key: text or "" for key, text in match.groupdict().items()}
    return f"3{parts['dll'] or parts['so'] or parts['mac']}{parts['dll_t'] or parts['so_t'] or parts['mac_t']}"


@cache
def stable_names() -> Mapping[str, StableName]:
    """The whole stable ABI by name."""
    from abi3info import DATAS, FUNCTIONS  # noqa: PLC0415  # 0.1 s, and most projects have no extension module

    return {
        symbol_info.symbol.name: StableName(
            name=symbol_info.symbol.name,
            since=(symbol_info.added.major, symbol_info.added.minor),
            is_data=is_data,
        )
        for is_data, table in ((False, FUNCTIONS), (True, DATAS))
        for symbol_info in table.values()
    }


def newest() -> PythonVersion:
    """The newest CPython whose stable ABI is known."""
    return max(symbol.since for symbol in stable_names().values())
