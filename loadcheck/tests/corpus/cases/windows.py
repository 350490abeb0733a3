"""Bad subjects in PE, for every code whose check looks into the file."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from corpus.cases.case import Case, contents, dll, made_by, wheel, windows
from corpus.cases.tags import NEWER, STABLE, caller
from corpus.packages import USER, WINDOWS_ARM, WINDOWS_TAG, Bench

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

LIB = "latenn/latenn.dll"
NATIVE = "runtimes/win-x64/native/latenn.dll"
F = "int latenn_f(void) { return 1; }\n"
LATE = 'const char *latenn_f(void) { return "OrtGetApiBase onnxruntime onnxruntime.dll onnxruntime::"; }\n'
MARKER = 'const char *latenn_f(void) { return ".?AVInferenceSession@onnxruntime@@"; }\n'
CORE = "latenn/_core.cp311-win_amd64.pyd"
OWN = "cp311-cp311-win_amd64"
NODE_API, V8 = "napi_register_module_v1", "_ZN2v87Isolate10GetCurrentEv"
ODD = "int odd(void) { return 1; }\n"
STRANGER = "extern int odd(void);\nint latenn_f(void) { return odd(); }\n"
# What delayimp.lib defines for those who link with Visual C++.
DELAYED = f"{USER}void *__delayLoadHelper2(void *a, void *b) {{ return a ? a : b; }}\nint _tls_index;\n"
FORWARD = '__asm__(".section .drectve\\n.ascii \\" -export:OrtGetApiBase=onnxruntime.OrtGetApiBase\\"\\n.text\\n");\n'


def torch_user(requires: str):
    name = "?maybe_as_int_slow_path@SymInt@c10@@QEBAXXZ"

    def make(bench: Bench) -> list[Path]:
        source = f'int odd(void) __asm__("{name}");\nint odd(void) {{ return 1; }}\n'
        library = bench.compiler.import_library(bench.compiler.dll(source, exports=[name], name="c10.dll"))
        user = f'extern int odd(void) __asm__("{name}");\nint latenn_f(void) {{ return odd(); }}\n'
        data = bench.compiler.dll(user, library, exports=["latenn_f"], name="latenn.dll").read_bytes()
        return bench.wheel({LIB: data}, tag=WINDOWS_TAG, metadata=f"Requires-Dist: {requires}\n")

    return make


def whole(bench: Bench):
    return bench.windows(bench.dll())


@made_by
def compile_dll(bench: Bench, source: str, *flags: str | Path, exports: Sequence[str] = ("latenn_f",), **how) -> bytes:
    return bench.compiler.dll(source, *flags, exports=exports, name="latenn.dll", **how).read_bytes()


@made_by
def program(bench: Bench, name: str) -> bytes:
    """A file that needs a DLL and says that it is a program."""
    data = bytearray(with_odd(name)(bench))
    (start,) = struct.unpack_from("<I", data, 0x3C)
    data[start + 23] &= ~0x20  # IMAGE_FILE_DLL
    return bytes(data)


def of(source: str, *flags: str, exports: Sequence[str] = ("latenn_f",), **how):
    return windows(compile_dll(source, *flags, exports=exports, **how))


@made_by
def link_runtime(bench: Bench, source: str = USER, *flags: str) -> bytes:
    library = bench.compiler.import_library(bench.windows_runtime())
    return compile_dll(source, library, *flags, exports=["latenn_bind"])(bench)


@made_by
def odd(bench: Bench, name: str = "odd.dll", source: str = ODD, export: str = "odd") -> Path:
    return bench.compiler.dll(source, exports=[export], name=name)


@made_by
def with_odd(bench: Bench, name: str = "odd.dll") -> bytes:
    return compile_dll(STRANGER, bench.compiler.import_library(odd(name)(bench)))(bench)


@made_by
def delaying(bench: Bench, name: str, at_once: str = "", export: str = "latenn_f") -> bytes:
    """A library that opens another one when it first calls it, and perhaps needs one at once."""
    other = odd(at_once, ODD.replace("odd", "even"), "even")(bench) if at_once else None
    call = "extern int odd(void), even(void);\nint latenn_f(void) { return odd() + even(); }\n" if other else STRANGER
    source = DELAYED.replace(USER, call.replace("latenn_f", export))
    libraries = [bench.compiler.import_library(path) for path in (odd(name)(bench), other) if path]
    return compile_dll(source, *libraries, f"-delayload:{name}", exports=[export])(bench)


@made_by
def module_with_odd(bench: Bench, name: str = "odd.dll") -> bytes:
    source = "extern int odd(void);\nvoid *PyInit__core(void) { static int core; return odd() ? &core : 0; }\n"
    library = bench.compiler.import_library(odd(name)(bench))
    return bench.compiler.dll(source, library, exports=["PyInit__core"], name="_core.pyd").read_bytes()


def with_code(text: str):
    """A wheel with a module that needs a DLL in another folder, and with code."""
    files = {CORE: module_with_odd(), "latenn/deps/odd.dll": contents(odd()), "latenn/start.py": text.encode()}
    return wheel(files, tag=OWN)


@made_by
def module_with_both(bench: Bench) -> bytes:
    """A module that needs first.dll and odd.dll."""
    first = bench.compiler.dll("int first(void) { return 1; }\n", exports=["first"], name="first.dll")
    libraries = map(bench.compiler.import_library, (first, odd()(bench)))
    source = "extern int first(void), odd(void);\nvoid *PyInit__core(void) { return first() + odd() ? first : 0; }\n"
    return bench.compiler.dll(source, *libraries, exports=["PyInit__core"], name="_core.pyd").read_bytes()


@made_by
def addon(bench: Bench, export: str, name: str):
    """An add-on that exports one function and imports another one from node.exe."""
    program = bench.compiler.dll(f"int {name}(void) {{ return 1; }}\n", exports=[name], name="node.exe")
    source = f"extern int {name}(void);\nint {export}(void) {{ return {name}(); }}\n"
    library = bench.compiler.import_library(program)
    data = bench.compiler.dll(source, library, exports=[export], name="tiny.dll").read_bytes()
    return bench.npm({"tiny.node": data}, os=["win32"], libc=None)


@made_by
def module(bench: Bench, name: str, tags: str, file: str = "_core.pyd", *, python: str = "python3.dll"):
    source = f"void *{name}(void *given) {{ return given; }}\n"
    library = bench.compiler.import_library(bench.compiler.dll(source, exports=[name], name=python))
    data = bench.compiler.dll(caller(name), library, exports=["PyInit__core"], name="_core.pyd").read_bytes()
    return bench.wheel({f"latenn/{file}": data}, tag=f"{tags}-win_amd64")


def forwards(bench: Bench):
    # lld-link wants the target to exist when it writes the import library.
    library = bench.compiler.import_library(bench.windows_runtime())
    return bench.windows(compile_dll(f"{FORWARD}{F}", library)(bench))


@made_by
def native(bench: Bench, data: bytes):
    return bench.nupkg({NATIVE: data})


def row(code: str, what: str, bad, good, says: str, **how: object) -> Case:
    """A case of the wheel's one library."""
    return Case(code=code, what=f"Windows: {what}", bad=bad, good=good, says=says, **{"at": f"!{LIB}", **how})


