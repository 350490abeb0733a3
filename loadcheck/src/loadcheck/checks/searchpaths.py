"""Check LB108: where a binary searches for the libraries that it needs."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from loadcheck.checks.linkage import of_system, provided_libraries
from loadcheck.checks.processors import misfits
from loadcheck.engine import platforms
from loadcheck.engine.openedfirst import assume_opened, find_opened_first
from loadcheck.engine.registry import Hit, Skip, check
from loadcheck.engine.supply import dependencies
from loadcheck.engine.wording import search_paths
from loadcheck.readers.package_json import read_manifest
from loadcheck.readers.places import FROM_HERE, resolve_from

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from loadcheck.binary import Format, Image
    from loadcheck.model import Severity
    from loadcheck.readers.contents import Contents, File

_IN_EVERY_PROCESS = re.compile(r"lib(c|dl|m|pthread)\.so\.\d+$|ld-linux|libc\.musl-|libc\.so$")
"""What a program has loaded before it loads a library."""
_OF_FOLDER = re.compile(r"(\$ORIGIN|\$\{ORIGIN\}|@loader_path)[/.]*")
"""The folder of the file itself, which linkers and build tools add on their own."""
_FOR_ALL = ("/tmp", "/var/tmp", "/dev/shm", "/private/tmp", "/Users/Shared")  # noqa: S108  # not used as folders here


@check(
    "LB108",
    "Search path outside the package",
    "warning",
    profiles=("loads",),
    because="The loader does not find the libraries of the build machine on other machines, or opens those that other "
    "users of a machine put into the path's folder. The finding is a note if every needed library is found without the "
    "path, if the package's Python code opens the libraries first, or if the file is for a processor that the tag does "
    "not name.",
    formats=("elf", "macho"),
    example="liblatenn.so: RUNPATH /home/ci/build/lib",
    fix="Set CMAKE_SKIP_RPATH ON. If a path is needed, start it with $ORIGIN (Linux) or @loader_path (macOS).",
)
def search_path_outside(package: Contents, file: File, image: Image) -> Iterator[Hit | Skip]:
    """On other machines, a folder of the build machine is missing or contains other libraries.

    An empty or relative entry starts at the current folder, and every user can write to `/tmp`: anyone who can write to
    such a folder can inject code. `@executable_path` is the folder of the program: for a Python module, the folder of
    Python's executable.

    The finding is a warning if a needed library is neither in the package nor in the system, and no path leads into the
    package. It is a note if every needed library is found without the entry, or is already loaded, as libc always is.
    """
    for table, paths in search_paths(image):
        bad = [path for path in paths if not _stays_inside(package, file, _place_program(image, path))]
        unsafe = [path for path in bad if _is_writable(path)]
        if bad:
            shown = ", ".join(dict.fromkeys(path or "'' (the current folder)" for path in bad))
            where = (
                "there"
                if unsafe == bad
                else "to " + " and ".join(dict.fromkeys(path or "the current folder" for path in unsafe))
            )
            severity, assumption = _path_severity(package, file, image, bad, is_unsafe=bool(unsafe))
            who = f"; where a machine has other users, they can put libraries {where}" if unsafe else ""
            is_unused = severity == "note" and not _list_searched(image)
            who += "; no needed library is searched for there" * is_unused
            yield Hit(
                cause=f"{table} unsafe" if unsafe else table,
                names=tuple(bad) if unsafe and severity == "warning" else (),
                message=f"{table} points outside the package: {shown}{who}",
                evidence=tuple(f"{table} {path}" for path in bad),
                fix=_fix_path(file, image, [path for path in paths if path not in bad]),
                severity=severity,
                assumption=assumption,
            )


def _place_program(image: Image, path: str) -> str:
    """A path as the loader takes it for a program: its own folder is that of the process."""
    return path.replace("@executable_path", "@loader_path") if image.file_type == "executable" else path


_STARTS: Mapping[Format, str] = {"elf": "$ORIGIN", "macho": "@loader_path"}


def _fix_path(file: File, image: Image, kept: list[str]) -> str:
    """How to remove paths, and keep those that lead into the package."""
    if not kept:
        start = _STARTS[image.format]
        return f"Set CMAKE_SKIP_RPATH ON to link without the path, or start every path with {start}."
    name = file.base or "FILE"
    tool = (
        f"patchelf --set-rpath '{':'.join(kept)}' {name}"
        if image.format == "elf"
        else f"install_name_tool -delete_rpath PATH {name}"
    )
    return f"Remove the path and keep {' and '.join(kept)}: set INSTALL_RPATH in CMake, or run {tool}."


def _is_writable(path: str) -> bool:
    """Whether a search path is one where other users can put files: relative to the current folder, or /tmp."""
    return path.startswith(_FOR_ALL) or not path.startswith(("/", "$", "@"))


def _list_searched(image: Image) -> list[str]:
    """The needed libraries that a loader looks for in search paths: not those that every process has loaded."""
    if image.format == "macho":
        return [name for name in image.needed if name.startswith("@rpath/")]
    is_program = image.file_type == "executable" or bool(image.interpreter)
    return [name for name in image.needed if is_program or not _IN_EVERY_PROCESS.match(name)]


def _path_severity(
    package: Contents, file: File, image: Image, paths: list[str], *, is_unsafe: bool
) -> tuple[Severity, str]:
    """A warning if others can put a library there, or if one is missing and no path leads into the package.

    With what a note assumes.
    """
    searched = _list_searched(image)
    if not searched or misfits(package, file):
        return "note", ""
    if is_unsafe:
        return "warning", ""
    inside = provided_libraries(package)
    lacking = [
        name
        for name in searched
        if not (posixpath.basename(name) in inside and posixpath.basename(name) in package.reachable)
        and not of_system(package, image, name)
        and not platforms.is_common(posixpath.basename(name).lower())
    ]
    others = {path for _, entries in search_paths(image) for path in entries if path not in paths}
    if not lacking or not all(map(_OF_FOLDER.fullmatch, others)):
        return "note", ""
    opened = [find_opened_first(package, file, image, name) for name in lacking]
    return ("note", assume_opened(opened[0])) if all(opened) else ("warning", "")


def _stays_inside(package: Contents, file: File, path: str) -> bool:
    if file.format == "macho" and platforms.is_macos(f"{path}/"):
        return True
    if not path.startswith(FROM_HERE):
        return False
    if package.kind in ("binary", "folder"):
        return True  # the place where it will be installed is not known
    is_of_sibling = bool(read_manifest(package)) and any(name in path for name in dependencies(package).always)
    return bool(resolve_from(file.folder, path)) or is_of_sibling  # npm installs packages next to each other
