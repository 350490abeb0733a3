"""The kinds of wheels that a build makes: for any Python, for this CPython, or for newer ones by the stable ABI."""

from __future__ import annotations

import re

from packaging.tags import cpython_tags

PythonVersion = tuple[int, int]
_STABLE = re.compile(r"cp3([0-9]{1,2})-abi3(\.abi3t)?")
_MODULE = re.compile(
    r"\.(?:cpython-(?P<posix>3\d+[a-z]*)|(?P<abi3>abi3t?))(?:-[\w-]+)?\.so$|\.cp(?P<windows>3\d+t?)-\w+\.pyd$"
)
"""The names of modules that are for certain CPythons."""


def is_threaded(kind: str) -> bool:
    """Whether modules of a kind are for free-threaded CPython as well: `cp315-abi3.abi3t`."""
    return kind.endswith("abi3t")


def floor_of(kind: str) -> PythonVersion | None:
    """The oldest CPython of a kind of the stable ABI: (3, 10) of `cp310-abi3`."""
    match = _STABLE.fullmatch(kind)
    return (3, int(match[1])) if match else None


def abi_tags(kind: str) -> str:
    """The Python and ABI tags of a wheel: `py3-none`, `cp310-abi3`, and of this very CPython `cp311-cp311`."""
    if kind != "cpython":
        return kind
    interpreter_tag = next(cpython_tags(platforms=["any"]))
    return f"{interpreter_tag.interpreter}-{interpreter_tag.abi}"


def fits(kind: str, library: str) -> bool:
    """Whether a library belongs in a wheel of a kind: not when it is a module for another CPython.

    A stage for several CPythons holds a module for each.
    """
    match = _MODULE.search(library)
    own = "-cp" in abi_tags(kind)
    if not own or match is None or match["abi3"]:
        return True
    return f"cp{match['posix'] or match['windows']}" == abi_tags(kind).partition("-")[2]
