"""Checks LB606, LB607 and LB613: which of the system's protections a binary disables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadcheck.engine.registry import Hit, Skip, check

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
    "LB613",
    "ASLR or NX disabled",
    "warning",
    profiles=("all",),
    because="The library weakens every process that loads it. The finding is a note if Windows protects the process "
    "anyway.",
    formats=("macho", "pe"),
    example="latenn.dll: DYNAMIC_BASE is not set",
    fix="Link with the defaults: /DYNAMICBASE /HIGHENTROPYVA /NXCOMPAT (MSVC), or -pie on macOS.",
)
def aslr_or_nx(image: Image) -> Iterator[Hit | Skip]:
    """Without ASLR, code is at addresses that an attacker knows. Without NX, data can be executed.

    One DLL without ASLR or NX weakens its whole process. The finding is a note for 64-bit code without the flag
    HIGH_ENTROPY_VA, whose addresses Windows still randomizes, and for 64-bit code without NX_COMPAT, since Windows
    enforces NX in every 64-bit process.
    """
    if image.aslr == "none":
        seen = "the flag MH_PIE is not set" if image.format == "macho" else "DYNAMIC_BASE is not set"
        yield Hit(cause="ASLR", message="disables ASLR: it is always loaded at the same address", evidence=(seen,))
    elif image.aslr == "32-bit":
        yield Hit(
            cause="64-bit ASLR",
            message="weakens ASLR: it does not support randomized 64-bit addresses",
            evidence=("HIGH_ENTROPY_VA is not set",),
            severity="note",
        )
    if not image.is_nx:
        yield Hit(
            cause="NX",
            message="does not ask for NX, which keeps data from being executed",
            evidence=("NX_COMPAT is not set",),
            severity="warning" if image.arch == "i686" else "note",
        )
