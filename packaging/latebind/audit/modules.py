"""Checks LB309 and LB310: whether Python modules fit the Pythons that their wheel's tag names; reads nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from latebind.audit import platforms
from latebind.audit.registry import EVERY_FORMAT, Hit, Skip, check
from latebind.audit.wording import some
from latebind.tables import pythonabi
from latebind.text import plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from latebind.audit.policy import Policy
    from latebind.audit.subject import File, Package, WheelName
    from latebind.binary import Image

_OWN_ENTRY = ("PyInit_", "PyModExport_")


@check(
    "LB309",
    "Module uses more than the stable ABI",
    "error",
    scope="binary",
    formats=EVERY_FORMAT,
    kinds=("wheel",),
    example="_core.abi3.so in a wheel tagged cp310-abi3 uses PyType_GetName, which CPython has since 3.11",
    cure="Compile with Py_LIMITED_API set to the oldest CPython of the tag (0x030A0000 for cp310), or raise the tag.",
)
def outside_stable_abi(package: Package, file: File, image: Image, policy: Policy) -> Iterator[Hit | Skip]:
    """`cp310-abi3` promises that the module loads in CPython 3.10 and in every newer one.

    Only names of the stable ABI stay there, each from the version on in which it was added. With any other the import
    fails in some of these Pythons, at the first call on Linux and macOS, or works with changed meaning. On Windows
    they must come from python3.dll: python311.dll is there in 3.11 alone.
    """
    del file, policy
    floor = _floor(package.wheel)
    if floor is None:
        return
    own = {export.name for _, other in package.images for export in other.exports}
    used = {
        row.name: row.library.lower()
        for row in image.imports
        if row.name.startswith(("Py", "_Py")) and not row.name.startswith(_OWN_ENTRY) and row.name not in own
    }
    if floor > pythonabi.newest():
        yield Skip(reason=f"the stable ABI of {_dotted(floor)} is not known here yet")
        return
    table = pythonabi.members()
    strangers = [f"{name} is no part of it" for name in sorted(used) if name not in table]
    newer = [
        f"{name} is there since {_dotted(table[name].since)}"
        for name in sorted(used)
        if name in table and table[name].since > floor
    ]
    tied = sorted({library for library in used.values() if platforms.is_python(library)} - {"python3.dll"})
    seen = [*strangers, *newer, *(f"imports {library}" for library in tied)]
    if seen:
        yield Hit(
            message=f"breaks the promise of cp{floor[0]}{floor[1]}-abi3 with {plural(len(seen), 'import')}: {seen[0]}",
            evidence=some(seen),
        )


@check(
    "LB310",
    "Module's file name and wheel tag name different ABIs",
    "error",
    scope="binary",
    formats=EVERY_FORMAT,
    kinds=("wheel",),
    example="_core.cpython-311-x86_64-linux-gnu.so in a wheel tagged cp310-abi3",
    cure="Give both one ABI: the suffix .abi3.so (.pyd on Windows) with an abi3 tag, or both of one.",
)
def other_abi_than_tag(package: Package, file: File, image: Image, policy: Policy) -> Iterator[Hit | Skip]:
    """CPython finds a module by the end of its file name, installers choose a wheel by its tag.

    A module named for one CPython in a wheel for others is installed and not found: `No module named ...`. A
    stable-ABI module in a wheel for one CPython works there, and is kept from all the others that it could serve.
    """
    del policy
    wheel, abi = package.wheel, pythonabi.module_abi(file.base)
    if wheel is None or not image.python_module or not abi or abi in wheel.abis or "none" in wheel.abis:
        return  # LB306 speaks of wheels whose ABI is none
    tags = f"{'.'.join(wheel.pythons)}-{'.'.join(wheel.abis)}"
    evidence = (f"file {file.base}", f"tag {tags}")
    if abi == "abi3":
        message = f"is a module of the stable ABI, but the tag {tags} keeps it from all other CPythons"
        yield Hit(message=message, evidence=evidence, severity="warning")
    else:
        yield Hit(message=f"is found by {abi} alone, but the wheel is installed for {tags}", evidence=evidence)


def _floor(wheel: WheelName | None) -> pythonabi.PythonVersion | None:
    """The oldest CPython that a stable-ABI wheel promises to serve; None for other wheels."""
    if wheel is None or "abi3" not in wheel.abis:
        return None
    return min((version for name in wheel.pythons if (version := pythonabi.floor_of(name))), default=None)


def _dotted(version: pythonabi.PythonVersion) -> str:
    return f"CPython {version[0]}.{version[1]}"
