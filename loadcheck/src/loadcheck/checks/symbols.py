"""Check LB202: which C++ symbols a binary exports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadcheck.engine.check import Hit, Hits, check
from loadcheck.engine.wording import first, some
from loadcheck.text import plural

if TYPE_CHECKING:
    from loadcheck.binary import Export, Image
    from loadcheck.readers.contents import File

# Placement forms replace nothing: [new.delete.placement] of the C++ standard.
_PLACEMENT = frozenset({"_ZnwmPv", "_ZnamPv", "_ZnwjPv", "_ZnajPv", "_ZdlPvS_", "_ZdaPvS_"})
_HEAP_OF_TCMALLOC = "12__hot_cold_t"
"""An argument that only tcmalloc's own forms of the operators have."""
_ALLOCATION = ("_Znw", "_Zna", "_Zdl", "_Zda")
# The linker's own names for the edges of sections: older linkers export them, nothing binds to them.
_EDGES = {"__bss_start", "_edata", "_end", "_init", "_fini", "__end__", "_bss_end__", "__bss_end__", "__bss_start__",
          "_mh_dylib_header", "_mh_bundle_header", "_mh_execute_header", "__dso_handle"}  # fmt: skip
_SECTION_EDGES = ("__start_", "__stop_")
CXX = ("_Z", "?")  # the Itanium names of GCC and clang, and Microsoft's
FIX_ON_MACOS = (
    "Compile with -fvisibility=hidden -fvisibility-inlines-hidden and link with -Wl,-exported_symbols_list,FILE. zig's "
    "linker ignores this list and exports operator new and delete, unless `latebind build` runs zig."
)
"""For C++ symbols alone, which a static C++ library can leave in a library that hides all others."""
_FIX_ON_WINDOWS = (
    "Remove __declspec(dllexport) from C++ code, or list the exports in a .def file. In a project that latebind "
    "builds, write hide = true below [native] in latebind.toml."
)


@check(
    "LB202",
    "C++ symbols exported",
    "note",
    profiles=("all",),
    because="Nothing fails until a process loads a second library with the same exports. The finding is a warning for "
    "operator new and delete.",
    example="libspeech.so exports _Znwm (operator new)",
    fix="Compile with -fvisibility=hidden -fvisibility-inlines-hidden and link with -Wl,--exclude-libs,ALL. In a "
    "project that latebind builds, write hide = true below [native] in latebind.toml.",
)
def cxx_exported(file: File, image: Image) -> Hits:
    """C++ symbols of two libraries in one process are merged by name, even if their versions differ.

    An exported `operator new` or `delete` can replace the allocator of the whole process, so the finding is a warning.
    Symbols that are re-exported from another library, such as libc++ on macOS, do not count. Windows does not merge
    symbols, but on Windows, too, the names bind callers to one compiler and its run-time library.
    """
    names = [
        export.name for export in list_offered_exports(image) if export.name.startswith(CXX) and not export.forward
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
    ) or {"macho": FIX_ON_MACOS, "pe": _FIX_ON_WINDOWS}.get(image.format, "")
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


def list_offered_exports(image: Image) -> list[Export]:
    """The exports of a library. A program's dynamic symbols serve its own libraries."""
    if image.file_type != "shared" or image.interpreter:
        return []
    return [
        export for export in image.exports if export.name not in _EDGES and not export.name.startswith(_SECTION_EDGES)
    ]
