"""Formatted input: fscanf(3) and sscanf(3), with the directives for numbers and words."""

from __future__ import annotations

import contextlib
import re
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from machines.macos.file_functions import find_stream
from machines.macos.print_functions import variadic_values
from machines.macos.process import function

if TYPE_CHECKING:
    from machines.macos.print_functions import Values
    from machines.macos.process import Process

_PART = re.compile(
    rb"(?P<space>\s+)|%(?P<ignored>\*)?(?P<width>\d+)?(?P<size>hh|h|ll|l|z|j|t|q)?(?P<kind>[diuxfegs%])|(?P<other>.)",
    re.DOTALL,
)
_SIZES = {b"hh": 1, b"h": 2, b"": 4, b"l": 8, b"ll": 8, b"z": 8, b"j": 8, b"t": 8, b"q": 8}
_BASES = {b"d": 10, b"u": 10, b"i": 0, b"x": 16}
_LONGEST = 1 << 12
_END = (1 << 32) - 1
"""EOF, as an int."""


@dataclass
class _Input:
    """What is read, and how far."""

    data: bytes
    at: int = 0

    def skip_spaces(self) -> None:
        while self.data[self.at : self.at + 1].isspace():
            self.at += 1

    def take_word(self, width: int) -> bytes:
        """The next characters up to a space, at most `width`."""
        self.skip_spaces()
        match = re.compile(rb"\S{0,%d}" % width).match(self.data, self.at)
        word = match[0] if match else b""
        self.at += len(word)
        return word


@function("_fscanf")
def scan_stream(process: Process, stream: int, template: int) -> int:
    file = find_stream(process, stream)
    start = file.tell()
    source = _Input(file.read())
    count = scan(process, process.processor.text(template), source, variadic_values(process, 2))
    file.seek(start + source.at)
    return count


@function("_sscanf")
def scan_text(process: Process, text: int, template: int) -> int:
    source = _Input(process.processor.text(text))
    return scan(process, process.processor.text(template), source, variadic_values(process, 2))


def scan(process: Process, template: bytes, source: _Input, values: Values) -> int:
    """How many directives were stored; EOF if the input ends before the first."""
    stored = 0
    for part in _PART.finditer(template):
        if part["space"]:
            source.skip_spaces()
        elif part["other"] or part["kind"] == b"%":
            if source.data[source.at : source.at + 1] != (part["other"] or b"%"):
                return stored
            source.at += 1
        else:
            start = source.at
            word = source.take_word(int(part["width"] or _LONGEST))
            if not word:
                return stored or _END
            data = _convert(word, part)
            if data is None:
                source.at = start
                return stored
            if not part["ignored"]:
                process.processor.write(values.integer(), data)
                stored += 1
    return stored


def _convert(word: bytes, part: re.Match[bytes]) -> bytes | None:
    """The bytes that a word becomes; None for one that is no such number."""
    kind, size = part["kind"], part["size"] or b""
    if kind == b"s":
        return word + b"\0"
    with contextlib.suppress(ValueError):
        if kind in b"feg":
            return struct.pack("<d" if size == b"l" else "<f", float(word))
        bits = 8 * _SIZES[size]
        return (int(word, _BASES[kind]) & (1 << bits) - 1).to_bytes(_SIZES[size], "little")
    return None
