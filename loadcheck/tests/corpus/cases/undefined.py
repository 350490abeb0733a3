"""Bad subjects for LB106 in ELF."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpus.cases.case import Case, bare, contents, good, made_by, shared, wheel
from corpus.cases.linkage import LIB, ODD, STRANGER, late, odd
from corpus.packages import GOOD, RUNTIME, USER

if TYPE_CHECKING:
    from pathlib import Path

    from corpus.packages import Bench

COSINE = "extern float hypotf(float, float);\nfloat f(float a) { return hypotf(a, a); }\n"
CURVES = COSINE + "".join(
    f"extern float {name}f(float);\nfloat {name}(float a) {{ return {name}f(a); }}\n"
    for name in ("cosh", "sinh", "tanh")
)
PYTHON_USER = "extern int PyErr_Occurred(void);\nint initc(void){return PyErr_Occurred();}\n"
ISOC23 = "extern long __isoc23_strtol(char *, char **, int);\nlong f(char *a) { return __isoc23_strtol(a, 0, 9); }\n"
TWO_NEW = f"extern void closefrom(int);\nvoid g(void) {{ closefrom(3); }}\n{ISOC23}"
PYTHON_2 = "cp27-cp27mu-manylinux1_x86_64"
SHM_USER = "extern int shm_open(void);\nint latenn_f(void) { return shm_open(); }\n"
OF_CXX = "_ZNSs4swapERSs"
OF_GCC_9 = "_ZNSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEEC1Ev"
OF_CXX11 = "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE4swapERS4_"


def link_with_undefined(source: str, *flags: str):
    return contents(shared(source, "-Wl,-z,undefs", *flags))


@made_by
def musl_wheel(bench: Bench, name: str, tag: str = "py3-none-musllinux_1_2_x86_64"):
    """A wheel for musl with a library that calls a function of the C library."""
    libc = bench.compiler.library(
        f"int {name}(void) {{ return 1; }}\n", "-Wl,-soname,libc.musl-x86_64.so.1", name="libmusl.so"
    )
    source = f"extern int {name}(void);\nint latenn_f(void) {{ return {name}(); }}\n"
    library = bench.compiler.library(source, libc, "-fno-builtin", "-nostdlib").read_bytes()
    return bench.wheel({LIB: library}, tag=tag)


@made_by
def cxx_user(bench: Bench, symbol: str, other: str = "") -> bytes:
    """A library that links libstdc++ and leaves one of its symbols open without a version."""
    script = bench.compiler.text("GLIBCXX_3.4 { global: *; };\n")
    flags = ("-Wl,-soname,libstdc++.so.6", f"-Wl,--version-script={script}")
    library = bench.compiler.library("int _ZSt3odd(void) { return 1; }\n", *flags, name="libstdcxx.so")
    source = f"extern int _ZSt3odd(void), {symbol}(void);\nint latenn_f(void) {{ return _ZSt3odd() + {symbol}(); }}\n"
    source += "extern int other(void);\nint latenn_g(void) { return other(); }\n" if other else ""
    others = (
        [bench.compiler.library("int other(void) { return 1; }\n", f"-Wl,-soname,{other}", name="libother.so")]
        if other
        else []
    )
    return bench.compiler.library(source, library, *others, "-Wl,-z,undefs").read_bytes()


@made_by
def bound_to_libc(bench: Bench, name: str) -> bytes:
    """A library that takes a function at a version of libc.so.6, by a stand-in that has it."""
    script = bench.compiler.text("GLIBC_2.2.5 { global: *; };\n")
    flags = ("-Wl,-soname,libc.so.6", f"-Wl,--version-script={script}", "-fno-builtin", "-nostdlib")
    library = bench.compiler.library(f"int {name}(void) {{ return 1; }}\n", *flags, name="libstandin.so")
    source = f"extern int {name}(void);\nint latenn_f(void) {{ return {name}(); }}\n"
    return bench.compiler.library(source, library, "-fno-builtin", "-nostdlib").read_bytes()


def build_odd(bench: Bench, version: str, name: str = "odd") -> Path:
    script = bench.compiler.text(f"{version} {{ global: *; }};\n")
    flags = ("-Wl,-soname,libodd.so.3", f"-Wl,--version-script={script}")
    return bench.compiler.library(f"int {name}(void) {{ return 1; }}\n", *flags, name="libodd.so")


@made_by
def odd_version(bench: Bench, version: str, name: str = "odd") -> bytes:
    """A library whose one function has that version."""
    return build_odd(bench, version, name).read_bytes()


@made_by
def of_version(bench: Bench, version: str) -> bytes:
    """A user of that version of it."""
    return bench.compiler.library(STRANGER, build_odd(bench, version)).read_bytes()


@made_by
def caller(bench: Bench, name: str, *, tag: str = "py3-none-manylinux_2_28_x86_64"):
    """A wheel with a library that calls a function of glibc and links no part of it."""
    source = f"extern int {name}(void);\nint latenn_f(void) {{ return {name}(); }}\n"
    thing = bench.compiler.thing(source, "-fno-builtin")
    return bench.wheel({LIB: bench.compiler.link_object(thing).read_bytes()}, tag=tag)


@made_by
def entry_user(bench: Bench, *, linked: bool) -> bytes:
    """A library that needs one outside the package, leaves the runtime's entry symbol open, and may link a runtime."""
    odd = bench.compiler.library("int odd(void) { return 1; }\n", "-Wl,-soname,libodd.so.3", name="libodd.so")
    runtime = bench.compiler.library(RUNTIME, "-Wl,-soname,libonnxruntime.so.1", name="libonnxruntime.so")
    libraries = [odd, runtime] if linked else [odd]
    return bench.compiler.library(STRANGER + USER, *libraries, "-Wl,-z,undefs").read_bytes()


