"""Bad subjects for LB1xx."""

from __future__ import annotations

import importlib.metadata
import struct

import pytest

from corpus.cases.case import Case, bare, contents, good, made_by, shared, wheel
from corpus.packages import GLIBC, Bench

LIB = "latenn/liblatenn.so"
# What a late-binding loader holds: names of the runtime, none of its own text.
LATE = """
#include <dlfcn.h>
const char *latenn_names = "OrtGetApiBase onnxruntime libonnxruntime.so.1 onnxruntime::";
void *latenn_bind(void) { return dlsym(dlopen("libonnxruntime.so.1", 2), "OrtGetApiBase"); }
"""
ARM = "aarch64-linux-gnu.2.28"
OLD_TAGS = "-Wl,--disable-new-dtags"
STRANGER = "extern int odd(void);\nint latenn_f(void) { return odd(); }\n"


def late(bench: Bench) -> bytes:
    return bench.compiler.library(LATE).read_bytes()


def containing(distribution: str, part: str):
    """A runtime's own library for Python: the runtime is inside, statically, and not exported."""

    def make(bench: Bench):
        try:
            files = importlib.metadata.files(distribution) or []
        except importlib.metadata.PackageNotFoundError:
            pytest.skip(f"not run: {distribution} is not installed: pip install {distribution}")
        modules = [file for file in files if part in file.name and file.name.endswith(".so")]
        if not modules:
            pytest.skip(f"not run: the installed {distribution} has no {part} for Linux")
        return bench.bare("_core.abi3.so", modules[0].locate().read_bytes())

    return make


def with_odd(bench: Bench) -> bytes:
    odd = bench.compiler.library("int odd(void) { return 1; }\n", "-Wl,-soname,libodd.so.3", name="libodd.so")
    return bench.compiler.library(STRANGER, odd).read_bytes()


def odd(bench: Bench) -> bytes:
    source = "int odd(void) { return 1; }\n"
    return bench.compiler.library(source, "-Wl,-soname,libodd.so.3", name="libodd.so").read_bytes()


@made_by
def of_versioned(bench: Bench, symbol: str) -> bytes:
    """A library that takes a symbol at a version from one whose file name says nothing."""
    script = f"-Wl,--version-script={bench.compiler.text('VERS_1.19.2 { global: *; };')}"
    source = f"const void *{symbol}(void) {{ static int base; return &base; }}\n"
    library = bench.compiler.library(source, "-Wl,-soname,libspeech_rt.so", script, name="libspeech_rt.so")
    user = f"extern const void *{symbol}(void);\nconst void *latenn_f(void) {{ return {symbol}(); }}\n"
    return bench.compiler.library(user, library).read_bytes()


def with_rpath(path: str, *flags: str, needed: bool = True):
    """A wheel with a library that searches a folder, for a library that is nowhere, or for none but libc."""

    def make(bench: Bench):
        odd = bench.compiler.library("int odd(void) { return 1; }\n", "-Wl,-soname,libodd.so.3", name="libodd.so")
        source, libraries = (STRANGER, [odd]) if needed else ("int latenn_f(void) { return 1; }\n", [])
        data = bench.compiler.library(source, *libraries, f"-Wl,-rpath,{path}", *flags).read_bytes()
        return bench.wheel({LIB: data})

    return make


TWO = "cp311.cp312-none-manylinux_2_28_x86_64"
OF_311 = "cp311-cp311-manylinux_2_28_x86_64"
CP312 = "cp312-cp312-manylinux_2_28_x86_64"
MUSL = "py3-none-musllinux_1_2_x86_64"


@made_by
def needy(bench: Bench, name: str) -> bytes:
    """A module of Python that needs a library which nothing supplies."""
    odd = bench.compiler.library("int odd(void) { return 1; }\n", "-Wl,-soname,libodd.so.3", name="libodd.so")
    source = f"extern int odd(void);\nvoid *PyInit_{name}(void) {{ odd(); return (void *)0; }}\n"
    return bench.compiler.library(source, odd).read_bytes()


