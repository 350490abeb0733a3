"""Checks LB430-LB433: whether programs can be compiled with an SDK archive, wherever it is unpacked."""

from __future__ import annotations

import posixpath
import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from loadcheck.binary.pe import import_library
from loadcheck.engine.check import Hit, Hits, check
from loadcheck.engine.platforms import rid_arch
from loadcheck.engine.supply import comparable_version
from loadcheck.engine.wording import own_name
from loadcheck.readers.sdk_files import HEADERS, find_includes, find_libraries, sdk_paths, sdk_texts

if TYPE_CHECKING:
    from loadcheck.readers.contents import Contents, File

_CMAKE_VERSION = re.compile(r'^\s*set\s*\(\s*PACKAGE_VERSION\s+"?([^"\s)]+)', re.MULTILINE | re.IGNORECASE)
_PC_VERSION = re.compile(r"^Version:\s*(\S+)", re.MULTILINE)
_RPATH = "Link with -Wl,-install_name,@rpath/NAME (CMake: MACOSX_RPATH ON, the default)."
_SONAME = re.compile(r'IMPORTED_SONAME\w*\s+"([^"]+)"')
_LIBDIR = re.compile(r"/lib(?:32|64)?(?:/[a-z0-9_]+(?:-[a-z0-9_]+)+)?$")
_IMPORT_LIBRARIES = ("{}.lib", "lib{}.dll.a", "{}.dll.a")
_LINKED = ("lib{}.so", "lib{}.dylib", "lib{}.a", "{}.lib", "lib{}.dll.a", "{}.dll.a")


@check(
    "LB430",
    "SDK that is not relocatable",
    "error",
    because="Programs cannot be compiled with the SDK on another machine.",
    kinds=("sdk",),
    example="lib/pkgconfig/latenn.pc has prefix=/usr/local",
    fix="Derive every path from ${CMAKE_CURRENT_LIST_DIR} or ${pcfiledir}.",
)
def not_relocatable(package: Contents) -> Hits:
    """Users unpack an SDK in any folder, and package managers move it again.

    An absolute path in a .cmake or .pc file exists only on the build machine. A path that leaves the archive's folder
    leads to an unrelated file, or to none.
    """
    for reference in sdk_paths(package):
        seen = (reference.line,)
        if reference.is_absolute:
            text = f"contains the absolute path {reference.path}"
            yield Hit(cause=reference.path, inner=reference.file, message=text, evidence=seen)
        elif not _is_inside(reference.path, package.top):
            case, text = f"outside {reference.path}", "names a path outside of the archive"
            yield Hit(cause=case, inner=reference.file, message=text, evidence=seen)


def _is_inside(path: str, top: str) -> bool:
    return not path.startswith("..") and (not top or path.partition("/")[0] == top)


@check(
    "LB431",
    "SDK that names a missing file",
    "error",
    because="Programs cannot be compiled, linked or started with the SDK. The finding is a warning for a header, "
    "because an #if may exclude its #include.",
    kinds=("sdk",),
    example="latenn-config.cmake names lib/liblatenn.so, but the archive has lib/liblatenn.so.1",
    fix="Install the file, or correct the path.",
)
def names_missing(package: Contents) -> Hits:
    """CMake and the linker cannot use a file that the archive lacks.

    The archive also needs a file named like the SONAME, or a symbolic link that leads to one in a tar archive: the
    linker writes that name into programs, and the system's loader looks for it when a program starts.
    """
    names = package.names
    folders = {str(folder) for name in names for folder in PurePosixPath(name).parents}
    bases = {posixpath.basename(name) for name in names}
    top = package.top
    for reference in sdk_paths(package):
        is_judged = not reference.may_lack and not reference.is_absolute and _is_inside(reference.path, top)
        if is_judged and reference.path not in names | folders:
            inner = reference.path.removeprefix(f"{top}/")
            text = f"names {inner}, which is not in the archive"
            yield Hit(cause=inner, inner=reference.file, message=text, evidence=(reference.line,))
    for file, text in sdk_texts(package, ".cmake"):
        for soname in _SONAME.findall(text):
            if posixpath.basename(soname) not in bases:
                message = f"names {soname}, which is not in the archive"
                yield Hit(cause=soname, inner=file, message=message, evidence=(soname,))
    for file, text in sdk_texts(package, ".pc"):
        libraries = find_libraries(text)
        if libraries and not any(form.format(name) in bases for name in libraries for form in _LINKED):
            shown = " ".join(f"-l{name}" for name in libraries)
            message = f"links {shown}, but the archive has no such library"
            yield Hit(cause=shown, inner=file, message=message, evidence=(shown,))
    yield from _own_names_missing(package, bases)
    yield from _headers_missing(package, names)


