"""Bad subjects in Mach-O, for every code whose check looks into the file."""

from __future__ import annotations

import struct
import tempfile
from pathlib import Path

import lief

from corpus.cases.case import Case, contents, dylib, mac, made_by, wheel
from corpus.cases.tags import NEWER, STABLE, caller
from corpus.packages import (
    GOOD,
    MAC_ARM,
    MAC_INTEL,
    MAC_TAG,
    USER,
    Bench,
    change_load_command,
    commands,
    passed_on,
    universal,
)
from loadcheck.engine.policy import Policy

LIB = "latenn/liblatenn.dylib"
NATIVE = "runtimes/osx-arm64/native/liblatenn.dylib"
F = "int latenn_f(void) { return 1; }\n"
LATE = """
const char *latenn_names(void) { return "OrtGetApiBase onnxruntime libonnxruntime.1.dylib onnxruntime::"; }
"""
MARKER = 'const char *latenn_text(void) { return "N11onnxruntime16InferenceSessionE"; }\n'
ODD = "int odd(void) { return 1; }\n"
STRANGER = "extern int odd(void);\nint latenn_f(void) { return odd(); }\n"
DELETE = "void _ZdlPv(void *p) { (void)p; }\n"
OPEN = ("-Wl,-undefined,dynamic_lookup",)
UNIVERSAL_TAG = "py3-none-macosx_11_0_universal2"
LOAD_WEAK, REEXPORT, BUILD_VERSION = 0x80000018, 0x8000001F, 0x32
AVFOUNDATION = "/System/Library/Frameworks/AVFoundation.framework/Versions/A/AVFoundation"
FOUNDATION = "/System/Library/Frameworks/Foundation.framework/Versions/C/Foundation"
HOMEBREW = "-Wl,-install_name,/opt/homebrew/lib/libodd.dylib"
BESIDE = "-Wl,-install_name,@loader_path/libodd.dylib"
OLD_MAC = "x86_64-macos.10.9"
SYSTEM = "/usr/lib/libSystem.B.dylib"
HASH, CXX = "_ZNSt3__113__hash_memoryEPKvm", "/usr/lib/libc++.1.dylib"
PYTHON_FRAMEWORK = "/Library/Frameworks/Python.framework/Versions/3.{}/Python"
V8_USER = (
    "extern int _ZN2v87Isolate10GetCurrentEv(void);\n"
    "int napi_register_module_v1(void) { return _ZN2v87Isolate10GetCurrentEv(); }\n"
)
ONE_VERSION = "int node_register_module_v93(void) { return 1; }\n"
UNSTABLE = "_ZNK3c106SymInt22maybe_as_int_slow_pathEv"
HIDDEN = '__attribute__((visibility("hidden")))'


def torch_user(requires: str):
    source = f"extern int {UNSTABLE}(void);\nint latenn_f(void) {{ return {UNSTABLE}(); }}\n"
    return lambda bench: bench.wheel(
        {LIB: bench.compiler.dylib(source, *OPEN).read_bytes()}, tag=MAC_TAG, metadata=f"Requires-Dist: {requires}\n"
    )


def whole(bench: Bench):
    return bench.mac(bench.dylib())


def of(source: str, *flags: str):
    return lambda bench: bench.mac(bench.compiler.dylib(source, *flags, name="liblatenn.dylib").read_bytes())


def link_runtime(bench: Bench) -> bytes:
    return bench.compiler.dylib(USER, bench.mac_runtime(), name="liblatenn.dylib").read_bytes()


def linked_by(command: int):
    return lambda bench: bench.mac(change_load_command(link_runtime(bench), "libonnxruntime", command))


@made_by
def odd(bench: Bench, source: str = ODD, *flags: str) -> Path:
    return bench.compiler.dylib(source, *flags, name="libodd.dylib")


@made_by
def with_odd(bench: Bench, *flags: str) -> bytes:
    return bench.compiler.dylib(STRANGER, odd(ODD, *flags)(bench), name="liblatenn.dylib").read_bytes()