@made_by
def able(bench: Bench, name: str) -> bytes:
    """A module of Python that needs nothing."""
    return bench.compiler.library(f"void *PyInit_{name}(void) {{ return 0; }}\n").read_bytes()


def imports(init: str, inner: str = ""):
    """A wheel with two modules, of which `_a` lacks a library, and with the code of the package and of a part."""
    files = {"latenn/_a.so": needy("_a"), "latenn/_b.so": able("_b")}
    return wheel({**files, "latenn/__init__.py": init.encode(), "latenn/inner/__init__.py": inner.encode()}, tag=CP312)


INITIAL_EXEC = '__attribute__((tls_model("initial-exec")))'


@made_by
def tls(bench: Bench, size: int, model: str) -> bytes:
    """A library with that many bytes in each thread."""
    source = f"{model} _Thread_local char each[{size}];\nchar *latenn_f(void) {{ return each; }}\n"
    return bench.compiler.library(source, "-O0").read_bytes()


@made_by
def of_tls(bench: Bench, *, by_program: bool):
    """A wheel with a library that has much thread-local storage, and a program or a library that links it."""
    source = f"{INITIAL_EXEC} _Thread_local char each[4096];\nchar *latenn_f(void) {{ return each; }}\n"
    library = bench.compiler.library(source, "-O0", "-Wl,-soname,liblatenn.so", name="liblatenn.so")
    start = "int main(void)" if by_program else "int latenn_g(void)"
    compile_user = bench.compiler.program if by_program else bench.compiler.library
    user = compile_user(f"extern char *latenn_f(void);\n{start} {{ return *latenn_f(); }}\n", library)
    return bench.wheel({LIB: library.read_bytes(), "latenn/user": user.read_bytes()})


@made_by
def musl_wheel(bench: Bench, model: str):
    """A wheel with a library that needs musl, by a stand-in of its name, and has 64 bytes in each thread."""
    code, soname = "int odd(void) { return 1; }\n", "-Wl,-soname,libc.musl-x86_64.so.1"
    libc = bench.compiler.library(code, soname, name="libmusl.so")
    source = f"{model} _Thread_local char each[64];\nchar *latenn_g(void) {{ return each; }}\n{STRANGER}"
    library = bench.compiler.library(source, libc, "-O0", "-nostdlib").read_bytes()
    return bench.wheel({LIB: library}, tag="py3-none-musllinux_1_2_x86_64")


def on_arm(*flags: str):
    library = shared("int latenn_f(void) { return 1; }\n", *flags, target=ARM)
    return wheel({LIB: contents(library)}, tag="py3-none-manylinux_2_28_aarch64")


def skewed(tag: str):
    """A wheel with a library whose segments claim an alignment of 64 KB: what patchelf 0.18 leaves, by two bytes."""

    def make(bench: Bench):
        data = bytearray(bench.good())
        table, (entry, count) = struct.unpack_from("<Q", data, 32)[0], struct.unpack_from("<HH", data, 54)
        for position in range(table, table + entry * count, entry):
            if struct.unpack_from("<I", data, position)[0] == 1:  # PT_LOAD
                struct.pack_into("<Q", data, position + 48, 0x10000)
        return bench.wheel({LIB: bytes(data)}, tag=tag)

    return make


def for_another(target: str):
    """A wheel for x86-64 with a plugin for that processor."""
    code = STRANGER.replace("latenn_f", "odd_f")
    library = shared("int odd(void) { return 1; }\n", "-Wl,-soname,libodd.so.3", name="libodd.so", target=target)
    plugin = contents(shared(code, library, "-Wl,-rpath,/home/ci/build/lib", target=target))
    return wheel({LIB: good(), "latenn/other.vso": plugin})


ODD = "latenn/libodd-user.so"


def odd_user(metadata: str):
    """A wheel with a library that needs libodd.so.3."""
    return wheel({ODD: with_odd}, metadata=metadata)