def _own_names_missing(package: Contents, bases: set[str]) -> Hits:
    """The linker writes a library's own name into programs, whatever name the CMake files use.

    On macOS, a name without a folder is looked for in the working folder (dyld(1)).
    """
    for file, image in package.images:
        soname = posixpath.basename(image.soname)
        is_linked = file.base.startswith("lib") and _LIBDIR.search(file.folder) is not None
        if not soname or image.format == "pe" or not is_linked:
            continue
        seen = (own_name(image),)
        if soname not in bases:
            text = f"makes programs load {soname}, which is not in the archive"
            yield Hit(cause=soname, inner=file.name, message=text, evidence=seen)
        elif image.format == "macho" and image.soname == soname:
            text = f"makes programs load {soname}, which they look for in their working folder"
            yield Hit(cause=f"relative {soname}", inner=file.name, message=text, evidence=seen, fix=_RPATH)


def _headers_missing(package: Contents, names: frozenset[str]) -> Hits:
    """A header may be included by its path from any folder that programs search, so the end of a path is compared."""
    by_base: dict[str, list[str]] = {}
    for name in names:
        by_base.setdefault(posixpath.basename(name), []).append(f"/{name}")
    for file, text in sdk_texts(package, *HEADERS):
        for named in find_includes(text):
            path = re.sub(r"^(\.\./)+", "", posixpath.normpath(named))
            if not any(name.endswith(f"/{path}") for name in by_base.get(posixpath.basename(path), ())):
                message, seen = f"includes {named}, which is not in the archive", (f'#include "{named}"',)
                yield Hit(cause=named, inner=file, message=message, evidence=seen, severity="warning")


@check(
    "LB432",
    "SDK whose files and name have different versions",
    "error",
    because="find_package and pkg-config refuse the SDK, or assume the wrong version.",
    kinds=("sdk",),
    example="latenn-1.1.0-linux-x64-sdk.tar.gz has Version: 1.0.0 in latenn.pc",
    fix="Pack the archive again, with all files of one version.",
)
def other_version(package: Contents) -> Hits:
    """In CMake and pkg-config, users request the version that the archive's file name promises."""
    if package.sdk is None:
        return
    name = package.sdk["version"]
    for suffix, form in ((".cmake", _CMAKE_VERSION), (".pc", _PC_VERSION)):
        for file, text in sdk_texts(package, suffix):
            if (match := form.search(text)) and comparable_version(match[1]) != comparable_version(name):
                yield Hit(inner=file, message=f"is of version {match[1]}, not {name}", evidence=(match[0].strip(),))


@check(
    "LB433",
    "SDK without headers or import libraries",
    "error",
    because="Programs cannot be compiled or linked with the SDK.",
    kinds=("sdk",),
    example="bin/latenn.dll without lib/latenn.lib",
    fix="Install the headers with DESTINATION include, and the libraries with ARCHIVE DESTINATION lib.",
)
def lacks_parts(package: Contents) -> Hits:
    """Compilers need headers. On Windows, Visual C++ links an import library that names the DLL and is for its CPU."""
    if package.sdk is None:
        return
    if not any("/include/" in f"/{file.name}" for file in package.files):
        yield Hit(cause="headers", message="has no header in include/", evidence=("missing: include/",))
    for file in package.native:
        if file.format == "pe" and file.base.lower().endswith(".dll"):
            yield from _without_import_library(package, file, rid_arch(package.sdk["rid"]))


def _without_import_library(package: Contents, file: File, arch: str) -> Hits:
    expected = [form.format(file.base.rpartition(".")[0]).lower() for form in _IMPORT_LIBRARIES]
    read = {name: import_library(data) or (frozenset[str](), frozenset[str]()) for name, data in package.texts.items()}
    own = file.base.lower()
    fitting = {
        name: (archs, libraries)
        for name, (archs, libraries) in read.items()
        if posixpath.basename(name).lower() in expected or own in libraries
    }
    if not fitting:
        seen = f"missing: lib/{expected[0]}"
        yield Hit(cause="import library", inner=file.name, message="has no import library", evidence=(seen,))
    for name, (archs, libraries) in fitting.items():
        if arch not in archs:
            seen = ", ".join(sorted(archs)) or "no code"
            text = f"is an import library for {seen}, not {arch}"
            yield Hit(cause="machine", inner=name, message=text, evidence=(f"machine: {seen}",))
        elif libraries and own not in libraries:
            seen = ", ".join(sorted(libraries))
            text = f"imports from {seen}, not from {file.base}"
            yield Hit(cause="library", inner=name, message=text, evidence=(seen,))
