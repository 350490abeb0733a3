"""Bad subjects for LB202."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpus.cases.case import Case, contents, shared, wheel

if TYPE_CHECKING:
    from corpus.packages import Bench

LIB = "latenn/liblatenn.so"
F = "int latenn_f(void) { return 1; }\n"


def of(source: str, *flags: str):
    return wheel({LIB: contents(shared(source, *flags))})


def cxx(source: str, *flags: str):
    def make(bench: Bench):
        thing = bench.compiler.thing(source, "-fno-exceptions", "-fno-rtti", *flags, file="x.cpp")
        return bench.wheel({LIB: bench.compiler.link_object(thing).read_bytes()})

    return make


CASES = [
    Case("LB202", "a C++ function is exported", cxx("int speak(int a) { return a; }\n"),
         cxx("int speak(int a) { return a; }\n", "-fvisibility=hidden"), at=f"!{LIB}", says="_Z5speaki",
         severity="note"),
    Case("LB202", "operator new is exported",
         cxx("static char room[64];\nvoid *operator new(unsigned long) { return room; }\n"),
         cxx('extern "C" int latenn_f() { return 1; }\n'), at=f"!{LIB}", says="_Znwm", severity="warning"),
    Case("LB202", "placement new is exported: a warning, since it replaces nothing",
         cxx("void *operator new(unsigned long, void *room) noexcept { return room; }\n"
             'extern "C" int *latenn_f(void *room) { return new (room) int(1); }\n', "-O0"),
         cxx('extern "C" int latenn_f() { return 1; }\n'), at=f"!{LIB}", says="_ZnwmPv", severity="note"),
]  # fmt: skip
