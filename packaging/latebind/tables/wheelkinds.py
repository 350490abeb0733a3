"""The kinds of wheels: for any Python, for one CPython, or for a CPython and newer ones by the stable ABI."""

from __future__ import annotations

import re

from packaging.tags import cpython_tags

from loadcheck.facts import ABI3T, floor_of, newest

WHEEL_KINDS = re.compile(r"^(py3-none|cpython|cp3([0-9]|[1-9][0-9])-abi3(\.abi3t)?)$")
"""The kinds of wheels: any Python; only the CPython that builds it; CPython 3.X and newer by the stable ABI.

With `.abi3t`, free-threaded ones too (PEP 803).
"""
OWN_ABI = re.compile(r"cp3(?P<minor>[0-9]{1,2})-cp3(?P=minor)(?P<threaded>t?)")
"""The kind of one CPython's own ABI, with its version: `cp310-cp310`, `cp313-cp313t`."""
PYTHONS = re.compile(r"^3\.([89]|[1-9][0-9])t?$")
"""A minor version of CPython, `t` for a free-threaded build: `3.10`, `3.13t`."""
_OLDEST = (3, 2)
"""PEP 384."""


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
