"""Check LB106: whether something defines each symbol that a binary leaves open."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from loadcheck.binary.floors import is_glibc
from loadcheck.checks import bound
from loadcheck.checks.linkage import provided_libraries
from loadcheck.engine import platforms, symbols
from loadcheck.engine.check import Hit, Hits, check
from loadcheck.engine.policy import fits_any
from loadcheck.engine.supply import list_all_unread, must_load
from loadcheck.engine.wording import first, some
from loadcheck.readers.package_json import read_manifest
from loadcheck.text import plural

if TYPE_CHECKING:
    from loadcheck.binary import Format, Image
    from loadcheck.engine.policy import Policy
    from loadcheck.readers.contents import Contents, File

_OF_CXX = re.compile(
    r"_Z(N?V?K?S|T[CISTV]N?K?S|GV?N?K?S|T(hn?\d+|vn?\d+_n?\d+)_N?K?S|T[IS](PK?)?(D[a-z]|[a-z])$|T[IV]N10__cxxabiv|"
    r"n[wa]|d[la])|__cxa_|__gxx_|__(dynamic_cast|once_proxy)$|_Unwind_"
)
"""What C++'s run-time library defines: std, operator new and delete, exceptions, casts, types of the language."""
_OF_EVERY_MAC = re.compile(
    r"_?(objc|OBJC|sel|class|object|method|protocol|ivar)_|_?(dyld|dispatch|mach|malloc|xpc)_|memset_s$|"
    rf"__stack_chk_\w+$|{_OF_CXX.pattern}"
)
"""libSystem loads the run-time libraries of C, Objective-C and C++ into every process of macOS."""
_OF_FRAMEWORK = re.compile(r"(__|k)?[A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*|v(Image|DSP)\w*")
"""How Apple names the functions of its frameworks: CMTimeMake, FSPathMakeRef, Gestalt."""
_OF_NODE = re.compile(
    r"_?(napi|node|uv|ares|nghttp2|(EVP|SSL|X509|BIO|CRYPTO|OPENSSL|ERR|RAND|RSA|EC|BN|PEM))_|_?Brotli(De|En)coder|"
    r"((de|in)flate[A-Z]\w*|deflate|inflate|compress(2|Bound)?|uncompress2?|gz[a-z]+\d*|zlib(Version|CompileFlags)|zError|"
    r"(crc32|adler32)(_\w+)?)$|_?(llhttp|OSSL|PKCS\d+)_|"
    rf"_Z\w*?(2v8|4node)|{_OF_CXX.pattern}"
)
"""What Node.js itself exports to the files that it loads: its own functions, those of libuv and V8, and C++'s library.

Official builds of Node.js 20 also export c-ares, nghttp2, OpenSSL, zlib and Brotli (nm -D), and load libstdc++.
"""
_OF_PYTHON = re.compile(r"_?(Py|pypy_)")
"""PyPy exports functions for embedding, such as pypy_carefully_make_gil, which modules of cffi call."""
_OF_MPI = re.compile(r"_?P?MPI_")
"""MPI libraries differ in their binary interfaces, so a package opens the one of the system before its own library."""
_OF_HOST = re.compile(r"\.(?!so$|dylib$|dll$|pyd$|node$|bundle$)[A-Za-z]\w+$")
"""The ending of a plugin of another program, which is named neither like a library nor like a module."""


