"""Which Pythons an extension module supports: kinds of wheels, names of module files, and the stable ABI."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from packaging.tags import cpython_tags

if TYPE_CHECKING:
    from collections.abc import Mapping

PythonVersion = tuple[int, int]

WHEEL_KINDS = re.compile(r"^(py3-none|cpython|cp3([0-9]|[1-9][0-9])-abi3(\.abi3t)?)$")
"""The kinds of wheels: any Python; only the CPython that builds it; CPython 3.X and newer by the stable ABI.

With `.abi3t`, free-threaded ones too (PEP 803).
"""
OWN_ABI = re.compile(r"cp3(?P<minor>[0-9]{1,2})-cp3(?P=minor)(?P<threaded>t?)")
"""The kind of one CPython's own ABI, with its version: `cp310-cp310`, `cp313-cp313t`."""
OWN_ABI_TAG = re.compile(r"cp3[0-9]{1,2}t?")
"""The ABI tag of such a kind: `cp313t`."""
PYTHONS = re.compile(r"^3\.([89]|[1-9][0-9])t?$")
"""A minor version of CPython, `t` for a free-threaded build: `3.10`, `3.13t`."""
_OLDEST = (3, 2)
"""PEP 384."""
ABI3T = (3, 15)
"""The first CPython with a stable ABI of free-threaded builds, and the first that finds `.abi3t.so` (PEP 803)."""
_LAST_WITH_M = 7
_ON_WINDOWS = frozenset({"", "MS_WINDOWS", "PY_HAVE_THREAD_NATIVE_ID"})
"""Conditions that hold for every CPython on Windows, by the `windows` keys of Misc/stable_abi.toml."""
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
    condition: str
    """The feature macro of CPython that must be defined for it: `HAVE_FORK`; "" for none."""


def floor_of(tag: str) -> PythonVersion | None:
    """The oldest CPython of a stable-ABI kind, the one of a Python tag: (3, 10) of `cp310-abi3` and `cp310`."""
    match = re.fullmatch(r"cp3([0-9]{1,2})(-abi3(\.abi3t)?)?", tag)
    return (3, int(match[1])) if match else None


def is_threaded(kind: str) -> bool:
    """Whether modules of a kind are for free-threaded CPython as well: `cp315-abi3.abi3t`."""
    return kind.endswith("abi3t")


def own_abi_kind(python: str) -> str:
    """The kind of wheels for one CPython: `cp313-cp313t` for `3.13t`."""
    major, minor = python.rstrip("t").split(".")
    return f"cp{major}{minor}-cp{major}{minor}{'t' * python.endswith('t')}"


def own_abi_python(kind: str) -> str:
    """The CPython of such a kind: `3.13t` for `cp313-cp313t`; "" for every other kind."""
    match = OWN_ABI.fullmatch(kind)
    return f"3.{match['minor']}{match['threaded']}" if match else ""


def kind_problem(package: str, kind: str, others: str, *, elsewhere: str) -> tuple[str, str] | None:
    """What is wrong with the kind of a package's wheel, and what to do; None if nothing is wrong.

    `others` is the kind of the first package that makes Python modules, `elsewhere` its other kind of package or "".
    """
    floor = floor_of(kind)
    oldest = ABI3T if is_threaded(kind) else _OLDEST
    if not WHEEL_KINDS.match(kind) or (floor and not oldest <= floor <= newest()):
        last = "cp{}{}-abi3".format(*newest())
        kinds = f'"py3-none", "cpython", or the oldest CPython to support: cp32-abi3 to {last}'
        return (
            f"package.{package}.wheel.kind: {kind!r} is not a kind of wheel",
            f"Write {kinds}. To also support free-threaded CPython, append .abi3t to cp315-abi3 or newer.",
        )
    if kind == "py3-none":
        return None
    if kind != others:
        return (
            f"package.{package}.wheel.kind is {kind}, but another package has {others}",
            "One native build makes Python modules of one kind: give all packages with modules the same kind.",
        )
    if elsewhere:
        return (
            f"package {package} contains a Python module, which no {elsewhere} package can use",
            f"Move the module to a component of its own, whose package has no {elsewhere.lower()} table.",
        )
    return None


def abi_tags(kind: str) -> str:
    """The Python and ABI tags of a wheel: `py3-none`, `cp310-abi3`, and of this very CPython `cp311-cp311`."""
    if kind != "cpython":
        return kind
    interpreter_tag = next(cpython_tags(platforms=["any"]))
    return f"{interpreter_tag.interpreter}-{interpreter_tag.abi}"


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
            condition=symbol_info.ifdef.name if symbol_info.ifdef else "",
        )
        for is_data, table in ((False, FUNCTIONS), (True, DATAS))
        for symbol_info in table.values()
    }


def newest() -> PythonVersion:
    """The newest CPython whose stable ABI is known."""
    return max(symbol.since for symbol in stable_names().values())


def module_definition(floor: PythonVersion, library: str) -> str:
    """What a library of that CPython exports, python3.dll or python3t.dll, as a module definition file.

    An import library is made from it.
    Names whose condition may not hold on Windows are left out: using one then fails when the module is linked, not when
    it is imported.
    """
    symbols = [
        symbol for symbol in stable_names().values() if symbol.since <= floor and symbol.condition in _ON_WINDOWS
    ]
    lines = [
        f"{symbol.name} DATA" if symbol.is_data else symbol.name
        for symbol in sorted(symbols, key=lambda symbol: symbol.name)
    ]
    return "\n".join([f"LIBRARY {library}", "EXPORTS", *lines]) + "\n"
