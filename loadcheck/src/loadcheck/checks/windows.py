"""Checks LB111 and LB112: run-time libraries of Windows binaries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadcheck.checks.linkage import find_supply, skip_unread
from loadcheck.engine import platforms
from loadcheck.engine.check import Hit, Hits, check
from loadcheck.engine.supply import list_unread, must_load
from loadcheck.engine.wording import first, is_late, needs
from loadcheck.tables import pythonabi

if TYPE_CHECKING:
    from loadcheck.binary import Image
    from loadcheck.engine.policy import Policy
    from loadcheck.readers.contents import Contents, File

_WITH_PYTHON = {"vcruntime140.dll": 5, "vcruntime140_1.dll": 9}
"""Since which CPython 3 python.org's installers put these next to python.exe (delvewheel's `_dll_list.py`)."""


@check(
    "LB111",
    "Visual C++ run-time library needed",
    "warning",
    because="The library does not load where the redistributable is not installed, or it fails on first use if it "
    "delay-loads the DLLs. The finding is a note if CPython or a required package installs the library.",
    formats=("pe",),
    example="latenn.dll: import of MSVCP140.dll",
    fix="Link this library statically (CMake: CMAKE_MSVC_RUNTIME_LIBRARY MultiThreaded; Rust: -C "
    "target-feature=+crt-static), or add the DLL to the package. Until then, users have to install Microsoft's Visual "
    "C++ Redistributable.",
)
def vc_runtime_needed(package: Contents, file: File, image: Image, policy: Policy) -> Hits:
    """Windows does not include the Visual C++ run-time library. Without the redistributable, loading fails.

    The error message, `The specified module could not be found`, does not name the missing DLL. If an older copy is
    loaded already, newer code may crash. For a wheel, the finding is a note if it needs only DLLs that CPython itself
    installs: VCRUNTIME140.dll, and VCRUNTIME140_1.dll since 3.9. It is also a note if a requirement installs
    the DLLs, which `--resolve` finds out; without it, the check does not judge DLLs that a requirement may install.
    A program of the package does not find the DLLs of CPython, which are next to python.exe. DLLs in a wheel for other
    systems, and DLLs that Microsoft's own DLLs delay-load, do not count.
    """
    if not platforms.admits_windows(package):
        return
    libraries = [name for name in image.needed if platforms.is_vc_runtime(name) and name.lower() not in package.bases]
    libraries = [name for name in libraries if not platforms.is_debug_runtime(name)]  # LB112
    if platforms.is_vc_runtime(file.base):
        libraries = [name for name in libraries if image.link_kinds.get(name) != "delay"]
    of_python = frozenset() if image.file_type == "executable" else list_with_python(package)
    lacking = [name for name in libraries if name.lower() not in of_python]
    supplies = {name: supply for name in lacking if (supply := find_supply(package, image, name))}
    lacking = [name for name in lacking if name not in supplies]
    unread = {name: rows for name in lacking if (rows := list_unread(package, policy, name))}
    if lacking and len(unread) == len(lacking):
        yield skip_unread(package, lacking[0], unread[lacking[0]])
        return
    lacking = [name for name in lacking if name not in unread]
    libraries = lacking or libraries
    if not libraries:
        return
    source = "" if lacking else next((supply.source for supply in supplies.values()), "CPython")
    late = [name for name in libraries if is_late(image, name)]
    at_load = [name for name in libraries if name not in late]
    yield Hit(
        cause=source,
        message=f"needs the run-time library of Visual C++{' on first use' * (not at_load)}, which "
        + (f"{source} installs" if source else "Windows does not include")
        + f": {first(at_load or late)}"
        + (f"; on first use also {first(late)}" if at_load and late else ""),
        evidence=tuple(needs(image, name) for name in libraries),
        severity="note" if source else "warning",
        libraries=tuple(libraries),
    )


def list_with_python(package: Contents) -> frozenset[str]:
    """The DLLs of Visual C++ that each CPython has for which a wheel is; none for other packages."""
    if package.wheel is None:
        return frozenset()
    floors = [floor[1] for tag in package.wheel.pythons if (floor := pythonabi.floor_of(tag))]
    is_open = not floors or not {"abi3", "abi3t", "none"}.isdisjoint(package.wheel.abis)
    oldest = max([*_WITH_PYTHON.values(), *floors]) if is_open else min(floors)  # nobody misses the oldest ones
    if any(tag.startswith("pp") for tag in package.wheel.pythons):
        oldest = min(_WITH_PYTHON.values())
    return frozenset(name for name, since in _WITH_PYTHON.items() if since <= oldest)


@check(
    "LB112",
    "Debug run-time library needed",
    "error",
    because="The library loads only on developers' machines. The finding is a warning if the package works without "
    "the file, or if the file needs the library on first use only.",
    formats=("pe",),
    example="latenn.dll: import of VCRUNTIME140D.dll",
    fix="Build the Release configuration (cmake --build . --config Release).",
)
def debug_runtime_needed(package: Contents, file: File, image: Image) -> Hits:
    """Only Visual Studio installs the debug run-time library, and it may not be redistributed.

    The finding is a warning if the package also works without the file that needs the DLLs, or if the DLLs are needed
    on first use only.
    """
    libraries = [name for name in image.needed if platforms.is_debug_runtime(name)]
    if libraries:
        evidence = tuple(needs(image, name) for name in libraries)
        late = " on first use" * all(is_late(image, name) for name in libraries)
        yield Hit(
            cause=" ".join(libraries),
            message=f"needs {', '.join(libraries)}{late}, which only developers' machines have",
            evidence=evidence,
            severity="error" if must_load(package, file, image) and not late else "warning",
            libraries=tuple(libraries),
        )
