"""Check LB106: whether something defines each symbol that a binary leaves open."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Literal

from loadcheck.binary.floors import is_glibc, numeric, version_text
from loadcheck.checks.bound import find_unbound
from loadcheck.checks.hosts import (
    OF_CXX,
    OF_EVERY_MAC,
    OF_FRAMEWORK,
    OF_NODE,
    is_for_node,
    is_spare_slice,
    links_framework,
)
from loadcheck.checks.linkage import provided_libraries
from loadcheck.checks.oldglibc import judge_old_glibc, list_newer_than_tag, lowest_tag
from loadcheck.checks.tags import list_linux_tags
from loadcheck.engine import platforms, symbols
from loadcheck.engine.policy import fits_any
from loadcheck.engine.registry import EVERY_FORMAT, Hit, Skip, check
from loadcheck.engine.supply import list_unread, must_load
from loadcheck.engine.wording import first, name_newest, some
from loadcheck.text import plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadcheck.binary import Format, Image
    from loadcheck.engine.policy import Policy
    from loadcheck.readers.contents import Contents, File

_OF_PYTHON = re.compile(r"_?Py")
_OF_MPI = re.compile(r"_?P?MPI_")
"""MPI libraries differ in their binary interfaces, so a package opens the one of the system before its own library."""
_OF_HOST = re.compile(r"\.(?!so$|dylib$|dll$|pyd$|node$|bundle$)[A-Za-z]\w+$")
"""The ending of a plugin of another program, which is named neither like a library nor like a module."""


@check(
    "LB106",
    "Undefined symbol that nothing provides",
    "error",
    profiles=("loads",),
    because="Python cannot import a module with an undefined symbol. The finding is a warning if the package works "
    "without the library, or if another library may define the symbol.",
    formats=EVERY_FORMAT,
    example="liblatenn.so: undefined OrtGetApiBase",
    fix="Link the library that defines the symbol, or resolve it at run time. On Linux, -Wl,-z,defs reports "
    "the symbol at build time.",
)
def undefined_symbol(package: Contents, file: File, image: Image, policy: Policy) -> Iterator[Hit | Skip]:
    """A library with an undefined symbol works only if the process has the symbol. Elsewhere it fails, often late.

    On Linux, symbols of glibc and of the compiler's run-time library have versions; a symbol without a version must
    come from the package or from another needed library. Weak symbols may stay undefined, and so may `Py*` in Python
    packages. Add-ons for Node.js, and libraries next to them, may have undefined symbols that Node.js exports or has
    loaded: those of V8, libuv, OpenSSL, zlib and libstdc++. The finding is a note for a function of a glibc library
    that is not linked, such as libm, since the program has usually loaded that library. It is a warning for functions
    such as shm_open if the tag's glibc has them only in librt, which CPython may not load. musl has fewer functions
    than glibc, and looks up all functions that a library uses when it loads the library.

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
    if is_spare_slice(package, file, image):
        return
    yield from find_unbound(package, file, image)
    missing = _list_missing(package, file, image, policy)
    newer = {} if platforms.is_loaded_by_musl(package, image) else list_newer_than_tag(package, image)
    missing -= newer.keys()
    libc = _of_libc(package, image, missing) if image.format == "elf" else set()
    cxx = _list_cxx(package, image)
    others = sorted(missing - libc - cxx)
    if others and not _has_unknown_host(package, file, image, others):
        yield _judge_missing(package, file, image, others)
    yield from _judge_old_cxx(package, image, cxx)
    if newer:
        yield judge_old_glibc(package, file, image, newer)
    if platforms.is_loaded_by_musl(package, image):
        yield from _judge_old_musl(package, libc)
    else:
        yield from _judge_parts_of_glibc(package, libc)


def _list_cxx(package: Contents, image: Image) -> set[str]:
    """The open symbols that libstdc++ defines, if the image links it, whatever other libraries it needs."""
    if "libstdc++.so.6" not in image.needed:
        return set()
    found = {symbol.name for symbol in image.open_imports if OF_CXX.match(symbol.name)} - package.exported
    return found.difference(*(_find_exports(package, name) or () for name in image.needed))


def _has_unknown_host(package: Contents, file: File, image: Image, names: list[str]) -> bool:
    """Whether nobody knows what defines some symbols: the program that a plugin is for, or the system's MPI library."""
    is_of_mpi = all(map(_OF_MPI.match, names)) and not must_load(package, file, image)
    return is_of_mpi or _OF_HOST.search(file.base) is not None


def _judge_missing(package: Contents, file: File, image: Image, names: list[str]) -> Hit:
    """How bad it is that nothing defines some symbols."""
    unread = list_unread(package)
    is_apples = image.format == "macho" and all(OF_FRAMEWORK.fullmatch(name) for name in names)  # others may link them
    return Hit(
        names=tuple(names),
        message=f"has {plural(len(names), 'undefined symbol')} that nothing provides: {first(names)}",
        evidence=some(names),
        severity="error" if must_load(package, file, image) and not is_apples else "warning",
        assumption=f"{first(unread)} defines no such symbol; it was not read" if unread else "",
    )


