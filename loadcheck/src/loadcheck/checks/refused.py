"""Checks LB606, LB607 and LB118: what a library asks for that some systems refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadcheck.engine.registry import INSTALLED, Hit, Skip, check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadcheck.binary import Image


@check(
    "LB606",
    "Executable stack",
    "error",
    profiles=("loads",),
    because="glibc 2.41 and newer refuse to load the library into a running program. The finding is a warning for "
    "programs, which still start.",
    example="liblatenn.so: GNU_STACK RWE",
    fix="Link with -Wl,-z,noexecstack and add a .note.GNU-stack section to assembly files.",
)
def executable_stack(image: Image) -> Iterator[Hit | Skip]:
    """One library with an executable stack makes the stack of the whole process executable.

    glibc 2.41 and newer allow an executable stack only while a program starts, and refuse to load the library later.
    """
    if image.exec_stack:
        yield Hit(
            message="requests an executable stack",
            evidence=("GNU_STACK flags RWE",),
            severity="warning" if image.file_type == "executable" or image.interpreter else "error",
        )


@check(
    "LB607",
    "Text relocations",
    "note",
    profiles=("loads",),
    because="glibc and musl load the library, but SELinux keeps confined programs from loading it.",
    example="liblatenn.so: DT_TEXTREL",
    fix="Compile everything, including assembly, with -fPIC, and link with -Wl,-z,text.",
)
def text_relocations(image: Image) -> Iterator[Hit | Skip]:
    """To load such a library, the loader has to make code writable.

    Android refuses to do so, and SELinux forbids it in confined programs. Other systems load the library, but cannot
    share its code between processes, and each load takes longer.
    """
    if image.text_relocations:
        yield Hit(message="has relocations in its code (text relocations)", evidence=("DT_TEXTREL or DF_TEXTREL",))


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
def level_above_tag(image: Image) -> Iterator[Hit | Skip]:
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
