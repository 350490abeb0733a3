"""Bad subjects for LB3xx."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import lief

from corpus.cases.case import Case, dll, dylib, good, made_by, npm, nupkg, wheel
from corpus.packages import MAC_ARM, MAC_INTEL, Bench, pe
from loadcheck.engine.policy import Policy

if TYPE_CHECKING:
    from collections.abc import Iterable

LIB = "latenn/liblatenn.so"
THREAD = """
#include <pthread.h>
static void *nothing(void *arg) { return arg; }
int latenn_start(void) { pthread_t thread; return pthread_create(&thread, 0, nothing, 0); }
"""
ARM = "aarch64-linux-gnu.2.28"
ARM_32 = "arm-linux-gnueabihf.2.28"


@made_by
def thread(bench: Bench, glibc: str) -> bytes:
    return bench.compiler.library(THREAD, target=f"x86_64-linux-gnu.{glibc}").read_bytes()


@made_by
def cxx_user(bench: Bench, version: str) -> bytes:
    """A user of a stand-in libstdc++ whose one function carries that version."""
    script = bench.compiler.text(f"GLIBCXX_{version} {{ global: *; }};\n")
    flags = ("-Wl,-soname,libstdc++.so.6", f"-Wl,--version-script={script}")
    library = bench.compiler.library("int _ZSt4newer(void) { return 1; }\n", *flags, name="libstdcxx.so")
    source = "extern int _ZSt4newer(void);\nint latenn_f(void) { return _ZSt4newer(); }\n"
    return bench.compiler.library(source, library).read_bytes()


@made_by
def libc_user(bench: Bench, version: str) -> bytes:
    """A user of a stand-in glibc whose one function carries that version."""
    script = bench.compiler.text(f"{version} {{ global: *; }};\n")
    flags = ("-Wl,-soname,libc.so.6", f"-Wl,--version-script={script}")
    library = bench.compiler.library("int __odd(void) { return 1; }\n", *flags, name="libstandin.so")
    source = "extern int __odd(void);\nint latenn_f(void) { return __odd(); }\n"
    return bench.compiler.library(source, library).read_bytes()


@made_by
def versioned(bench: Bench, version: str, *, tag: str = "py3-none-manylinux_2_28_x86_64"):
    """A wheel with a user of a system library whose one function carries that version."""
    soname = {"ZLIB": "libz.so.1", "LIBATOMIC": "libatomic.so.1"}[version.partition("_")[0]]
    script = bench.compiler.text(f"{version} {{ global: *; }};\n")
    flags = (f"-Wl,-soname,{soname}", f"-Wl,--version-script={script}")
    library = bench.compiler.library("int odd(void) { return 1; }\n", *flags, name=f"of_{version}.so")
    source = "extern int odd(void);\nint latenn_f(void) { return odd(); }\n"
    return bench.wheel({LIB: bench.compiler.library(source, library).read_bytes()}, tag=tag)


@made_by
def of_zlib(bench: Bench, source: str):
    stand_in = "int inflate_fast(void) { return 1; }\nint adler32(void) { return 1; }\n"
    library = bench.compiler.library(stand_in, "-Wl,-soname,libz.so.1", name="libzed.so")
    return bench.wheel({LIB: bench.compiler.library(source, library, "-Wl,-z,now").read_bytes()})


def musl_user(bench: Bench) -> bytes:
    """A library that needs musl, by a stand-in of its name."""
    libc = bench.compiler.library(
        "int odd(void) { return 1; }\n", "-Wl,-soname,libc.musl-x86_64.so.1", name="libmusl.so"
    )
    return bench.compiler.library("extern int odd(void);\nint latenn_f(void) { return odd(); }\n", libc).read_bytes()


def module(bench: Bench) -> bytes:
    return bench.compiler.library("void *PyInit__core(void) { return 0; }\n").read_bytes()


def caller(*names: str) -> str:
    """The source of a module that calls functions of CPython."""
    calls = "\n".join(f"extern void *{name}(void *);" for name in names)
    uses = "\n".join(f"  given = {name}(given);" for name in names)
    return f"{calls}\nvoid *PyInit__core(void) {{\n  void *given = 0;\n{uses}\n  return given;\n}}\n"


@made_by
def module_for(bench: Bench, target: str) -> bytes:
    return bench.compiler.library("void *PyInit__core(void) { return 0; }\n", target=target).read_bytes()


STABLE = "PyLong_AsLong"
"""Of the stable ABI since its beginning."""
NEWER = "PyType_GetName"
"""Since CPython 3.11."""
PRIVATE = "_PyObject_GetDictPtr"
"""Exported by every CPython, and of no stable ABI."""
ABI3, ABI3_NEWER = "cp310-abi3-manylinux_2_28_x86_64", "cp311-abi3-manylinux_2_28_x86_64"
ABI3T = "cp315-abi3.abi3t-manylinux_2_28_x86_64"
TIED = "_core.cpython-311-x86_64-linux-gnu.so"
OLD = "cp36-cp36m-manylinux_2_17_x86_64"
OLDER = "cp35-cp35m-manylinux_2_17_x86_64"
RECENT = "cp314-cp314-manylinux_2_28_x86_64"
STACK = "PyUnstable_ThreadState_SetStackProtection"
OWN = "cp311-cp311-manylinux_2_28_x86_64"
GENERIC = "py3-none-manylinux_2_28_x86_64"


def own(bench: Bench) -> bytes:
    """A library that defines a function with a name of CPython."""
    return bench.compiler.library("void *_PyGen_Send(void *given) { return given; }\n", name="libown.so").read_bytes()


def calls_own(bench: Bench) -> bytes:
    """A module that calls such a function."""
    return bench.compiler.library(caller("_PyGen_Send")).read_bytes()


@made_by
def calling(bench: Bench, *names: str, tag: str = ABI3, file: str = "_core.abi3.so", metadata: str = ""):
    data = bench.compiler.library(caller(*names)).read_bytes()
    return bench.wheel({f"latenn/{file}": data}, tag=tag, metadata=metadata)


@made_by
def exporting(bench: Bench, name: str) -> bytes:
    return bench.compiler.library(f"void *{name}(void) {{ return 0; }}\n").read_bytes()


@made_by
def in_steps(bench: Bench, slot: str, start: str = "PyModuleDef_Init", slots: str = "{2, execute}, {3, (void *)2},"):
    """A module for free-threaded CPython that gives a PyModuleDef of that layout to CPython, or to its own code."""
    source = f"""
    extern void *PyModuleDef_Init(void *);
    static int execute(void *module) {{ return module == 0; }}
    static struct {{ int number; void *value; }} slots[] = {{ {slots} {slot} {{0, 0}}, {{1, 0}} }};
    static struct {{ char head[56]; const char *name, *text; long size; void *methods, *slots, *rest[3]; }} definition =
      {{ .name = "_core", .slots = slots }};
    __attribute__((noinline, visibility("hidden"))) void *promise(void *given) {{
      slots[2].number = 4, slots[2].value = (void *)1;
      return PyModuleDef_Init(given);
    }}
    void *PyInit__core(void) {{ return {start}(&definition); }}
    """
    data = bench.compiler.library(source).read_bytes()
    return bench.wheel({"latenn/_core.so": data}, tag="cp313-cp313t-manylinux_2_28_x86_64")


@made_by
def everywhere(bench: Bench, glibc: str):
    """A wheel for any platform with libraries for all common ones."""
    linux = {arch: bench.good(f"{arch}-linux-gnueabihf.2.28" if arch == "arm" else f"{arch}-linux-gnu.2.28")
             for arch in ("aarch64", "arm")}  # fmt: skip
    files = {f"latenn/{arch}.so": data for arch, data in linux.items()}
    files |= {"latenn/x64.so": thread(glibc)(bench), "latenn/musl.so": bench.good("x86_64-linux-musl")}
    files |= {f"latenn/{target[:3]}.dylib": bench.dylib(target) for target in (MAC_ARM, MAC_INTEL)}
    return bench.wheel({**files, "latenn/latenn.dll": bench.dll()}, tag="py3-none-any")


@made_by
def linking(bench: Bench, name: str):
    """A module for CPython 3.11 that links a library of CPython."""
    library = bench.compiler.library("int PyLong_Odd(void) { return 1; }\n", f"-Wl,-soname,{name}", name=name)
    source = "extern int PyLong_Odd(void);\nint PyInit__core(void) { return PyLong_Odd(); }\n"
    return bench.wheel({"latenn/_core.so": bench.compiler.library(source, library).read_bytes()}, tag=OWN)


@made_by
def weak_user(bench: Bench, *, weak: bool) -> bytes:
    """A user of glibc 2.34 whose version need is marked weak, as binutils marks those of weak symbols alone."""
    data = bytearray(thread("2.34")(bench))
    requirements = lief.ELF.parse(list(data)).symbols_version_requirement
    for symbol in (symbol for library in requirements for symbol in library.get_auxiliary_symbols()):
        number = int(str(symbol.name).rpartition(".")[2]) if str(symbol.name).startswith("GLIBC_2.") else 0
        offset = data.find(struct.pack("<IHH", symbol.hash, 0, symbol.other))
        if weak and number > 28:
            data[offset + 4] = 2
    return bytes(data)


def shiboken_user(bench: Bench) -> bytes:
    source = f"void *{NEWER}(void *given) {{ return given; }}\n"
    library = bench.compiler.library(source, "-Wl,-soname,libshiboken2.so", name="libshiboken2.so")
    return bench.compiler.library(caller(NEWER), library).read_bytes()


@made_by
def fat(bench: Bench, *minors: int, tag: str = ABI3, limits: str = ""):
    """A wheel with a module for each of several Pythons."""
    names = [f"latenn/_core.cpython-3{minor}-x86_64-linux-gnu.so" for minor in minors]
    metadata = f"Requires-Python: {limits}\n" if limits else ""
    return bench.wheel({name: module(bench) for name in names}, tag=tag, metadata=metadata)


@made_by
def shims(bench: Bench, minors: Iterable[int], *others: str):
    """A stable-ABI wheel whose code chooses a library with functions of one Python."""
    library = bench.compiler.library(caller(PRIVATE).replace("PyInit__core", "shim")).read_bytes()
    module = bench.compiler.library(caller(STABLE)).read_bytes()
    names = (*(f"libshim_3.{minor}.so" for minor in minors), *others)
    return bench.wheel({"latenn/_core.abi3.so": module, **{f"latenn/{name}": library for name in names}}, tag=ABI3)


@made_by
def lonely(bench: Bench) -> bytes:
    """A library that needs no C library."""
    return bench.compiler.library("int latenn_f(void) { return 1; }\n", "-nostdlib").read_bytes()


@made_by
def relocatable(bench: Bench) -> bytes:
    return bench.compiler.thing("int latenn_f(void) { return 1; }\n").read_bytes()


ANY = "py3-none-any"
BOTH_NAMES = {f"latenn/{TIED}": module, "latenn/_core.cpython-311.so": module}
SHORT = "latenn/_core.cpython-{}.so"
CASES = [
    Case("LB301", "a version that is marked weak is not required", wheel({LIB: weak_user(weak=False)}),
         wheel({LIB: weak_user(weak=True)}), at=f"!{LIB}", says="GLIBC_2.34"),
    Case("LB301", "a symbol that glibc keeps to itself", wheel({LIB: libc_user("GLIBC_PRIVATE")}),
         wheel({LIB: libc_user("GLIBC_2.17")}), at=f"!{LIB}", says="needs GLIBC_PRIVATE for __odd", severity="warning"),
    Case("LB301", "a library that the rest of the package works without",
         wheel({"latenn/libvariant.so": thread("2.34"), LIB: good()}),
         wheel({"latenn/libvariant.so": thread("2.17"), LIB: good()}), at="!latenn/libvariant.so", says="GLIBC_2.34",
         severity="warning"),
    Case("LB301", "two libraries that nothing joins, neither of which fits the tag",
         wheel({"latenn/libvariant.so": thread("2.34"), LIB: thread("2.34")}),
         wheel({"latenn/libvariant.so": thread("2.17"), LIB: good()}), at="!latenn/libvariant.so", says="GLIBC_2.34",
         severity="error"),
    Case("LB304", "what manylinux_2_26 promises depends on the architecture",
         wheel({LIB: cxx_user("3.4.23")}, tag="py3-none-manylinux_2_26_x86_64"),
         wheel({LIB: cxx_user("3.4.23")}, tag="py3-none-manylinux_2_26_aarch64"), at=f"!{LIB}", says="GLIBCXX_3.4.22"),
    Case("LB306", "a module of one CPython in a wheel for any platform, which has a version without it",
         wheel({f"latenn/{TIED}": module}, tag="py3-none-any"), wheel({f"latenn/{TIED}": module}, tag=OWN),
         at=f"!latenn/{TIED}", says="there is no _core for CPython 3.10 and 3.12 to 3.15", severity="warning"),
    Case("LB306", "a module for each of several Pythons, and none for the last that the metadata admit",
         fat(10, 11, tag=GENERIC, limits=">=3.10,<3.13"), fat(10, 11, tag=GENERIC, limits=">=3.10,<3.12"),
         at=f"!latenn/{TIED}", says="there is no _core for CPython 3.12, which the tag py3-none includes"),
    Case("LB306", "a module for another Python than the one that installs the wheel",
         wheel({f"latenn/{TIED}": module}, tag="cp312-none-manylinux_2_28_x86_64"),
         wheel({f"latenn/{TIED}": module}, tag="cp311-none-manylinux_2_28_x86_64"), at=f"!latenn/{TIED}",
         says="there is no _core for CPython 3.12"),
    Case("LB306", "a module of one CPython in a wheel for it and all newer ones",
         wheel({f"latenn/{TIED}": module}, tag="py311-none-manylinux_2_28_x86_64"),
         wheel({f"latenn/{TIED}": module}, tag="cp311-none-manylinux_2_28_x86_64"), at=f"!latenn/{TIED}",
         says="there is no _core for CPython 3.12 to 3.15, which the tag py311-none includes"),
    Case("LB309", "libraries of which the code chooses one for its Python, and none for the newest",
         shims(range(9, 15)), shims(range(9, 16)), at="!latenn/libshim_3.9.so",
         says="has variants for CPython 3.9 to 3.14, but none for CPython 3.15, which cp310-abi3 includes",
         severity="warning"),
    Case("LB309", "a library of another name for the newest Python, which the code does not choose",
         shims(range(9, 15), "libother_3.15.so"), shims(range(9, 16)), at="!latenn/libshim_3.9.so",
         says="none for CPython 3.15", severity="warning"),
    Case("LB309", "a name of CPython that is not stable; the entries of other modules",
         calling("_PyObject_GetDictPtr"), calling("PyInit__odd", "PyModExport__odd"), at="!latenn/_core.abi3.so",
         says="_PyObject_GetDictPtr", severity="warning"),
    Case("LB309", "a newer name that another library may define, as shiboken2 does",
         wheel({"latenn/_core.abi3.so": shiboken_user}, tag=ABI3),
         wheel({"latenn/_core.abi3.so": shiboken_user}, tag=ABI3_NEWER), at="!latenn/_core.abi3.so", says=NEWER,
         severity="warning"),
    Case("LB302", "a helper for another system next to files that fit",
         wheel({LIB: good(), "latenn/helper.exe": dll()}), wheel({LIB: good()}), at="!latenn/helper.exe",
         says="is for Windows", severity="note"),
    Case("LB310", "a module for each of several Pythons, but not of all", fat(10, 11), fat(*range(10, 16)),
         at=f"!latenn/{TIED}", says="none for CPython 3.12 to 3.15", severity="warning"),
    Case("LB311", "a module for free-threaded CPython under the tag of one with the GIL",
         calling("_Py_DecRefShared", tag="cp313-cp313-manylinux_2_28_x86_64", file="_core.so"),
         calling("_Py_DecRefShared", tag="cp313-cp313t-manylinux_2_28_x86_64", file="_core.so"), at="!latenn/_core.so",
         says="was compiled for free-threaded CPython; CPython 3.13 lacks _Py_DecRefShared"),
    Case("LB311", "a module for CPython with the GIL under the tag of a free-threaded one",
         calling("_Py_Dealloc", tag="cp313-cp313t-manylinux_2_28_x86_64", file="_core.so"),
         calling("_Py_Dealloc", tag="cp313-cp313-manylinux_2_28_x86_64", file="_core.so"), at="!latenn/_core.so",
         says="was compiled for CPython with the GIL; CPython 3.13t lays out objects differently"),
    Case("LB304", "newer than the tag promises, and in the package under the system's name",
         wheel({LIB: cxx_user("3.4.30")}), wheel({LIB: cxx_user("3.4.30"), "latenn.libs/libstdc++.so.6": good()}),
         at=f"!{LIB}", says="GLIBCXX_3.4.30"),
    Case("LB301", "pthread_create of glibc 2.34 under a tag of 2.28", wheel({LIB: thread("2.34")}),
         wheel({LIB: thread("2.34")}, tag="py3-none-manylinux_2_34_x86_64"), at=f"!{LIB}",
         says="needs GLIBC_2.34 for pthread_create"),
    Case("LB301", "the lowest of several tags counts, old names included",
         wheel({LIB: thread("2.34")}, tag="py3-none-manylinux2014_x86_64.manylinux_2_35_x86_64"),
         wheel({LIB: thread("2.17")}, tag="py3-none-manylinux2014_x86_64.manylinux_2_35_x86_64"), at=f"!{LIB}",
         says="glibc 2.17"),
    Case("LB301", "a nupkg is held to the configured minimum",
         nupkg({"runtimes/linux-x64/native/liblatenn.so": thread("2.34")}),
         nupkg({"runtimes/linux-x64/native/liblatenn.so": thread("2.17")}),
         at="!runtimes/linux-x64/native/liblatenn.so", says="GLIBC_2.34", policy=Policy(glibc="2.28")),
    Case("LB301", "a library of a nupkg that others load without is held to the minimum, too",
         *(nupkg({"runtimes/linux-x64/native/liblatenn.so": good(),
                  "runtimes/linux-x64/native/libodd.so": thread(glibc)}) for glibc in ("2.34", "2.17")),
         at="!runtimes/linux-x64/native/libodd.so", says="GLIBC_2.34", policy=Policy(glibc="2.28")),
    Case("LB302", "an aarch64 library in an x86_64 wheel", wheel({LIB: good(ARM)}),
         wheel({LIB: good(ARM)}, tag="py3-none-manylinux_2_28_aarch64"), at=f"!{LIB}", says="arm64"),
    Case("LB302", "an x86_64 library in the folder of linux-arm64",
         nupkg({"runtimes/linux-arm64/native/liblatenn.so": good()}),
         nupkg({"runtimes/linux-arm64/native/liblatenn.so": good(ARM)}), at="!runtimes/linux-arm64/native/liblatenn.so",
         says="linux-arm64"),
    Case("LB302", "a library of another processor next to one that fits, in a nupkg",
         *(nupkg({"runtimes/linux-arm64/native/liblatenn.so": good(ARM), f"runtimes/{rid}/native/libodd.so": good()})
           for rid in ("linux-arm64", "linux-x64")),
         at="!runtimes/linux-arm64/native/libodd.so", says="linux-arm64"),
    *(Case("LB302", f"an {arch} library in {folder} of an npm package, and one that fits",
           *(npm({f"{folder}/libtiny.so": data}, name="@acme/tiny", os=None, cpu=None, libc=None)
             for data in (bad, fine)), at=f"!package/{folder}/libtiny.so", says="but the folder")
      for arch, folder, bad, fine in (
          ("x86_64", "android/src/main/jniLibs/arm64-v8a", good(), good(ARM)),
          ("aarch64", "android/lib/x86_64", good(ARM), good()),
          ("aarch64", "jni/x86", good(ARM), good("x86-linux-gnu")))),
    Case("LB302", "a Windows library in a Linux wheel", wheel({"latenn/latenn.dll": pe(managed=False)}),
         wheel({"latenn/latenn.dll": pe(managed=False)}, tag="py3-none-win_amd64"), at="!latenn/latenn.dll",
         says="is for Windows"),
    Case("LB303", "a native library in a wheel for any platform", wheel(tag="py3-none-any"),
         wheel({"latenn/data.bin": b"x"}, tag="py3-none-any"), at=".whl",
         says="has native code for Linux on x64 (glibc 2.2.5 or newer) only, but the tag any also admits Linux on "
         "arm64 and 32-bit ARM, macOS on x64 and arm64, Windows on x64 and Linux with musl", severity="warning"),
    Case("LB303", "native code for every common system, but not for an older glibc", everywhere("2.34"),
         everywhere("2.17"), at=".whl", says="also admits Linux with an older glibc than 2.34",
         severity="warning", good_severity="note"),
    Case("LB303", "native code for every common system", everywhere("2.17"), wheel(), at=".whl",
         says="in a wheel tagged any", severity="note"),
    Case("LB303", "a package that is named for its system", wheel(name="latenn_win_x64", tag="py3-none-any"), wheel(),
         at=".whl", says="has native code for Linux on x64", severity="note"),
    Case("LB303", "a package whose name ends like a system's", wheel(name="latenn_spin", tag="py3-none-any"), wheel(),
         at=".whl", says="has native code for Linux on x64", severity="warning"),
    Case("LB303", "Root-Is-Purelib is true", wheel(purelib=True), wheel(), at=".dist-info/WHEEL",
         says="Root-Is-Purelib: true", severity="note"),
    Case("LB304", "a newer libstdc++ than the tag promises", wheel({LIB: cxx_user("3.4.30")}),
         wheel({LIB: cxx_user("3.4.24")}), at=f"!{LIB}", says="GLIBCXX_3.4.30"),
    Case("LB304", "a version of zlib that the tag does not promise", versioned("ZLIB_1.2.12"), versioned("ZLIB_1.2.9"),
         at=f"!{LIB}", says="needs ZLIB_1.2.12 for odd, but the tag promises ZLIB_1.2.9"),
    Case("LB304", "a version of a family of which the tag promises none",
         versioned("LIBATOMIC_1.0", tag="py3-none-manylinux_2_5_x86_64"), versioned("LIBATOMIC_1.0"),
         at=f"!{LIB}", says="the tag promises no version of LIBATOMIC"),
    Case("LB304", "a function of zlib that old ones keep to themselves; one that is called if it is there",
         of_zlib("extern int inflate_fast(void);\nint latenn_f(void) { return inflate_fast(); }\n"),
         of_zlib("__attribute__((weak)) extern int inflate_fast(void);\nextern int adler32(void);\n"
                 "int latenn_f(void) { return inflate_fast ? inflate_fast() : adler32(); }\n"),
         at=f"!{LIB}", says="uses inflate_fast of libz.so.1, which some systems of the tag lack"),
    Case("LB305", "a musl library under a manylinux tag", wheel({LIB: musl_user}),
         wheel({LIB: musl_user}, tag="py3-none-musllinux_1_2_x86_64"), at=f"!{LIB}", says="libc.musl-x86_64.so.1"),
    Case("LB305", "a musl library under a manylinux tag, next to one for glibc",
         wheel({LIB: musl_user, "latenn/other.so": good()}), wheel({LIB: good(), "latenn/other.so": good()}),
         at=f"!{LIB}", says="is linked against musl", severity="note"),
    Case("LB305", "a glibc library in the folder of linux-musl-x64",
         nupkg({"runtimes/linux-musl-x64/native/liblatenn.so": good()}),
         nupkg({"runtimes/linux-musl-x64/native/liblatenn.so": musl_user}),
         at="!runtimes/linux-musl-x64/native/liblatenn.so", says="libc.so.6"),
    Case("LB306", "an extension module in a py3-none wheel", wheel({"latenn/_core.so": module}),
         wheel({"latenn/_core.so": module}, tag="cp311-abi3-manylinux_2_28_x86_64"), at="!latenn/_core.so",
         says="PyInit__core", severity="warning"),
    Case("LB306", "a module that names no ABI in a py3-none wheel", wheel({"latenn/_core.so": module}),
         wheel({"latenn/_core.abi3.so": module}), at="!latenn/_core.so", says="ABI tag is none", severity="warning",
         good_severity="note"),
    Case("LB306", "a module of the stable ABI in a py3-none wheel", wheel({"latenn/_core.abi3.so": module}),
         wheel({"latenn/_core.abi3.so": module}, tag="cp311-abi3-manylinux_2_28_x86_64"),
         at="!latenn/_core.abi3.so", says="ABI tag is none", severity="note"),
    Case("LB311", "a module that links the library of another CPython", linking("libpython3.9.so.1.0"),
         linking("libpython3.11.so.1.0"), at="!latenn/_core.so",
         says="imports libpython3.9.so.1.0, which CPython 3.11 does not have"),
    Case("LB314", "a module that keeps the GIL",
         calling("PyModule_Create2", tag="cp313-cp313t-manylinux_2_28_x86_64", file="_core.so"),
         calling("PyModule_Create2", "PyUnstable_Module_SetGIL", tag="cp313-cp313t-manylinux_2_28_x86_64",
                 file="_core.so"), at="!latenn/_core.so", says="turns the GIL on", severity="warning"),
    Case("LB314", "slots that no code fills; slots that the module's own code fills first", in_steps(""),
         in_steps("{0, 0},", "promise"), at="!latenn/_core.so", says="has no Py_mod_gil", severity="warning"),
    Case("LB314", "slots with Py_MOD_GIL_USED; an empty table", in_steps("{4, 0},"), in_steps("{0, 0},", slots=""),
         at="!latenn/_core.so", says="has no Py_mod_gil", severity="warning"),
    Case("LB314", "a module whose slots keep the GIL", in_steps(""), in_steps("{4, (void *)1},"), at="!latenn/_core.so",
         says="has no Py_mod_gil with Py_MOD_GIL_NOT_USED", severity="warning"),
    Case("LB309", "a name that CPython 3.8 exports, and that its stable ABI does not have",
         calling("PyUnicode_AsUTF8AndSize", tag="cp38-abi3-manylinux_2_28_x86_64"),
         calling("PyUnicode_AsUTF8AndSize"), at="!latenn/_core.abi3.so",
         says="uses PyUnicode_AsUTF8AndSize, which joined the stable ABI in CPython 3.10", severity="note"),
    Case("LB309", "a private function that newer CPythons do not export", calling("_PyGen_Send"), calling(PRIVATE),
         at="!latenn/_core.abi3.so", says="_PyGen_Send is not in the stable ABI, and CPython 3.10 to 3.13 lacks it",
         good_severity="warning"),
    Case("LB309", "a private function that a library of the package defines", calling("_PyGen_Send"),
         wheel({"latenn/_core.abi3.so": calls_own, "latenn/libown.so": own}, tag=ABI3), at="!latenn/_core.abi3.so",
         says="_PyGen_Send is not in the stable ABI"),
    Case("LB309", "two private functions, of which newer CPythons export the first in the alphabet",
         calling("_PyBytes_Resize", "_PyGen_Send"), calling(STABLE), at="!latenn/_core.abi3.so",
         says="with 2 imports: _PyGen_Send"),
    Case("LB309", "a module that one CPython alone finds", calling(PRIVATE), calling(PRIVATE, file=TIED),
         at="!latenn/_core.abi3.so", says=PRIVATE, severity="warning"),
    Case("LB311", "a function that CPython 3.10 does not export any more, in a module for it and in one for 3.9",
         calling("_PyGen_Send", tag="cp310-cp310-manylinux_2_28_x86_64", file="_core.cpython-310-x86_64-linux-gnu.so"),
         calling("_PyGen_Send", tag="cp310-cp310-manylinux_2_28_x86_64", file="_core.cpython-39-x86_64-linux-gnu.so"),
         at="!latenn/_core.cpython-310-x86_64-linux-gnu.so", says="which is in CPython 3.6, 3.7, 3.8, 3.9"),
    Case("LB313", "a function that CPython 3.6.0 lacks", calling("PySlice_Unpack", tag=OLD),
         calling("PySlice_Unpack", tag=OLD, metadata="Requires-Python: >=3.6.1"), at="!latenn/_core.abi3.so",
         says="uses PySlice_Unpack, new in CPython 3.6.1, but the tag cp36-cp36m includes 3.6.0", severity="warning"),
    Case("LB313", "a function that CPython 3.14.0 lacks", calling(STACK, tag=RECENT),
         calling(STACK, tag=RECENT, metadata="Requires-Python: >=3.14.1"), at="!latenn/_core.abi3.so",
         says="new in CPython 3.14.1, but the tag cp314-cp314 includes 3.14.0", severity="warning"),
    *(Case("LB307", f"the tag {bad}", wheel(tag=f"py3-none-{bad}"), wheel(tag=f"py3-none-{fine}"), at=".whl", says=bad,
           severity="warning") for bad, fine in (
        ("linux_x86_64", "linux_armv7l"), ("manylinux_2_28_mips64", "manylinux_2_39_riscv64"),
        ("musllinux_1_2_ppc64", "manylinux_2_17_ppc64"), ("freebsd_14_amd64", "win_arm64"),
        ("android_24_mips", "android_24_arm64_v8a"), ("win_arm", "ios_13_0_arm64_iphoneos"))),
    Case("LB307", "a plain linux tag; of a wheel that is not for PyPI", wheel(tag="py3-none-linux_x86_64"),
         wheel(tag="py3-none-linux_x86_64", version="1.0+cpu"), at=".whl", says="linux_x86_64", severity="warning",
         good_severity="note"),
    Case("LB309", "a function of CPython 3.11 under cp310-abi3", calling(STABLE, NEWER),
         calling(STABLE, NEWER, tag=ABI3_NEWER), at="!latenn/_core.abi3.so",
         says="cp310-abi3 with 1 import: PyType_GetName is new in CPython 3.11"),
    Case("LB309", "a private function of CPython under an abi3 tag", calling(STABLE, PRIVATE), calling(STABLE),
         at="!latenn/_core.abi3.so", says="_PyObject_GetDictPtr is not in the stable ABI", severity="warning"),
    Case("LB309", "the lowest of several tags counts", calling(NEWER, tag="cp310.cp311-abi3-manylinux_2_28_x86_64"),
         calling(NEWER, tag="cp311.cp312-abi3-manylinux_2_28_x86_64"), at="!latenn/_core.abi3.so",
         says="PyType_GetName"),
    Case("LB310", "a module of one CPython under an abi3 tag",
         calling(STABLE, file="_core.cpython-311-x86_64-linux-gnu.so"),
         calling(STABLE, file="_core.cpython-311-x86_64-linux-gnu.so", tag=OWN),
         at="!latenn/_core.cpython-311-x86_64-linux-gnu.so", says="is named for cp311"),
    Case("LB310", "a module that is named for another processor",
         wheel({f"latenn/{TIED}": module_for(ARM)}, tag="cp311-cp311-manylinux_2_28_aarch64"),
         wheel({"latenn/_core.cpython-311-aarch64-linux-gnu.so": module_for(ARM)},
               tag="cp311-cp311-manylinux_2_28_aarch64"), at=f"!latenn/{TIED}",
         says="is named for x86_64, so Python does not find it on manylinux_2_28_aarch64"),
    Case("LB310", "a module for 32-bit ARM that is named for another processor",
         wheel({f"latenn/{TIED}": module_for(ARM_32)}, tag="cp311-cp311-linux_armv7l"),
         wheel({"latenn/_core.cpython-311-arm-linux-gnueabihf.so": module_for(ARM_32)}, tag="cp311-cp311-linux_armv7l"),
         at=f"!latenn/{TIED}", says="does not find it on linux_armv7l"),
    Case("LB310", "a module that is named for no system", wheel({"latenn/_core.cpython-311.so": module}, tag=OWN),
         wheel({"latenn/_core.so": module}, tag=OWN), at="!latenn/_core.cpython-311.so",
         says="has a file name without a system: no CPython looks for .cpython-311.so"),
    Case("LB310", "a module that is named for macOS", wheel({"latenn/_core.cpython-311-darwin.so": module}, tag=OWN),
         wheel({"latenn/_core.cpython-311-darwin.so": module, f"latenn/{TIED}": module}, tag=OWN),
         at="!latenn/_core.cpython-311-darwin.so", says="is named for macOS"),
    Case("LB310", "a module of another CPython than the tag's, and one of no CPython in particular",
         calling(STABLE, file="_core.cpython-310-x86_64-linux-gnu.so", tag=OWN),
         calling(STABLE, file="_core.so", tag=OWN), at=".so",
         says="is named for cp310, but the wheel is installed for cp311-cp311"),
    Case("LB309", "an abi3t wheel whose module hands over a PyModuleDef",
         calling("PyModuleDef_Init", tag=ABI3T, file="_core.abi3t.so"),
         wheel({"latenn/_core.abi3t.so": exporting("PyModExport__core")}, tag=ABI3T), at="!latenn/_core.abi3t.so",
         says="PyModuleDef_Init is only for CPython with the GIL"),
    Case("LB309", "an abi3t wheel whose module uses what is no part of the stable ABI",
         calling(PRIVATE, tag=ABI3T, file="_core.abi3t.so"), calling(NEWER, tag=ABI3T, file="_core.abi3t.so"),
         at="!latenn/_core.abi3t.so", says=f"cp315-abi3.abi3t with 1 import: {PRIVATE}", severity="warning"),
    Case("LB310", "an abi3t module under a tag that older CPythons install", calling(STABLE, file="_core.abi3t.so"),
         calling(STABLE, tag=ABI3T, file="_core.abi3t.so"), at="!latenn/_core.abi3t.so",
         says="includes CPython 3.10, which does not look for .abi3t.so"),
    Case("LB310", "an abi3 module under an abi3t tag", calling(STABLE, tag=ABI3T),
         calling(STABLE, tag=ABI3T, file="_core.so"), at="!latenn/_core.abi3.so",
         says="includes free-threaded CPython 3.15, which does not look for .abi3.so"),
    Case("LB310", "an abi3t module under the tag of one CPython",
         calling(STABLE, tag="cp315-cp315-manylinux_2_28_x86_64", file="_core.abi3t.so"),
         calling(STABLE, tag=ABI3T, file="_core.abi3t.so"), at="!latenn/_core.abi3t.so",
         says="excludes other CPythons that could load it", severity="note"),
    Case("LB310", "a stable-ABI module under the tag of one CPython", calling(STABLE, tag=OWN), calling(STABLE),
         at="!latenn/_core.abi3.so", says="excludes other CPythons that could load it", severity="note"),
    Case("LB303", "libraries for several systems, for which it names what they need",
         wheel({LIB: good(), "latenn/arm.so": good(ARM), "latenn/a.dylib": dylib(),
                "latenn/b.dylib": dylib("aarch64-macos.14.0"), "latenn/latenn.dll": dll()}, tag=ANY),
         wheel(), at=".whl", severity="warning",
         says="Linux on x64 and arm64 (glibc 2.17 or newer), macOS on arm64 (14.0 or newer) and Windows on x64 only"),
    Case("LB303", "libraries of one name, of which the least demanding counts; one for musl has no glibc",
         wheel({"latenn/new/tiny.so": thread("2.34"), "latenn/old/tiny.so": thread("2.17")}, tag=ANY), wheel(),
         at=".whl", says="for Linux on x64 (glibc 2.2.5 or newer) only", severity="warning"),
    Case("LB303", "a library for musl with the name of one for glibc",
         wheel({"latenn/new/tiny.so": thread("2.34"), "latenn/musl/tiny.so": musl_user}, tag=ANY), wheel(), at=".whl",
         says="for Linux on x64 (glibc 2.34 or newer) only", severity="warning"),
    Case("LB303", "a library that needs no C library, next to one for glibc",
         wheel({LIB: good(), "latenn/lonely.so": lonely()}, tag=ANY), wheel(), at=".whl",
         says="and Linux with musl", severity="warning"),
    Case("LB303", "a library that needs no C library", wheel({LIB: lonely()}, tag=ANY), wheel(), at=".whl",
         says="has native code for Linux on x64 only", severity="warning"),
    Case("LB303", "an object file, which no system loads", wheel({"latenn/tiny.o": relocatable()}, tag=ANY), wheel(),
         at=".whl", says="has native code for no known system only", severity="warning"),
    Case("LB303", "Root-Is-Purelib is true in WHEEL, or in a text about it", wheel(purelib=True),
         wheel(metadata="Summary: Root-Is-Purelib: true"), at=".dist-info/WHEEL", says="Root-Is-Purelib: true",
         severity="note"),
    Case("LB306", "modules for two Pythons in a wheel for every Python; under an abi3 tag, LB310 reports them",
         fat(10, 11, tag=GENERIC), fat(10, 11), at=f"!latenn/{TIED}",
         says="there is no _core for CPython 3.12 to 3.15"),
    Case("LB306", "a module that names no ABI, in a wheel for every Python and in one for CPython 3.11",
         wheel({"latenn/_core.so": module}, tag="cp311.py3-none-manylinux_2_28_x86_64"),
         wheel({"latenn/_core.so": module}, tag="cp311-none-manylinux_2_28_x86_64"), at="!latenn/_core.so",
         says="ABI tag is none", severity="warning"),
    Case("LB306", "a module in a wheel for every Python, and a library", wheel({"latenn/_core.so": module}), wheel(),
         at="!latenn/_core.so", says="is the Python module _core", severity="warning"),
    Case("LB310", "modules for two Pythons under an abi3 tag; without an ABI, LB306 reports them", fat(10, 11),
         fat(10, 11, tag=GENERIC), at=f"!latenn/{TIED}", says="none for CPython 3.12 to 3.15", severity="warning"),
    Case("LB310", "a module that is named for one CPython, and a library with that name",
         calling(STABLE, file=TIED), wheel({f"latenn/{TIED}": good()}, tag=ABI3), at=f"!latenn/{TIED}",
         says="is named for cp311"),
    Case("LB310", "a module that one CPython finds, and one that each does, too", calling(STABLE, file=TIED),
         wheel({f"latenn/{TIED}": module, "latenn/_core.so": module}, tag=ABI3), at=f"!latenn/{TIED}",
         says="is named for cp311"),
    Case("LB310", "a module that is named for another processor, and a library with that name",
         wheel({f"latenn/{TIED}": module_for(ARM)}, tag="cp311-cp311-manylinux_2_28_aarch64"),
         wheel({f"latenn/{TIED}": good(ARM)}, tag="cp311-cp311-manylinux_2_28_aarch64"), at=f"!latenn/{TIED}",
         says="is named for x86_64"),
    Case("LB310", "a module that is named for another processor than the tag's; the tag any has none",
         wheel({f"latenn/{TIED}": module}, tag="cp311-cp311-manylinux_2_28_aarch64"),
         wheel({f"latenn/{TIED}": module}, tag="cp311-cp311-any"), at=f"!latenn/{TIED}", says="is named for x86_64"),
    *(Case("LB310", f"a module that is named for no system, and {what}",
           wheel({SHORT.format("35m"): module}, tag=OLDER), good_wheel, at=f"!{SHORT.format('35m')}",
           says="no CPython looks for .cpython-35m.so")
      for what, good_wheel in (
          ("a library with that name", wheel({SHORT.format("35m"): good()}, tag=OLDER)),
          ("one for CPython 3.4, which looks for it", wheel({SHORT.format("34m"): module},
                                                            tag="cp34-cp34m-manylinux_2_17_x86_64")),
          ("one in a wheel that FreeBSD installs, too, whose CPython looks for it",
           wheel({SHORT.format("311"): module}, tag="cp311-cp311-any")),
          ("one next to a module with the whole name", wheel(BOTH_NAMES, tag=OWN)),
      )),
    Case("LB310", "an abi3t module of which the tag names an older CPython first",
         calling(STABLE, tag="cp310.cp315-abi3.abi3t-manylinux_2_28_x86_64", file="_core.abi3t.so"),
         calling(STABLE, tag="cp310-abi3t-manylinux_2_28_x86_64", file="_core.abi3t.so"), at="!latenn/_core.abi3t.so",
         says="includes CPython 3.10"),
    Case("LB310", "an abi3 module under an abi3t tag, and under the tag of a CPython with the GIL",
         calling(STABLE, tag=ABI3T), calling(STABLE, tag="cp315-abi3-manylinux_2_28_x86_64"),
         at="!latenn/_core.abi3.so", says="includes free-threaded CPython 3.15"),
    Case("LB310", "an abi3 module for a free-threaded CPython that finds it",
         calling(STABLE, tag=ABI3T), calling(STABLE, tag="cp313-cp313t-manylinux_2_28_x86_64"),
         at="!latenn/_core.abi3.so", says="includes free-threaded CPython 3.15", good_severity="note"),
]  # fmt: skip