def _list_missing(package: Contents, file: File, image: Image, policy: Policy) -> set[str]:
    """The open symbols that neither the package, nor its host, nor a library that is not known may define."""
    open_names = {symbol.name for symbol in image.open_imports}
    open_names = open_names.difference(*(_find_exports(package, name) or () for name in image.needed))
    of_host = OF_NODE if is_for_node(package, file) else _OF_PYTHON if _has_modules(package) else None
    missing = {name for name in open_names - package.exported if of_host is None or not of_host.match(name)}
    if image.format == "macho":
        missing = {name for name in missing if not OF_EVERY_MAC.match(name)}
        missing = {name for name in missing if not symbols.is_libc_symbol(name.partition("$")[0], "darwin")}
        if missing and links_framework(package, image):  # one loads others
            missing = {name for name in missing if not OF_FRAMEWORK.fullmatch(name)}
    if missing and _has_unknown_library(package, image):
        # A library outside the package may define anything, except the entry symbol of a runtime.
        linked = any(fits_any(name, runtime.linked_globs) for runtime in policy.runtimes for name in image.needed)
        entries = {symbol for runtime in policy.runtimes for symbol in runtime.entry_symbols}
        missing = {name for name in missing if name in entries and not linked}
    return missing


def _judge_old_cxx(package: Contents, image: Image, names: set[str]) -> Iterator[Hit]:
    """Symbols of libstdc++ without a version, which the loader finds in it where it is new enough."""
    tag = lowest_tag(package)
    limit = platforms.symbol_limits(tag).get("GLIBCXX", ()) if tag else ()
    if not limit or "libstdc++.so.6" in package.bases:
        return
    newer = {name: since for name in sorted(names) if (since := symbols.cxx_since(name)) > limit}
    if newer:
        yield Hit(
            cause="libstdc++",
            names=tuple(newer),
            message=f"has {plural(len(newer), 'symbol')} of libstdc++ without a version, but the tag promises "
            f"GLIBCXX_{version_text(limit)}, which lacks them: {first([*newer])}",
            evidence=some([f"{name} of GLIBCXX_{version_text(since)}" for name, since in newer.items()]),
            fix="Link with libstdc++ itself (g++, not gcc or ld), in the image for that manylinux tag.",
            severity="note" if _has_unknown_library(package, image) else "warning",
            assumption="a needed library outside the package exports the symbols, as the libraries of manylinux's GCC "
            "do"
            if _has_unknown_library(package, image)
            else "",
        )


def _judge_parts_of_glibc(package: Contents, names: set[str]) -> Iterator[Hit]:
    """Functions of glibc whose library is not linked.

    CPython itself links all of these libraries; librt only CPython 3, and only for the functions of clocks.
    """
    tag = lowest_tag(package)
    is_for_python_3 = not any(name.startswith("cp2") for name in package.wheel.pythons) if package.wheel else True
    for version, functions in platforms.data().librt.items():
        lacking = sorted(names.intersection(functions))
        if is_for_python_3 and any(name.startswith("clock_") for name in functions):
            continue
        if lacking and tag is not None and tag.floor < numeric(version):
            names = names.difference(lacking)
            yield Hit(
                cause="librt",
                names=tuple(lacking),
                message=f"uses {', '.join(lacking[:3])}, but does not link librt, which glibc before {version} needs "
                f"for this; the tag promises glibc {version_text(tag.floor)}",
                evidence=some(lacking),
                fix="Link with -lrt.",
                severity="warning",
            )
    if names:
        listed = sorted(names)
        others = f" and {plural(len(listed[3:]), 'more function')}" if listed[3:] else ""
        word = "them" if listed[1:] else "it"
        yield Hit(
            cause="unlinked",
            names=tuple(listed),
            message=f"uses {', '.join(listed[:3])}{others} of glibc, but links no library that defines {word}",
            evidence=some(listed),
            fix="Link with the library that defines the symbol: -lm, or for glibc before 2.34 -ldl, -lpthread or -lrt.",
            severity="note",
        )


def _judge_old_musl(package: Contents, names: set[str]) -> Iterator[Hit]:
    """Functions that musl has only since a newer version than the tag promises."""
    floor = min((tag.floor for tag in list_linux_tags(package, "musl")), default=None)
    newer = {name: since for name in sorted(names) if (since := symbols.musl_since(name))}
    if newer and floor is not None:
        newest, worst = name_newest(newer)
        yield Hit(
            cause="musl",
            names=tuple(newer),
            message=f"uses {newest}, added in musl {worst}, but the tag promises {version_text(floor)}",
            evidence=some([*newer]),
            fix="Build in an older Alpine, or look the function up with dlsym().",
            severity="warning",
        )


def _has_modules(package: Contents) -> bool:
    """Whether CPython loads files of a package: modules, or libraries of modules in other packages.

    Modules for Python 2 are not recognized: they export init<name>.
    """
    pythons, abis = (package.wheel.pythons, package.wheel.abis) if package.wheel is not None else ((), ())
    is_for_python_2 = any(tag.startswith("cp2") for tag in pythons)
    return bool(package.modules) or is_for_python_2 or any(abi.startswith(("cp", "abi3")) for abi in abis)


def _of_libc(package: Contents, image: Image, names: set[str]) -> set[str]:
    """Those of some names that the C library defines which loads the image."""
    libc: Literal["glibc", "musl"] = "musl" if platforms.is_loaded_by_musl(package, image) else "glibc"
    return {name for name in names if symbols.is_libc_symbol(name, libc)}


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
