"""Reads names that end with a zero byte, as all formats store them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from loadcheck.binary.image import Data

_LONGEST = 1 << 16


def name_at(data: Data, position: int) -> str:
    """The name at a place. Raises ValueError when it has no end, or is longer than 65,536 bytes."""
    stop = data.find(b"\0", position, position + _LONGEST)
    if stop < 0:
        raise ValueError(f"the name at byte {position} does not end within {_LONGEST} bytes")
    return data[position:stop].decode("utf-8", "backslashreplace")


def name_in(field: bytes) -> str:
    """The name in a field, which it may fill."""
    return field.partition(b"\0")[0].decode("utf-8", "backslashreplace")