def weakly_with_odd(bench: Bench) -> bytes:
    """A library that asks whether another one has a symbol before it uses it."""
    source = "__attribute__((weak_import)) extern int odd(void);\nint latenn_f(void) { return odd ? odd() : 0; }\n"
    return bench.compiler.dylib(source, odd()(bench), name="liblatenn.dylib").read_bytes()


def needs_more(bench: Bench) -> bytes:
    """A library that needs another one."""
    more = bench.compiler.dylib("int more(void) { return 1; }\n", name="libmore.dylib")
    source = "extern int more(void);\nint latenn_g(void) { return more(); }\n"
    return bench.compiler.dylib(source, more, name="libodd.dylib").read_bytes()


def passes_more_on(bench: Bench) -> bytes:
    return change_load_command(needs_more(bench), "libmore", REEXPORT)


@made_by
def beside(bench: Bench, name: str, path: str = "/usr/lib/libz.1.dylib") -> bytes:
    """A library that looks symbols up everywhere, with spaces between, and another in a library of the system."""
    system = bench.compiler.dylib(ODD.replace("odd", "deflate"), f"-Wl,-install_name,{path}", name="libz.dylib")
    source = "extern int deflate(void);\n" + "".join(f"extern int {each}(void);\n" for each in name.split())
    source += f"int latenn_f(void) {{ return {' + '.join(f'{each}()' for each in ['deflate', *name.split()])}; }}\n"
    return bench.compiler.dylib(source, system, *OPEN, name="liblatenn.dylib").read_bytes()


@made_by
def system_user(bench: Bench, name: str, path: str, target: str = MAC_ARM) -> bytes:
    """A user of a stand-in library of the system that has one function, or several with spaces between."""
    flags, names = (f"-Wl,-install_name,{path}", "-fno-builtin"), name.split()
    code = "".join(f"int {name}(void) {{ return 1; }}\n" for name in names)
    library = bench.compiler.dylib(code, *flags, target=target, name="libstandin.dylib")
    source = "".join(f"extern int {name}(void);\n" for name in names)
    source += f"int latenn_f(void) {{ return {' + '.join(f'{name}()' for name in names)}; }}\n"
    return bench.compiler.dylib(source, library, "-fno-builtin", target=target, name="liblatenn.dylib").read_bytes()


@made_by
def addon(bench: Bench, source: str, name: str = "tiny.node"):
    return bench.npm(
        {name: bench.compiler.dylib(source, *OPEN, name="tiny.node").read_bytes()}, os=["darwin"], libc=None
    )


@made_by
def framework_user(bench: Bench, path: str) -> bytes:
    """A library that links a framework."""
    system = bench.compiler.dylib(ODD.replace("odd", "deflate"), f"-Wl,-install_name,{path}", name="libz.dylib")
    source = "extern int deflate(void);\nint odd(void) { return deflate(); }\n"
    return bench.compiler.dylib(source, system, name="libodd.dylib").read_bytes()


@made_by
def flat_user(bench: Bench, name: str) -> bytes:
    """A library that needs libodd.dylib, and looks a symbol up everywhere."""
    source = f"extern int odd(void), {name}(void);\nint latenn_f(void) {{ return odd() + {name}(); }}\n"
    return bench.compiler.dylib(source, odd()(bench), *OPEN, name="liblatenn.dylib").read_bytes()


@made_by
def open_user(bench: Bench, target: str) -> bytes:
    return bench.compiler.dylib(STRANGER, *OPEN, target=target, name="liblatenn.dylib").read_bytes()


@made_by
def without_two_levels(_bench: Bench, data: bytes) -> bytes:
    """The file as ld links it with -flat_namespace: each symbol is looked up in every image."""
    out = bytearray(data)
    struct.pack_into("<I", out, 24, struct.unpack_from("<I", data, 24)[0] & ~0x80)
    return bytes(out)


def twice(bench: Bench) -> bytes:
    """A library with one search path twice: one is renamed in place, since zig's linker would leave it out."""
    flags = ("-Wl,-rpath,@loader_path/deps", "-Wl,-rpath,@loader_path/dept")
    data = bench.compiler.dylib(F, *flags, name="liblatenn.dylib").read_bytes()
    return data.replace(b"@loader_path/dept", b"@loader_path/deps")


