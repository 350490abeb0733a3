"""Bad subjects for LB3xx."""

from __future__ import annotations

from latebind.audit.policy import Policy

from tests.audit.cases.case import Case
from tests.audit.corpus import Bench, pe

LIB = "latenn/liblatenn.so"
THREAD = """
#include <pthread.h>
static void *nothing(void *arg) { return arg; }
int latenn_start(void) { pthread_t thread; return pthread_create(&thread, 0, nothing, 0); }
"""
ARM = "aarch64-linux-gnu.2.28"


def thread(bench: Bench, glibc: str) -> bytes:
    return bench.compiler.shared(THREAD, target=f"x86_64-linux-gnu.{glibc}").read_bytes()


def cxx_user(bench: Bench, version: str) -> bytes:
    """A user of a stand-in libstdc++ whose one function carries that version."""
    script = bench.compiler.text(f"GLIBCXX_{version} {{ global: *; }};\n")
    flags = ("-Wl,-soname,libstdc++.so.6", f"-Wl,--version-script={script}")
    library = bench.compiler.shared("int _ZSt4newer(void) { return 1; }\n", *flags, name="libstdcxx.so")
    source = "extern int _ZSt4newer(void);\nint latenn_f(void) { return _ZSt4newer(); }\n"
    return bench.compiler.shared(source, library).read_bytes()


def musl_user(bench: Bench) -> bytes:
    """A library that needs musl, by a stand-in of its name."""
    libc = bench.compiler.shared(
        "int odd(void) { return 1; }\n", "-Wl,-soname,libc.musl-x86_64.so.1", name="libmusl.so"
    )
    return bench.compiler.shared("extern int odd(void);\nint latenn_f(void) { return odd(); }\n", libc).read_bytes()


def module(bench: Bench) -> bytes:
    return bench.compiler.shared("void *PyInit__core(void) { return 0; }\n").read_bytes()


def caller(*names: str) -> str:
    """The source of a module that calls functions of CPython."""
    calls = "\n".join(f"extern void *{name}(void *);" for name in names)
    uses = "\n".join(f"  given = {name}(given);" for name in names)
    return f"{calls}\nvoid *PyInit__core(void) {{\n  void *given = 0;\n{uses}\n  return given;\n}}\n"


STABLE = "PyLong_AsLong"
"""Of the stable ABI since its beginning."""
NEWER = "PyType_GetName"
"""Since CPython 3.11."""
PRIVATE = "_PyObject_GetDictPtr"
"""Exported by every CPython, and of no stable ABI."""
ABI3, ABI3_NEWER = "cp310-abi3-manylinux_2_28_x86_64", "cp311-abi3-manylinux_2_28_x86_64"
OWN = "cp311-cp311-manylinux_2_28_x86_64"


def calling(bench: Bench, *names: str, tag: str = ABI3, file: str = "_core.abi3.so"):
    return bench.wheel({f"latenn/{file}": bench.compiler.shared(caller(*names)).read_bytes()}, tag=tag)


