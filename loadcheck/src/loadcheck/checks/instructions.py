"""Check LB118: whether glibc loads a library on each processor that a package promises."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadcheck.engine.registry import INSTALLED, Hit, check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadcheck.binary import Image


@check(
    "LB118",
    "Code for newer processors than the package promises",
    "warning",
    profiles=("loads",),
    because="On processors below the level that the file names, glibc 2.33 and newer refuse to load it.",
    kinds=INSTALLED,
    example="libspeech.so needs x86-64-v3",
    fix="Link without -Wl,-z,x86-64-v2, -v3 and -v4.",
)
def level_above_tag(image: Image) -> Iterator[Hit]:
    """The tags and RIDs for x86-64 promise SSE2. `-Wl,-z,x86-64-v3` writes another level into the notes of an ELF file.

    glibc compares the level with the processor: `CPU ISA level is lower than required`. A file without such a
    note is not reported, even if its code is for AVX: a program may choose such code by the processor.
    """
    if image.isa:
        yield Hit(
            cause=image.isa,
            message=f"needs {image.isa}, so glibc refuses to load it on some processors that the package admits",
            evidence=(f"GNU_PROPERTY_X86_ISA_1_NEEDED {image.isa}",),
        )
