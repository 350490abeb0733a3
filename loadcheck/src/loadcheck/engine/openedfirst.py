"""Which needed libraries are loaded already, because the package's Python code opens them first by their paths."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from loadcheck.engine.platforms import data, is_loaded_by_musl
from loadcheck.readers.opened import list_elsewhere

if TYPE_CHECKING:
    from loadcheck.binary import Image
    from loadcheck.readers.contents import Contents, File
    from loadcheck.readers.opened import Place

_FROM_RPATH = "@rpath/"


def find_opened_first(package: Contents, user: File, image: Image, name: str) -> str:
    """The file of the package that a loader takes for a needed library if Python code has opened it; "" for none.

    glibc compares the needed name with the SONAME of what is loaded, and finds no library that has none. musl compares
    it with names that it has searched itself, never with a path that it was given (`load_library` in dynlink.c). dyld
    compares an @rpath with whole install names (`Loader::getLoader`). Windows compares file names.

    `user` is the file that needs the library. If the same code opens it before, that fails.
    """
    if is_loaded_by_musl(package, image) or (image.format == "macho" and not name.startswith(_FROM_RPATH)):
        return ""
    for file, other in package.images:
        own = file.base.lower() if image.format == "pe" else other.soname
        wanted = name.lower() if image.format == "pe" else name
        is_wanted = (other.format, other.arch, own) == (image.format, image.arch, wanted)
        if is_wanted and any(not _is_after(place, user, package) for place in package.opened.get(file.name, ())):
            return file.name
    return ""


def _is_after(place: Place, user: File, package: Contents) -> bool:
    """Whether the same code has opened a file before, for the last time, as far as the order of lines shows."""
    lines = [line for script, line in package.opened.get(user.name, ()) if script == place[0]]
    return 0 not in (place[1], *lines) and bool(lines) and max(lines) < place[1]


def is_opened_elsewhere(package: Contents, name: str) -> bool:
    """Whether Python code opens a library of that name by a path outside the package, such as that of a program."""
    return posixpath.basename(name).lower() in list_elsewhere(package.files)


def may_import_first(package: Contents) -> bool:
    """Whether the Python code of a wheel may open a library, or import another distribution that loads it."""
    return any(file.may_open for file in package.files) or may_load_libraries(package.imports)


def may_load_libraries(imports: frozenset[str]) -> bool:
    """Whether importing some names may load native libraries: all names but those that are known to load none."""
    return not {canonicalize_name(name) for name in imports} <= data().without_libraries


def assume_opened(name: str) -> str:
    """What a finding assumes on a library that Python code opens."""
    return f"the package's Python code opens {posixpath.basename(name)} by its path first"
