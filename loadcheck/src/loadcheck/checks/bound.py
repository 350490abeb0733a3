"""The part of LB106 on symbols that a binary binds to one library: whether that library defines them."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from loadcheck.engine import platforms, symbols
from loadcheck.engine.registry import Hit
from loadcheck.engine.supply import must_load
from loadcheck.engine.wording import first, is_late, some
from loadcheck.text import plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadcheck.binary import Image
    from loadcheck.readers.contents import Contents, File

_LIBC = "libc.so.6"


def find_unbound(package: Contents, file: File, image: Image) -> Iterator[Hit]:
    """Imports that their library does not define: one of the package, or glibc's libc.so.6."""
    if image.format == "elf":
        yield from _find_misplaced(image)
        yield from _find_undefined_versions(package, file, image)
    else:
        yield from _find_missing(package, image)


def _find_misplaced(image: Image) -> Iterator[Hit]:
    """Functions of libm that the linker found in libc.so.6: an old glibc had some there by accident.

    The loader finds them only if the program has libm.so.6 before libc.so.6.
    """
    versions = set(image.version_needs.get(_LIBC, ()))
    if not versions or "libm.so.6" in image.needed:
        return
    names = sorted(
        symbol.name
        for symbol in image.imports
        if symbol.kind == "normal"
        and symbol.library in ("", _LIBC)
        and symbol.version in versions
        and symbols.is_libm_alone(symbol.name, image.arch)
    )
    if names:
        yield Hit(
            cause="libm",
            names=tuple(names),
            message=f"looks for {first(names)} of libm.so.6 in {_LIBC}, because it does not link libm.so.6",
            evidence=some([f"{name} of {_LIBC}" for name in names]),
            fix="Link with -lm.",
            severity="warning",
        )


def _find_undefined_versions(package: Contents, file: File, image: Image) -> Iterator[Hit]:
    """Symbol versions that a library of the package does not define: glibc refuses to load the image then."""
    for library, versions in image.version_needs.items():
        suppliers = [other for member, other in package.images if library in (member.base, other.soname)]
        defined = {export.version for other in suppliers for export in other.exports if export.version}
        exported = {export.name for other in suppliers for export in other.exports}
        used = {symbol.version for symbol in image.imports if symbol.library == library and symbol.name in exported}
        # Another copy may be loaded.
        is_common = platforms.is_system(library, image.libc) or platforms.is_common(library.lower())
        lacking = sorted((set(versions) & used) - defined) if defined else []
        if lacking:
            yield Hit(
                cause=f"versions of {library}",
                names=tuple(lacking),
                message=f"needs version {first(lacking)} of {library}, which the copy in the package does not define",
                evidence=tuple(f"VERNEED {name} of {library}" for name in lacking),
                fix=f"Link with the packaged {library}, or package the {library} that was linked.",
                severity="warning" if is_common or not must_load(package, file, image) else "error",
            )


def _find_missing(package: Contents, image: Image) -> Iterator[Hit]:
    """Imports that a library of the package should define but does not, in formats that bind each to a library."""
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
        late = is_late(image, library)
        if missing:
            yield Hit(
                cause=f"exports of {library}",
                names=tuple(missing),
                message=f"imports {plural(len(missing), 'symbol')} that {library} does not export: {first(missing)}"
                + "; the file loads anyway" * late,
                evidence=some(missing),
                severity="warning" if late else None,
            )
