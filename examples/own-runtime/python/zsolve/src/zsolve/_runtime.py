"""Finds the Z3 that Python would import, without importing it."""

from __future__ import annotations

import ctypes
import os
import struct
import sys
import warnings
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

DISTRIBUTIONS = ["z3-solver"]
"""The distributions that supply Z3."""
ADVICE = 'pip install z3-solver'
"""What to run if none is installed."""
_FOLDERS = [
    ("z3", "lib"),
]
"""The packages that have the library, and its folder in each, the best first."""
_FILES = {
    "linux": ["libz3.so", "libz3.so.*"],
    "darwin": ["libz3.dylib", "libz3.*.dylib"],
    "win32": ["libz3.dll"],
}
_BELOW_PREFIX: dict[str, list[str]] = {
    "linux": [],
    "darwin": [],
    "win32": [],
}
_SYSTEM = sys.platform if sys.platform in _FILES else "linux"


def _find_own() -> str:
    """The folder on sys.path that this module came from, as Python made it absolute; "" if it came from elsewhere."""
    file = Path(globals().get("__file__") or "")
    depth = len(__package__.split(".")) if __package__ else 0
    return os.path.normpath(file.parents[depth]) if file.is_absolute() and len(file.parents) > depth else ""


_OWN = _find_own()
_START = ""
with suppress(OSError):
    _START = os.getcwd()  # noqa: PTH109


class Runtime(NamedTuple):
    """What Python would import: its library ("" if there is none), the library's folder, and its distribution."""

    folder: str
    library: str
    distribution: str
    version: str


def find_runtime() -> Runtime | None:
    """The Z3 that Python would import. None if there is none."""
    folder, library = _find_library()
    return Runtime(folder, library, *_read_metadata()) if folder else None


def load_runtime() -> None:
    """Open the library of Z3, if there is one, so that a stub in this process finds it loaded."""
    _, library = _find_library()
    if os.environ.get("Z3_LIB_PATH") or not library or _is_loaded():
        return  # the stub searches further, and its message says what is missing
    try:
        _check_whole(library)
        ctypes.CDLL(library)
    except OSError as error:
        warnings.warn(f"Z3 cannot be opened: {_show(error)}", RuntimeWarning, stacklevel=2)


def advice(runtime: Runtime | None) -> str:
    """The command that installs Z3, or replaces a damaged or outdated copy with the latest version."""
    command = f"pip install --upgrade --force-reinstall {runtime.distribution}" if runtime else ADVICE
    is_frozen = getattr(sys, "frozen", False) or "__compiled__" in globals()  # the latter is Nuitka's
    return f"{command}, and freeze the program again" if is_frozen else command


def explain(runtime: Runtime | None, minimum: str) -> str:
    """Why the Z3 that Python would import cannot be used, and what to do. "" if this is not the reason."""
    if runtime is None:
        places = [entry for entry in sys.path if not _find_entry(entry) and _has_package(entry)]
        text = f"Python would import Z3 from {_show(places[0] or 'the working folder')}" if places else ""
        return f"{text}, a relative entry of sys.path, where anything may be. Make it absolute" if places else ""
    if runtime.library:
        return ""
    name = _show(f"{runtime.distribution} {runtime.version}".strip())
    archive = next((parent for parent in Path(runtime.folder).parents if parent.is_file()), None)
    if archive:
        return f"{name} is in the archive {_show(archive)}. Use shiv or pex instead, which unpack libraries."
    need = f"{runtime.distribution} {minimum} or newer is needed"
    verb = "is installed, but has" if runtime.version else "has"
    return f"{name} {verb} no shared library in {_show(runtime.folder)}; {need}. Run: {advice(runtime)}"


def _is_loaded() -> bool:
    """Whether a copy is loaded, which the stub takes: a process must not have two."""
    if sys.platform == "win32":
        return any(ctypes.windll.kernel32.GetModuleHandleW(name) for name in _FILES["win32"])
    return any(fnmatchcase(os.path.basename(path), name) for path in _list_loaded() for name in _FILES[_SYSTEM])  # noqa: PTH119


