"""Checks LB106 and LB107: whether everything a binary needs is available."""

from __future__ import annotations

import posixpath
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from latebind.audit.checks.runtime import fits_any
from latebind.audit.engine import platforms
from latebind.audit.engine.registry import EVERY_FORMAT, Hit, Skip, check
from latebind.audit.engine.supply import dependencies, must_load, other_folder, stops_all, supplier
from latebind.audit.engine.wording import SYSTEMS, first, needs, some
from latebind.binary.floors import is_glibc
from latebind.text import plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from latebind.audit.engine.policy import Policy
    from latebind.audit.engine.supply import Supplier
    from latebind.audit.readers.contents import Contents, File
    from latebind.binary import Format, Image

_OF_THE_SYSTEM = "Name the system's packages that users have to install (apt, dnf), or add the library to the package."
_OF_PYTHON = re.compile(r"_?Py")
_OF_HOST = re.compile(r"\.(?!so$|dylib$|dll$|pyd$|node$|bundle$)[A-Za-z]\w+$")
"""The ending of a plugin of another program, which is named neither like a library nor like a module."""
_OF_NODE = re.compile(
    r"_?(napi|node|uv|ares|nghttp2|(EVP|SSL|X509|BIO|CRYPTO|OPENSSL|ERR|RAND|RSA|EC|BN|PEM))_|_?Brotli(De|En)coder|"
    r"_Z\w*?(2v8|4node)|_Z(N?K?S|T[ISV]N?K?S|TVN10__cxxabiv|n[wa]|d[la])|__cxa_|__gxx_|_Unwind_"
)
"""What the program itself exports to the files that it loads: CPython; Node.js with libuv, V8 and C++'s library.

Official builds of Node.js 20 also export c-ares, nghttp2, OpenSSL and Brotli.
"""
_OF_A_PART = "Add the library to the package, or name what users have to install for this part."


@check(
    "LB106",
    "Undefined symbol that nothing provides",
    "error",
    profiles=("loads",),
    because="Python cannot import a module with an undefined symbol. The finding is a warning if another library may "
    "define the symbol, and a note for plugins of other programs, such as .duckdb_extension files.",
    formats=EVERY_FORMAT,
    example="liblatenn.so: undefined OrtGetApiBase",
    cure="Link the library that defines the symbol, or resolve it at run time. -Wl,-z,defs reports it at build time.",
)
def undefined_symbol(package: Contents, file: File, image: Image, policy: Policy) -> Iterator[Hit | Skip]:
    """Such a library loads only into a process that happens to have the symbol. Anywhere else it fails, often late.

    On Linux, symbols of glibc and of the compiler's run-time library have versions; a symbol without a version must
    come from the package or from another needed library. Weak symbols may stay undefined. So may `Py*` in Python
    packages and, in add-ons for Node.js, the symbols that its program exports. A glibc function whose library is not
    linked is a note, since the program that loads it has glibc. musl has fewer functions, and looks for all of them at
    once. On macOS the check covers symbols that are looked up in
    every image (`-undefined dynamic_lookup`). On macOS and Windows it also covers symbols bound to a library of the
    package that does not export them.
    """
    yield from _bound_and_missing(package, image)
    open_names = {symbol.name for symbol in image.open_imports}
    if not open_names:
        return
    of_host = _OF_NODE if file.is_node_addon else _OF_PYTHON if _has_modules(package) else None
    missing = {name for name in open_names - package.exported if of_host is None or not of_host.match(name)}
    if _has_unknown_library(package, image):
        # A library outside the package may define anything, except the entry symbol of a runtime.
        linked = any(fits_any(name, runtime.linked_globs) for runtime in policy.runtimes for name in image.needed)
        entries = {symbol for runtime in policy.runtimes for symbol in runtime.entry_symbols}
        missing &= set() if linked else entries
    libc = sorted(_of_libc(package, image, missing)) if image.format == "elf" else []
    others = sorted(missing - set(libc))
    if others and _OF_HOST.search(file.base):
        ending = file.base.rpartition(".")[2]
        symbols = plural(len(others), "undefined symbol")
        yield Hit(
            message=f"has {symbols}, which the program that loads .{ending} files has to define: {first(others)}",
            evidence=some(others),
            severity="note",
            assumption="the file is a plugin, because of its ending",
        )
    elif others:
        yield Hit(
            message=f"has {plural(len(others), 'undefined symbol')} that nothing provides: {first(others)}",
            evidence=some(others),
            severity="error" if must_load(package, file, image) else "warning",
            assumption="no dependency defines them; latebind does not download dependencies"
            if dependencies(package)
            else "",
        )
    if libc and not _is_for_musl(package, image):
        yield Hit(
            message=f"uses {', '.join(libc[:3])} without linking the part of glibc that defines it",
            evidence=some(libc),
            fix="Link with -ldl, -lpthread or -lm, whichever defines the symbol. glibc before 2.34 needs it.",
            severity="note",
        )


