"""Checks LB606-LB608 and LB613: what binaries give up of the system's protections; reads nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from latebind.audit.registry import Hit, Skip, check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from latebind.audit.policy import Policy
    from latebind.audit.subject import File, Package
    from latebind.binary import Image


@check(
    "LB606",
    "Executable stack",
    "error",
    scope="binary",
    example="liblatenn.so: GNU_STACK RWE",
    cure="Link with -Wl,-z,noexecstack; give assembler files a .note.GNU-stack section.",
)
def executable_stack(package: Package, file: File, image: Image, policy: Policy) -> Iterator[Hit | Skip]:
    """One such library makes the stack of the whole process executable, and new glibc refuses to load it."""
    del package, file, policy
    if image.exec_stack:
        yield Hit(message="asks for an executable stack", evidence=("GNU_STACK flags RWE",))


@check(
    "LB607",
    "Text relocations",
    "error",
    scope="binary",
    example="liblatenn.so: DT_TEXTREL",
    cure="Compile everything with -fPIC, assembler included; link with -Wl,-z,text.",
)
def text_relocations(package: Package, file: File, image: Image, policy: Policy) -> Iterator[Hit | Skip]:
    """The loader must make code writable to load such a library: SELinux and musl refuse it."""
    del package, file, policy
    if image.text_relocations:
        yield Hit(message="has relocations in its code", evidence=("DT_TEXTREL or DF_TEXTREL",))


@check(
    "LB608",
    "RELRO missing",
    "warning",
    scope="binary",
    example="liblatenn.so has no GNU_RELRO segment",
    cure="Link with -Wl,-z,relro,-z,now.",
)
def relro_missing(package: Package, file: File, image: Image, policy: Policy) -> Iterator[Hit | Skip]:
    """Without RELRO the table of function addresses stays writable for ever: the first target of an attacker.

    Partial RELRO, which leaves the lazily bound part writable, is a note.
    """
    del package, file, policy
    if image.is_static and not image.imports:
        return  # nothing is bound at load time
    if image.relro == "none":
        yield Hit(message="has no RELRO", evidence=("no GNU_RELRO segment",))
    elif image.relro == "partial":
        yield Hit(
            message="has partial RELRO: functions are bound lazily",
            evidence=("GNU_RELRO without BIND_NOW",),
            severity="note",
        )


@check(
    "LB613",
    "ASLR or NX given up",
    "error",
    scope="binary",
    formats=("macho", "pe"),
    example="latenn.dll: DYNAMIC_BASE is not set",
    cure="Link with /DYNAMICBASE /HIGHENTROPYVA /NXCOMPAT (MSVC), which are the defaults; on macOS with -pie.",
)
def aslr_or_nx(package: Package, file: File, image: Image, policy: Policy) -> Iterator[Hit | Skip]:
    """Without ASLR code lies at addresses that an attacker knows; without NX data can be executed.

    One such DLL weakens its whole process. 64-bit code that refuses high addresses is a warning.
    """
    del package, file, policy
    if image.aslr == "none":
        seen = "the flag MH_PIE is not set" if image.format == "macho" else "DYNAMIC_BASE is not set"
        yield Hit(message="cannot be placed at another address: no ASLR", evidence=(seen,))
    elif image.aslr == "32-bit":
        yield Hit(
            message="is placed below 4 GB only: weak ASLR",
            evidence=("HIGH_ENTROPY_VA is not set",),
            severity="warning",
        )
    if not image.is_nx:
        yield Hit(message="runs with executable data: no NX", evidence=("NX_COMPAT is not set",))
