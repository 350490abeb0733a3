"""SDK archives that no program can be compiled with: subjects of LB430-LB433, and of checks of all packages."""

from __future__ import annotations

import io
import tarfile
import zipfile
from typing import TYPE_CHECKING

from corpus.cases.case import Case, contents, dylib, good, shared
from corpus.packages import GLIBC, MAC_ARM, WINDOWS, WINDOWS_ARM

if TYPE_CHECKING:
    from corpus.packages import Bench

CONFIG = """\
get_filename_component(_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
add_library(x::x SHARED IMPORTED)
set_target_properties(x::x PROPERTIES IMPORTED_LOCATION "${_prefix}/lib/libx.so" IMPORTED_SONAME "libx.so")
set_target_properties(x::x PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${_prefix}/include")
"""
EXPORTED = """\
get_filename_component(_IMPORT_PREFIX "${CMAKE_CURRENT_LIST_FILE}" PATH)
get_filename_component(_IMPORT_PREFIX "${_IMPORT_PREFIX}" PATH)
get_filename_component(_IMPORT_PREFIX "${_IMPORT_PREFIX}" PATH)
get_filename_component(_IMPORT_PREFIX "${_IMPORT_PREFIX}" PATH)
if(_IMPORT_PREFIX STREQUAL "/")
  set(_IMPORT_PREFIX "")
endif()
target_compile_options(x::x INTERFACE /utf-8 "$<$<CONFIG:Debug>:/W4>") # https://x.org/usr/a
include("${CMAKE_CURRENT_LIST_DIR}/more.cmake" OPTIONAL)
list(APPEND _checked "${_IMPORT_PREFIX}/lib/libx.so")
"""
"""As CMake's install(EXPORT) writes it."""
VERSION = 'set(PACKAGE_VERSION "1.0.0")\n'
PC = """\
prefix=${pcfiledir}/../..
includedir=${prefix}/include
Name: x
URL: https://x.org/usr/x
Version: 1.0.0
Cflags: -I"${includedir}"
Libs: -L${prefix}/lib -lx -lm
"""
LINUX, WINDOWS_SDK = "x-1.0.0-linux-x64-sdk.tar.gz", "x-1.0.0-win-x64-sdk.zip"
MACOS = "x-1.0.0-osx-arm64-sdk.tar.gz"


def library(bench: Bench) -> bytes:
    return bench.good(soname="libx.so")


def exporting(name):
    return contents(shared(f"int {name}(void) {{ return 1; }}\n", "-Wl,-soname,libx.so"))


def sdk(name=LINUX, without=(), links=(), **changed):
    """An archive; `changed` maps names below its folder to texts or to what makes the bytes."""
    files = {
        "include/x.h": "",
        "lib/libx.so": library,
        "lib/cmake/x/x-config.cmake": CONFIG,
        "lib/cmake/x/x-targets.cmake": EXPORTED,
        "lib/cmake/x/x-config-version.cmake": VERSION,
        "lib/pkgconfig/x.pc": PC,
        "share/licenses/x/LICENSE": "MIT",
    }

    def make(bench: Bench):
        every = {key: value for key, value in {**files, **changed}.items() if key not in without}
        members = {f"x/{key}": value(bench) if callable(value) else value.encode() for key, value in every.items()}
        path = bench.folder / name
        with tarfile.open(path, "w:gz") as archive:
            for key, data in members.items():
                info = tarfile.TarInfo(key)
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
            for key, leads in links:
                info = tarfile.TarInfo(f"x/{key}")
                info.type, info.linkname = tarfile.SYMTYPE, leads
                archive.addfile(info)
        return [path]

    return make


def for_macos(install_name):
    """An archive for macOS, whose library has that install name."""

    def make(bench: Bench):
        data = bench.compiler.dylib("int x(void) { return 1; }\n", f"-Wl,-install_name,{install_name}").read_bytes()
        texts = {CONFIG_FILE: CONFIG, "lib/cmake/x/x-targets.cmake": EXPORTED}
        changed = {name: text.replace("libx.so", "libx.dylib") for name, text in texts.items()}
        return sdk(MACOS, without=["lib/libx.so"], **{"lib/libx.dylib": lambda _: data}, **changed)(bench)

    return make


