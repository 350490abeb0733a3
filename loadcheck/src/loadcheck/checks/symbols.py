"""Checks LB2xx: what a binary exports."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from loadcheck.binary import lacking
from loadcheck.engine.registry import EVERY_FORMAT, Hit, Skip, check
from loadcheck.engine.wording import first, some
from loadcheck.text import plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadcheck.binary import Export, Format, Image
    from loadcheck.engine.policy import Policy
    from loadcheck.readers.contents import Contents, File

# Placement forms replace nothing: [new.delete.placement] of the C++ standard.
_PLACEMENT = frozenset({"_ZnwmPv", "_ZnamPv", "_ZnwjPv", "_ZnajPv", "_ZdlPvS_", "_ZdaPvS_"})
_HEAP_OF_TCMALLOC = "12__hot_cold_t"
"""An argument that only tcmalloc's own forms of the operators have."""
_ALLOCATION = ("_Znw", "_Zna", "_Zdl", "_Zda")
# The linker's own names for the edges of sections: older linkers export them, nothing binds to them.
_EDGES = {"__bss_start", "_edata", "_end", "_init", "_fini", "__end__", "_bss_end__", "__bss_end__", "__bss_start__",
          "_mh_dylib_header", "_mh_bundle_header", "_mh_execute_header", "__dso_handle"}  # fmt: skip
_SECTION_EDGES = ("__start_", "__stop_")
_CXX = ("_Z", "?")  # the Itanium names of GCC and clang, and Microsoft's
_OWN_ENTRY = ("PyInit_", "PyModExport_")
_FIX_ON_MACOS = (
    "Compile with -fvisibility=hidden -fvisibility-inlines-hidden and link with -Wl,-exported_symbols_list,FILE. zig's "
    "linker ignores this list and exports operator new and delete, unless `latebind build` runs zig."
)
"""For C++ symbols alone, which a static C++ library can leave in a library that hides all others."""
_FIX_ON_WINDOWS = (
    "Remove __declspec(dllexport) from C++ code, or list the exports in a .def file. In a project that latebind "
    "builds, write hide = true below [native] in latebind.toml."
)


@check(
    "LB201",
    "Export that the configuration does not allow",
    "error",
    profiles=("all",),
    because="The configuration promises which symbols are exported.",
    formats=EVERY_FORMAT,
    example='liblatenn.so exports lb_bind; allowed: ["latenn_*"]',
    fix="Compile with -fvisibility=hidden and mark the functions to export, or add the symbol to the package's "
    "`exports`.",
)
def export_outside_policy(package: Contents, file: File, image: Image, policy: Policy) -> Iterator[Hit | Skip]:
    """Every export is an interface that other code can bind to, and a name that can clash with another library's.

    The check applies if the configuration lists what a package exports. The C++ symbols of a Python module do not
    count: nobody links against a module, and pybind11 and nanobind export their exceptions on Windows. LB202 reports
    such symbols.
    """
    allowed = policy.allowed_exports(file.base or package.path.name, package.project)
    if allowed is None:
        return
    names = [export.name for export in list_offered_exports(image)]
    entries = [name for name in names if name.startswith(_OWN_ENTRY)]
    surplus = [
        name
        for name in names
        if not any(fnmatchcase(name, glob) for glob in allowed)
        if name not in entries and not (entries and name.startswith(_CXX))
    ]
    is_for_macos = image.format == "macho" and all(name.startswith(_CXX) for name in surplus)
    if surplus:
        yield Hit(
            cause="of macOS" * is_for_macos,
            names=tuple(surplus),
            message=f"exports {plural(len(surplus), 'symbol')} that `exports` does not list: {first(surplus)}",
            evidence=(f"allowed: {', '.join(allowed) or 'none'}", *some(surplus)),
            fix=_FIX_ON_MACOS * is_for_macos,
        )


@check(
    "LB202",
    "C++ symbols exported",
    "note",
    profiles=("all",),
    because="Nothing fails until a process loads a second library with the same exports. The finding is a warning for "
    "operator new and delete.",
    formats=EVERY_FORMAT,
    example="libspeech.so exports _Znwm (operator new)",
    fix="Compile with -fvisibility=hidden -fvisibility-inlines-hidden and link with -Wl,--exclude-libs,ALL. In a "
    "project that latebind builds, write hide = true below [native] in latebind.toml.",
)
def cxx_exported(file: File, image: Image) -> Iterator[Hit | Skip]:
    """C++ symbols of two libraries in one process are merged by name, even if their versions differ.

    An exported `operator new` or `delete` can replace the allocator of the whole process, so the finding is a warning.
    Symbols that are re-exported from another library, such as libc++ on macOS, do not count. Windows does not merge
    symbols, but on Windows, too, the names bind callers to one compiler and its run-time library.
    """
    names = [
        export.name for export in list_offered_exports(image) if export.name.startswith(_CXX) and not export.forward
    ]
    merged = names if image.format != "pe" else []
    allocation = [
        name
        for name in merged
        if name.startswith(_ALLOCATION) and name not in _PLACEMENT and _HEAP_OF_TCMALLOC not in name
    ]
    place = "copied" if file.is_grafted else image.format
    fix = (
        "This library was copied into the package: build it with hidden visibility, or ask its project to do so."
        * file.is_grafted
    ) or {"macho": _FIX_ON_MACOS, "pe": _FIX_ON_WINDOWS}.get(image.format, "")
    if allocation:
        yield Hit(
            cause=f"allocation {place}",
            message=f"exports operator new or delete among {plural(len(names), 'C++ symbol')}: {first(allocation)}",
            evidence=some(allocation),
            fix=fix,
            severity="warning",
        )
    elif names:
        yield Hit(
            cause=place,
            message=f"exports {plural(len(names), 'C++ symbol')}: {first(names)}",
            evidence=some(names),
            fix=fix,
        )


@check(
    "LB204",
    "Export missing",
    "error",
    profiles=("all",),
    because="Callers cannot find a function that the configuration promises.",
    example="liblatenn.so does not export latenn_load",
    fix="Export the symbol, or correct the package's `exports`. A name with a wildcard in `exports` allows symbols, "
    "but requires none.",
)
def export_missing(package: Contents, policy: Policy) -> Iterator[Hit | Skip]:
    """A name without a wildcard in `exports` is a promise. If the export is missing, loading or the first call fails.

    One library of the package must export the symbol on each platform. The check applies if the configuration lists
    what a package exports.
    """
    groups: dict[tuple[tuple[str, ...], str, Format], list[tuple[File, Image]]] = {}
    for file, image in package.images:
        listed = policy.allowed_exports(file.base or package.path.name, package.project)
        if listed is not None and image.file_type == "shared":
            groups.setdefault((listed, file.folder, image.format), []).append((file, image))
    for (listed, _, _), libraries in groups.items():
        names = sorted({export.name for _, image in libraries for export in list_offered_exports(image)})
        missing = lacking(listed, [image for _, image in libraries])
        if missing:
            yield Hit(
                names=tuple(missing),
                message=f"does not export {', '.join(missing)}, which the configuration lists",
                evidence=some([f"exports {name}" for name in names]) or ("exports nothing",),
                inner=libraries[0][0].name,
            )


def list_offered_exports(image: Image) -> list[Export]:
    """The exports of a library. A program's dynamic symbols serve its own libraries."""
    if image.file_type != "shared" or image.interpreter:
        return []
    return [
        export for export in image.exports if export.name not in _EDGES and not export.name.startswith(_SECTION_EDGES)
    ]
