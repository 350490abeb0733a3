"""Bad subjects for LB118: libraries whose notes name newer processors."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from corpus.cases.case import Case, contents, shared, wheel

if TYPE_CHECKING:
    from corpus.packages import Bench

LIB = "latenn/liblatenn.so"
SOURCE = "int latenn_f(void) { return 1; }\n"


def with_note(bench: Bench):
    """A library with the note that `-z x86-64-v2` of GNU's linker writes, which lld does not."""
    data = bench.compiler.library(SOURCE, "-fcf-protection").read_bytes()
    feature, isa = (b"GNU\0" + struct.pack("<I", kind) for kind in (0xC0000002, 0xC0008002))
    assert data.count(feature) == 1
    return bench.wheel({LIB: data.replace(feature, isa)})


CASES = [
    Case("LB118", "a note for glibc", with_note, wheel({LIB: contents(shared(SOURCE, "-fcf-protection"))}),
         at=f"!{LIB}", says="GNU_PROPERTY_X86_ISA_1_NEEDED x86-64-v2", severity="warning"),
    Case("LB118", "a note for glibc; code for newer processors, which a program may choose", with_note,
         wheel({LIB: contents(shared(SOURCE, "-march=haswell"))}), at=f"!{LIB}", says="needs x86-64-v2",
         severity="warning"),
]  # fmt: skip