def _has_modules(package: Contents) -> bool:
    """Whether Python loads files of a package. Its modules for Python 2 are not recognized: they export init<name>."""
    pythons = package.wheel.pythons if package.wheel is not None else ()
    return bool(package.modules) or any(tag.startswith("cp2") for tag in pythons)


def _of_libc(package: Contents, image: Image, names: set[str]) -> set[str]:
    """Those of some names that the C library defines which loads the image."""
    libc: Literal["glibc", "musl"] = "musl" if _is_for_musl(package, image) else "glibc"
    return {name for name in names if platforms.is_libc_symbol(name, libc)}


def _is_for_musl(package: Contents, image: Image) -> bool:
    tags = [platforms.linux_tag(name) for name in package.wheel.platforms] if package.wheel else []
    is_tagged = any(tag is not None and tag.libc == "musl" for tag in tags)
    return image.libc == "musl" or (image.libc == "unknown" and is_tagged)


def _has_unknown_library(package: Contents, image: Image) -> bool:
    """Whether it needs a library whose symbols are not known: one outside the package or, on macOS, a framework."""
    inside = {name for path in provided_libraries(package) for name in (path, path.lower())}
    is_system_library = _is_c_library_of_linux if image.format == "elf" else _is_c_library_of_macos
    return any(posixpath.basename(name) not in inside and not is_system_library(name) for name in image.needed)


def _is_c_library_of_linux(name: str) -> bool:
    return is_glibc(name) or platforms.is_musl(name)


def _is_c_library_of_macos(name: str) -> bool:
    return name.startswith(("/usr/lib/libSystem.", "/usr/lib/libc++."))


def _bound_and_missing(package: Contents, image: Image) -> Iterator[Hit]:
    """Imports that a library of the package should define but does not, in formats that bind each to a library."""
    if image.format == "elf":
        return
    names_by_library: dict[str, set[str]] = {}
    for symbol in image.imports:
        if (
            symbol.library
            and symbol.kind != "weak"
            and symbol.library != image.soname
            and not symbol.name.startswith("#")
        ):
            names_by_library.setdefault(symbol.library, set()).add(symbol.name)
    for library, names in names_by_library.items():
        base = posixpath.basename(library).lower()
        suppliers = [other for file, other in package.images if file.base.lower() == base]
        if not suppliers or any("reexport" in other.link_kinds.values() for other in suppliers):
            continue  # the names that it passes on from others are not known
        missing = sorted(names - {export.name for other in suppliers for export in other.exports})
        if missing:
            yield Hit(
                message=f"imports {plural(len(missing), 'symbol')} that {library} does not export: {first(missing)}",
                evidence=some(missing),
            )


@check(
    "LB107",
    "Needed library that is missing",
    "error",
    profiles=("loads",),
    because="Nothing in the package loads without the library. The finding is a warning if other modules load, and a "
    "note if a dependency installs the library.",
    formats=EVERY_FORMAT,
    example="libspeech.so: NEEDED libopenblas.so.0",
    cure="Add the library to the package (auditwheel, delocate and delvewheel do that), or link it statically.",
)
def library_missing(package: Contents, file: File, image: Image, policy: Policy) -> Iterator[Hit | Skip]:
    """A binary fails to load when a library is neither in its package nor on every system that its tag covers.

    System libraries are those of manylinux on Linux (PEP 600, as auditwheel applies it), `/usr/lib` and `/System` on
    macOS, and the DLLs of every Windows 10 on Windows. A library that `Requires-Dist` installs, by its name or by the
    search path, is a note. So is a library of a driver, which is there if the hardware is. It is a warning where other
    modules of the package load without it, where desktop systems have the library, and where no tag promises anything.
    """
    files = {packaged.base.lower() for packaged, _ in package.images}
    by_soname = {other.soname.lower(): packaged.base for packaged, other in package.images if other.soname}
    for name in image.needed:
        base = posixpath.basename(name).lower()
        if base in files or of_system(package, image, name):
            continue
        if inside := by_soname.get(name.lower()):  # loaders look for the file name
            yield Hit(
                message=f"needs {name}, which the package has as {inside}: it is found only if already loaded",
                evidence=(needs(image, name),),
                fix=f"Name the file {name}, or link its users again with the name {inside}.",
                severity="warning",
            )
            continue
        if any(fits_any(name, runtime.linked_globs) for runtime in policy.runtimes):
            continue  # LB101
        yield replace(_judge_missing_library(package, file, image, name), evidence=(needs(image, name),))


