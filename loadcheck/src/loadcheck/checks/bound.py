"""The parts of LB106 on symbols whose library is known: whether it has them, also in the oldest version promised."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from loadcheck.binary.floors import numeric, version_text
from loadcheck.checks.linkage import provided_libraries
from loadcheck.checks.tags import lowest_tag
from loadcheck.engine import platforms, symbols
from loadcheck.engine.check import Hit, Hits
from loadcheck.engine.supply import must_load
from loadcheck.engine.wording import first, is_late, name_newest, some
from loadcheck.text import plural

if TYPE_CHECKING:
    from loadcheck.binary import Image
    from loadcheck.binary.floors import Version
    from loadcheck.readers.contents import Contents, File

_LIBC = "libc.so.6"
_BY_ANOTHER = "a needed library outside the package exports the symbols, as the libraries of manylinux's GCC do"


def find_unbound(package: Contents, file: File, image: Image) -> Hits:
    """Imports that their library does not define: one of the package, or glibc's libc.so.6."""
    if image.format == "elf":
        yield from _find_misplaced(image)
        yield from _find_undefined_versions(package, file, image)
    else:
        yield from _find_missing(package, image)


def _find_misplaced(image: Image) -> Hits:
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


def _find_undefined_versions(package: Contents, file: File, image: Image) -> Hits:
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


def _find_missing(package: Contents, image: Image) -> Hits:
    """Imports that a library of the package should define but does not, in formats that bind each to a library."""
    names_by_library: dict[str, set[str]] = {}
    for symbol in image.imports:
        if symbol.library not in ("", image.soname) and symbol.kind != "weak" and not symbol.name.startswith("#"):
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


def list_newer_than_tag(package: Contents, image: Image) -> dict[str, Version]:
    """Open symbols that the glibc of the tag lacks, with the glibc that has them: those of static libraries."""
    tag = lowest_tag(package, "glibc")
    if image.format != "elf" or tag is None:
        return {}
    inside = provided_libraries(package)
    if any(posixpath.basename(name) not in inside and not platforms.is_system(name, "glibc") for name in image.needed):
        return {}
    names = sorted({symbol.name for symbol in image.open_imports} - package.exported)
    return {name: since for name in names if (since := symbols.glibc_since(name)) > tag.floor}


def judge_old_glibc(package: Contents, file: File, image: Image, newer: dict[str, Version]) -> Hit:
    """Functions without a version, which the loader finds in glibc where it is new enough."""
    names, worst = name_newest(newer)
    tag = lowest_tag(package, "glibc")
    listed = some([f"undefined {name}, of glibc {version_text(since)}" for name, since in newer.items()])
    return Hit(
        cause="glibc",
        names=tuple(newer),
        message=f"uses {names}, added in glibc {worst}, but the tag promises {version_text(tag.floor) if tag else ''}",
        evidence=(*listed, *["BIND_NOW"] * image.is_bound_at_once),
        fix="Also compile the static libraries in the image for that manylinux tag, and link with libc.",
        severity="error" if image.is_bound_at_once and must_load(package, file, image) else "warning",
    )


def judge_old_cxx(package: Contents, names: set[str], *, has_unknown: bool) -> Hits:
    """Symbols of libstdc++ without a version, which the loader finds in it where it is new enough.

    `has_unknown` says whether the file needs a library whose symbols are not known.
    """
    tag = lowest_tag(package, "glibc")
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
            severity="note" if has_unknown else "warning",
            assumption=_BY_ANOTHER * has_unknown,
        )


def judge_parts_of_glibc(package: Contents, names: set[str]) -> Hits:
    """Functions of glibc whose library is not linked.

    CPython itself links all of these libraries; librt only CPython 3, and only for the functions of clocks.
    """
    tag = lowest_tag(package, "glibc")
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


def judge_old_musl(package: Contents, names: set[str]) -> Hits:
    """Functions that musl has only since a newer version than the tag promises."""
    tag = lowest_tag(package, "musl")
    newer = {name: since for name in sorted(names) if (since := symbols.musl_since(name))}
    if newer and tag:
        newest, worst = name_newest(newer)
        yield Hit(
            cause="musl",
            names=tuple(newer),
            message=f"uses {newest}, added in musl {worst}, but the tag promises {version_text(tag.floor)}",
            evidence=some([*newer]),
            fix="Build in an older Alpine, or look the function up with dlsym().",
            severity="warning",
        )