@made_by
def mac_program(bench: Bench, **how: int):
    data = bench.compiler.program("int main(void) { return 0; }\n", target=MAC_INTEL).read_bytes()
    return bench.npm({"bin/tiny": data}, os=["darwin"], libc=None, **how)


@made_by
def program_with_path(bench: Bench, rpath: str):
    """A program with a search path in a wheel."""
    code = "int main(void) { return 0; }\n"
    data = bench.compiler.program(code, f"-Wl,-rpath,{rpath}", target=MAC_ARM).read_bytes()
    return bench.wheel({"latenn/tiny": data}, tag=MAC_TAG)


def change_byte(data: bytes) -> bytes:
    """The same file with another character in the text of a symbol's name, which each is signed with."""
    place = data.rindex(b"latenn_", 0, len(data))
    return data[:place] + b"L" + data[place + 1 :]


def changed_byte(bench: Bench):
    return bench.mac(change_byte(bench.dylib()))


def changed_slice(bench: Bench):
    return bench.mac(universal(bench.dylib(MAC_INTEL), change_byte(bench.dylib())), tag=UNIVERSAL_TAG)


def relabel(data: bytes) -> bytes:
    """A signed file for arm64 that now says that it is for x86_64."""
    return data[:4] + struct.pack("<2I", 0x01000007, 3) + data[12:]


def both(bench: Bench) -> bytes:
    return universal(bench.dylib(MAC_INTEL), bench.dylib())


@made_by
def module(bench: Bench, name: str, tags: str, file: str = "_core.abi3.so"):
    data = bench.compiler.dylib(caller(name), *OPEN, name="_core.so").read_bytes()
    return bench.wheel({f"latenn/{file}": data}, tag=f"{tags}-macosx_11_0_arm64")


@made_by
def linking(bench: Bench, path: str):
    """A module for CPython 3.11 that links a library of CPython."""
    flags = (f"-Wl,-install_name,{path}",)
    library = bench.compiler.dylib("int PyLong_Odd(void) { return 1; }\n", *flags, name="libpython.dylib")
    source = "extern int PyLong_Odd(void);\nint PyInit__core(void) { return PyLong_Odd(); }\n"
    data = bench.compiler.dylib(source, library, name="_core.so").read_bytes()
    return bench.wheel({"latenn/_core.so": data}, tag="cp311-cp311-macosx_11_0_arm64")


def strip_signature(bench: Bench) -> bytes:
    binary = lief.MachO.parse(list(bench.dylib())).at(0)
    binary.remove_signature()
    with tempfile.TemporaryDirectory() as folder:
        binary.write(f"{folder}/x")
        return Path(folder, "x").read_bytes()


@made_by
def for_platform(bench: Bench, number: int, made: bytes = b"") -> bytes:
    """A library whose LC_BUILD_VERSION names another platform of Apple than its signature is for."""
    data = bytearray(made or bench.dylib())
    [place] = [offset for offset, kind, _ in commands(data) if kind == BUILD_VERSION]
    struct.pack_into("<I", data, place + 8, number)
    return bytes(data)


def program(*, pie: bool):
    """A program; `-no_pie` of Apple's linker clears one flag of its header."""

    def make(bench: Bench):
        path = bench.compiler.program("int main(void) { return 0; }\n", target=MAC_INTEL)
        data = bytearray(path.read_bytes())
        (flags,) = struct.unpack_from("<I", data, 24)
        struct.pack_into("<I", data, 24, flags if pie else flags & ~0x200000)
        return bench.bare("latenn", bytes(data))

    return make


def debug(bench: Bench):
    return bench.mac(bench.compiler._make(F, "x.c", ["-shared", "-g"], MAC_INTEL, "x.dylib").read_bytes())


def newer(bench: Bench) -> bytes:
    return bench.dylib("aarch64-macos.14.0")


@made_by
def native(bench: Bench, data: bytes):
    return bench.nupkg({NATIVE: data})


def row(code: str, what: str, bad, good, says: str, **how: object) -> Case:
    """A case of the wheel's one library."""
    return Case(code=code, what=f"macOS: {what}", bad=bad, good=good, says=says, **{"at": f"!{LIB}", **how})


