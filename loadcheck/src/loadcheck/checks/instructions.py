"""Check LB118: whether a library is compiled for newer x86-64 processors than a package promises."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from loadcheck.binary.floors import numeric
from loadcheck.engine.registry import EVERY_FORMAT, INSTALLED, Hit, check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadcheck.binary import Image
    from loadcheck.binary.vectors import VectorCode
    from loadcheck.readers.contents import Contents, File

_ALL_MACS_HAVE_AVX = (10, 15)
_CHOSEN = re.compile(
    r"avx|(?<![a-z])(fma3?|bmi2|amx|vnni)(?![a-z])|x86[-_]64[-_]?v[234]|[-_.]v[34](?![\d.])"
    r"|(sandy|ivy)bridge|haswell|broadwell|sky-?lake|(ice|cascade|cooper|alder|tiger)[-_]?lake|sapphire|cannonlake"
    r"|znver|zen[1-5](?!\d)|bdver|piledriver|excavator|steamroller|(?<![a-z])ipp[a-z]*(e9|l9|k[01])"
)
"""What files are called that a program chooses by the processor."""
_LEVEL = re.compile(r"[-_.](modern|baseline|generic|compat|legacy|portable)(?=[-_.])")
"""How files for newer and for all processors are called."""


@check(
    "LB118",
    "Code for newer processors than the package promises",
    "warning",
    profiles=("loads",),
    because="The library works on most processors, but the process ends with an illegal instruction on the others. The "
    "finding is a note for macOS 10.15 and newer, where only Rosetta lacks AVX.",
    kinds=INSTALLED,
    formats=EVERY_FORMAT,
    example="fast.cpython-312-x86_64-linux-gnu.so, compiled with -march=native",
    fix="Compile without -march=native, -mavx and /arch:AVX, or choose code at run time, as GCC's target_clones does.",
)
def illegal_instructions(package: Contents, file: File, image: Image) -> Iterator[Hit]:
    """The tags and RIDs for x86-64 promise SSE2, or SSSE3 on macOS, and admit processors without AVX.

    Among these are Intel's Celeron and Pentium up to 2021, and virtual machines with a generic processor. Rosetta 2 has
    no AVX before macOS 15. On a machine with AVX, `-march=native` makes the compiler use AVX in all functions.

    The check reports a library in which nearly all typical vector instructions are VEX-encoded, if the library also
    runs them while it is loaded, or if it never checks what the processor supports. A file whose name says which
    processors it is for is not reported, because the program chooses the file by this name: `fuzz_avx2.so`, or
    `x-modern.node` next to `x-baseline.node`. The finding names AVX-512 only if the library certainly needs it.

    `-Wl,-z,x86-64-v3` writes the level x86-64-v3 into the notes of an ELF file. On processors below that level, glibc
    2.33 and newer refuse to load the file: `CPU ISA level is lower than required`.
    """
    if image.isa:
        yield Hit(
            cause=image.isa,
            message=f"needs {image.isa}, so glibc refuses to load it on some processors that the package admits",
            evidence=(f"GNU_PROPERTY_X86_ISA_1_NEEDED {image.isa}",),
            fix="Link without -Wl,-z,x86-64-v2, -v3 and -v4.",
        )
    code = image.vector_code
    if code is None or (code.chooses and not code.at_load) or _is_chosen(package, file):
        return
    level = "AVX-512" if code.wide else "AVX"
    has_rosetta_only = image.format == "macho" and numeric(image.min_os or "0") >= _ALL_MACS_HAVE_AVX
    where = "under Rosetta before macOS 15" if has_rosetta_only else "on others that the package admits"
    yield Hit(
        cause=level,
        message=f"is compiled entirely for processors with {level}, and crashes with an illegal instruction {where}: "
        f"{code.share}% of its vector code is VEX-encoded",
        evidence=tuple(_show(code)),
        severity="note" if has_rosetta_only else "warning",
        assumption="" if code.at_load else "no program checks the processor before it opens the library",
    )


def _is_chosen(package: Contents, file: File) -> bool:
    """Whether a program chooses the file: by its name, or because the package has it for other processors, too."""
    if _CHOSEN.search(file.name.lower()):
        return True
    others = (other.name for other in package.native if other.name != file.name)
    is_plain = (match := _LEVEL.search(file.name)) is not None and match[1] != "modern"
    return not is_plain and any(_LEVEL.sub("", name) == _LEVEL.sub("", file.name) for name in others)


def _show(code: VectorCode) -> Iterator[str]:
    if code.at_load:
        yield f"VEX-encoded code that runs when the library is loaded: {code.at_load}"
    typical = f"{code.vex} of {code.vex + code.legacy} typical vector instructions"
    yield f"VEX-encoded instructions: {typical} in samples of the code"
    if code.wide:
        yield f"EVEX-encoded instructions (AVX-512): {code.wide}"
    if not code.chooses:
        yield "no cpuid or xgetbv instruction"