def arm_user(machine: str):
    """A wheel for arm64 with a library that needs libodd.so.3, which a dependency of one processor may install."""
    library = shared("int odd(void) { return 1; }\n", "-Wl,-soname,libodd.so.3", name="libodd.so", target=ARM)
    requirement = f"Requires-Dist: libodd; platform_machine == '{machine}'\n"
    user = contents(shared(STRANGER, library, target=ARM))
    return wheel({ODD: user}, tag="py3-none-manylinux_2_28_aarch64", metadata=requirement)


@made_by
def needing(bench: Bench, name: str) -> bytes:
    library = bench.compiler.library("int odd(void) { return 1; }\n", f"-Wl,-soname,{name}", name="libodd.so")
    return bench.compiler.library(STRANGER, library).read_bytes()


def alone(name: str, **how: str):
    return wheel({LIB: needing(name)}, **how)


PROVIDER = "latenn/libonnxruntime_providers_odd.so"


@made_by
def provider(bench: Bench, *exports: str, links: bool = False) -> bytes:
    """A library named like an execution provider of ONNX Runtime, in file name and SONAME."""
    source = "".join(f"int {name}(void) {{ return 1; }}\n" for name in exports)
    flags = ["-Wl,-soname,libonnxruntime_providers_odd.so.1"]
    if links:
        source += "extern const void *OrtGetApiBase(void);\nconst void *f(void) { return OrtGetApiBase(); }\n"
        return bench.compiler.library(source, bench.runtime(), *flags).read_bytes()
    return bench.compiler.library(source, *flags).read_bytes()


@made_by
def plugin(bench: Bench, **how: bool) -> bytes:
    return provider("CreateEpFactories", "ReleaseEpFactory", **how)(bench)


OWN = "N11onnxruntime16InferenceSessionE"


@made_by
def holding(bench: Bench, text: str) -> bytes:
    return bench.compiler.library(f'const char *tool(void) {{ return "{text}"; }}\n').read_bytes()


@made_by
def of_vendor(bench: Bench, soname: str, name: str):
    """A wheel of an execution provider that links a library, and contains it."""
    library = bench.compiler.library("int odd(void) { return 1; }\n", f"-Wl,-soname,{soname}", name=name)
    source = f"int CreateEpFactories(void) {{ return 1; }}\n{STRANGER}"
    return bench.wheel(
        {LIB: bench.compiler.library(source, library).read_bytes(), f"latenn/{soname}": library.read_bytes()}
    )