ENTRY = "int CreateEpFactories(void) { return 1; }\n"
SECOND = "int ReleaseEpFactory(void) { return 1; }\n"
CASES = [
    row("LB106", "a symbol is looked up in every image", of(STRANGER, *OPEN), whole, "odd"),
    row("LB106", "a symbol is looked up in every image, next to a library of the system", mac(beside("odd")),
        mac(beside("objc_msgSend")), "odd"),
    *(row("LB106", f"{name} is looked up in every image, where libSystem has it", mac(beside("odd")), mac(beside(name)),
          "odd") for name in ("fopen", "__stack_chk_fail", "_objc_empty_cache")),
    row("LB106", "a symbol of a framework that nothing links", of(STRANGER.replace("odd", "CMTimeMake"), *OPEN),
        mac(beside("CMTimeMake", AVFOUNDATION)), "CMTimeMake", severity="warning"),
    *(row("LB106", f"{name} is looked up in every image, where libSystem has it", mac(beside("odd")), mac(beside(name)),
          "odd") for name in ("_tlv_bootstrap", "memset_pattern16")),
    row("LB106", "a framework that a library of the package links, or none", mac(beside("AudioDeviceStart")),
        wheel({LIB: flat_user("AudioDeviceStart"), "latenn/libodd.dylib": framework_user(FOUNDATION)},
              tag=MAC_TAG), "AudioDeviceStart", severity="warning"),
    row("LB106", "a slice that no tag promises",
        lambda bench: bench.mac(universal(bench.dylib(MAC_INTEL), open_user(MAC_ARM)(bench))),
        lambda bench: bench.mac(universal(open_user(MAC_INTEL)(bench), bench.dylib())), "odd"),
    *(row("LB106", f"{name} of Python is open in a library that is no module",
          of(f"extern int {name}(void);\nint f(void){{return {name}();}}\n", *OPEN),
          of(f"extern int {name}(void);\nint PyInit__c(void){{return {name}();}}\n", *OPEN), name)
      for name in ("PyErr_Occurred", "pypy_carefully_make_gil")),
    row("LB106", "the library of the package lacks the symbol",
        wheel({LIB: with_odd(), "latenn/libodd.dylib": contents(odd(F))}),
        wheel({LIB: with_odd(), "latenn/libodd.dylib": contents(odd())}),
        "imports 1 symbol that @rpath/libodd.dylib does not export"),
    row("LB106", "the library of the package lacks the symbol; without it, the file loads",
        wheel({LIB: with_odd(), "latenn/libodd.dylib": contents(odd(F))}),
        wheel({LIB: weakly_with_odd, "latenn/libodd.dylib": contents(odd(F))}),
        "imports 1 symbol that @rpath/libodd.dylib does not export"),
    row("LB106", "the library of the package lacks the symbol, and does not pass on what another library has",
        wheel({LIB: with_odd(), "latenn/libodd.dylib": needs_more}),
        wheel({LIB: with_odd(), "latenn/libodd.dylib": passes_more_on}),
        "imports 1 symbol that @rpath/libodd.dylib does not export"),
    row("LB106", "a symbol with another name than Apple's, next to one of a framework", mac(beside("odd_name")),
        mac(beside("Gestalt", FOUNDATION)), "odd_name"),
    row("LB106", "a symbol of a framework that nothing links, and another one", mac(beside("CMTimeMake odd")),
        mac(beside("CMTimeMake", AVFOUNDATION)), "has 2 undefined symbols that nothing provides"),
    row("LB106", "a function of glibc alone", mac(beside("gnu_get_libc_version")), mac(beside("getenv")),
        "nothing provides: gnu_get_libc_version"),
    row("LB106", "a flat namespace, in which any linked library may define a symbol",
        mac(without_two_levels(open_user(MAC_ARM))), mac(without_two_levels(flat_user("more"))), "odd"),
    row("LB107", "a path of the build machine, and a copy that is not there",
        wheel({LIB: with_odd(HOMEBREW), "latenn/libodd.dylib": contents(odd())}, tag=MAC_TAG),
        wheel({LIB: with_odd(), "latenn/libodd.dylib": contents(odd())}, tag=MAC_TAG),
        "; the package has a copy as latenn/libodd.dylib, where the loader does not look"),
    row("LB107", "a path of the build machine in a library that another one loads without",
        wheel({LIB: with_odd(HOMEBREW), "latenn/libodd.dylib": contents(odd()), "latenn/libfree.dylib": dylib()},
              tag=MAC_TAG),
        wheel({LIB: with_odd(), "latenn/libodd.dylib": contents(odd()), "latenn/libfree.dylib": dylib()}, tag=MAC_TAG),
        "where the loader does not look", severity="warning"),
    row("LB107", "a path of the build machine that is linked weakly",
        wheel({LIB: lambda bench: change_load_command(with_odd(HOMEBREW)(bench), "libodd", LOAD_WEAK),
               "latenn/libodd.dylib": contents(odd())}, tag=MAC_TAG),
        wheel({LIB: with_odd(), "latenn/libodd.dylib": contents(odd())}, tag=MAC_TAG),
        "LC_LOAD_WEAK_DYLIB /opt/homebrew/lib/libodd.dylib", severity="warning"),
    row("LB107", "a path of the build machine that is the copy's own name",
        wheel({LIB: with_odd(HOMEBREW), "latenn/libodd.dylib": contents(odd(ODD, HOMEBREW))}, tag=MAC_TAG),
        wheel({LIB: with_odd(HOMEBREW), "latenn/libodd.dylib": contents(odd(ODD, HOMEBREW)),
               "latenn/run.sh": b"#!/bin/sh\nexport DYLD_LIBRARY_PATH=$HERE\n"}, tag=MAC_TAG),
        "LC_LOAD_DYLIB /opt/homebrew/lib/libodd.dylib", severity="warning"),
    row("LB114", "a path from the file that leads elsewhere",
        wheel({LIB: with_odd(BESIDE), "latenn/deps/libodd.dylib": contents(odd())}),
        wheel({LIB: with_odd(BESIDE), "latenn/libodd.dylib": contents(odd())}),
        "as latenn/deps/libodd.dylib, where the loader does not search", severity="warning"),
    row("LB114", "a path from the folder of Python",
        wheel({LIB: with_odd("-Wl,-install_name,@executable_path/libodd.dylib"),
               "latenn/libodd.dylib": contents(odd())}),
        wheel({LIB: with_odd(BESIDE), "latenn/libodd.dylib": contents(odd())}),
        "LC_LOAD_DYLIB @executable_path/libodd.dylib", severity="warning"),
    row("LB116", "a search path twice", mac(twice), of(F, "-Wl,-rpath,@loader_path", "-Wl,-rpath,@loader_path/deps"),
        "has the search path @loader_path/deps 2 times", severity="warning"),
    row("LB911", "a program that is not executable", mac_program(), mac_program(mode=0o755),
        "is a program with the mode 644", at="!package/bin/tiny", severity="warning"),
    row("LB313", "a function that CPython 3.6.0 lacks", module("PySlice_Unpack", "cp36-cp36m"),
        module("PySlice_Unpack", "cp37-cp37m"), "new in CPython 3.6.1", at="!latenn/_core.abi3.so",
        severity="warning"),
    row("LB909", "a function of V8 in an add-on for Node-API", addon(V8_USER), addon(V8_USER, "tiny.abi115.node"),
        "v8::Isolate::GetCurrent", at="!package/tiny.node", severity="note"),
    row("LB910", "an add-on for one version of Node.js", addon(ONE_VERSION), addon(ONE_VERSION, "tiny.abi115.node"),
        "is for ABI version 93 of Node.js", at="!package/tiny.node", severity="warning"),
    row("LB114", "a needed library in a folder where nothing searches",
        wheel({LIB: with_odd(), "latenn/deps/libodd.dylib": contents(odd())}),
        wheel({LIB: lambda bench: bench.compiler.dylib(STRANGER, odd()(bench), "-Wl,-rpath,@loader_path/deps",
            name="liblatenn.dylib").read_bytes(), "latenn/deps/libodd.dylib": contents(odd())}),
        "as latenn/deps/libodd.dylib, where the loader does not search", severity="warning"),
    row("LB114", "a needed library that is not linked weakly",
        wheel({LIB: with_odd(), "latenn/deps/libodd.dylib": contents(odd())}),
        wheel({LIB: lambda bench: change_load_command(with_odd()(bench), "libodd", LOAD_WEAK),
               "latenn/deps/libodd.dylib": contents(odd())}),
        "where the loader does not search", severity="warning"),
    row("LB107", "a needed library is nowhere", mac(with_odd()),
        wheel({LIB: with_odd(), "latenn/libodd.dylib": contents(odd())}, tag=MAC_TAG),
        "LC_LOAD_DYLIB @rpath/libodd.dylib"),
    row("LB107", "a library of the build machine's package manager",
        mac(with_odd("-Wl,-install_name,/opt/homebrew/lib/libodd.dylib")), whole, "/opt/homebrew/lib/libodd.dylib"),
    row("LB107", "a needed library is in the package under another file name",
        wheel({LIB: with_odd(), "latenn/libodd2.dylib": contents(odd())}, tag=MAC_TAG),
        wheel({LIB: with_odd(), "latenn/libodd.dylib": contents(odd())}, tag=MAC_TAG),
        "which the package has as libodd2.dylib: it is found only if already loaded", severity="warning"),
    row("LB108", "LC_RPATH points to the build folder", of(F, "-Wl,-rpath,/Users/ci/build/lib"),
        of(F, "-Wl,-rpath,@loader_path", "-Wl,-rpath,/usr/lib/swift"), "LC_RPATH /Users/ci/build/lib", severity="note"),
    row("LB108", "LC_RPATH means Python's own folder", of(F, "-Wl,-rpath,@executable_path/../lib"),
        of(F, "-Wl,-rpath,@loader_path/../other"), "@executable_path/../lib", severity="note"),
    row("LB108", "LC_RPATH of a program leads out of the package", program_with_path("@executable_path/../../../lib"),
        program_with_path("@executable_path/lib"), "@executable_path/../../../lib", at="!latenn/tiny", severity="note"),
    row("LB202", "a C++ function is exported", of("int _Z5speaki(int a) { return a; }\n"),
        of(f"{F}{HIDDEN} int _Z5speaki(int a) {{ return a; }}\n"), "_Z5speaki", severity="note"),
    row("LB202", "operator delete is defined, and not passed on from the system's library", of(DELETE),
        lambda bench: bench.mac(passed_on(bench.compiler.dylib(DELETE, name="liblatenn.dylib").read_bytes(), "_ZdlPv")),
        "_ZdlPv", severity="warning"),
    row("LB302", "an Intel library in an arm64 wheel", mac(dylib(MAC_INTEL)), mac(both), "is for macOS on x64"),
    row("LB302", "a library for one processor next to one of both",
        wheel({LIB: both, "latenn/libodd.dylib": dylib()}, tag=UNIVERSAL_TAG),
        wheel({LIB: both, "latenn/libodd.dylib": both}, tag=UNIVERSAL_TAG), "promises macOS on x64 and arm64",
        at="!latenn/libodd.dylib", severity="note"),
    row("LB302", "one slice under a universal2 tag", mac(dylib(), UNIVERSAL_TAG), mac(both, UNIVERSAL_TAG),
        "promises macOS on x64 and arm64"),
    *(row("LB302", f"a tag that stands for {arch} as well", mac(dylib(MAC_INTEL), f"py3-none-macosx_11_0_{tag}"),
          mac(dylib(MAC_INTEL), "py3-none-macosx_11_0_x86_64"), f"macosx_11_0_{tag} promises macOS on",
          severity="warning") for tag, arch in (("intel", "i386"), ("fat64", "ppc64"))),
    row("LB302", "an Intel library in the folder of osx-arm64", native(dylib(MAC_INTEL)), native(dylib()), "osx-arm64",
        at=f"!{NATIVE}"),
    row("LB306", "an extension module in a py3-none wheel", of("void *PyInit__core(void) { return 0; }\n"),
        lambda bench: bench.mac(bench.compiler.dylib("void *PyInit__core(void) { return 0; }\n").read_bytes(),
            "cp311-abi3-macosx_11_0_arm64"), "PyInit__core", severity="warning"),
    row("LB308", "a library for macOS 14 under a tag of 11.0", mac(newer), mac(newer, "py3-none-macosx_14_0_arm64"),
        "needs macOS 14.0, but macosx_11_0_arm64 promises 11.0", severity="warning"),
    row("LB308", "a library for macOS 10.13, in the words of that system's linker, under a tag of 10.9",
        mac(dylib("x86_64-macos.10.13"), "py3-none-macosx_10_9_x86_64"),
        mac(dylib("x86_64-macos.10.13"), "py3-none-macosx_10_13_x86_64"),
        "needs macOS 10.13, but macosx_10_9_x86_64 promises 10.9", severity="warning"),
    row("LB308", "a library for a later patch of the system that the tag promises",
        mac(dylib("x86_64-macos.10.13.4"), "py3-none-macosx_10_13_x86_64"),
        mac(dylib("x86_64-macos.10.13.0"), "py3-none-macosx_10_13_x86_64"), "needs macOS 10.13.4", severity="warning"),
    row("LB308", "a function of libc++ that only a newer macOS has", mac(system_user(HASH, CXX)),
        mac(system_user(HASH, CXX), "py3-none-macosx_26_0_arm64"),
        "uses std::__1::__hash_memory, added in macOS 26.0, but macosx_11_0_arm64 promises 11.0",
        severity="warning"),
    row("LB308", "a function of libSystem that only a newer macOS has",
        mac(system_user("strchrnul", "/usr/lib/libSystem.B.dylib")),
        mac(system_user("strchrnul", "/usr/lib/libSystem.B.dylib"), "py3-none-macosx_15_4_arm64"),
        "uses strchrnul, added in macOS 15.4",
        severity="warning"),
    row("LB308", "functions of two newer macOS: the message names the one of the version in it",
        mac(system_user("pwritev strchrnul", SYSTEM, OLD_MAC), "py3-none-macosx_10_9_x86_64"),
        mac(system_user("pwritev strchrnul", SYSTEM, OLD_MAC), "py3-none-macosx_15_4_x86_64"),
        "uses strchrnul, added in macOS 15.4", severity="warning"),
    *(row("LB308", f"{name}, which libSystem has only since macOS {since}",
          mac(system_user(name, SYSTEM, OLD_MAC), "py3-none-macosx_10_9_x86_64"),
          mac(system_user(name, SYSTEM, OLD_MAC), f"py3-none-macosx_{since.replace('.', '_')}_x86_64"),
          f"uses {name}, added in macOS {since}", severity="warning")
      for name, since in (("___chkstk_darwin", "10.15"), ("pwritev", "11.0"), ("fstatat", "10.10"))),
    row("LB308", "a file for arm64 alone, of which the tag of arm64 promises more",
        mac(newer, "py3-none-macosx_10_9_x86_64.macosx_11_0_arm64"),
        mac(newer, "py3-none-macosx_10_9_x86_64.macosx_14_0_arm64"), "macosx_11_0_arm64 promises 11.0",
        severity="warning"),
    row("LB308", "arm64 begins with 11.0, whatever a universal tag says",
        lambda bench: bench.mac(universal(bench.dylib(MAC_INTEL), bench.dylib()), "py3-none-macosx_10_9_universal2"),
        lambda bench: bench.mac(universal(bench.dylib("x86_64-macos.10.15"), bench.dylib()),
            "py3-none-macosx_10_15_universal2"), "in the slice x86_64", severity="warning"),
    row("LB308", "a nupkg is held to the configured minimum", native(newer), native(dylib()),
        "the configuration promises 11.0", at=f"!{NATIVE}", policy=Policy(macos="11.0"), severity="warning"),
    row("LB309", "a function of CPython 3.11 under cp310-abi3", module(NEWER, "cp310-abi3"),
        module(NEWER, "cp311-abi3"), "PyType_GetName is new in CPython 3.11", at="!latenn/_core.abi3.so"),
    row("LB310", "a module of one CPython under an abi3 tag",
        module(STABLE, "cp310-abi3", "_core.cpython-310-darwin.so"),
        module(STABLE, "cp310-cp310", "_core.cpython-310-darwin.so"), "is named for cp310",
        at="!latenn/_core.cpython-310-darwin.so"),
    row("LB311", "a module for free-threaded CPython under the tag of one with the GIL",
        module("_Py_DecRefShared", "cp313-cp313", "_core.so"), module("_Py_DecRefShared", "cp313-cp313t", "_core.so"),
        "CPython 3.13 lacks _Py_DecRefShared", at="!latenn/_core.so"),
    row("LB311", "a module that links the framework of another CPython", linking(PYTHON_FRAMEWORK.format(9)),
        linking(PYTHON_FRAMEWORK.format(11)), "Versions/3.9/Python, which CPython 3.11 does not have",
        at="!latenn/_core.so"),
    row("LB315", "a module with the init function of another", module(STABLE, "cp310-abi3", "_other.abi3.so"),
        module(STABLE, "cp310-abi3"), "no PyInit__other", at="!latenn/_other.abi3.so", severity="warning"),
    row("LB513", "torch's C++ interface with an open requirement", torch_user("torch>=2.4"), torch_user("torch==2.9.*"),
        "c10::SymInt::maybe_as_int_slow_path"),
    row("LB314", "a module that keeps the GIL", module("PyModule_Create2", "cp313-cp313t", "_core.so"),
        module("PyModule_Create2", "cp313-cp313", "_core.so"), "turns the GIL on", at="!latenn/_core.so",
        severity="warning"),
    row("LB312", "arm64 with a macOS that had no arm64", mac(dylib(), "py3-none-macosx_10_9_arm64"),
        mac(dylib(), "py3-none-macosx_11_0_arm64"), "the nearest accepted one is macosx_11_0_arm64", at=".whl"),
    row("LB312", "a minor version of macOS 12", mac(dylib(), "py3-none-macosx_12_3_arm64"),
        mac(dylib(), "py3-none-macosx_13_0_arm64"), "the nearest accepted one is macosx_13_0_arm64", at=".whl"),
    row("LB312", "a second tag that serves nobody",
        mac(dylib(), "py3-none-macosx_10_9_x86_64.macosx_10_9_arm64"),
        mac(dylib(), "py3-none-macosx_10_9_x86_64.macosx_11_0_arm64"), "macosx_10_9_arm64", at=".whl",
        severity="warning"),
    row("LB604", "a library that was cut off", lambda bench: bench.mac(bench.dylib()[:20000]), whole, "cut off"),
    row("LB604", "a slice that was cut off", lambda bench: bench.mac(both(bench)[:60000]), mac(both), "a slice ends"),
    row("LB612", "a debug map", debug, whole, "debug map", severity="note"),
    row("LB615", "unsigned arm64 code", mac(strip_signature), of(GOOD), "no LC_CODE_SIGNATURE"),
    row("LB615", "a byte changed after signing", changed_byte, of(GOOD), "the signature is wrong for 1 of "),
    row("LB615", "a changed byte in one slice of two", changed_slice, whole, "in the slice arm64"),
    row("LB615", "x86_64 code that was changed after signing",
        lambda bench: bench.mac(relabel(bench.dylib()), tag="py3-none-macosx_11_0_x86_64"),
        lambda bench: bench.mac(bench.dylib(MAC_INTEL), tag="py3-none-macosx_11_0_x86_64"),
        "was changed after it was signed", severity="warning"),
    *(row("LB615", f"code that says, after it was signed, that it is for {mac_name}, and for {other_name}",
          mac(for_platform(mac_number)), mac(for_platform(other_number)), "the signature is wrong for 1 of ")
      for mac_name, mac_number, other_name, other_number in (
          ("catalyst", 6, "iOS", 2), ("catalyst", 6, "tvOS", 3), ("catalyst", 6, "the simulator of iOS", 7))),
    row("LB615", "unsigned code for macOS, and for iOS", mac(strip_signature), mac(for_platform(2, strip_signature)),
        "no LC_CODE_SIGNATURE"),
    row("LB615", "a changed byte in a slice for macOS, and in one for iOS",
        mac(lambda bench: universal(bench.dylib(MAC_INTEL), change_byte(bench.dylib())), tag=UNIVERSAL_TAG),
        mac(lambda bench: universal(bench.dylib(MAC_INTEL), for_platform(2)(bench)), tag=UNIVERSAL_TAG),
        "in the slice arm64"),
]  # fmt: skip