def _judge_missing_library(package: Contents, file: File, image: Image, name: str) -> Hit:
    """How bad the lack of a library is, where it comes from, and who can supply it."""
    if (expected_hit := _find_expected_source(package, file, image, name)) is not None:
        return expected_hit
    why = f"needs {name}, which is not in the package or on every {SYSTEMS[image.format]} system"
    promised = package.wheel is not None and any(
        _promises(image.format, platform) for platform in package.wheel.platforms
    )
    if not promised:
        return Hit(message=why, severity="warning")
    if not stops_all(package, file, image):
        return Hit(message=f"{why}; other parts load without it", fix=_OF_A_PART, severity="warning")
    return Hit(message=why, severity="warning" if image.link_kinds.get(name) in ("weak", "delay") else "error")


def _find_expected_source(package: Contents, file: File, image: Image, name: str) -> Hit | None:
    """Where a library should come from, if that is known."""
    base = posixpath.basename(name).lower()
    if platforms.is_driver(base):
        fix = "Open it at run time if the package should load without the driver."
        return Hit(message=f"needs {name}, which is part of a driver", fix=fix, severity="note")
    if provider := supplier(package, file, image, name):
        return _judge_supplier(provider, name)
    if folder := other_folder(package, file, image):
        message = f"needs {name}, expected in {folder}/ of another distribution, which the package does not require"
        fix = f"Require the distribution that installs {folder}/."
        return Hit(message=message, fix=fix, severity="warning")
    if platforms.is_essential(base):
        message = f"needs {name}, which the base systems of distributions have"
        return Hit(message=message, fix=_OF_THE_SYSTEM, severity="note")
    if platforms.is_common(base):
        message = f"needs {name}, which desktop systems have, but many containers lack"
        return Hit(message=message, fix=_OF_THE_SYSTEM, severity="warning")
    return None


def _judge_supplier(provider: Supplier, name: str) -> Hit:
    """How sure it is that a dependency installs a library."""
    text = f"needs {name}, expected from {provider.name}"
    if provider.is_guess:
        message = f"needs {name}, which is not in the package; {provider.name}, which it requires, may install it"
        assumption = f"{provider.name} belongs to the same project, because of its name or version"
        fix = f"Check that {provider.name} installs it."
        return Hit(message=message, fix=fix, severity="warning", assumption=assumption)
    if provider.extra:
        message = f"{text}, which only the extra {provider.extra} requires"
        return Hit(message=message, fix=f"Install the package with [{provider.extra}].", severity="warning")
    fix = f"Check that {provider.name} installs it, in each version that the package allows."
    assumption = f"{provider.name} installs it, because of its name or the search path"
    return Hit(message=f"{text}, which the package requires", fix=fix, severity="note", assumption=assumption)


def of_system(package: Contents, image: Image, name: str) -> bool:
    """Whether every system of the image's format has the library, or Python does, or another check judges it."""
    if image.format == "macho":
        return platforms.is_macos(name)
    if image.format == "elf":
        return platforms.is_system(posixpath.basename(name))
    if platforms.is_vc_runtime(name):
        return True  # LB111 and LB112
    in_python = platforms.is_python(name) and bool(package.modules)
    return in_python or platforms.is_windows(name) or name.lower() == "node.exe"


def _promises(format_: Format, platform: str) -> bool:
    """Whether the tag promises that binaries of the format load on its systems."""
    if format_ == "elf":
        return platforms.linux_tag(platform) is not None
    return platforms.tag_format(platform) == format_


def provided_libraries(package: Contents) -> set[str]:
    """The file names and own names of the package's libraries."""
    return {name for file, image in package.images for name in (file.base, image.soname) if name}