INIT = "latenn/__init__.py"
CASES = [
    Case("LB114", "next to its user, at the root of the wheel", wheel({"a.so": with_odd, "libodd.so.3": odd}),
         wheel({"a.so": contents(shared(STRANGER, shared("int odd(void) { return 1; }\n", "-Wl,-soname,libodd.so.3",
             name="libodd.so"), "-Wl,-rpath,$ORIGIN")), "libodd.so.3": odd}), at="!a.so",
         says="as libodd.so.3, where the loader does not search", severity="warning"),
    Case("LB114", "a library in a folder of which no launcher of Java knows",
         wheel({"jre/lib/libjava.so": with_odd, "jre/lib/server/libodd.so.3": odd}),
         wheel({"jre/lib/libjava.so": with_odd, "jre/lib/server/libodd.so.3": odd,
             "jre/lib/jvm.cfg": b"-server KNOWN"}),
         at="libjava.so", says="where the loader does not search", severity="warning"),
    Case("LB114", "a needed library in a folder where nothing searches",
         wheel({LIB: with_odd, "latenn/deps/libodd.so.3": odd}),
         wheel({LIB: contents(shared(STRANGER, shared("int odd(void) { return 1; }\n", "-Wl,-soname,libodd.so.3",
             name="libodd.so"), "-Wl,-rpath,$ORIGIN/deps")), "latenn/deps/libodd.so.3": odd}), at=f"!{LIB}",
         says="as latenn/deps/libodd.so.3, where the loader does not search", severity="warning"),
    *(Case("LB114", f"a needed library for a module that is always imported; {what}",
           wheel({INIT: b"from latenn import _a\n", "latenn/_a.so": needy("_a"), "latenn/deps/libodd.so.3": odd}),
           wheel({"latenn/_a.so": needy("_a"), "latenn/deps/libodd.so.3": odd, **code}), at="!latenn/_a.so",
           says="where the loader does not search; import latenn fails", good_severity="warning")
      for what, code in (
          ("that is imported if it can be",
           {INIT: b"try:\n    from latenn import _a\nexcept ImportError:\n    pass\n"}),
          ("code that may load the library", {INIT: b"import latenn.load\nfrom latenn import _a\n",
                                              "latenn/load.py": b"import ctypes\n"}),
          ("code that may load it with cffi", {INIT: b"import cffi\nfrom latenn import _a\n"}),
          ("no code that imports it", {}))),
    Case("LB114", "a needed library for a module that is always imported, in a wheel for this machine alone",
         wheel({INIT: b"from latenn import _a\n", "latenn/_a.so": needy("_a"), "latenn/deps/libodd.so.3": odd}),
         wheel({INIT: b"from latenn import _a\n", "latenn/_a.so": needy("_a"), "latenn/deps/libodd.so.3": odd},
               tag="py3-none-linux_x86_64"),
         at="!latenn/_a.so", says="where the loader does not search; import latenn fails", good_severity="warning"),
    Case("LB114", "a needed library that no script has searched", wheel({LIB: with_odd, "latenn/deps/libodd.so.3": odd,
             "latenn/run.sh": b"#!/bin/sh\necho $LD_LIBRARY_PATH\n",
             "latenn/run.txt": b'LD_LIBRARY_PATH="$ROOT/deps" exec "$ROOT/tool"\n'}),
         wheel({LIB: with_odd, "latenn/deps/libodd.so.3": odd,
             "latenn/run.sh": b'#!/bin/sh\nLD_LIBRARY_PATH="$ROOT/deps" exec "$ROOT/tool"\n'}),
         at=f"!{LIB}", says="where the loader does not search", severity="warning", good_severity="note"),
    Case("LB114", "a needed library in a folder that a script names",
         wheel({LIB: with_odd, "latenn/deps/libodd.so.3": odd,
             "latenn/run": b"#!/usr/bin/env ruby\nENV['LD_LIBRARY_PATH'] = deps\n"}),
         wheel({LIB: with_odd, "latenn/libodd.so.4": odd}), at=f"!{LIB}",
         says="where the loader does not search", severity="note"),
    *(Case("LB114", f"a needed library in a folder where nothing searches; one {what}",
           wheel({LIB: with_odd, "latenn/deps/libodd.so.3": odd}), wheel(files), at=f"!{LIB}",
           says="where the loader does not search", severity="warning")
      for what, files in (
          ("that is installed into Python's folders", {LIB: with_odd, "latenn-1.0.data/data/lib/libodd.so.3": odd}),
          ("that systems have", {LIB: needing("libz.so.1"), "latenn/deps/libz.so.1": good()}))),
    Case("LB107", "the modules of one CPython, and that for any, lack a library; that for any alone",
         wheel({"latenn/_a.cpython-311-x86_64-linux-gnu.so": needy("_a"), "latenn/_b.so": needy("_b")}, tag=OF_311),
         wheel({"latenn/_a.cpython-311-x86_64-linux-gnu.so": able("_a"), "latenn/_b.so": needy("_b")}, tag=OF_311),
         at="!latenn/_b.so", says="libodd.so.3", good_severity="warning"),
    Case("LB107", "a requirement without libraries for others; one that was not read",
         wheel({LIB: needing("libtide_ocean.so")}, metadata="Requires-Dist: numpy\n"),
         wheel({LIB: needing("libtide_ocean.so")}, metadata="Requires-Dist: the-ocean-tide\n"), at=f"!{LIB}",
         says="libtide_ocean.so, which is not in the package"),
    Case("LB107", "a library of X, which manylinux allows", wheel({LIB: needing("libX11.so.6")}),
         wheel({LIB: needing("libz.so.1")}), at=f"!{LIB}",
         says="needs libX11.so.6, which desktop systems have, but slim containers lack", severity="note"),
    Case("LB107", "a needed library is nowhere, and one for Android", wheel({"latenn/x86_64/libtiny.so": with_odd}),
         wheel({"latenn/android/x86_64/libtiny.so": with_odd, "latenn/arm64-v8a/libtiny.so": with_odd}),
         at="!latenn/x86_64/libtiny.so", says="libodd.so.3"),
    Case("LB107", "a needed library is nowhere", wheel({LIB: with_odd}),
         wheel({LIB: with_odd, "latenn/libodd.so.3": odd}), at=f"!{LIB}", says="libodd.so.3"),
    Case("LB107", "a needed library is nowhere, in a wheel with code and in one without", wheel({LIB: with_odd}),
         wheel({LIB: with_odd}, drop_code=True), at=f"!{LIB}", says="libodd.so.3", good_severity="warning"),
    Case("LB107", "a needed library is in the package under another file name",
         wheel({LIB: with_odd, "latenn/libodd.1a2b3c4d.so.3": odd}), wheel({LIB: with_odd, "latenn/libodd.so.3": odd}),
         at=f"!{LIB}", says="libodd.1a2b3c4d.so.3: it is found only if already loaded", severity="warning"),
    Case("LB107", "a bare library needs another: a warning, since nothing was promised", bare("liblatenn.so", with_odd),
         bare("liblatenn.so", good()), at="liblatenn.so", says="libodd.so.3", severity="warning"),
    Case("LB107", "a needed library is nowhere, and the tag any promises nothing",
         wheel({LIB: with_odd}, tag="py3-none-any"), wheel({LIB: with_odd, "latenn/libodd.so.3": odd},
                                                           tag="py3-none-any"), at=f"!{LIB}",
         says="libodd.so.3", severity="warning"),
    Case("LB107", "a dependency that only Windows installs; one that Linux installs may have it",
         odd_user("Requires-Dist: libodd; sys_platform == 'win32'"),
         odd_user("Requires-Dist: libodd; sys_platform == 'linux'"), at=f"!{ODD}", says="which is not in the package"),
    Case("LB107", "a dependency that another processor installs; one that this one installs may have it",
         arm_user("x86_64"), arm_user("aarch64"), at=f"!{ODD}", says="which is not in the package"),
    Case("LB107", "the search path leads to another distribution",
         wheel({LIB: contents(shared(STRANGER, shared("int odd(void) { return 1; }\n", "-Wl,-soname,libodd.so.3",
             name="libodd.so"), "-Wl,-rpath,$ORIGIN/../acme/lib"))}), odd_user(""), at=f"!{LIB}",
         says="libodd.so.3, which is not in the package", good_severity="error"),
    Case("LB107", "a dependency of an extra, which was not read; one of the package",
         odd_user("Requires-Dist: libodd; extra == 'odd'"), odd_user("Requires-Dist: libodd"), at=f"!{ODD}",
         says="which is not in the package", severity="warning"),
    Case("LB107", "a library that even small containers have, but no tag allows", alone("libuuid.so.1"),
         alone("libz.so.1"), at=f"!{LIB}",
         says="which the base systems of Linux distributions have, but no manylinux tag allows", severity="warning"),
    Case("LB107", "a library of glibc that only it opens", alone("libnss_files.so.2"), alone("libz.so.1"), at=f"!{LIB}",
         says="which the base systems of Linux distributions have", severity="note"),
    Case("LB107", "libraries of one package of the system, which get one verdict", alone("libk5crypto.so.3"),
         alone("libz.so.1"), at=f"!{LIB}", says="which desktop systems have", severity="warning"),
    Case("LB107", "a library that most systems have", alone("libEGL.so.1"), alone("libz.so.1"), at=f"!{LIB}",
         says="which desktop systems have", severity="warning"),
    Case("LB107", "a library of the system; one that a requirement may install",
         wheel({LIB: needing("libEGL.so.1")}, metadata="Requires-Dist: latenn-core==1.0"),
         wheel({LIB: needing("libodd.so.3")}, metadata="Requires-Dist: latenn-core==1.0"), at=f"!{LIB}",
         says="which desktop systems have", severity="warning"),
    Case("LB107", "a library of a driver", alone("libcuda.so.1"), alone("libz.so.1"), at=f"!{LIB}",
         says="part of a driver", severity="note"),
    *(Case("LB107", f"a loader of drivers that Linux distributions have as a package: {name}", alone(name),
           alone("libz.so.1"), at=f"!{LIB}", says=f"needs {name}, which desktop systems have", severity="warning")
      for name in ("libvulkan.so.1", "libOpenCL.so.1")),
    *(Case("LB107", f"a loader of drivers, and {name}, which only the driver has", alone("libvulkan.so.1"), alone(name),
           at=f"!{LIB}", says="libvulkan.so.1", severity="warning", good_severity="note")
      for name in ("libze_loader.so.1", "libcuda.so.1", "libnvidia-ml.so.1")),
    Case("LB107", "other libraries of the package load without it", wheel({ODD: with_odd, LIB: good()}),
         wheel({ODD: with_odd, "latenn/libodd.so.3": odd}), at=f"!{ODD}", says="other parts load without it",
         severity="warning"),
    Case("LB107", "two modules without a library, neither of which excuses the other",
         wheel({"latenn/_a.so": needy("_a"), "latenn/_b.so": needy("_b")}, tag=CP312),
         wheel({"latenn/_a.so": needy("_a"), "latenn/_b.so": able("_b")}, tag=CP312), at="!latenn/_a.so",
         says="libodd.so.3, which is not in the package", good_severity="warning"),
    Case("LB107", "both modules for one of two Pythons",
         wheel({"latenn/_a.cpython-311.so": needy("_a"), "latenn/_a.cpython-312.so": able("_a")}, tag=TWO),
         wheel({"latenn/_a.cpython-311.so": able("_a"), "latenn/_a.cpython-312.so": able("_a")}, tag=TWO),
         at="!latenn/_a.cpython-311.so", says="libodd.so.3"),
    Case("LB107", "the import needs one of two modules, through another module; it can do without in a try",
         imports("from latenn.inner import f\n", "from .. import _a\nf = 1\n"),
         imports("from latenn.inner import f\n", "try:\n    from .. import _a\nexcept ImportError:\n    pass\nf = 1\n"),
         at="!latenn/_a.so", says="import latenn fails without it", good_severity="warning"),
    Case("LB107", "the import takes a value of the same name as a module",
         imports("from . import _a\n"), imports("from latenn.inner import _a\n", "_a = 1\n"),
         at="!latenn/_a.so", says="import latenn fails without it", good_severity="warning"),
    Case("LB107", "the one module, for which an extra may bring the library; one of two modules",
         wheel({"latenn/_a.so": needy("_a")}, tag=CP312, metadata="Requires-Dist: libodd; extra == 'odd'\n"),
         wheel({"latenn/_a.so": needy("_a"), "latenn/_b.so": able("_b")}, tag=CP312,
               metadata="Requires-Dist: libodd; extra == 'odd'\n"), at="!latenn/_a.so",
         says="nothing in the package loads without it", severity="warning", good_severity="warning"),
    Case("LB107", "musllinux promises zlib, and no libstdc++", alone("libstdc++.so.6", tag=MUSL),
         alone("libz.so.1", tag=MUSL), at=f"!{LIB}", says="libstdc++.so.6, which is not in the package"),
    Case("LB107", "musllinux promises no OpenGL; manylinux does", alone("libGL.so.1", tag=MUSL), alone("libGL.so.1"),
         at=f"!{LIB}", says="libGL.so.1, which is not in the package", good_severity="note"),
    Case("LB108", "RPATH is in a folder that all users can write to", with_rpath("/Users/Shared/lib"),
         with_rpath("$ORIGIN"), at=f"!{LIB}", says="they can put libraries there", severity="warning"),
    Case("LB108", "a folder of the build machine, and one that all users can write to",
         with_rpath("/opt/ci/lib:/tmp/lib"), with_rpath("$ORIGIN"), at=f"!{LIB}",
         says="they can put libraries into /tmp/lib", severity="warning"),
    Case("LB108", "RPATH means the current folder", with_rpath("lib"), with_rpath("$ORIGIN"), at=f"!{LIB}",
         says="RUNPATH lib", severity="warning"),
    Case("LB108", "RPATH means the current folder, and nothing is searched there", with_rpath("lib"),
         with_rpath("lib", needed=False), at=f"!{LIB}", says="RUNPATH lib", severity="warning", good_severity="note"),
    Case("LB108", "nothing is searched in the folder of the build machine", with_rpath("/home/ci/lib", needed=False),
         with_rpath("$ORIGIN", needed=False), at=f"!{LIB}",
         says="no needed library is searched for there", severity="note"),
    Case("LB108", "the folder of the build machine is the only one; another leads into the package",
         with_rpath("/opt/ci/lib"), with_rpath("/opt/ci/lib:$ORIGIN/deps"), at=f"!{LIB}", says="RUNPATH /opt/ci/lib",
         severity="warning", good_severity="note"),
    Case("LB108", "RUNPATH points to a folder of the build machine", with_rpath("/home/ci/build/lib"),
         with_rpath("$ORIGIN"), at=f"!{LIB}", says="RUNPATH /home/ci/build/lib", severity="warning"),
    Case("LB108", "RUNPATH of a file for another processor", for_another(GLIBC),
         for_another(GLIBC.replace("x86_64", "aarch64")), at="!latenn/other.vso",
         says="RUNPATH /home/ci/build/lib", severity="warning", good_severity="note"),
    Case("LB115", "much thread-local storage in the block of a running program", wheel({LIB: tls(4096, INITIAL_EXEC)}),
         wheel({LIB: tls(4096, "")}), at=f"!{LIB}", says="needs 4096 bytes in the thread-local block",
         severity="warning"),
    Case("LB115", "much thread-local storage in what a library links; what a program links has it from the start",
         of_tls(by_program=False), of_tls(by_program=True), at=f"!{LIB}", says="needs 4096 bytes", severity="warning"),
    Case("LB115", "thread-local storage for musl, which keeps nothing free", musl_wheel(INITIAL_EXEC), musl_wheel(""),
         at=f"!{LIB}", says="which has 0", severity="warning"),
    Case("LB115", "more thread-local storage than glibc keeps free", wheel({LIB: tls(2048, INITIAL_EXEC)}),
         wheel({LIB: tls(512, INITIAL_EXEC)}), at=f"!{LIB}", says="which has 1664", severity="warning"),
    Case("LB117", "segments for small pages", on_arm("-Wl,-z,max-page-size=4096"),
         on_arm("-Wl,-z,max-page-size=65536"), at=f"!{LIB}", says="PT_LOAD p_align 0x1000", severity="warning"),
    Case("LB117", "a segment with another alignment than its place", skewed("py3-none-manylinux_2_28_x86_64"),
         skewed("py3-none-manylinux_2_35_x86_64"), at=f"!{LIB}", says="that glibc before 2.35 refuses",
         severity="warning"),
    Case("LB108", "RPATH climbs out of the package", with_rpath("$ORIGIN/../../lib", OLD_TAGS, needed=False),
         with_rpath("$ORIGIN/../other", OLD_TAGS, needed=False), at=f"!{LIB}", says="$ORIGIN/../../lib",
         severity="note"),
]  # fmt: skip