def open_call(name: str):
    return link_with_undefined(STRANGER.replace("odd", name))


TWO_MUSL = "py3-none-musllinux_1_1_x86_64.musllinux_1_2_x86_64"
BOTH_LIBCS = "py3-none-manylinux_2_28_x86_64.musllinux_1_2_x86_64"
calls_python = link_with_undefined(PYTHON_USER.replace("initc", "latenn_f"))
CASES = [
    Case("LB106", "a library with functions of CPython in a wheel for every Python, and in one for CPython 3.8",
         wheel({LIB: calls_python}), wheel({LIB: calls_python}, tag="cp38-cp38-manylinux_2_28_x86_64"), at=f"!{LIB}",
         says="PyErr_Occurred"),
    Case("LB106", "a symbol is left open that no library defines", wheel({LIB: link_with_undefined(STRANGER)}),
         wheel({LIB: link_with_undefined(STRANGER), "latenn/libodd.so": odd}), at=f"!{LIB}",
         says="odd"),
    Case("LB106", "a symbol is left open, and not by a plugin of another program",
         wheel({LIB: link_with_undefined(STRANGER)}),
         wheel({"latenn/tool.duckdb_extension": link_with_undefined(STRANGER)}), at=f"!{LIB}", says="odd"),
    Case("LB106", "symbols of MPI in a library that the package works without; other symbols",
         wheel({LIB: good(), "latenn/libmpi_user.so": link_with_undefined(STRANGER)}),
         wheel({LIB: good(), "latenn/libmpi_user.so": link_with_undefined(STRANGER.replace("odd", "MPI_Init"))}),
         at="!latenn/libmpi_user.so", says="that nothing provides: odd", severity="warning"),
    Case("LB106", "the runtime's entry symbol is left open", wheel({LIB: link_with_undefined(
             "extern const void *OrtGetApiBase(void);\nconst void *f(void){return OrtGetApiBase();}\n")}),
         wheel({LIB: late}), at=f"!{LIB}", says="OrtGetApiBase"),
    Case("LB106", "Python's functions are left open by a library that is no module",
         wheel({LIB: link_with_undefined("extern int PyErr_Occurred(void);\nint f(void){return PyErr_Occurred();}\n")}),
         wheel({LIB: link_with_undefined(
             "extern int PyErr_Occurred(void);\nint PyInit__c(void){return PyErr_Occurred();}\n")}),
         at=f"!{LIB}", says="PyErr_Occurred"),
    Case("LB106", "a function of glibc is used without its library: a note",
         lambda bench: bench.wheel({LIB: bench.compiler.link_object(bench.compiler.thing(COSINE,
             "-fno-builtin")).read_bytes()}), wheel({LIB: contents(shared(COSINE, "-fno-builtin", "-lm"))}),
         at=f"!{LIB}", says="hypotf", severity="note"),
    Case("LB106", "more functions of glibc than a headline names",
         lambda bench: bench.wheel({LIB: bench.compiler.link_object(bench.compiler.thing(CURVES,
             "-fno-builtin")).read_bytes()}), wheel({LIB: contents(shared(CURVES, "-fno-builtin", "-lm"))}),
         at=f"!{LIB}", says="uses coshf, hypotf, sinhf and 1 more function of glibc, but", severity="note"),
    Case("LB106", "a function of glibc that musl does not have", musl_wheel("gnu_get_libc_version"),
         musl_wheel("getenv"), at=f"!{LIB}", says="nothing provides: gnu_get_libc_version"),
    Case("LB106", "Python's functions in a wheel without a module; a module for Python 2",
         wheel({LIB: link_with_undefined(PYTHON_USER)}),
         wheel({LIB: link_with_undefined(PYTHON_USER)}, tag="cp27-cp27mu-manylinux1_x86_64"), at=f"!{LIB}",
         says="PyErr_Occurred"),
    Case("LB106", "a function of librt, where the promised glibc has it elsewhere",
         caller("shm_open"), caller("shm_open", tag="py3-none-manylinux_2_34_x86_64"), at=f"!{LIB}",
         says="uses shm_open, but does not link librt, which glibc before 2.34 needs", severity="warning",
         good_severity="note"),
    Case("LB106", "a function of librt that CPython 3 links", caller("clock_gettime", tag=PYTHON_2),
         caller("clock_gettime", tag="cp36-abi3-manylinux1_x86_64"), at=f"!{LIB}",
         says="clock_gettime, but does not link librt, which glibc before 2.17", severity="warning",
         good_severity="note"),
    Case("LB106", "a symbol of libstdc++ without a version, which it needs; another symbol",
         wheel({LIB: link_with_undefined(f"extern int {OF_CXX}(void);\nint f(void){{return {OF_CXX}();}}\n")}),
         wheel({LIB: cxx_user(OF_CXX)}), at=f"!{LIB}", says="that nothing provides"),
    Case("LB106", "a symbol of GCC 5 without a version", wheel({LIB: cxx_user(OF_CXX11)}, tag=PYTHON_2),
         wheel({LIB: cxx_user(OF_CXX11)}), at=f"!{LIB}", says="but the tag promises GLIBCXX_3.4.8, which lacks them",
         severity="warning"),
    Case("LB106", "a symbol of GCC 5 without a version; an older one", wheel({LIB: cxx_user(OF_CXX11)}, tag=PYTHON_2),
         wheel({LIB: cxx_user(OF_CXX)}, tag=PYTHON_2), at=f"!{LIB}", says=f"{OF_CXX11} of GLIBCXX_3.4.21",
         severity="warning"),
    Case("LB106", "a symbol of GCC 9 without a version", wheel({LIB: cxx_user(OF_GCC_9)}),
         wheel({LIB: cxx_user(OF_GCC_9)}, tag="py3-none-manylinux_2_31_x86_64"), at=f"!{LIB}",
         says=f"{OF_GCC_9} of GLIBCXX_3.4.26", severity="warning"),
    Case("LB106", "a symbol of GCC 9 without a version, next to a library that may define it",
         wheel({LIB: cxx_user(OF_GCC_9, "libother.so.1")}),
         wheel({LIB: cxx_user(OF_GCC_9, "libother.so.1")}, tag="py3-none-manylinux_2_31_x86_64"), at=f"!{LIB}",
         says=f"{OF_GCC_9} of GLIBCXX_3.4.26", severity="note"),
    Case("LB106", "a type of the language, which libstdc++ defines; another type without a version",
         wheel({LIB: cxx_user("_ZTI3odd")}), wheel({LIB: cxx_user("_ZTIPKc")}), at=f"!{LIB}", says="_ZTI3odd"),
    Case("LB106", "a function of libm that the linker found in libc", wheel({LIB: bound_to_libc("scalbln")}),
         wheel({LIB: bound_to_libc("ldexp")}), at=f"!{LIB}", severity="warning",
         says="looks for scalbln of libm.so.6 in libc.so.6"),
    Case("LB106", "a function of a newer glibc in a static library, bound when the library is loaded",
         wheel({LIB: link_with_undefined(ISOC23, "-Wl,-z,now")}),
         wheel({LIB: link_with_undefined(ISOC23, "-Wl,-z,now")}, tag="py3-none-manylinux_2_38_x86_64"), at=f"!{LIB}",
         says="uses __isoc23_strtol, added in glibc 2.38, but the tag promises 2.28", good_severity="note"),
    Case("LB106", "a function of a newer glibc that is bound when it is called",
         wheel({LIB: link_with_undefined(ISOC23, "-Wl,-z,lazy")}),
         wheel({LIB: link_with_undefined(ISOC23.replace("extern", "__attribute__((weak)) extern"), "-Wl,-z,lazy")}),
         at=f"!{LIB}", says="uses __isoc23_strtol, added in glibc 2.38", severity="warning"),
    Case("LB106", "two functions of newer glibcs, next to libm",
         wheel({LIB: link_with_undefined(TWO_NEW, "-Wl,-z,lazy", "-Wl,--no-as-needed", "-lm")}),
         wheel({LIB: link_with_undefined(TWO_NEW, "-Wl,-z,lazy", "-Wl,--no-as-needed", "-lm")},
               tag="py3-none-manylinux_2_38_x86_64"), at=f"!{LIB}",
         says="uses __isoc23_strtol, added in glibc 2.38", severity="warning", good_severity="note"),
    Case("LB106", "a function that only a newer musl has", musl_wheel("qsort_r"), musl_wheel("qsort"), at=f"!{LIB}",
         says="uses qsort_r, added in musl 1.2.3, but the tag promises 1.2", severity="warning"),
    Case("LB106", "a version that the library of the package does not define",
         wheel({LIB: of_version("ODD_2"), "latenn/libodd.so.3": odd_version("ODD_1")}),
         wheel({LIB: of_version("ODD_2"), "latenn/libodd.so.3": odd_version("ODD_2")}), at=f"!{LIB}",
         says="needs version ODD_2 of libodd.so.3, which the copy in the package does not define"),
    Case("LB106", "a version that the library of the package does not define, where other libraries load without it",
         wheel({LIB: good(), ODD: of_version("ODD_2"), "latenn/libodd.so.3": odd_version("ODD_1")}),
         wheel({LIB: good(), ODD: of_version("ODD_2"), "latenn/libodd.so.3": odd_version("ODD_2")}), at=f"!{ODD}",
         says="needs version ODD_2 of libodd.so.3", severity="warning"),
    Case("LB106", "a version of which the library of the package has none of the functions",
         wheel({LIB: of_version("ODD_2"), "latenn/libodd.so.3": odd_version("ODD_1")}),
         wheel({LIB: of_version("ODD_2"), "latenn/libodd.so.3": odd_version("ODD_1", "other")}), at=f"!{LIB}",
         says="needs version ODD_2"),
    Case("LB106", "a symbol that nothing provides, in a wheel and in a folder",
         wheel({LIB: link_with_undefined(STRANGER)}),
         lambda bench: [bare("folder/libodd.so", link_with_undefined(STRANGER)(bench))(bench)[0].parent], at=f"!{LIB}",
         says="nothing provides: odd", good_severity="note"),
    Case("LB106", "a symbol of GCC 5 without a version, which a library of the package defines",
         wheel({LIB: cxx_user(OF_CXX11)}, tag=PYTHON_2),
         wheel({LIB: cxx_user(OF_CXX11),
                ODD: contents(shared(f"int {OF_CXX11}(void) {{ return 1; }}\n"))}, tag=PYTHON_2), at=f"!{LIB}",
         says="GLIBCXX_3.4.8, which lacks them", severity="warning"),
    Case("LB106", "a symbol of GCC 5 without a version, where the package has its own libstdc++",
         wheel({LIB: cxx_user(OF_CXX11)}, tag=PYTHON_2),
         wheel({LIB: cxx_user(OF_CXX11), "latenn.libs/libstdc++.so.6": good()}, tag=PYTHON_2), at=f"!{LIB}",
         says="GLIBCXX_3.4.8, which lacks them", severity="warning"),
    Case("LB106", "a symbol of GCC 5 without a version, where the tag promises no libstdc++",
         wheel({LIB: cxx_user(OF_CXX11)}, tag=PYTHON_2), wheel({LIB: cxx_user(OF_CXX11)}, tag="py3-none-linux_x86_64"),
         at=f"!{LIB}", says="GLIBCXX_3.4.8, which lacks them", severity="warning"),
    Case("LB106", "symbols of MPI in the library that users load", wheel({LIB: open_call("MPI_Init")}),
         wheel({LIB: good(), "latenn/libmpi_user.so": open_call("MPI_Init")}), at=f"!{LIB}",
         says="that nothing provides: MPI_Init"),
    Case("LB106", "a symbol of MPI and another one",
         wheel({LIB: good(), ODD: link_with_undefined(STRANGER + STRANGER.replace("odd", "MPI_Init")
                                                      .replace("latenn_f", "latenn_g"))}),
         wheel({LIB: good(), ODD: open_call("MPI_Init")}), at=f"!{ODD}", says="2 undefined symbols that nothing",
         severity="warning"),
    Case("LB106", "a symbol named like a framework's, which Linux does not have",
         wheel({LIB: open_call("CMTimeMake")}), wheel(), at=f"!{LIB}", says="that nothing provides: CMTimeMake"),
    Case("LB106", "a function that is new in glibc 2.38, and that musl always had",
         wheel({LIB: link_with_undefined(GOOD + STRANGER.replace("odd", "strlcpy"), "-fno-builtin", "-Wl,-z,lazy")},
               tag=BOTH_LIBCS),
         musl_wheel("strlcpy", BOTH_LIBCS), at=f"!{LIB}", says="added in glibc 2.38", severity="warning"),
    Case("LB106", "a function that the oldest musl of the tags lacks; no tag", musl_wheel("qsort_r", TWO_MUSL),
         musl_wheel("qsort_r", "py3-none-linux_x86_64"), at=f"!{LIB}", says="but the tag promises 1.1",
         severity="warning"),
    Case("LB106", "a function of librt in a package without a tag", caller("shm_open"),
         lambda bench: bench.nupkg({"runtimes/linux-x64/native/liblatenn.so": bench.compiler.link_object(
             bench.compiler.thing(SHM_USER, "-fno-builtin")).read_bytes()}), at=f"!{LIB}",
         says="uses shm_open, but does not link librt", severity="warning", good_severity="note"),
    Case("LB106", "a function of CPython in a package for another host",
         lambda bench: bench.nupkg({"runtimes/linux-x64/native/liblatenn.so":
                                    link_with_undefined(PYTHON_USER)(bench)}),
         wheel({LIB: link_with_undefined(PYTHON_USER)}, tag="cp27-none-manylinux1_x86_64"),
         at="!runtimes/linux-x64/native/liblatenn.so", says="PyErr_Occurred"),
]  # fmt: skip