def windows(imports, dll=WINDOWS, name="latenn.dll"):
    """An archive for Windows, with the import library that `imports` makes."""

    def make(bench: Bench):
        path = bench.folder / WINDOWS_SDK
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("x/include/latenn.h", "")
            archive.writestr(f"x/bin/{name}", bench.dll(dll))
            if (data := imports(bench)) is not None:
                archive.writestr("x/lib/latenn.lib", data)
        return [path]

    return make


def implib(target=WINDOWS, name="latenn.dll"):
    from corpus.packages import GOOD_DLL  # noqa: PLC0415

    return lambda bench: bench.compiler.import_library(
        bench.compiler.dll(GOOD_DLL, target=target, name=name)
    ).read_bytes()


def pc(before, after):
    return sdk(**{"lib/pkgconfig/x.pc": PC.replace(before, after)})


def cmake(before, after):
    return sdk(**{"lib/cmake/x/x-config.cmake": CONFIG.replace(before, after)})


SO, VERSION_FILE, CONFIG_FILE = "lib/libx.so", "lib/cmake/x/x-config-version.cmake", "lib/cmake/x/x-config.cmake"
AT_SO = f"{LINUX}!x/{SO}"
AT_PC, AT_CMAKE = f"{LINUX}!x/lib/pkgconfig/x.pc", f"{LINUX}!x/lib/cmake/x/x-config.cmake"
DOUBLING = "".join(f'set(_prefix "${{_prefix}}/../${{_prefix}}") # {number}\n' for number in range(100))
"""Values that would fill the memory."""


def headers(other):
    """x.h includes one that programs find by the folder that they search, and a system's."""
    return sdk(**{"include/x.h": '#include <stdint.h>\n# include "../b/y.h"\n', f"include/a/{other}": ""})


