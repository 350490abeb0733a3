"""Makes the smallest Windows libraries that are whole: nothing in them but what they import."""

from __future__ import annotations

import struct
from collections.abc import Sequence

_START, _PAGE, _ROUND = 0x200, 0x1000, 0x200
X64, ARM64, _X86 = 0x8664, 0xAA64, 0x014C


def library(imports: Sequence[str], *, bits: int = 64, machine: int = X64) -> bytes:
    """The bytes of a DLL for a machine of 64 bits, or x86 with `bits=32`, that imports one function of each library."""
    body = _imports(imports, 8 if bits == 64 else 4)
    size = -(-len(body) // _ROUND) * _ROUND
    section = struct.pack("<8sIIIIIIHHI", b".idata", len(body), _PAGE, size, _START, 0, 0, 0, 0, 0xC0000040)
    optional = _optional(bits, -(-size // _PAGE) * _PAGE, 20 * (len(imports) + 1))
    flags = 0x2022 if bits == 64 else 0x2102  # a DLL; large addresses, or 32 bits
    coff = struct.pack("<HHIIIHH", machine if bits == 64 else _X86, 1, 0, 0, 0, len(optional), flags)
    head = b"MZ".ljust(60, b"\0") + struct.pack("<I", 64) + b"PE\0\0" + coff + optional + section
    return head.ljust(_START, b"\0") + body.ljust(size, b"\0")


def _optional(bits: int, size: int, imports: int) -> bytes:
    base = (0x180000000, "Q") if bits == 64 else (0x10000000, "I")
    head = struct.pack("<HBBIIIII", 0x20B if bits == 64 else 0x10B, 14, 0, 0, size, 0, 0, _PAGE)
    head += b"" if bits == 64 else struct.pack("<I", _PAGE)  # where the data begins
    head += struct.pack(f"<{base[1]}II", base[0], _PAGE, _ROUND)
    head += struct.pack("<HHHHHHIIIIHH", 6, 0, 0, 0, 6, 0, 0, _PAGE + size, _START, 0, 2, 0x100)
    head += struct.pack(f"<4{base[1]}II", 0x100000, 0x1000, 0x100000, 0x1000, 0, 16)
    directories = [(0, 0)] * 16
    directories[1] = (_PAGE, imports)
    return head + b"".join(struct.pack("<II", *directory) for directory in directories)


def _imports(names: Sequence[str], width: int) -> bytes:
    """Import descriptors, then a table of addresses for each, then the function's name, then the libraries' names."""
    tables = 20 * (len(names) + 1)
    function = tables + 4 * width * len(names)
    texts = function + 4
    descriptors, addresses, text = b"", b"", b""
    for index, name in enumerate(names):
        table = _PAGE + tables + 4 * width * index
        descriptors += struct.pack("<IIIII", table, 0, 0, _PAGE + texts + len(text), table + 2 * width)
        addresses += 2 * ((_PAGE + function).to_bytes(width, "little") + bytes(width))
        text += name.encode() + b"\0"
    return descriptors + bytes(20) + addresses + b"\0\0f\0" + text
