"""Checks LB108 and LB114: whether loaders search where the libraries are, and nowhere else."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from loadcheck.checks.linkage import find_supply, list_failing, of_system, provided_libraries
from loadcheck.checks.tags import misfits
from loadcheck.checks.windows import list_with_python
from loadcheck.engine import platforms
from loadcheck.engine.check import Hit, Hits, check
from loadcheck.engine.openedfirst import assume_opened, find_opened_first, may_import_first
from loadcheck.engine.supply import dependencies
from loadcheck.engine.wording import first, is_late, needs, search_paths
from loadcheck.readers.package_json import read_manifest
from loadcheck.readers.places import FROM_HERE, resolve_from

if TYPE_CHECKING:
    from loadcheck.binary import Image
    from loadcheck.engine.policy import Policy
    from loadcheck.model import Severity
    from loadcheck.readers.contents import Contents, File
    from loadcheck.readers.supplied import Supply

_IN_EVERY_PROCESS = re.compile(r"lib(c|dl|m|pthread)\.so\.\d+$|ld-linux|libc\.musl-|libc\.so$")
"""What a program has loaded before it loads a library."""
_OF_FOLDER = re.compile(r"(\$ORIGIN|\$\{ORIGIN\}|@loader_path)[/.]*")
"""The folder of the file itself, which linkers and build tools add on their own."""
_FOR_ALL = ("/tmp", "/var/tmp", "/dev/shm", "/private/tmp", "/Users/Shared")  # noqa: S108  # not used as folders here
_DATA = ".data/data/"
_LIBRARY_FOLDER = re.compile(r"^[^/]+\.data/(purelib|platlib)/")
_ADDS_FOLDER = frozenset({
    *("AddDllDirectory", "CDLL", "LoadLibrary", "LoadLibraryA", "LoadLibraryEx", "LoadLibraryExA", "LoadLibraryExW"),
    *("LoadLibraryW", "PATH", "PyDLL", "SetDllDirectory", "SetDllDirectoryA", "SetDllDirectoryW", "WinDLL"),
    *("add_dll_directory", "cdll", "windll"),
})  # fmt: skip
_VARIABLES = {"elf": "LD_LIBRARY_PATH", "macho": "DYLD_LIBRARY_PATH"}


@check(
    "LB108",
    "Search path outside the package",
    "warning",
    because="The loader does not find the libraries of the build machine on other machines, or opens those that other "
    "users of a machine put into the path's folder. The finding is a note if every needed library is found without the "
    "path, if the package's Python code opens the libraries first, or if the file is for a processor that the tag does "
    "not name.",
    formats=("elf", "macho"),
    example="liblatenn.so: RUNPATH /home/ci/build/lib",
    fix="Link without the path (CMake: CMAKE_BUILD_WITH_INSTALL_RPATH ON), or start it with $ORIGIN (Linux) or "
    "@loader_path (macOS).",
)
def search_path_outside(package: Contents, file: File, image: Image) -> Hits:
    """On other machines, a folder of the build machine is missing or contains other libraries.

    An empty or relative entry starts at the current folder, and every user can write to `/tmp`: anyone who can write to
    such a folder can inject code. `@executable_path` is the folder of the program: for a Python module, the folder of
    Python's executable.

    A path that starts at the file is passed over if the file says that it opens libraries at run time (the section
    `.note.dlopen`): these may be in another distribution.

    The finding is a warning if a needed library is neither in the package nor in the system, and no path leads into the
    package. It is a note if every needed library is found without the entry, or is already loaded, as libc always is.
    """
    for table, paths in search_paths(image):
        bad = [path for path in paths if not _stays_inside(package, file, _place_program(image, path))]
        if image.opened:  # what the file opens at run time, such as by a stub, may be in the folder of a distribution
            bad = [path for path in bad if not path.startswith(FROM_HERE)]
        unsafe = [path for path in bad if _is_writable(path)]
        if bad:
            shown = ", ".join(dict.fromkeys(path or "'' (the current folder)" for path in bad))
            where = (
                "there"
                if unsafe == bad
                else "into " + " and ".join(dict.fromkeys(path or "the current folder" for path in unsafe))
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
                fix=_fix_path(file, image, bad, [path for path in paths if path not in bad]),
                severity=severity,
                assumption=assumption,
            )


def _place_program(image: Image, path: str) -> str:
    """A path as the loader takes it for a program: its own folder is that of the process."""
    return path.replace("@executable_path", "@loader_path") if image.file_type == "executable" else path


def _fix_path(file: File, image: Image, bad: list[str], kept: list[str]) -> str:
    """How to remove paths, and keep those that lead into the package."""
    if not kept:
        start = "$ORIGIN" if image.format == "elf" else "@loader_path"
        climbs = any(path.startswith(FROM_HERE) for path in bad)
        change = "take .. out of it, so that it stays" if climbs else f"start every path with {start}, so that it leads"
        return f"Link without the path (CMake: CMAKE_BUILD_WITH_INSTALL_RPATH ON), or {change} in the package."
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
    found = provided_libraries(package) & package.reachable
    lacking = [
        name
        for name in searched
        if posixpath.basename(name) not in found
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


@check(
    "LB114",
    "Needed library in a folder that is not searched",
    "error",
    because="The loader does not find the needed library, and the import fails. Or the package's Python code opens a "
    "library at a path where the package has none. The finding is a warning on Windows, if the package may work "
    "without the file, or if any of its Python code may load the library first by its path. It is a note if that code, "
    "as far as the check can see, does so, or if a script of the package sets LD_LIBRARY_PATH or DYLD_LIBRARY_PATH.",
    example="voice/_voice.abi3.so: NEEDED libcore.so, without RUNPATH; the package has voice/lib/libcore.so",
    fix="Set INSTALL_RPATH to the library's folder, relative to the file that needs it: $ORIGIN/lib or "
    "@loader_path/lib.",
)
def library_not_searched(package: Contents, file: File, image: Image, policy: Policy) -> Hits:
    """A loader looks for a needed library in the search paths of the file that needs it, and in the system's folders.

    On Linux and macOS, these do not include the folder of the file itself. But the loader also finds a library that is
    already loaded: glibc finds it by its SONAME, and macOS by an install name that begins with @rpath. So the finding
    is an error only if import statements that always run lead to the file, and no Python code of the package names
    ctypes, cffi or a function that opens libraries. musl does not find loaded libraries by their SONAME.

    Nothing is reported if another binary of the package finds the library, if the file loads without it (a weak link),
    or if the library is a module, which Python may import first, or the virtual machine of a Java runtime, which its
    launcher opens (jvm.cfg). On Linux and macOS, nothing is reported for libraries in a wheel's `.data/data`, which is
    installed into Python's own folders. Windows searches the folder of the module, but not the folder where `pip
    install --user` puts a DLL from `.data/data`.

    With `--resolve`, a library that a requirement installs counts, too: Python code of the package may load it first
    by importing another package, so that nothing is reported where it imports one or opens libraries. Compiled modules
    may import one, too, so that the finding is an error only if the package has no other module.
    """
    yield from _judge_opened(package, file)
    yield from _judge_supplied(package, file, image, policy)
    if image.format == "pe":
        yield from _judge_windows(package, file, image)
        return
    variable = _VARIABLES[image.format]
    for name in image.needed:
        base = posixpath.basename(name)
        holders = package.paths.get(base, ())
        if not holders or base in package.reachable or package.modules.issuperset(holders):
            continue
        if image.link_kinds.get(name) == "weak" or _is_of_java(package, file, holders[0]):
            continue
        if _DATA in holders[0] or of_system(package, image, name) or _is_elsewhere(package, image, name):
            continue
        paths = [f"{table} {path}" for table, entries in search_paths(image) for path in entries]
        assumption = f"a script of the package sets {variable} to that folder" * (variable in package.helpers)
        if opened := find_opened_first(package, file, image, name):
            assumption = assume_opened(opened)
        failing = [] if any(other.may_open for other in package.files) else list_failing(package, file, image, name)
        loss = f"; import {first(failing)} fails" if failing else ""
        yield Hit(
            cause=base,
            message=f"needs {base}, which is in the package as {holders[0]}, where the loader does not search{loss}",
            evidence=(needs(image, name), *(paths or ["no search path"])),
            severity="note" if assumption else "error" if failing else "warning",
            assumption=assumption,
            libraries=(name,),
        )


def _judge_supplied(package: Contents, file: File, image: Image, policy: Policy) -> Hits:
    """A library that a requirement installs into a folder where the loader does not search."""
    is_of_module = not package.modules.isdisjoint(package.users_of(file.name))
    if package.supplied is None or not is_of_module or package.helpers & {*_ADDS_FOLDER, *_VARIABLES.values()}:
        return
    for name in image.needed:
        supply = find_supply(package, image, name)
        is_judged = posixpath.basename(name).lower() in package.own_libraries or policy.judges_link(name)
        if supply is None or is_judged or image.link_kinds.get(name) in ("weak", "delay"):
            continue
        if of_system(package, image, name) or any(_DATA in path for path in supply.paths):
            continue
        folders = {_place(posixpath.dirname(path)) or "." for path in supply.paths}
        users = [each for each in package.images if name in each[1].needed]
        if any(folders & list_folders(package, *user, name) for user in users) or may_import_first(package):
            continue
        is_alone = package.modules <= package.users_of(file.name)  # other modules import what no code shows
        failing = list_failing(package, file, image, name) if is_alone else []
        loss = f"; import {first(failing)} fails" if failing else ""
        paths = [f"{table} {path}" for table, entries in search_paths(image) for path in entries]
        yield Hit(
            cause=posixpath.basename(name),
            message=f"needs {posixpath.basename(name)}, which {supply.source} installs as {supply.path}, where the "
            f"loader does not search{loss}",
            evidence=(needs(image, name), *(paths or ["no search path"] if image.format != "pe" else ())),
            fix=_fix_search(file, image, supply),
            severity="error" if failing else "warning",
            libraries=(name,),
        )


def list_folders(package: Contents, file: File, image: Image, name: str) -> frozenset[str]:
    """The folders of site-packages in which a loader looks for a library that a file needs."""
    if image.format == "pe":  # the folder of the module that Python loads
        return frozenset(_place(posixpath.dirname(user)) or "." for user in package.users_of(file.name))
    if image.format == "macho" and not name.startswith("@rpath/"):
        return frozenset({posixpath.dirname(resolve_from(_place(file.folder), name)) or "."})
    return package.list_searched(file, image)


def _fix_search(file: File, image: Image, supply: Supply) -> str:
    """How to let the loader search where a requirement installs a library."""
    folder = _place(posixpath.dirname(supply.path))
    if image.format == "pe":
        return f"Call os.add_dll_directory() with the folder {folder} of site-packages before the import."
    start = "$ORIGIN" if image.format == "elf" else "@loader_path"
    path = f"{start}/{posixpath.relpath(folder or '.', _place(file.folder) or '.')}"
    elf, macho = f"patchelf --set-rpath '{path}' {file.base}", f"install_name_tool -add_rpath {path} {file.base}"
    return f"Set INSTALL_RPATH to {path}, the library's folder: {elf if image.format == 'elf' else macho}"


def _is_of_java(package: Contents, file: File, holder: str) -> bool:
    """Whether a Java runtime loads a library first: its launcher opens the one of the folders that jvm.cfg lists."""
    home = posixpath.dirname(posixpath.dirname(holder))
    return f"{home}/jvm.cfg" in package.names and file.name.startswith((f"{home}/", f"{posixpath.dirname(home)}/bin/"))


def _judge_opened(package: Contents, file: File) -> Hits:
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
                    severity="warning",
                )


def _is_elsewhere(package: Contents, image: Image, name: str) -> bool:
    """Whether the name itself is a path that is not from the file: LB107 judges absolute ones on macOS."""
    if image.format != "macho":
        return "/" in name and not name.startswith("/")
    of_program = name.startswith("@executable_path/")
    has_programs = any(other.file_type == "executable" for _, other in package.images)
    return name.startswith("/") or (of_program and (has_programs or package.wheel is None))


def _judge_windows(package: Contents, file: File, image: Image) -> Hits:
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
        is_found = folders & {_place(posixpath.dirname(holder)) for holder in holders}
        if is_found or (package.helpers & _ADDS_FOLDER and len(in_data) < len(holders)):
            continue
        where = "where Windows does not search" + " after pip install --user" * bool(in_data)
        late = " on first use" * is_late(image, name)
        yield Hit(
            cause=f"data {name}" if in_data else name,
            message=f"needs {name}{late}, which is in the package as {holders[0]}, {where}",
            evidence=(needs(image, name), f"folders: {', '.join(sorted(folders)) or 'the root'}"),
            fix="Put the DLL into the folder of the module, or call os.add_dll_directory() before the import.",
            severity="warning",
            libraries=(name,),
        )


def _place(folder: str) -> str:
    """Where the files of a wheel's folder are installed, from the folder of the modules."""
    return _LIBRARY_FOLDER.sub("", f"{folder}/").rstrip("/")
