"""Checks LB108 and LB109: where a binary searches for the libraries that it needs."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from latebind.audit.checks.linkage import of_system, provided_libraries
from latebind.audit.checks.processors import misfits
from latebind.audit.engine import platforms
from latebind.audit.engine.registry import Hit, Skip, check
from latebind.audit.engine.supply import dependencies
from latebind.audit.engine.wording import search_paths
from latebind.audit.readers.package_json import read_manifest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from latebind.audit.readers.contents import Contents, File
    from latebind.binary import Format, Image
    from latebind.model import Severity

_OF_USERS = ("/home/", "/Users/", "/root/")
_FOR_ALL = ("/tmp", "/var/tmp", "/dev/shm", "/private/tmp", "/Users/Shared")  # noqa: S108  # not used as folders here


@check(
    "LB108",
    "Search path outside the package",
    "warning",
    profiles=("loads",),
    because="A library of the build machine is missing on other machines. The finding is an error if other users can "
    "write to the folder, and a note if nothing is searched there, or if the file is for another processor than the "
    "tag.",
    formats=("elf", "macho"),
    example="liblatenn.so: RUNPATH /home/ci/build/lib",
    fix="Set CMAKE_SKIP_RPATH ON. If a path is needed, start it with $ORIGIN (Linux) or @loader_path (macOS).",
)
def search_path_outside(package: Contents, file: File, image: Image) -> Iterator[Hit | Skip]:
    """A folder of the build machine is missing elsewhere, or holds another library than expected.

    An empty or relative entry means the current folder, and `/tmp` is for all users: anyone who can write there can
    inject code. `@executable_path` is the folder of the program, such as Python, and never the package's. An entry is a
    note where the package or the system has every needed library, unless the path is in a user's folder.
    """
    for table, paths in search_paths(image):
        bad = [path for path in paths if not _stays_inside(package, file, path)]
        unsafe = [path for path in bad if _is_writable(path)]
        if bad:
            shown = ", ".join(dict.fromkeys(path or "'' (the current folder)" for path in bad))
            where = (
                "there"
                if unsafe == bad
                else "to " + " and ".join(dict.fromkeys(path or "the current folder" for path in unsafe))
            )
            who = f"; other users can write {where}" if unsafe else ""
            yield Hit(
                message=f"{table} points outside the package: {shown}{who}",
                evidence=tuple(f"{table} {path}" for path in bad),
                fix=_PATH_FIXES[image.format],
                severity=_path_severity(package, file, image, bad, is_unsafe=bool(unsafe)),
            )


_PATH_FIXES: Mapping[Format, str] = {
    "elf": "Link without it: set CMAKE_SKIP_RPATH ON, or start every path with $ORIGIN.",
    "macho": "Link without it: set CMAKE_SKIP_RPATH ON, or start every path with @loader_path.",
}


def _is_writable(path: str) -> bool:
    """Whether a search path is one where other users can put files: relative to the current folder, or /tmp."""
    return path.startswith(_FOR_ALL) or not path.startswith(("/", "$", "@"))


def _path_severity(package: Contents, file: File, image: Image, paths: Iterable[str], *, is_unsafe: bool) -> Severity:
    """A warning if a library is searched there, or if a user with the folder's name could put one there."""
    searched = image.needed if image.format == "elf" else [name for name in image.needed if name.startswith("@rpath/")]
    if (image.format == "macho" and not searched) or misfits(package, file):
        return "note"
    if is_unsafe:
        return "error"
    inside = provided_libraries(package)
    is_used = any(posixpath.basename(name) not in inside and not of_system(package, image, name) for name in searched)
    is_of_user = any(path.startswith(_OF_USERS) for path in paths)
    return "warning" if is_used or is_of_user else "note"


@check(
    "LB109",
    "Search path present",
    "note",
    profiles=("runtime",),
    because="Nothing fails.",
    formats=("elf", "macho"),
    example="liblatenn.so: RUNPATH $ORIGIN",
    fix="Link without an rpath: set CMAKE_SKIP_INSTALL_RPATH ON.",
)
def search_path_present(package: Contents, file: File, image: Image) -> Iterator[Hit | Skip]:
    """A late-binding library needs no search path. With one, the loader can pick up a stray copy next to it.

    Libraries that need each other have one on purpose.
    """
    inside = provided_libraries(package)
    serves = any(posixpath.basename(name) in inside for name in image.needed)
    for table, paths in search_paths(image):
        good = [path for path in paths if _stays_inside(package, file, path)]
        if good:
            purpose = "finds libraries of the package" if serves else "is not needed to find a library of the package"
            yield Hit(
                message=f"{table} {purpose}: {':'.join(good)}",
                evidence=tuple(f"{table} {path}" for path in good),
            )


def _stays_inside(package: Contents, file: File, path: str) -> bool:
    if file.format == "macho" and platforms.is_macos(f"{path}/"):
        return True
    for origin in ("${ORIGIN}", "$ORIGIN", "@loader_path"):
        if path.startswith(origin):
            rest = path[len(origin) :].lstrip("/")
            break
    else:
        return False
    if package.kind in ("binary", "folder"):
        return True  # the place where it will be installed is not known
    joined = posixpath.normpath(posixpath.join("/root", file.folder, rest))
    return joined == "/root" or joined.startswith("/root/") or _leads_to_sibling(package, joined)


def _leads_to_sibling(package: Contents, path: str) -> bool:
    """Whether an npm package looks for libraries in one that it requires: npm installs them next to each other."""
    return bool(read_manifest(package)) and any(dependency.name in path for dependency in dependencies(package))