def _list_loaded() -> list[str]:
    """The files of this process, as the kernel or dyld lists them."""
    if sys.platform == "darwin":
        dyld = ctypes.CDLL(None)
        dyld._dyld_get_image_name.restype = ctypes.c_char_p  # noqa: SLF001
        return [os.fsdecode(dyld._dyld_get_image_name(i) or b"") for i in range(dyld._dyld_image_count())]  # noqa: SLF001
    with suppress(OSError):
        maps = Path("/proc/self/maps").read_bytes().splitlines()
        return [os.fsdecode(line.split(maxsplit=5)[-1]) for line in maps]
    return []


def _check_whole(library: str) -> None:
    """Raises OSError for a library that was cut off: Linux opens it, and ends the process where bytes are missing."""
    with Path(library).open("rb") as file:
        head, size = file.read(1 << 16), os.fstat(file.fileno()).st_size
    if head[:4] != b"\x7fELF":
        return
    with suppress(struct.error):
        is_wide = head[4] == 2  # noqa: PLR2004  # 64 bits: elf(5)
        (start,) = struct.unpack_from("<Q" if is_wide else "<I", head, 32 if is_wide else 28)
        width, count = struct.unpack_from("<HH", head, 54 if is_wide else 42)
        for place in range(start, start + width * count, width):
            kind, offset, _, _, length = struct.unpack_from("<I4xQQQQ" if is_wide else "<IIIII", head, place)
            if kind == 1 and offset + length > size:
                raise OSError(f"{library} is truncated. Run: {advice(find_runtime())}")


def _show(text: object) -> str:
    """Text from outside for a message: what is not a visible character could steer a terminal."""
    return "".join(char if char.isprintable() else "\ufffd" for char in str(text))


def _find_library() -> tuple[str, str]:
    """The library's folder and file; "" for what does not exist."""
    folders = list(_list_folders())
    paths = ((folder, path) for folder in folders for name in _FILES[_SYSTEM] for path in Path(folder).glob(name))
    folder, path = next(paths, (next(iter(folders), ""), ""))
    return folder, str(path)


def _list_folders() -> Iterator[str]:
    """Where the library may be: in the package, or where its supplier puts libraries in this installation of Python."""
    found = [(package, below) for name, below in _FOLDERS for package in _list_packages(name)]
    yield from (str(package / below) for package, below in found)
    for prefix in dict.fromkeys((sys.prefix, sys.base_prefix)):
        if not _FOLDERS or any(Path(prefix) in package.parents for package, _ in found):
            for folder in _BELOW_PREFIX[_SYSTEM]:
                yield str(Path(prefix, folder))


def _list_packages(name: str) -> list[Path]:
    """The folders of a package, without importing it."""
    path = _list_path()
    specs = (finder.find_spec(name, path) for finder in sys.meta_path if hasattr(finder, "find_spec"))
    spec = next(filter(None, specs), None)
    if spec is None or spec.submodule_search_locations is None:
        return []
    places = spec.submodule_search_locations or [os.path.dirname(spec.origin or "")]  # noqa: PTH120  # [] in Nuitka
    return [Path(place) for place in places if os.path.isabs(place)]


def _read_metadata() -> tuple[str, str]:
    """Name and version of the first distribution that supplies Z3, for messages; "" if it is not known."""
    from importlib import metadata  # noqa: PLC0415  # it takes longer than everything else

    found = (
        (name, row.version) for name in DISTRIBUTIONS for row in metadata.distributions(name=name, path=_list_path())
    )
    return next(found, (DISTRIBUTIONS[0], ""))


def _list_path() -> list[str]:
    """sys.path without the working folder and relative folders, where anything may be."""
    return list(filter(None, map(_find_entry, sys.path)))


def _find_entry(entry: str) -> str:
    """An entry of sys.path as an absolute path, if it is one, or if this module came from there; "" for others."""
    if os.path.isabs(entry):
        return entry
    place = os.path.normpath(os.path.join(_START, entry))  # noqa: PTH118
    return place if _START and place == _OWN else ""


def _has_package(entry: str) -> bool:
    """Whether a folder has a package of Z3."""
    return any(Path(_START, entry, package).is_dir() for package, _ in _FOLDERS)


def _show_freezers() -> None:
    """Never called: programs such as cx_Freeze and Nuitka follow imports, and so take Z3 along."""
    import z3  # type: ignore[import, unused-ignore]  # noqa: F401, PLC0415
