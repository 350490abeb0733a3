"""Check LB114: whether a loader finds the libraries of the package that a binary needs."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from latebind.audit.checks.linkage import of_system
from latebind.audit.engine.registry import Hit, check
from latebind.audit.engine.wording import needs, search_paths

if TYPE_CHECKING:
    from collections.abc import Iterator

    from latebind.audit.readers.contents import Contents, File
    from latebind.binary import Image

_DATA = ".data/data/"
_HERE = ("$ORIGIN", "${ORIGIN}", "@loader_path")


@check(
    "LB114",
    "Needed library that is in the package, but not searched there",
    "warning",
    profiles=("loads",),
    because="The loader does not find it, unless the package loads it first by its path.",
    formats=("elf", "macho"),
    example="voice/_voice.abi3.so: NEEDED libcore.so, without RUNPATH; the package has voice/lib/libcore.so",
    cure="Set INSTALL_RPATH to the library's folder from the one that needs it: $ORIGIN/lib or @loader_path/lib.",
)
def library_not_searched(package: Contents, image: Image) -> Iterator[Hit]:
    """A loader looks for a needed library in the search paths of what needs it, and in the system's folders.

    Not even the folder of the binary itself is among them. A library that was loaded already is found by its name, so
    this is a warning. Nothing is reported where another binary of the package finds the library, where it is a module,
    which Python may import first, and for wheels' `.data/data`, which is installed into Python's own folders.
    """
    for name in image.needed:
        holders = package.paths.get(posixpath.basename(name), ())
        if not holders or package.modules.issuperset(holders) or _DATA in holders[0]:
            continue
        if of_system(package, image, name) or _is_elsewhere(image, name) or _is_found(package, name):
            continue
        paths = [f"{table} {path}" for table, entries in search_paths(image) for path in entries]
        yield Hit(
            message=f"needs {posixpath.basename(name)}, which is in the package as {holders[0]}, where none searches",
            evidence=(needs(image, name), *(paths or ["no search path"])),
        )


def _is_elsewhere(image: Image, name: str) -> bool:
    """Whether the name itself is a path, which LB110 judges."""
    return "/" in name and not name.startswith("@rpath/" if image.format == "macho" else "/")


def _is_found(package: Contents, name: str) -> bool:
    """Whether a binary of the package that needs a library finds it."""
    base = posixpath.basename(name)
    return any(
        _finds(package, file, image, base)
        for file, image in package.images
        if any(posixpath.basename(needed) == base for needed in image.needed)
    )


def _finds(package: Contents, file: File, image: Image, base: str) -> bool:
    """Whether the search paths of a binary, and of those that load it, lead to a library."""
    searched = [(file, path) for path in (*image.rpath, *image.runpath)]
    if not image.runpath:
        users = package.users.get(file.name, frozenset())
        searched += [(other, path) for other, user in package.images if other.name in users for path in user.rpath]
    return any(_join(owner, path, base) in package.paths.get(base, ()) for owner, path in searched)


def _join(owner: File, path: str, base: str) -> str:
    start = next((start for start in _HERE if path.startswith(start)), "")
    return posixpath.normpath(posixpath.join(owner.folder, path[len(start) :].lstrip("/"), base)) if start else ""
