"""Formatted output: printf(3) and its relatives. All variadic arguments of arm64 are on the stack."""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING

from ci.machines.macos.process import function
from ci.machines.macos.text_functions import signed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ci.machines.macos.process import Process

_FORM = re.compile(rb"%(?P<flags>[-+ #0]*)(?P<width>\*|\d+)?(?:\.(?P<precision>\*|\d*))?(?P<size>hh|h|ll|l|z|j|t|q)?"
                   rb"(?P<kind>[diuxXocspfeg%])")  # fmt: skip
_WORD = 8
_GENERAL_END, _FLOATING_END = 48, 176
"""Where each part ends in the memory that a va_list of x64 names."""
_BITS = {b"hh": 8, b"h": 16, b"": 32}
_BASES = {b"x": "x", b"X": "X", b"o": "o", b"u": "d"}


class Values:
    """Variadic arguments, each taken once and in order."""

    def __init__(self, process: Process, registers: Sequence[bytes], reals: Sequence[bytes], overflow: int) -> None:
        self._process = process
        self._registers, self._reals = iter(registers), iter(reals)
        self._overflow = overflow

    def integer(self) -> int:
        """The next one as an unsigned word."""
        return int.from_bytes(next(self._registers, b"") or self._take(), "little")

    def real(self) -> float:
        """The next one as a double."""
        value: float = struct.unpack("<d", next(self._reals, b"") or self._take())[0]
        return value

    def _take(self) -> bytes:
        self._overflow += _WORD
        return self._process.processor.read_bytes(self._overflow - _WORD, _WORD)


def variadic_values(process: Process, named: int) -> Values:
    """Those of the function that runs, after `named` others. On Apple's arm64 all of them are on the stack."""
    processor = process.processor
    stack = processor.read(processor.kind.stack)
    if processor.kind.link is not None:
        return Values(process, (), (), stack)
    registers = [processor.read(register).to_bytes(_WORD, "little") for register in processor.kind.arguments[named:]]
    reals = [processor.read(register).to_bytes(_WORD, "little") for register in processor.kind.floats]
    return Values(process, registers, reals, stack + _WORD)


def listed_values(process: Process, address: int) -> Values:
    """Those of a va_list: a pointer on arm64; on x64 a structure (System V's AMD64 ABI, 3.5.7)."""
    processor = process.processor
    if processor.kind.link is not None:
        return Values(process, (), (), address)
    general, floating, overflow, saved = struct.unpack("<IIQQ", processor.read_bytes(address, 24))
    registers = [processor.read_bytes(saved + at, _WORD) for at in range(general, _GENERAL_END, _WORD)]
    reals = [processor.read_bytes(saved + at, _WORD) for at in range(floating, _FLOATING_END, 2 * _WORD)]
    return Values(process, registers, reals, overflow)


def form(process: Process, template: bytes, values: Values) -> bytes:
    """A template with values in the place of its directives."""

    def replace(match: re.Match[bytes]) -> bytes:
        if match["kind"] == b"%":
            return b"%"
        width = signed(values.integer(), 32) if match["width"] == b"*" else int(match["width"] or 0)
        digits = match["precision"]
        precision = signed(values.integer(), 32) if digits == b"*" else int(digits or 0) if digits is not None else -1
        flags = match["flags"] + (b"-" if width < 0 else b"")
        text = _convert(process, match, precision, values)
        if b"-" in flags:
            return text.ljust(abs(width))
        is_number = match["kind"] in b"diuxXo" and precision < 0
        return text.zfill(width) if b"0" in flags and is_number else text.rjust(width)

    return _FORM.sub(replace, template)


def _convert(process: Process, match: re.Match[bytes], precision: int, values: Values) -> bytes:
    kind = match["kind"]
    if kind in b"feg":
        return format(values.real(), f".{precision if precision >= 0 else 6}{kind.decode()}").encode()
    value = values.integer()
    if kind == b"s":
        if not value:
            return b"(null)"
        return process.processor.text(value) if precision < 0 else _read_bounded(process, value, precision)
    if kind == b"c":
        return bytes([value & 255])
    if kind == b"p":
        return b"0x%x" % value
    bits = _BITS.get(match["size"] or b"", 64)
    if kind in b"di":
        digits = f"{signed(value, bits):+d}" if b"+" in match["flags"] else f"{signed(value, bits):d}"
    else:
        digits = format(
            value & (1 << bits) - 1, ("#" if b"#" in match["flags"] and kind != b"u" else "") + _BASES[kind]
        )
    sign = digits[:1] if digits[:1] in "+-" else ""
    return f"{sign}{digits.removeprefix(sign).zfill(max(precision, 0))}".encode()


def _read_bounded(process: Process, address: int, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        byte = process.processor.read_bytes(address + len(data), 1)
        if byte == b"\0":
            break
        data += byte
    return bytes(data)


def _write_bounded(process: Process, to: int, size: int, text: bytes) -> int:
    if size:
        process.processor.write(to, text[: size - 1] + b"\0")
    return len(text)


@function("_snprintf")
def print_bounded(process: Process, to: int, size: int, template: int) -> int:
    return _write_bounded(
        process, to, size, form(process, process.processor.text(template), variadic_values(process, 3))
    )


@function("___snprintf_chk")
def print_checked(process: Process, to: int, size: int, _flag: int, _room: int, template: int) -> int:
    return _write_bounded(
        process, to, size, form(process, process.processor.text(template), variadic_values(process, 5))
    )


@function("_vsnprintf")
def print_list(process: Process, to: int, size: int, template: int, arguments: int) -> int:
    values = listed_values(process, arguments)
    return _write_bounded(process, to, size, form(process, process.processor.text(template), values))


@function("___vsnprintf_chk")
def print_list_checked(  # C's own
    process: Process, to: int, size: int, _flag: int, _room: int, template: int, arguments: int
) -> int:
    values = listed_values(process, arguments)
    return _write_bounded(process, to, size, form(process, process.processor.text(template), values))


@function("_printf")
def print_formatted(process: Process, template: int) -> int:
    text = form(process, process.processor.text(template), variadic_values(process, 1))
    process.output += text
    return len(text)


@function("_fprintf")
def print_to(process: Process, stream: int, template: int) -> int:
    from ci.machines.macos.stream_functions import write_stream  # noqa: PLC0415  # which prints, too

    return write_stream(process, stream, form(process, process.processor.text(template), variadic_values(process, 2)))


@function("_puts")
def print_line(process: Process, text: int) -> int:
    process.output += process.processor.text(text) + b"\n"
    return 1


@function("_putchar")
def print_character(process: Process, character: int) -> int:
    process.output.append(character & 255)
    return character & 255