@check(
    "LB106",
    "Undefined symbol that nothing provides",
    "error",
    because="Python cannot import a module with an undefined symbol. The finding is a warning if the package works "
    "without the library, or if another library may define the symbol.",
    example="liblatenn.so: undefined OrtGetApiBase",
    fix="Link the library that defines the symbol, or resolve it at run time. On Linux, -Wl,-z,defs reports "
    "the symbol at build time.",
)
def undefined_symbol(package: Contents, file: File, image: Image, policy: Policy) -> Hits:
    """A library with an undefined symbol works only if the process has the symbol. Elsewhere it fails, often late.

    The check leaves a file out that links a library outside the package, other than the system's known ones: that
    library may define anything. `ldd -r FILE` tells it on a machine that has the library.

    On Linux, symbols of glibc and of the compiler's run-time library have versions; a symbol without a version must
    come from the package or from another needed library. Weak symbols may stay undefined, and so may `Py*` and PyPy's
    `pypy_*` in Python packages. Add-ons for Node.js, and libraries next to them, may have undefined symbols that
    Node.js exports or has loaded: those of V8, libuv, OpenSSL, zlib and libstdc++. The finding is a note for a library
    by itself, which any program may open, and for a function of a glibc library that is not linked, such as libm,
    since the program has usually loaded that library. It is a warning for functions such as shm_open if the tag's
    glibc has them only in librt, which CPython may not load. musl has fewer functions than glibc, and looks up all
    functions that a library uses when it loads the library.

    An unversioned function that the glibc of the tag lacks, such as __isoc23_strtol of glibc 2.38, comes from a static
    library that was compiled on a newer system. A function with a version is bound to one library, so a function of
    libm that is bound to libc.so.6 may not be found. A symbol of libstdc++ without a version must be in the oldest
    libstdc++ that the tag admits, and a function of musl must be in the oldest musl that it admits.

    On macOS the check covers symbols that are looked up in every image (`-undefined dynamic_lookup`). It leaves out
    symbols of C, Objective-C and C++, which every process has. If the file links a framework, the check also leaves out
    symbols of other frameworks, which that framework may load. On macOS and Windows the check also covers symbols bound
    to a library of the package that does not export them. The check skips slices for processors that no tag names,
    plugins of other programs, such as .duckdb_extension files, and symbols of MPI if the package works without the
    library.
    """
    if _is_spare_slice(package, file, image):
        return
    yield from bound.find_unbound(package, file, image)
    is_elf, is_of_musl = image.format == "elf", platforms.is_loaded_by_musl(package, image)
    newer = {} if is_of_musl else bound.list_newer_than_tag(package, image)
    missing = _list_missing(package, file, image, policy) - newer.keys()
    libc = {name for name in missing if is_elf and symbols.is_libc_symbol(name, "musl" if is_of_musl else "glibc")}
    cxx = _list_cxx(package, image)
    others = sorted(missing - libc - cxx)
    if others and not _has_unknown_host(package, file, image, others):
        yield _judge_missing(package, file, image, others)
    if cxx:
        yield from bound.judge_old_cxx(package, cxx, has_unknown=_has_unknown_library(package, image))
    if newer:
        yield bound.judge_old_glibc(package, file, image, newer)
    yield from bound.judge_old_musl(package, libc) if is_of_musl else bound.judge_parts_of_glibc(package, libc)


def _list_cxx(package: Contents, image: Image) -> set[str]:
    """The open symbols that libstdc++ defines, if the image links it, whatever other libraries it needs."""
    if "libstdc++.so.6" not in image.needed:
        return set()
    found = {symbol.name for symbol in image.open_imports if _OF_CXX.match(symbol.name)} - package.exported
    return found.difference(*(_find_exports(package, name) or () for name in image.needed))


def _has_unknown_host(package: Contents, file: File, image: Image, names: list[str]) -> bool:
    """Whether nobody knows what defines some symbols: the program that a plugin is for, or the system's MPI library."""
    is_of_mpi = all(map(_OF_MPI.match, names)) and not must_load(package, file, image)
    return is_of_mpi or _OF_HOST.search(file.base) is not None


def _judge_missing(package: Contents, file: File, image: Image, names: list[str]) -> Hit:
    """How bad it is that nothing defines some symbols."""
    unread = list_all_unread(package)
    is_apples = image.format == "macho" and all(_OF_FRAMEWORK.fullmatch(name) for name in names)  # others may link them
    listed = f"{plural(len(names), 'undefined symbol')} that {{}}: {first(names)}"
    if _is_opened_by_anyone(package, file, image):
        opener = "the program that opens it has to define"
        return Hit(names=tuple(names), message=f"has {listed.format(opener)}", evidence=some(names), severity="note")
    return Hit(
        names=tuple(names),
        message=f"has {listed.format('nothing provides')}",
        evidence=some(names),
        severity="error" if must_load(package, file, image) and not is_apples else "warning",
        assumption=f"{first(unread)} defines no such symbol; it was not read" if unread else "",
    )


def _is_opened_by_anyone(package: Contents, file: File, image: Image) -> bool:
    """Whether a library by itself may be for any program: Lua, for instance, defines what its modules leave open."""
    return package.kind in ("binary", "folder") and image.file_type != "executable" and not file.is_module


