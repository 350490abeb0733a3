"""Looks for strings in the bytes of a binary: the policy's markers, and paths of build machines."""

from __future__ import annotations

import mmap
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from loadcheck.binary import Data, Format

_WINDOW, _OVERLAP = 32 * 1024**2, 4096
_MAX_SHOWN_PATHS = 5
_LONGEST_START = 16
_MICROSOFT_TYPE = ".?A"  # Visual C++ gives types such names, and makes only PE files
# Folders of build machines. Short ones such as /work or /src would match ordinary strings.
_BUILD_FOLDERS = re.compile(rb"/(?:home|root|Users|tmp|var/tmp|builds|workspace|__w|github/workspace|private/var)/")
_WINDOWS_FOLDERS = re.compile(rb":\\(?:Users|a|agent)\\")
_REST_OF_PATH = re.compile(rb"[^\x00-\x20\x7f-\xff\"'<>`:;,|*]{1,200}")
# Examples in help texts, such as OpenVINO's '/home/user/models/model.onnx'.
_EXAMPLES = re.compile(rb"(['\"`])/(?:home|Users)/(?:user|username|me|you)/[^'\"`\0]*\1")
_OF_BUILD = re.compile(
    r"\.([cfhmor]|[ch](c|pp|xx|h)|rs|go|py|pyx|f90|asm|s|cu|cuh|inl|ipp|a|so|obj|mod)$|build|pip-", re.IGNORECASE
)
"""What follows a folder for temporary files if something was built there."""
# Strings of programs that use such a folder at run time.
_RUN_TIME_PATHS = (b"/tmp/%", b"/tmp/.", b"/tmp/perf-", b"/home/%s", b"/root/.", b"/tmp/\0")

# Not the message of lb_ep_negotiate() in <latebind/ep.h>, whose name is that of the table and not of the factory.
_PROVIDER = re.compile(rb"[A-Za-z]\w{0,99}ExecutionProvider(?![A-Za-z0-9_]| [\w.+-]{1,99} needs ONNX Runtime )")
_HELPER = re.compile(rb"\0(GetLibraryPath|GetEpNames?)(?=\0)")  # in the metadata of an assembly
# As a text in the code of an assembly, which is UTF-16 (ECMA-335, II.24.2.4).
_TEXT = re.compile(rb"[A-Za-z]\0(?:\w\0){0,99}" + "ExecutionProvider".encode("utf-16-le") + rb"(?!\w\0)")
_MAX_NAMES = 100
_SETS_PATH = re.compile(rb"\b(DYLD_(?:FALLBACK_)?LIBRARY_PATH|LD_LIBRARY_PATH)['\"\])]*\s*\+?=(?!=)")
"""A script sets where the loader looks, in the syntax of a shell, Python, Ruby, Perl or JavaScript."""
_LOADS = re.compile(
    rb"\b(add_dll_directory|AddDllDirectory|SetDllDirectory\w?|LoadLibrary\w*|WinDLL|CDLL|PyDLL|cdll|windll|dlopen)\b|"
    rb"environ\S{0,6}['\"](PATH)['\"]|\b(chmod)(?:Sync)?\b"
)
"""What makes libraries be found at run time, and programs start: a folder, a library by its path, another mode."""
_OF_LOADS = (b"DLL", b"dll", b"Dll", b"Library", b"dlopen", b"environ", b"chmod")
"""One of them is in each: looking for these first is many times as fast."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """What to search for in the bytes of each binary, each in its own pass."""

    markers: tuple[str, ...] = ()
    """These strings."""
    paths: bool = True
    """Paths of build machines."""


def find_strings(data: Data, format_: Format | None, sought: Sought) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The markers that the file contains, and the first few absolute paths of a build machine."""
    markers: set[str] = set()
    paths: dict[str, None] = {}
    possible = [marker for marker in sought.markers if format_ == "pe" or not marker.startswith(_MICROSOFT_TYPE)]
    pattern = _WINDOWS_FOLDERS if format_ == "pe" else _BUILD_FOLDERS
    for start, end in _windows(data):
        markers |= {marker for marker in possible if data.find(marker.encode(), start, end) >= 0}
        for match in pattern.finditer(data, start, end) if sought.paths else ():
            if len(paths) == _MAX_SHOWN_PATHS:
                break
            if (text := _path_at(data, match.start(), match.end())) is not None:
                paths[text] = None
    return tuple(marker for marker in possible if marker in markers), tuple(paths)


def _windows(data: Data) -> Iterator[tuple[int, int]]:
    """Overlapping parts of a mapped file, so that parts already searched need not stay in memory."""
    if isinstance(data, bytes):
        yield 0, len(data)
        return
    for start in range(0, len(data), _WINDOW):
        yield start, min(start + _WINDOW + _OVERLAP, len(data))
        if hasattr(data, "madvise"):  # not on Windows
            data.madvise(mmap.MADV_DONTNEED, start, min(_WINDOW, len(data) - start))


def provider_names(data: Data) -> tuple[str, ...]:
    """The strings in a binary that look like names of execution providers."""
    return _words(_PROVIDER.findall(data))


def helper_names(data: Data) -> tuple[str, ...]:
    """The functions of an execution provider's helper that a .NET assembly names, and then the names in its texts."""
    helpers = _HELPER.findall(data)
    return _words([*helpers, *(text.replace(b"\0", b"") for text in (_TEXT.findall(data) if helpers else ()))])


def _words(matches: Iterable[bytes]) -> tuple[str, ...]:
    return tuple(sorted({match.decode("ascii", "replace") for match in matches}))[:_MAX_NAMES]


def _path_at(data: Data, start: int, end: int) -> str | None:
    """The path that starts there, if it goes on below the folder and is not one that the program uses at run time."""
    is_windows = data[start : start + 1] == b":"
    start -= is_windows
    before = data[max(start - 1, 0) : start]
    if before.isalnum() or before in (b"/", b".", b"_", b"-", b"}", b"*"):
        return None  # the middle of a longer path or of a URL
    if data[start : start + _LONGEST_START].startswith(_RUN_TIME_PATHS) or _EXAMPLES.match(data, max(start - 1, 0)):
        return None
    match = _REST_OF_PATH.match(data, end)
    rest = match[0].decode("ascii") if match else ""
    if b"tmp/" in data[start:end] and not _OF_BUILD.search(rest):
        return None  # an example in a docstring, such as PyArrow's /tmp/new_folder/local_fs.dat
    if "%" in rest or not ("/" in rest.strip("/") or "\\" in rest):
        return None  # a pattern that is filled in at run time, or a single name
    return data[start:end].decode("ascii", "replace") + rest


def search_helpers(data: Data, *, is_python: bool) -> tuple[str, ...]:
    """What a script does so that libraries are found: the variables that it sets, and the functions that it calls.

    A loader reads the variables when a program starts, so a Python that sets them changes nothing for its own process.
    """
    found = set() if is_python else {match[1] for match in _SETS_PATH.finditer(data)}
    if any(word in data for word in _OF_LOADS):
        found |= {match[1] or match[2] or match[3] for match in _LOADS.finditer(data)}
    return tuple(sorted(name.decode("ascii") for name in found))
