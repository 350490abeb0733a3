"""Finds x86-64 code that a compiler wrote for processors with AVX as a whole, as `-march=native` makes it.

Nothing is disassembled. Compilers keep values on the stack, set registers to zero and leave 256-bit code by a few
instructions whose bytes are the same in every program. With AVX they are all VEX-encoded; without it none is. A library
that chooses its code at run time has both.
Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from loadcheck.binary.image import Data

    Ranges = Sequence[tuple[int, int]]
    """Start and end of each part of a file that holds code."""

ENTRIES = ("PyInit_", "PyModExport_", "napi_register_module_v", "JNI_OnLoad")
"""How the functions are called that a host runs as soon as it has loaded a library."""
_STACK = rb"(?:[\x44\x4c\x54\x5c\x84\x8c\x94\x9c]\x24|[\x45\x4d\x55\x5d\x85\x8d\x95\x9d])"
"""An operand on the stack, by the stack pointer or the frame pointer."""
_LEGACY = re.compile(
    rb"\x0f(?:[\x10\x11\x28\x29](?:" + _STACK + rb"|[\x00-\x03\x06-\x0b\x0e\x0f])|[\x57\xef][\xc0\xc9\xd2\xdb])"
    rb"|[\xf2\xf3]\x0f[\x10\x11\x58\x59\x5c\x5e]"
)
_VEX = re.compile(
    rb"\xc5(?:[\xf8-\xff\x78-\x7f][\x10\x11\x28\x29\x6f\x7f]"
    + _STACK
    + rb"|\xf8\x77|\xf8\x57\xc0|\xf0\x57\xc9|\xe8\x57\xd2|\xe0\x57\xdb"
    rb"|\xf9\xef\xc0|\xf1\xef\xc9|\xe9\xef\xd2|\xe1\xef\xdb)"
)
_EVEX = re.compile(
    rb"\x62[\xf1\xe1\x61\x71][\x05\x0c\x0d\x1c\x1d\x45\x4c\x4d\x5c\x5d\x6c-\x7f\xc5\xcd\xdd\xe5\xed\xf5\xfd\x85\x8d]"
    rb"[\x08\x28\x48\x18\x38\x58][\x10\x11\x28\x29\x58\x59\x5c\x6f\x7f\xef]"
)
_AT_LOAD = re.compile(
    rb"\xc5[\xf8-\xfe\x78-\x7e][\x10\x11\x28\x29\x6f\x7f](?:" + _STACK + rb"|[\x05\x0d\x15\x1d\x40-\x43\x45-\x5f])"
    rb"|" + _VEX.pattern
)
_END = re.compile(
    rb"(?:\xc3|\x0f\x0b|\xe9....)(?=\x90|\xcc|\x0f\x1f|\x66+\x2e?\x0f\x1f|\x66\x90|\xf3\x0f\x1e\xfa)", re.DOTALL
)
"""The end of a function: a return, a trap or a jump before padding or the next function."""
_CPUID = re.compile(
    rb"\x0f\xa2(?:(?<=[\x31\x33][\xc0\xc9]..)|(?<=\x00\x00\x00..)|(?<=[\x87\x89][\xd8-\xfb]..)|(?<=\x53..))", re.DOTALL
)
"""`cpuid` after an instruction that usually precedes it: its two bytes alone are also parts of other instructions."""
_XGETBV = b"\x0f\x01\xd0"
_FIRST, _ALL = (8, 1 << 13), (128, 1 << 15)
"""How many samples of how many bytes: to rule out most files, and to judge the others."""
_FEWEST, _FEWEST_FIRST = 16, 4
_MOST_LEGACY = 0.1
"""The share of other encodings in libraries for AVX that contain assembly or a static library."""
_FEWEST_WIDE = 20
_MOST_LEGACY_OF_CALLED = 0.02
"""The share in libraries that contain `cpuid`, as Rust's run-time library does, and whose load functions only call
code for AVX: some of it may be chosen, so nearly all code must be for AVX."""
_CALL = re.compile(rb"\xe8(?P<distance>.{4})", re.DOTALL)
_LONGEST = 2048
_MOST_ENTRIES = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorCode:
    """Code for processors with AVX as a whole."""

    vex: int
    """How many of the typical instructions are VEX-encoded, in samples of the code."""
    legacy: int
    """How many are not."""
    wide: int
    """How many instructions in the samples need AVX-512, if that is sure."""
    chooses: bool
    """Whether the code asks the processor what it can do."""
    at_load: str = ""
    """A function that runs when the library is loaded and has such instructions."""

    @property
    def share(self) -> int:
        """Which percentage of the typical instructions is VEX-encoded."""
        return 100 * self.vex // (self.vex + self.legacy)


def find_vector_code(
    data: Data, ranges: Ranges, list_entries: Callable[[], Iterator[tuple[str, int]]]
) -> VectorCode | None:
    """How the code depends on AVX; None if it has much code without.

    `list_entries` gives the functions that run when the library is loaded: what each is, and where the file has it.
    """
    vex, legacy = _count(data, ranges, _FIRST)
    if vex < _FEWEST_FIRST or legacy > 3 * _MOST_LEGACY * vex:
        return None
    vex, legacy = _count(data, ranges, _ALL)
    if vex < _FEWEST or legacy > _MOST_LEGACY * vex:
        return None
    chooses = any(_asks(data, start, end) for start, end in ranges)
    wide = 0 if chooses else sum(_count_matches(_EVEX, data, *part) for part in _sample(ranges, *_ALL))
    return VectorCode(
        vex=vex,
        legacy=legacy,
        wide=wide if wide >= _FEWEST_WIDE else 0,
        chooses=chooses,
        at_load=_find_at_load(data, ranges, list_entries(), follows_calls=legacy <= _MOST_LEGACY_OF_CALLED * vex),
    )


def _count(data: Data, ranges: Ranges, amount: tuple[int, int]) -> tuple[int, int]:
    parts = list(_sample(ranges, *amount))
    vex = sum(_count_matches(_VEX, data, *part) for part in parts)
    return vex, sum(_count_matches(_LEGACY, data, *part) for part in parts) if vex else 0


def _count_matches(pattern: re.Pattern[bytes], data: Data, start: int, end: int) -> int:
    return len(pattern.findall(data, start, end))


def _sample(ranges: Ranges, count: int, size: int) -> Iterator[tuple[int, int]]:
    """Up to `count` parts of the code at equal distances, or all of it."""
    total = sum(end - start for start, end in ranges)
    step = max(size, total // count)
    for start, end in ranges:
        for position in range(start, end, step):
            yield position, min(position + size, end)


def _asks(data: Data, start: int, end: int) -> bool:
    return data.find(_XGETBV, start, end) >= 0 or _CPUID.search(data, start, end) is not None


def _find_at_load(data: Data, ranges: Ranges, entries: Iterator[tuple[str, int]], *, follows_calls: bool) -> str:
    """A function that runs at load and has such instructions, or the one that calls it first."""
    starts = [entry for entry, _ in zip(entries, range(_MOST_ENTRIES), strict=False)]
    for name, position in starts:
        if _AT_LOAD.search(data, *_find_body(data, position)):
            return name
    for name, position in starts if follows_calls else ():
        called = _list_called(data, ranges, *_find_body(data, position))
        if any(_AT_LOAD.search(data, *_find_body(data, each)) for each in called):
            return f"a function that {name} calls"
    return ""


def _find_body(data: Data, position: int) -> tuple[int, int]:
    stop = _END.search(data, position, position + _LONGEST)
    return position, stop.end() if stop else position + _LONGEST


def _list_called(data: Data, ranges: Ranges, start: int, end: int) -> Iterator[int]:
    """Where the functions are that a part of the code calls directly."""
    for match in _CALL.finditer(data, start, end):
        target = match.end() + int.from_bytes(match["distance"], "little", signed=True)
        if any(first <= target < last for first, last in ranges):
            yield target