ENTRY = "int CreateEpFactories(void) { return 1; }\n"
SECOND = "int ReleaseEpFactory(void) { return 1; }\n"
BOTH = ["CreateEpFactories", "ReleaseEpFactory"]
MODULE = "void *PyInit__m(void) { return 0; }\nint _ZTI5error(void) { return 1; }\n"
CASES = [
    row("LB106", "the library of the package lacks the symbol",
        wheel({LIB: with_odd(), "latenn/odd.dll": contents(odd("odd.dll", F, "latenn_f"))}),
        wheel({LIB: with_odd(), "latenn/odd.dll": contents(odd())}), "imports 1 symbol that odd.dll does not export"),
    row("LB107", "a needed library is nowhere", windows(with_odd()),
        wheel({LIB: with_odd(), "latenn/Odd.dll": contents(odd())}, tag=WINDOWS_TAG), "import of odd.dll"),
    row("LB107", "the program that loads the file", windows(with_odd("tool.exe")), windows(with_odd("KERNEL32.dll")),
        "needs tool.exe, the program that loads the file", severity="note"),
    *(row("LB107", f"a driver of Windows: {name}", windows(with_odd(name)), windows(with_odd("KERNEL32.dll")),
          f"needs {name}, which is part of a driver", severity="note")
      for name in ("vulkan-1.dll", "OpenCL.dll", "nvcuda.dll")),
    row("LB107", "Python's DLL in a package without any module", windows(with_odd("python311.dll")),
        windows(with_odd("KERNEL32.dll")), "python311.dll"),
    row("LB107", "PyPy's DLL, which PyPy has", windows(with_odd("libpypy3.10-c.dll")),
        module(STABLE, "pp310-pypy310_pp73", "_core.pypy310-pp73-win_amd64.pyd", python="libpypy3.10-c.dll"),
        "libpypy3.10-c.dll"),
    row("LB107", "GraalPy's DLL, which GraalPy has", windows(with_odd("python-native.dll")),
        module(STABLE, "graalpy312-graalpy250_312_native", "_core.graalpy250-312-native-x86_64-win32.pyd",
               python="python-native.dll"), "python-native.dll"),
    row("LB107", "the print system is part of Windows, another driver is not", windows(with_odd("odd.drv")),
        windows(with_odd("winspool.drv")), "import of odd.drv"),
    row("LB111", "the C++ run-time library", windows(with_odd("MSVCP140.dll")),
        wheel({LIB: with_odd("MSVCP140.dll"), "latenn/msvcp140.dll": b"MZ"}),
        "which Windows does not include: MSVCP140.dll", severity="warning"),
    row("LB111", "the C++ run-time library, which a requirement that was not read may install",
        wheel({LIB: with_odd("MSVCP140.dll")}, tag=WINDOWS_TAG, metadata="Requires-Dist: numpy"),
        wheel({LIB: with_odd("MSVCP140.dll")}, tag=WINDOWS_TAG, metadata="Requires-Dist: latenn-runtime~=1.0.0"),
        "which Windows does not include: MSVCP140.dll", severity="warning"),
    row("LB111", "the part that CPython installs, in a nupkg", native(with_odd("VCRUNTIME140.dll")),
        windows(with_odd("VCRUNTIME140.dll")), "VCRUNTIME140.dll", at=f"!{NATIVE}", severity="warning",
        good_severity="note"),
    row("LB111", "the part that CPython installs, which programs do not find",
        wheel({"latenn/tiny.exe": program("VCRUNTIME140.dll")}, tag=WINDOWS_TAG),
        windows(with_odd("VCRUNTIME140.dll")),
        "which Windows does not include: VCRUNTIME140.dll", at="!latenn/tiny.exe", severity="warning",
        good_severity="note"),
    row("LB111", "a DLL in a wheel for any system, and in one for macOS",
        wheel({LIB: with_odd("MSVCP140.dll")}, tag="py3-none-any"),
        wheel({LIB: with_odd("MSVCP140.dll")}, tag="py3-none-macosx_11_0_arm64"),
        "which Windows does not include: MSVCP140.dll", severity="warning"),
    row("LB111", "a DLL in a wheel of MSYS2, and in one for Android",
        wheel({LIB: with_odd("MSVCP140.dll")}, tag="cp312-cp312-mingw_x86_64_ucrt_gnu"),
        wheel({LIB: with_odd("MSVCP140.dll")}, tag="cp313-cp313-android_24_arm64_v8a"),
        "which Windows does not include: MSVCP140.dll", severity="warning"),
    row("LB111", "the part that CPython 3.9 installs first",
        wheel({LIB: with_odd("VCRUNTIME140_1.dll")}, tag="cp38-cp38-win_amd64"),
        wheel({LIB: with_odd("VCRUNTIME140_1.dll")}, tag="cp39-cp39-win_amd64"),
        "which Windows does not include: VCRUNTIME140_1.dll", severity="warning", good_severity="note"),
    row("LB111", "what Microsoft's own DLL opens when it needs it",
        wheel({"latenn/odd.dll": delaying("CONCRT140.dll")}, tag=WINDOWS_TAG),
        wheel({"latenn/msvcp140.dll": delaying("CONCRT140.dll")}, tag=WINDOWS_TAG),
        "delay import of CONCRT140.dll", at="!latenn/odd.dll", severity="warning"),
    row("LB111", "DLLs that are needed on first use only", windows(delaying("MSVCP140.dll")),
        windows(delaying("VCRUNTIME140.dll")), "Visual C++ on first use, which Windows does not include: MSVCP140.dll",
        severity="warning", good_severity="note"),
    row("LB111", "a DLL that is needed at once, and one on first use",
        windows(delaying("CONCRT140.dll", "MSVCP140.dll")), windows(dll()),
        "which Windows does not include: MSVCP140.dll; on first use also CONCRT140.dll", severity="warning"),
    row("LB107", "a needed DLL is nowhere, and the file fails at its first use", windows(delaying("odd.dll")),
        windows(with_odd()), "on first use, which is not in the package or on every Windows system; the file loads",
        severity="warning",
        good_severity="error"),
    row("LB107", "a needed DLL is nowhere, and the file does not load", windows(with_odd()),
        windows(delaying("odd.dll")), "needs odd.dll, which is not in the package", good_severity="warning"),
    row("LB112", "a debug build that is needed on first use", windows(delaying("ucrtbased.dll")),
        windows(with_odd("ucrtbased.dll")), "needs ucrtbased.dll on first use", severity="warning",
        good_severity="error"),
    row("LB112", "a debug build that is needed at once", windows(with_odd("ucrtbased.dll")),
        windows(delaying("ucrtbased.dll")), "needs ucrtbased.dll, which only", good_severity="warning"),
    row("LB106", "a DLL of the package lacks the symbol that is needed on first use",
        wheel({LIB: delaying("odd.dll"), "latenn/odd.dll": contents(odd("odd.dll", F, "latenn_f"))}, tag=WINDOWS_TAG),
        wheel({LIB: delaying("odd.dll"), "latenn/odd.dll": contents(odd())}, tag=WINDOWS_TAG),
        "that odd.dll does not export: odd; the file loads anyway", severity="warning"),
    row("LB114", "a DLL in another folder that is needed on first use",
        wheel({CORE: delaying("odd.dll", export="PyInit__core"), "latenn/deps/odd.dll": contents(odd())}, tag=OWN),
        wheel({CORE: delaying("odd.dll", export="PyInit__core"), "latenn/odd.dll": contents(odd())}, tag=OWN),
        "needs odd.dll on first use, which is in the package as latenn/deps/odd.dll", at=f"!{CORE}",
        severity="warning"),
    row("LB112", "a debug build next to the library that the package uses",
        wheel({LIB: dll(), "latenn/toold.dll": with_odd("ucrtbased.dll")}, tag=WINDOWS_TAG), whole,
        "import of ucrtbased.dll", at="!latenn/toold.dll", severity="warning"),
    row("LB112", "the debug run-time library", windows(with_odd("VCRUNTIME140_1D.dll")),
        windows(with_odd("VCRUNTIME140_1.dll")), "VCRUNTIME140_1D.dll"),
    row("LB112", "the debug build of Python", windows(with_odd("python311_d.dll")), windows(with_odd("python311.dll")),
        "python311_d.dll"),
    row("LB202", "a C++ function is exported",
        of('int speak(int a) __asm__("?speak@@YAHH@Z");\nint speak(int a) { return a; }\n', exports=["?speak@@YAHH@Z"]),
        of(F), "?speak@@YAHH@Z", severity="note"),
    row("LB302", "an arm64 library in an amd64 wheel", windows(dll(WINDOWS_ARM)),
        windows(dll(WINDOWS_ARM), "py3-none-win_arm64"), "is for Windows on arm64"),
    row("LB302", "an arm64 library in the folder of win-x64", native(dll(WINDOWS_ARM)), native(dll()), "win-x64",
        at=f"!{NATIVE}"),
    row("LB114", "a DLL in another folder than the module",
        wheel({CORE: module_with_odd(), "latenn/deps/odd.dll": contents(odd())}, tag=OWN),
        wheel({CORE: module_with_odd(), "latenn/odd.dll": contents(odd())}, tag=OWN),
        "as latenn/deps/odd.dll, where Windows does not search", at=f"!{CORE}", severity="warning"),
    row("LB114", "a DLL in another folder than the module, which needs another one before it",
        wheel({CORE: module_with_both(), "latenn/deps/odd.dll": contents(odd())}, tag=OWN),
        wheel({CORE: module_with_both(), "latenn/odd.dll": contents(odd())}, tag=OWN),
        "as latenn/deps/odd.dll, where Windows does not search", at=f"!{CORE}", severity="warning"),
    row("LB114", "the C++ run-time library in another folder than the module",
        wheel({CORE: module_with_odd("MSVCP140.dll"), "msvcp140.dll": contents(odd("MSVCP140.dll"))}, tag=OWN),
        wheel({CORE: module_with_odd("VCRUNTIME140.dll"), "vcruntime140.dll": contents(odd("VCRUNTIME140.dll"))},
              tag=OWN), "as msvcp140.dll, where Windows does not search", at=f"!{CORE}", severity="warning"),
    row("LB114", "a DLL in a folder that no code adds",
        wheel({CORE: module_with_odd(), "latenn/deps/odd.dll": contents(odd()),
               "latenn/start.py": b"import latenn._core\n"}, tag=OWN),
        wheel({CORE: module_with_odd(), "latenn/deps/odd.dll": contents(odd()),
               "latenn/start.py": b"import os\nos.add_dll_directory(deps)\nimport latenn._core\n"}, tag=OWN),
        "where Windows does not search", at=f"!{CORE}", severity="warning"),
    *(row("LB114", f"a DLL in a folder of which no code opens it by {call}", with_code("import ctypes, os"),
          with_code(f"import ctypes, os\n{call}"), "where Windows does not search", at=f"!{CORE}", severity="warning")
      for call in ("ctypes.CDLL(path)", "ctypes.WinDLL(path)", "os.environ['PATH'] += deps", "AddDllDirectory(deps)")),
    row("LB114", "a DLL in the scheme of data files",
        wheel({CORE: module_with_odd(), "latenn-1.0.data/data/lib/site-packages/latenn/odd.dll": contents(odd())},
              tag=OWN),
        wheel({CORE: module_with_odd(), "latenn-1.0.data/platlib/latenn/odd.dll": contents(odd())}, tag=OWN),
        "does not search after pip install --user", at=f"!{CORE}", severity="warning"),
    row("LB313", "a function that CPython 3.6.0 lacks",
        module("PySlice_Unpack", "cp36-cp36m", python="python36.dll"),
        module("PySlice_Unpack", "cp37-cp37m", python="python37.dll"), "new in CPython 3.6.1",
        at="!latenn/_core.pyd", severity="warning"),
    row("LB909", "a function of V8 in an add-on for Node-API", addon(NODE_API, V8),
        addon(NODE_API, "napi_get_undefined"), "uses 1 function of V8", at="!package/tiny.node", severity="warning"),
    row("LB910", "an add-on for one version of Node.js", addon("node_register_module_v93", V8),
        addon(NODE_API, "napi_get_undefined"), "exports node_register_module_v93", at="!package/tiny.node",
        severity="warning"),
    row("LB306", "an extension module in a py3-none wheel",
        of("void *PyInit__core(void) { return 0; }\n", exports=["PyInit__core"]),
        windows(compile_dll("void *PyInit__core(void) { return 0; }\n", exports=["PyInit__core"]),
            "cp311-abi3-win_amd64"),
        "PyInit__core", severity="warning"),
    row("LB309", "a function of CPython 3.11 under cp310-abi3", module(NEWER, "cp310-abi3"),
        module(NEWER, "cp311-abi3"), "PyType_GetName is new in CPython 3.11", at="!latenn/_core.pyd"),
    row("LB309", "functions from the library of one CPython", module(STABLE, "cp310-abi3", python="python311.dll"),
        module(STABLE, "cp310-abi3"), "imports python311.dll", at="!latenn/_core.pyd"),
    row("LB309", "functions from python3.dll under abi3t, which is not free-threaded CPython's",
        module(STABLE, "cp315-abi3.abi3t"), module(STABLE, "cp315-abi3.abi3t", python="python3t.dll"),
        "imports python3.dll", at="!latenn/_core.pyd"),
    row("LB310", "a module of one CPython under an abi3 tag", module(STABLE, "cp310-abi3", "_core.cp311-win_amd64.pyd"),
        module(STABLE, "cp311-cp311", "_core.cp311-win_amd64.pyd"), "is named for cp311",
        at="!latenn/_core.cp311-win_amd64.pyd"),
    row("LB310", "the m of CPython 3.7's ABI is not in the names of its modules",
        module(STABLE, "cp37-cp37m", "_core.cp36-win_amd64.pyd"),
        module(STABLE, "cp37-cp37m", "_core.cp37-win_amd64.pyd"), "is named for cp36m",
        at="!latenn/_core.cp36-win_amd64.pyd"),
    row("LB311", "a module that imports the library of another CPython than its tag's",
        module(STABLE, "cp310-cp310", "_core.cp310-win_amd64.pyd", python="python311.dll"),
        module(STABLE, "cp310-cp310", "_core.cp310-win_amd64.pyd", python="python310.dll"),
        "imports python311.dll, which CPython 3.10 does not have", at="!latenn/_core.cp310-win_amd64.pyd"),
    row("LB311", "a module for CPython 3.8 by the Python tag alone", module(STABLE, "cp38-none", python="python39.dll"),
        module(STABLE, "cp38-none", python="python38.dll"), "imports python39.dll, which CPython 3.8 does not have",
        at="!latenn/_core.pyd"),
    row("LB311", "a module for CPython 3.9 by its name, in a wheel for any",
        module(STABLE, "py3-none", "_core.cp39-win_amd64.pyd", python="python310.dll"),
        module(STABLE, "py3-none", "_core.cp39-win_amd64.pyd", python="python39.dll"), "imports python310.dll",
        at="!latenn/_core.cp39-win_amd64.pyd"),
    row("LB315", "a module with the init function of another", module(STABLE, "cp310-abi3", "_other.pyd"),
        module(STABLE, "cp310-abi3"), "no PyInit__other", at="!latenn/_other.pyd", severity="warning"),
    row("LB513", "torch's C++ interface with an open requirement", torch_user("torch>=2.4"), torch_user("torch==2.9.*"),
        "maybe_as_int_slow_path"),
    row("LB314", "a module that keeps the GIL", module("PyModule_Create2", "cp313-cp313t", python="python313t.dll"),
        module("PyModule_Create2", "cp313-cp313", python="python313.dll"), "turns the GIL on", at="!latenn/_core.pyd",
        severity="warning"),
    row("LB604", "a library that was cut off", lambda bench: bench.windows(bench.dll()[:-100]), whole, "cut off"),
    row("LB612", "debug information", of(F, "-debug:dwarf", compile_flags=["-g", "-gdwarf"]), whole, ".debug_info",
        severity="note"),
]  # fmt: skip
