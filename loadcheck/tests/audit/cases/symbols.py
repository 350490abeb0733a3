"""Bad subjects for LB2xx."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.audit.cases.case import Case, bare, contents, good, shared, wheel

from loadcheck.engine.policy import Policy

if TYPE_CHECKING:
    from tests.audit.corpus import Bench

LIB = "latenn/liblatenn.so"
F = "int latenn_f(void) { return 1; }\n"
ONLY_LATENN = Policy(exports={"latenn": ("latenn_*",)})


def of(source: str, *flags: str):
    return wheel({LIB: contents(shared(source, *flags))})


def other(bench: Bench) -> bytes:
    return bench.compiler.library("int latenn_other(void) { return 1; }\n").read_bytes()


def cxx(source: str, *flags: str):
    def make(bench: Bench):
        thing = bench.compiler.thing(source, "-fno-exceptions", "-fno-rtti", *flags, file="x.cpp")
        return bench.wheel({LIB: bench.compiler.link_object(thing).read_bytes()})

    return make


CASES = [
    Case("LB201", "a function of the loader is exported beside the interface",
         of(f"{F}int lb_bind(void) {{ return 1; }}\n"),
         of(f'{F}__attribute__((visibility("hidden"))) int lb_bind(void) {{ return 1; }}\n'),
         at=f"!{LIB}", says="lb_bind", policy=ONLY_LATENN),
    Case("LB201", "a rule by file name holds for a bare library", bare("liblatenn_backend_x.so", good()),
         bare("liblatenn.so", good()), at="liblatenn_backend_x.so", says="latenn_version",
         policy=Policy(exports={"liblatenn_backend_*.so": ("latenn_backend",)})),
    Case("LB204", "an exact name of the configuration is not exported", of("int latenn_lode(void) { return 1; }\n"),
         of("int latenn_load(void) { return 1; }\nint latenn_more(void) { return 1; }\n"), at=f"!{LIB}",
         says="latenn_load", policy=Policy(exports={"latenn": ("latenn_load", "latenn_*")})),
    Case("LB204", "only one of a package's libraries exports the name",
         wheel({LIB: good(), "latenn/other/liblatenn.so": other}), wheel({LIB: good(), "latenn/liblatenn_2.so": other}),
         at="!latenn/other/liblatenn.so", says="exports latenn_other",
         policy=Policy(exports={"latenn": ("latenn_version", "latenn_*")})),
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
