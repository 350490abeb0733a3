"""Formatted input: fscanf(3) and sscanf(3), with the directives for numbers and words."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ci.machines.macos.print_functions import variadic_values
from ci.machines.macos.process import function
from ci.machines.macos.stream_functions import find_stream
from ci.machines.macos.text_functions import parse_number

if TYPE_CHECKING:
    from ci.machines.macos.print_functions import Values
    from ci.machines.macos.process import Process

_PART = re.compile(
    rb"(?P<space>\s+)|%(?P<ignored>\*)?(?P<width>\d+)?(?P<size>hh|h|ll|l|z|j|t|q)?(?P<kind>[diuxfegs%])|(?P<other>.)",
    re.DOTALL,
)
_SIZES = {b"hh": 1, b"h": 2, b"": 4, b"l": 8, b"ll": 8, b"z": 8, b"j": 8, b"t": 8, b"q": 8}
_PATTERNS = {
    **dict.fromkeys((b"d", b"u"), rb"[+-]?\d+"),
    b"x": rb"[+-]?(?:0[xX])?[0-9a-fA-F]+",
    b"i": rb"[+-]?(?:0[xX][0-9a-fA-F]+|\d+)",
    **dict.fromkeys((b"f", b"e", b"g"), rb"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|(?i:inf(?:inity)?|nan))"),
    b"s": rb"\S+",
}
"""What a directive takes: the longest beginning that looks like this, so `%u` takes 23 of 23.1."""
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

    def take(self, pattern: bytes, width: int) -> bytes | None:
        """The characters that a directive takes, at most `width`; None where there are none of its kind."""
        self.skip_spaces()
        match = re.compile(pattern).match(self.data, self.at, self.at + width)
        if match is None:
            return None
        self.at = match.end()
        return match[0]


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
            word = source.take(_PATTERNS[part["kind"]], int(part["width"] or _LONGEST))
            if word is None:
                return stored if stored or source.data[source.at :] else _END
            if not part["ignored"]:
                process.processor.write(values.integer(), _convert(word, part))
                stored += 1
    return stored


def _convert(word: bytes, part: re.Match[bytes]) -> bytes:
    """The bytes that the characters of a directive become."""
    kind, size = part["kind"], part["size"] or b""
    if kind == b"s":
        return word + b"\0"
    if kind in b"feg":
        return struct.pack("<d" if size == b"l" else "<f", float(word))
    bits = 8 * _SIZES[size]
    return (parse_number(word, _BASES[kind])[0] & (1 << bits) - 1).to_bytes(_SIZES[size], "little")
