"""Checks LB111, LB112 and LB614: what Windows binaries need or tell beside the rest; reads nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from latebind.audit import platforms
from latebind.audit.registry import Hit, Skip, check
from latebind.audit.wording import needs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from latebind.audit.policy import Policy
    from latebind.audit.subject import File, Package
    from latebind.binary import Image

# python.org's CPython 3.9 and newer brings these two beside python.exe; it never brought msvcp140.dll.
_WITH_PYTHON = ("vcruntime140.dll", "vcruntime140_1.dll")


@check(
    "LB111",
    "Visual C++ run-time needed",
    "warning",
    scope="binary",
    formats=("pe",),
    example="latenn.dll: import of MSVCP140.dll",
    cure="Link the run-time statically (CMake: CMAKE_MSVC_RUNTIME_LIBRARY MultiThreaded), or put the DLL beside it.",
)
def vc_runtime_needed(package: Package, file: File, image: Image, policy: Policy) -> Iterator[Hit | Skip]:
    """Windows does not bring Visual C++'s run-time; without the redistributable the library fails to load.

    The message is `The specified module could not be found` and names another file. An older copy that is loaded
    already crashes newer code. In a wheel the two DLLs that CPython itself brings are a note.
    """
    del file, policy
    rows = [name for name in image.needed if platforms.is_vc_runtime(name) and name.lower() not in package.bases]
    rows = [name for name in rows if not platforms.is_debug_runtime(name)]  # LB112
    if rows:
        with_python = package.kind == "wheel" and all(name.lower() in _WITH_PYTHON for name in rows)
        yield Hit(
            message=f"needs {', '.join(rows)} of the Visual C++ run-time"
            + (", which CPython brings" if with_python else ", which Windows does not bring"),
            evidence=tuple(needs(image, name) for name in rows),
            severity="note" if with_python else "warning",
        )


@check(
    "LB112",
    "Debug run-time needed",
    "error",
    scope="binary",
    formats=("pe",),
    example="latenn.dll: import of VCRUNTIME140D.dll",
    cure="Build the Release configuration (cmake --build . --config Release).",
)
def debug_runtime_needed(package: Package, file: File, image: Image, policy: Policy) -> Iterator[Hit | Skip]:
    """The debug run-time comes with Visual Studio alone and may not be passed on: no user's machine has it."""
    del package, file, policy
    rows = [name for name in image.needed if platforms.is_debug_runtime(name)]
    if rows:
        evidence = tuple(needs(image, name) for name in rows)
        yield Hit(message=f"needs {', '.join(rows)}, which only a developer's machine has", evidence=evidence)


@check(
    "LB614",
    "Path of the debug database inside",
    "warning",
    scope="binary",
    formats=("pe",),
    example=r"latenn.dll: PDB path D:\a\latenn\build\latenn.pdb",
    cure="Link with /PDBALTPATH:%_PDB%, so that only the file's name is recorded.",
)
def pdb_path(package: Package, file: File, image: Image, policy: Policy) -> Iterator[Hit | Skip]:
    """The linker records the full path of the PDB: it tells where and by whom the DLL was built.

    It makes two builds of one source differ as well. The name alone is what a debugger needs.
    """
    del package, file, policy
    if "\\" in image.pdb or "/" in image.pdb:
        yield Hit(message=f"names its debug database by a path: {image.pdb}", evidence=(f"PDB path {image.pdb}",))