def _list_missing(package: Contents, file: File, image: Image, policy: Policy) -> set[str]:
    """The open symbols that neither the package, nor its host, nor a library that is not known may define."""
    open_names = {symbol.name for symbol in image.open_imports}
    open_names = open_names.difference(*(_find_exports(package, name) or () for name in image.needed))
    of_host = _OF_NODE if _is_for_node(package, file) else _OF_PYTHON if _has_modules(package) else None
    missing = {name for name in open_names - package.exported if of_host is None or not of_host.match(name)}
    if image.format == "macho":
        missing = {name for name in missing if not _OF_EVERY_MAC.match(name)}
        missing = {name for name in missing if not symbols.is_libc_symbol(name.partition("$")[0], "darwin")}
        if missing and _links_framework(package, image):  # one loads others
            missing = {name for name in missing if not _OF_FRAMEWORK.fullmatch(name)}
    if missing and _has_unknown_library(package, image):
        # A library outside the package may define anything, except the entry symbol of a runtime.
        linked = any(fits_any(name, runtime.linked_globs) for runtime in policy.runtimes for name in image.needed)
        entries = {symbol for runtime in policy.runtimes for symbol in runtime.entry_symbols}
        missing = {name for name in missing if name in entries and not linked}
    return missing


def _is_spare_slice(package: Contents, file: File, image: Image) -> bool:
    """Whether a slice is for a processor for which no tag of the wheel promises anything: no system loads it."""
    tags = package.platforms if len(file.images) > 1 else ()
    promised = [platforms.tag_archs(tag) for tag in tags]
    return all(promised) and bool(promised) and all(image.arch not in archs for archs in promised)


def _links_framework(package: Contents, image: Image) -> bool:
    """Whether an image loads a framework of macOS, itself or by a library of the package.

    A flat look-up searches all images of the process, also those that others have loaded.
    """
    fitting = ((packaged, other) for packaged, other in package.images if other.arch == image.arch)
    libraries = {name: other for packaged, other in fitting for name in (packaged.base, other.soname)}
    seen, waiting = {id(image)}, [image]
    while waiting:
        for name in waiting.pop().needed:
            if name.startswith("/System/Library/Frameworks/"):
                return True
            other = libraries.get(name) or libraries.get(posixpath.basename(name))
            if other is not None and id(other) not in seen:
                seen.add(id(other))
                waiting.append(other)
    return False


def _is_for_node(package: Contents, file: File) -> bool:
    """Whether Node.js loads a file: an add-on, and a library of an npm package that no program of it loads."""
    if file.is_node_addon or read_manifest(package) is None:
        return file.is_node_addon
    programs = {other.name for other, image in package.images if image.file_type == "executable" or image.interpreter}
    return programs.isdisjoint(package.users_of(file.name))


def _has_modules(package: Contents) -> bool:
    """Whether CPython loads files of a package: modules, or libraries of modules in other packages.

    Modules for Python 2 are not recognized: they export init<name>.
    """
    pythons, abis = (package.wheel.pythons, package.wheel.abis) if package.wheel is not None else ((), ())
    is_for_python_2 = any(tag.startswith("cp2") for tag in pythons)
    return bool(package.modules) or is_for_python_2 or any(abi.startswith(("cp", "abi3")) for abi in abis)


def _has_unknown_library(package: Contents, image: Image) -> bool:
    """Whether it needs a library whose symbols are not known: one outside the package or, on macOS, a framework."""
    if image.format == "macho" and any(symbol.library for symbol in image.imports):
        return False  # the linker binds a symbol to the library that defines it, so no linked library defines the rest
    inside = {name for path in provided_libraries(package) for name in (path, path.lower())}
    inside |= {name for name in image.needed if _find_exports(package, name) is not None}
    of_musl = platforms.is_loaded_by_musl(package, image)
    return any(
        posixpath.basename(name) not in inside and not _is_c_library(image.format, name, of_musl=of_musl)
        for name in image.needed
    )


def _find_exports(package: Contents, name: str) -> frozenset[str] | None:
    """What a library of a requirement exports; None if it was not read."""
    return package.supplied.exports.get(posixpath.basename(name).lower()) if package.supplied else None


def _is_c_library(form: Format, name: str, *, of_musl: bool) -> bool:
    if form != "elf":
        return name.startswith(("/usr/lib/libSystem.", "/usr/lib/libc++."))
    return platforms.is_musl(name) if of_musl else is_glibc(name)
