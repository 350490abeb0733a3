"""Looks for strings in the bytes of a binary or a script: the policy's markers, and what makes libraries be found."""

from __future__ import annotations

import mmap
import re
from typing import TYPE_CHECKING

from loadcheck.binary import list_text_ranges

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from loadcheck.binary import Data, Format

_WINDOW, _OVERLAP = 32 * 1024**2, 4096
_MICROSOFT_TYPE = ".?A"  # Visual C++ gives types such names, and makes only PE files
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


def find_markers(data: Data, format_: Format | None, markers: Iterable[str]) -> tuple[str, ...]:
    """Those of some strings that a file contains."""
    possible = [marker for marker in markers if format_ == "pe" or not marker.startswith(_MICROSOFT_TYPE)]
    found: set[str] = set()
    for start, end in list_windows(data) if possible else ():
        found |= {marker for marker in possible if data.find(marker.encode(), start, end) >= 0}
    return tuple(marker for marker in possible if marker in found)


def list_windows(data: Data) -> Iterator[tuple[int, int]]:
    """The parts of a binary that may hold text, cut into overlapping windows.

    What was searched in a mapped file need not stay in memory.
    """
    for first, last in list_text_ranges(data):
        for start in range(first, last, _WINDOW):
            yield start, min(start + _WINDOW + _OVERLAP, last)
            if isinstance(data, mmap.mmap) and hasattr(data, "madvise"):  # not on Windows
                page = start - start % mmap.PAGESIZE
                data.madvise(mmap.MADV_DONTNEED, page, min(_WINDOW, len(data) - page))


def provider_names(data: Data) -> tuple[str, ...]:
    """The strings in a binary that look like names of execution providers."""
    return _words(_PROVIDER.findall(data))


def helper_names(data: Data) -> tuple[str, ...]:
    """The functions of an execution provider's helper that a .NET assembly names, and then the names in its texts."""
    helpers = _HELPER.findall(data)
    return _words([*helpers, *(text.replace(b"\0", b"") for text in (_TEXT.findall(data) if helpers else ()))])


def _words(matches: Iterable[bytes]) -> tuple[str, ...]:
    return tuple(sorted({match.decode("ascii", "replace") for match in matches}))[:_MAX_NAMES]


def search_helpers(data: Data, *, is_python: bool) -> tuple[str, ...]:
    """What a script does so that libraries are found: the variables that it sets, and the functions that it calls.

    A loader reads the variables when a program starts, so a Python that sets them changes nothing for its own process.
    """
    found = set() if is_python else {match[1] for match in _SETS_PATH.finditer(data)}
    if any(word in data for word in _OF_LOADS):
        found |= {match[1] or match[2] or match[3] for match in _LOADS.finditer(data)}
    return tuple(sorted(name.decode("ascii") for name in found))