CASES = [
    Case(
        code="LB301",
        what="pthread_create of glibc 2.34 under a tag of 2.28",
        bad=lambda bench: bench.wheel({LIB: thread(bench, "2.34")}),
        good=lambda bench: bench.wheel({LIB: thread(bench, "2.34")}, tag="py3-none-manylinux_2_34_x86_64"),
        at=f"!{LIB}",
        says="needs GLIBC_2.34 for pthread_create",
    ),
    Case(
        code="LB301",
        what="the lowest of several tags counts, old names included",
        bad=lambda bench: bench.wheel(
            {LIB: thread(bench, "2.34")}, tag="py3-none-manylinux2014_x86_64.manylinux_2_35_x86_64"
        ),
        good=lambda bench: bench.wheel(
            {LIB: thread(bench, "2.17")}, tag="py3-none-manylinux2014_x86_64.manylinux_2_35_x86_64"
        ),
        at=f"!{LIB}",
        says="glibc 2.17",
    ),
    Case(
        code="LB301",
        what="a nupkg is held to the configured floor",
        bad=lambda bench: bench.nupkg({"runtimes/linux-x64/native/liblatenn.so": thread(bench, "2.34")}),
        good=lambda bench: bench.nupkg({"runtimes/linux-x64/native/liblatenn.so": thread(bench, "2.17")}),
        at="!runtimes/linux-x64/native/liblatenn.so",
        says="GLIBC_2.34",
        policy=Policy(glibc="2.28"),
    ),
    Case(
        code="LB302",
        what="an aarch64 library in an x86_64 wheel",
        bad=lambda bench: bench.wheel({LIB: bench.good(ARM)}),
        good=lambda bench: bench.wheel({LIB: bench.good(ARM)}, tag="py3-none-manylinux_2_28_aarch64"),
        at=f"!{LIB}",
        says="aarch64",
    ),
    Case(
        code="LB302",
        what="an x86_64 library in the folder of linux-arm64",
        bad=lambda bench: bench.nupkg({"runtimes/linux-arm64/native/liblatenn.so": bench.good()}),
        good=lambda bench: bench.nupkg({"runtimes/linux-arm64/native/liblatenn.so": bench.good(ARM)}),
        at="!runtimes/linux-arm64/native/liblatenn.so",
        says="linux-arm64",
    ),
    Case(
        code="LB302",
        what="a Windows library in a Linux wheel",
        bad=lambda bench: bench.wheel({"latenn/latenn.dll": pe(managed=False)}),
        good=lambda bench: bench.wheel({"latenn/latenn.dll": pe(managed=False)}, tag="py3-none-win_amd64"),
        at="!latenn/latenn.dll",
        says="pe",
    ),
    Case(
        code="LB303",
        what="a native library in a wheel for any platform",
        bad=lambda bench: bench.wheel(tag="py3-none-any"),
        good=lambda bench: bench.wheel({"latenn/data.bin": b"x"}, tag="py3-none-any"),
        at=f"!{LIB}",
        says="any",
    ),
    Case(
        code="LB303",
        what="Root-Is-Purelib is true",
        bad=lambda bench: bench.wheel(purelib=True),
        good=lambda bench: bench.wheel(),
        at=".dist-info/WHEEL",
        says="Root-Is-Purelib: true",
    ),
    Case(
        code="LB304",
        what="a newer libstdc++ than the tag promises",
        bad=lambda bench: bench.wheel({LIB: cxx_user(bench, "3.4.30")}),
        good=lambda bench: bench.wheel({LIB: cxx_user(bench, "3.4.24")}),
        at=f"!{LIB}",
        says="GLIBCXX_3.4.30",
    ),
    Case(
        code="LB305",
        what="a musl library under a manylinux tag",
        bad=lambda bench: bench.wheel({LIB: musl_user(bench)}),
        good=lambda bench: bench.wheel({LIB: musl_user(bench)}, tag="py3-none-musllinux_1_2_x86_64"),
        at=f"!{LIB}",
        says="libc.musl-x86_64.so.1",
    ),
    Case(
        code="LB305",
        what="a glibc library in the folder of linux-musl-x64",
        bad=lambda bench: bench.nupkg({"runtimes/linux-musl-x64/native/liblatenn.so": bench.good()}),
        good=lambda bench: bench.nupkg({"runtimes/linux-musl-x64/native/liblatenn.so": musl_user(bench)}),
        at="!runtimes/linux-musl-x64/native/liblatenn.so",
        says="libc.so.6",
    ),
    Case(
        code="LB306",
        what="an extension module in a py3-none wheel",
        bad=lambda bench: bench.wheel({"latenn/_core.so": module(bench)}),
        good=lambda bench: bench.wheel({"latenn/_core.so": module(bench)}, tag="cp311-abi3-manylinux_2_28_x86_64"),
        at="!latenn/_core.so",
        says="PyInit__core",
    ),
    Case(
        code="LB307",
        what="a plain linux tag",
        bad=lambda bench: bench.wheel(tag="py3-none-linux_x86_64"),
        good=lambda bench: bench.wheel(),
        at=".whl",
        says="linux_x86_64",
        severity="warning",
    ),
    Case(
        code="LB309",
        what="a function of CPython 3.11 under cp310-abi3",
        bad=lambda bench: calling(bench, STABLE, NEWER),
        good=lambda bench: calling(bench, STABLE, NEWER, tag=ABI3_NEWER),
        at="!latenn/_core.abi3.so",
        says="cp310-abi3 with 1 import: PyType_GetName is new in CPython 3.11",
    ),
    Case(
        code="LB309",
        what="a private function of CPython under an abi3 tag",
        bad=lambda bench: calling(bench, STABLE, PRIVATE),
        good=lambda bench: calling(bench, STABLE),
        at="!latenn/_core.abi3.so",
        says="_PyObject_GetDictPtr is not part of it",
    ),
    Case(
        code="LB309",
        what="the lowest of several tags counts",
        bad=lambda bench: calling(bench, NEWER, tag="cp310.cp311-abi3-manylinux_2_28_x86_64"),
        good=lambda bench: calling(bench, NEWER, tag="cp311.cp312-abi3-manylinux_2_28_x86_64"),
        at="!latenn/_core.abi3.so",
        says="PyType_GetName",
    ),
    Case(
        code="LB310",
        what="a module of one CPython under an abi3 tag",
        bad=lambda bench: calling(bench, STABLE, file="_core.cpython-311-x86_64-linux-gnu.so"),
        good=lambda bench: calling(bench, STABLE, file="_core.cpython-311-x86_64-linux-gnu.so", tag=OWN),
        at="!latenn/_core.cpython-311-x86_64-linux-gnu.so",
        says="is found only by cp311",
    ),
    Case(
        code="LB310",
        what="a module of another CPython than the tag's, and one of no CPython in particular",
        bad=lambda bench: calling(bench, STABLE, file="_core.cpython-310-x86_64-linux-gnu.so", tag=OWN),
        good=lambda bench: calling(bench, STABLE, file="_core.so", tag=OWN),
        at=".so",
        says="is found only by cp310, but the wheel is installed for cp311-cp311",
    ),
    Case(
        code="LB310",
        what="a stable-ABI module under the tag of one CPython",
        bad=lambda bench: calling(bench, STABLE, tag=OWN),
        good=lambda bench: calling(bench, STABLE),
        at="!latenn/_core.abi3.so",
        says="excludes all other CPythons",
        severity="warning",
    ),
]
