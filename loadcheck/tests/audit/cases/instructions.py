"""Bad subjects for LB118: libraries that a compiler made for newer processors as a whole."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from tests.audit.cases.case import Case, contents, made_by, nupkg, shared, wheel, windows
from tests.audit.corpus import MAC_INTEL, Bench

if TYPE_CHECKING:
    from collections.abc import Sequence

LIB = "latenn/liblatenn.so"
MODULE = "latenn/_fast.cpython-312-x86_64-linux-gnu.so"
HASWELL, SKYLAKE = ("-march=haswell",), ("-march=skylake_avx512", "-mprefer-vector-width=512")
MAC_TAG = "py3-none-macosx_10_13_x86_64"
SOURCE = "".join(
    f"void latenn_f{number}(double a) {{ double t[12]; for (int i = 0; i < 12; ++i) t[i] = a * {number};"
    ' __asm__ volatile("" : : "r"(t) : "memory"); }\n'
    for number in range(2, 34)
)
WHOLE = "int _fltused;\n" + SOURCE
INIT = 'void *PyInit__fast(void) { double t[9] = {1, 2, 3}; __asm__ volatile("" : : "r"(t) : "memory"); return 0; }\n'
CALLING = """__attribute__((noinline%s)) static void start(void) {
  double t[9] = {1, 2, 3};
  __asm__ volatile("" : : "r"(t) : "memory");
}
void *PyInit__fast(void) { start(); return PyInit__fast; }
"""

ASKS = """int latenn_asks(void) {
  unsigned a = 7, b, c = 0, d;
  __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  return b >> 5 & 1;
}
"""
DATA = '__asm__(".section .latenn,\\"awR\\"\\n.rept 4096\\nmovsd %xmm0, 8(%rsp)\\n.endr\\n.text\\n");\n'
KERNEL = SOURCE.replace("void latenn_f", '__attribute__((target("avx2"))) void latenn_k')
DISPATCHING = WHOLE + KERNEL + ASKS
"""Each function twice: for every processor, and for those with AVX2."""


@made_by
def for_windows(bench: Bench, source: str, *flags: str, exports: Sequence[str] = ("latenn_f2",)) -> bytes:
    return bench.compiler.dll(source, exports=exports, name="latenn.dll", compile_flags=flags).read_bytes()


def of(source: str, *flags: str, name: str = LIB):
    return wheel({name: contents(shared(source, *flags))})


def with_note(bench: Bench):
    """A library with the note that `-z x86-64-v2` of GNU's linker writes, which lld does not."""
    data = bench.compiler.library(WHOLE, "-fcf-protection").read_bytes()
    feature, isa = (b"GNU\0" + struct.pack("<I", kind) for kind in (0xC0000002, 0xC0008002))
    assert data.count(feature) == 1
    return bench.wheel({LIB: data.replace(feature, isa)})


def of_mac(source: str, *flags: str, target: str = "x86_64-macos.10.13"):
    def make(bench: Bench):
        return bench.mac(bench.compiler.dylib(source, *flags, target=target).read_bytes(), MAC_TAG)

    return make


def beside(*endings: str):
    """A library for processors with AVX2 and others with the beginning of its name."""
    first, *others = endings
    return wheel({f"latenn/fast{first}": contents(shared(WHOLE, *HASWELL)),
                  **{f"latenn/fast{ending}": contents(shared(WHOLE)) for ending in others}})  # fmt: skip


def row(what: str, bad, good, says: str, at: str = f"!{LIB}", severity: str = "warning") -> Case:
    return Case("LB118", what, bad, good, at=at, says=says, severity=severity)


CASES = [
    row("all code for AVX2", of(WHOLE, *HASWELL), of(WHOLE), "is compiled entirely for processors with AVX,"),
    row("all code for AVX2, which no code asks for", of(WHOLE, *HASWELL), of(DISPATCHING), "no cpuid or xgetbv"),
    row("data that looks like code for every processor", of(DATA + WHOLE, *HASWELL), of(DATA + WHOLE),
        "is compiled entirely for processors with AVX,"),
    row("all code for AVX-512", of(WHOLE, *SKYLAKE), of(WHOLE), "EVEX-encoded instructions (AVX-512)"),
    row("all code for AVX2, and a kernel asks for more", of(WHOLE + INIT + ASKS, *HASWELL, name=MODULE),
        of(WHOLE + ASKS, *HASWELL, name=MODULE), "PyInit__fast", at=f"!{MODULE}"),
    row("a constructor for AVX2",
        of(WHOLE + ASKS + INIT.replace("void *PyInit", "__attribute__((constructor)) static void *start"), *HASWELL),
        of(WHOLE + ASKS, *HASWELL), "in .init_array"),
    row("PyInit calls a function for AVX2, and other code asks", of(CALLING % "" + WHOLE + ASKS, *HASWELL, name=MODULE),
        of(CALLING % ', target("no-avx,no-avx2")' + WHOLE + ASKS, *HASWELL, name=MODULE),
        "a function that PyInit__fast calls", at=f"!{MODULE}"),
    row("a file for newer processors without one for the others", beside("-modern.node", "-debug.node"),
        beside("-modern.node", "-baseline.node"), "VEX-encoded", at="!latenn/fast-modern.node"),
    row("a name that says nothing", of(WHOLE, *HASWELL), of(WHOLE, *HASWELL, name="latenn/liblatenn_avx2.so"), "AVX"),
    row("a nupkg", nupkg({"runtimes/linux-x64/native/liblatenn.so": contents(shared(WHOLE, *HASWELL))}), nupkg(),
        "VEX-encoded", at="!runtimes/linux-x64/native/liblatenn.so"),
    row("a note for glibc", with_note, of(WHOLE, "-fcf-protection"), "GNU_PROPERTY_X86_ISA_1_NEEDED x86-64-v2"),
]  # fmt: skip
OF_WINDOWS = [
    row("Windows: all code for AVX2", windows(for_windows(WHOLE, *HASWELL)), windows(for_windows(WHOLE)),
        "is compiled entirely for processors with AVX,", at="!latenn/latenn.dll"),
    row("Windows: a module, and a kernel asks",
        windows(for_windows(WHOLE + INIT + ASKS, *HASWELL, exports=["PyInit__fast"])),
        windows(for_windows(DISPATCHING + INIT, exports=["PyInit__fast"])), "PyInit__fast", at="!latenn/latenn.dll"),
]  # fmt: skip
OF_MACOS = [
    row("macOS: all code for AVX2", of_mac(WHOLE, *HASWELL), of_mac(WHOLE), "VEX-encoded",
        at="!latenn/liblatenn.dylib"),
    row("macOS: a module, and a kernel asks", of_mac(WHOLE + INIT + ASKS, *HASWELL), of_mac(DISPATCHING + INIT),
        "PyInit__fast", at="!latenn/liblatenn.dylib"),
    row("macOS: every Mac of that system has AVX", of_mac(WHOLE, *HASWELL, target=MAC_INTEL), of_mac(WHOLE),
        "under Rosetta", at="!latenn/liblatenn.dylib", severity="note"),
]  # fmt: skip
