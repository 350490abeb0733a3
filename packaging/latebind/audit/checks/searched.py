"""Check LB114: whether a loader finds the libraries of the package that a binary needs."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from latebind.audit.checks.linkage import of_system
from latebind.audit.engine.registry import Hit, check
from latebind.audit.engine.wording import needs, search_paths

if TYPE_CHECKING:
    from collections.abc import Iterator

    from latebind.audit.readers.contents import Contents
    from latebind.binary import Image

_DATA = ".data/data/"


@check(
    "LB114",
    "Needed library that is in the package, but not searched there",
    "warning",
    profiles=("loads",),
    because="The loader does not find the needed library, unless the package loads it first by its path.",
    formats=("elf", "macho"),
    example="voice/_voice.abi3.so: NEEDED libcore.so, without RUNPATH; the package has voice/lib/libcore.so",
    fix="Set INSTALL_RPATH to the library's folder from the one that needs it: $ORIGIN/lib or @loader_path/lib.",
)
def library_not_searched(package: Contents, image: Image) -> Iterator[Hit]:
    """A loader looks for a needed library in the search paths of what needs it, and in the system's folders.

    Not even the folder of the binary itself is among them. A library that was loaded already is found by its name, so
    this is a warning. Nothing is reported where another binary of the package finds the library, where it is a module,
    which Python may import first, and for wheels' `.data/data`, which is installed into Python's own folders.
    """
    for name in image.needed:
        holders = package.paths.get(posixpath.basename(name), ())
        if not holders or posixpath.basename(name) in package.reachable or package.modules.issuperset(holders):
            continue
        if _DATA in holders[0] or of_system(package, image, name) or _is_elsewhere(image, name):
            continue
        paths = [f"{table} {path}" for table, entries in search_paths(image) for path in entries]
        yield Hit(
            message=f"needs {posixpath.basename(name)}, which is in the package as {holders[0]}, where none searches",
            evidence=(needs(image, name), *(paths or ["no search path"])),
        )


def _is_elsewhere(image: Image, name: str) -> bool:
    """Whether the name itself is a path, which LB110 judges."""
    return "/" in name and not name.startswith("@rpath/" if image.format == "macho" else "/")