ROWS = [
    ("LB430", "a path by values that double", cmake("add_", f"{DOUBLING}set(x /opt/x/y)\nadd_"), AT_CMAKE, "/opt/"),
    ("LB430", "a prefix of the build machine in a .pc", pc("${pcfiledir}/../..", "/usr/local"), AT_PC, "/usr/local"),
    ("LB430", "an include folder in a .pc", pc('-I"${includedir}"', "-I/include"), AT_PC, "/include"),
    ("LB430", "a folder above the archive in a .pc", pc("/../..", "/../../../.."), AT_PC, "outside"),
    ("LB430", "an absolute path in CMake", cmake("${_prefix}/include", "/opt/x/include"), AT_CMAKE, "/opt/x/include"),
    ("LB430", "a folder of Windows", cmake("${_prefix}/include", "C:/x/include"), AT_CMAKE, "C:/x/include"),
    ("LB430", "an absolute install name", cmake('ME "libx', 'ME "/usr/lib/libx'), AT_CMAKE, "/usr/lib/libx.so"),
    ("LB430", "a folder above the archive in CMake", cmake("/../../..", "/../../../.."), AT_CMAKE, "outside"),
    ("LB430", "a variable with a folder above the archive", cmake("add_", "set(_above ${_prefix}/../..)\nadd_"),
     AT_CMAKE, "outside"),
    ("LB431", "a library that is not there", sdk(without=["lib/libx.so"]), AT_CMAKE, "lib/libx.so"),
    ("LB431", "no library for -l", pc("-lx", "-ly"), AT_PC, "-ly"),
    ("LB431", "a folder that is not there", pc("/include", "/headers"), AT_PC, "headers"),
    ("LB431", "a SONAME without a file", cmake('ME "libx.so', 'ME "libx.so.1'), AT_CMAKE, "libx.so.1"),
    ("LB431", "a name that the linker writes into programs", sdk(**{SO: good(soname="libx.so.1")}),
     AT_SO, "libx.so.1"),
    ("LB432", "another version in CMake", sdk(**{VERSION_FILE: VERSION.replace("1.0.0", "1.1")}),
     f"{LINUX}!x/{VERSION_FILE}", "1.1"),
    ("LB432", "another version in a .pc", pc("Version: 1.0.0", "Version: 1.0.1"), AT_PC, "1.0.1"),
    ("LB433", "no header", sdk(without=["include/x.h"]), LINUX, "include/"),
    ("LB302", "another CPU", sdk(**{SO: good(GLIBC.replace("x86_64", "aarch64"))}),
     AT_SO, "linux-x64"),
    ("LB302", "another system", sdk(**{SO: dylib(MAC_ARM)}), AT_SO, "macOS"),
    ("LB305", "another C library",
     sdk(**{SO: good("x86_64-linux-musl", soname="libx.so")}), AT_SO, "musl"),
]  # fmt: skip
AT_LIB = f"{WINDOWS_SDK}!x/lib/latenn.lib"
WINDOWS_ROWS = [
    ("no import library", lambda _: None, f"{WINDOWS_SDK}!x/bin/latenn.dll", "lib/latenn.lib"),
    ("an import library for another CPU", implib(WINDOWS_ARM), AT_LIB, "aarch64"),
    ("a file that is no archive", lambda _: b"text", AT_LIB, "no code"),
    ("an import library of another DLL", implib(name="other.dll"), AT_LIB, "other.dll"),
]
OF_FOLDER = 'get_filename_component(_here "${CMAKE_CURRENT_LIST_FILE}" DIRECTORY)\ninclude("${_here}'
NEWER = ('"libx.so"', '"libx.so.1"')
LINKED = sdk(links=[("lib/libx.so.1", "libx.so")], **{CONFIG_FILE: CONFIG.replace(*NEWER)})
IN_LIB64 = {CONFIG_FILE: CONFIG.replace("/lib/libx.so", "/lib64/libx.so")}
CASES = [
    *(Case(code=code, what=what, bad=bad, good=sdk(), at=at, says=says) for code, what, bad, at, says in ROWS),
    *(Case(code="LB433", what=what, bad=windows(bad), good=windows(implib()), at=at, says=says)
      for what, bad, at, says in WINDOWS_ROWS),
    Case(code="LB431", what="a library for macOS that is looked for in the working folder",
         bad=for_macos("libx.dylib"), good=for_macos("@rpath/libx.dylib"), at=f"{MACOS}!x/lib/libx.dylib",
         says="working folder"),
    Case(code="LB433", what="an import library of a DLL whose name has capital letters",
         bad=windows(implib(name="other.dll"), name="Latenn.dll"), good=windows(implib(), name="Latenn.dll"), at=AT_LIB,
         says="other.dll"),
    Case(code="LB431", what="a file in the folder of another one, which is not there",
         bad=cmake("add_", f'{OF_FOLDER}/y.cmake")\nadd_'), good=cmake("add_", f'{OF_FOLDER}/x-config.cmake")\nadd_'),
         at=AT_CMAKE, says="lib/cmake/x/y.cmake"),
    Case(code="LB431", what="a SONAME that is a link", bad=cmake(*NEWER), good=LINKED,
         at=AT_CMAKE, says="1"),
    Case(code="LB431", what="a header that another one includes", bad=headers("c/y.h"), good=headers("b/y.h"),
         at=f"{LINUX}!x/include/x.h", says="../b/y.h", severity="warning"),
    Case(code="LB431", what="a SONAME that is a link to a missing file", good=LINKED, at=AT_CMAKE, says="libx.so.1",
         bad=sdk(links=[("lib/libx.so.1", "libx.so.2")], **{CONFIG_FILE: CONFIG.replace(*NEWER)})),
    Case(code="LB431", what="a library in a folder that is a link", good=sdk(**IN_LIB64, links=[("lib64", "lib")]),
         bad=sdk(**IN_LIB64, links=[("lib64", "library")]), at=AT_CMAKE, says="lib64/libx.so"),
]  # fmt: skip
