"""Check LB313: whether modules use functions that CPython added after its first release of a minor version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from loadcheck.engine.registry import EVERY_FORMAT, Hit, Skip, check
from loadcheck.engine.wording import name_newest, some
from loadcheck.kinds.wheel.checks.served import format_tags, requires_python
from loadcheck.tables import pythonabi

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadcheck.binary import Image
    from loadcheck.readers.contents import Contents, WheelName

_ADDED = {
    "PySlice_AdjustIndices": {6: 1},
    "PySlice_Unpack": {6: 1},
    "PyUnstable_ThreadState_ResetStackProtection": {14: 1},
    "PyUnstable_ThreadState_SetStackProtection": {14: 1},
}
"""The minor versions of CPython 3 that got a function late, with the release (Misc/NEWS of CPython)."""


@check(
    "LB313",
    "Function newer than the oldest CPython of the tag",
    "warning",
    profiles=("loads",),
    because="The first releases of that CPython cannot import the module.",
    formats=EVERY_FORMAT,
    kinds=("wheel",),
    example="_core.cpython-36m-darwin.so in a wheel tagged cp36-cp36m uses PySlice_Unpack, which is new in 3.6.1",
    fix="Write Requires-Python: >=3.6.1 (or the release that the finding names) into the metadata.",
)
def newer_than_first_release(package: Contents, image: Image, wheel: WheelName) -> Iterator[Hit | Skip]:
    """A tag such as `cp36` includes 3.6.0, but headers of a later release may call functions that 3.6.0 lacks.

    The check knows the functions that CPython 3.6.1 and 3.14.1 added.
    """
    floors = [version[1] for name in wheel.pythons if (version := pythonabi.floor_of(name))]
    if not image.python_module or len(floors) != 1 or not {"abi3", "abi3t"}.isdisjoint(wheel.abis):
        return
    (minor,) = floors
    newer = {
        symbol.name: (3, minor, _ADDED[symbol.name][minor])
        for symbol in image.imports
        if symbol.kind == "normal" and minor in _ADDED.get(symbol.name, {})
    }
    if newer and _admits(requires_python(package), minor, max(newer.values())[-1]):
        names, worst = name_newest(newer)
        yield Hit(
            names=tuple(sorted(newer)),
            message=f"uses {names}, new in CPython {worst}, but the tag {format_tags(wheel)} includes 3.{minor}.0",
            evidence=some(sorted(newer)),
        )


def _admits(limits: str, minor: int, patch: int) -> bool:
    """Whether Requires-Python admits a release before that patch."""
    try:
        specifiers = SpecifierSet(limits)
    except InvalidSpecifier:
        return True
    return any(specifiers.contains(f"3.{minor}.{older}") for older in range(patch))
