"""Check LB114: whether loaders and code find the libraries of the package that they need."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from loadcheck.checks.linkage import of_system
from loadcheck.checks.windows import list_with_python
from loadcheck.engine import platforms
from loadcheck.engine.openedfirst import assume_opened, find_opened_first
from loadcheck.engine.registry import EVERY_FORMAT, Hit, check
from loadcheck.engine.wording import is_late, needs, search_paths

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadcheck.binary import Image
    from loadcheck.readers.contents import Contents, File

_DATA = ".data/data/"
_LIBRARY_FOLDER = re.compile(r"^[^/]+\.data/(purelib|platlib)/")
_ADDS_FOLDER = frozenset({
    *("AddDllDirectory", "CDLL", "LoadLibrary", "LoadLibraryA", "LoadLibraryEx", "LoadLibraryExA", "LoadLibraryExW"),
    *("LoadLibraryW", "PATH", "PyDLL", "SetDllDirectory", "SetDllDirectoryA", "SetDllDirectoryW", "WinDLL"),
    *("add_dll_directory", "cdll", "windll"),
})  # fmt: skip
_VARIABLES = {"elf": "LD_LIBRARY_PATH", "macho": "DYLD_LIBRARY_PATH"}


@check(
    "LB114",
    "Needed library in a folder that is not searched",
    "warning",
    profiles=("loads",),
    because="The loader finds the needed library only if the package loads it first by its path. Or the package's "
    "Python code opens a library at a path where the package has none. The finding is a note if that code, as far as "
    "the check can see, loads the library first, or if a script of the package sets LD_LIBRARY_PATH or "
    "DYLD_LIBRARY_PATH.",
    formats=EVERY_FORMAT,
    example="voice/_voice.abi3.so: NEEDED libcore.so, without RUNPATH; the package has voice/lib/libcore.so",
    fix="Set INSTALL_RPATH to the library's folder, relative to the file that needs it: $ORIGIN/lib or "
    "@loader_path/lib.",
)
def library_not_searched(package: Contents, file: File, image: Image) -> Iterator[Hit]:
    """A loader looks for a needed library in the search paths of the file that needs it, and in the system's folders.

    On Linux and macOS, these do not include the folder of the file itself. But the loader also finds a library that is
    already loaded: glibc finds it by its SONAME, and macOS by an install name that begins with @rpath. So the finding
    is a warning, and a note if the package's Python code opens the library by its path first, as with ctypes. musl does
    not find loaded libraries by their SONAME.

    Nothing is reported if another binary of the package finds the library, if the file loads without it (a weak link),
    or if the library is a module, which Python may import first, or the virtual machine of a Java runtime, which its
    launcher opens (jvm.cfg). On Linux and macOS, nothing is reported for libraries in a wheel's `.data/data`, which is
    installed into Python's own folders. Windows searches the folder of the module, but not the folder where `pip
    install --user` puts a DLL from `.data/data`.
    """
    yield from _judge_opened(package, file)
    if image.format == "pe":
        yield from _judge_windows(package, file, image)
        return
    variable = _VARIABLES[image.format]
    for name in image.needed:
        holders = package.paths.get(posixpath.basename(name), ())
        if not holders or posixpath.basename(name) in package.reachable or package.modules.issuperset(holders):
            continue
        if image.link_kinds.get(name) == "weak" or _is_of_java(package, file, holders[0]):
            continue
        if _DATA in holders[0] or of_system(package, image, name) or _is_elsewhere(package, image, name):
            continue
        paths = [f"{table} {path}" for table, entries in search_paths(image) for path in entries]
        assumption = f"a script of the package sets {variable} to that folder" * (variable in package.helpers)
        if opened := find_opened_first(package, file, image, name):
            assumption = assume_opened(opened)
        yield Hit(
            cause=posixpath.basename(name),
            message=f"needs {posixpath.basename(name)}, which is in the package as {holders[0]}, where the loader "
            "does not search",
            evidence=(needs(image, name), *(paths or ["no search path"])),
            severity="note" if assumption else "warning",
            assumption=assumption,
        )


def _is_of_java(package: Contents, file: File, holder: str) -> bool:
    """Whether a Java runtime loads a library first: its launcher opens the one of the folders that jvm.cfg lists."""
    home = posixpath.dirname(posixpath.dirname(holder))
    return f"{home}/jvm.cfg" in package.names and file.name.startswith((f"{home}/", f"{posixpath.dirname(home)}/bin/"))


def _judge_opened(package: Contents, file: File) -> Iterator[Hit]:
    """A library that Python code opens on import, at another place than the wheel has it."""
    scripts = {name for name, _ in package.opened.get(file.name, ())} if package.wheel is not None else set()
    for script in [other for other in package.files if other.name in scripts] if scripts else []:
        for path in {opened.path for opened in script.opened if posixpath.basename(opened.path) == file.base}:
            expected = posixpath.normpath(posixpath.join(_place(script.folder), path))
            if expected not in {posixpath.join(_place(other.folder), other.base) for other in package.files}:
                yield Hit(
                    cause=f"opened {expected}",
                    message=f"is opened by {script.name} as {expected}, but the package has it elsewhere",
                    evidence=(f"opened: {path}", f"file: {file.name}"),
                    fix=f"Put the library at {expected}, or open it where it is.",
                )


def _is_elsewhere(package: Contents, image: Image, name: str) -> bool:
    """Whether the name itself is a path that is not from the file: LB107 judges absolute ones on macOS."""
    if image.format != "macho":
        return "/" in name and not name.startswith("/")
    of_program = name.startswith("@executable_path/")
    has_programs = any(other.file_type == "executable" for _, other in package.images)
    return name.startswith("/") or (of_program and (has_programs or package.wheel is None))


def _judge_windows(package: Contents, file: File, image: Image) -> Iterator[Hit]:
    """DLLs in other folders: Windows looks in that of the module that Python loads, and in those that code adds."""
    if package.wheel is None or not package.modules:
        return
    users = package.users_of(file.name)
    folders = {_place(posixpath.dirname(user)) for user in users}
    for name in image.needed:
        holders = [other.name for other in package.native if other.base.lower() == name.lower()]
        of_python = name.lower() in list_with_python(package)
        if not holders or of_python or (of_system(package, image, name) and not platforms.is_vc_runtime(name)):
            continue
        in_data = [holder for holder in holders if _DATA in holder]
        if folders & {_place(posixpath.dirname(holder)) for holder in holders}:
            continue
        if package.helpers & _ADDS_FOLDER and len(in_data) < len(holders):
            continue
        where = "where Windows does not search after pip install --user" if in_data else "where Windows does not search"
        late = " on first use" * is_late(image, name)
        yield Hit(
            cause=f"data {name}" if in_data else name,
            message=f"needs {name}{late}, which is in the package as {holders[0]}, {where}",
            evidence=(needs(image, name), f"folders: {', '.join(sorted(folders)) or 'the root'}"),
            fix="Put the DLL into the folder of the module, or call os.add_dll_directory() before the import.",
        )


def _place(folder: str) -> str:
    """Where the files of a wheel's folder are installed, from the folder of the modules."""
    return _LIBRARY_FOLDER.sub("", f"{folder}/").rstrip("/")
