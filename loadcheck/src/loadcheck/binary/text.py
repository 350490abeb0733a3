"""Reads names that end with a zero byte, as all formats store them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from loadcheck.binary.image import Data

_LONGEST = 1 << 16
_MOST_READ, _REFERENCE = 8, 8


def name_at(data: Data, position: int) -> str:
    """The name at a place. Raises ValueError when it has no end, or is longer than 65,536 bytes."""
    stop = data.find(b"\0", position, position + _LONGEST)
    if stop < 0:
        raise ValueError(f"the name at byte {position} does not end within {_LONGEST} bytes")
    return data[position:stop].decode("utf-8", "backslashreplace")


class Reading:
    """How much of a file is read because other parts of it refer there.

    Honest files store a name once, or share it among a few references. In hostile ones, a megabyte of references leads
    to gigabytes of names.
    """

    def __init__(self, size: int) -> None:
        self._left = _MOST_READ * size

    def count(self, size: int) -> None:
        """Count a reference and what is read for it. Raises ValueError if it is more than files refer to."""
        self._left -= size + _REFERENCE
        if self._left < 0:
            raise ValueError(f"its tables refer to more than {_MOST_READ} times the file")

    def name_at(self, data: Data, position: int) -> str:
        """The name at a place. Raises ValueError as `name_at` and `count` do."""
        name = name_at(data, position)
        self.count(len(name))
        return name


def name_in(field: bytes) -> str:
    """The name in a field, which it may fill."""
    return field.partition(b"\0")[0].decode("utf-8", "backslashreplace")
