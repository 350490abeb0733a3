"""latenn's libraries for all six targets: what they export, what they need. The test programs build for others."""

import re

import lief
import pytest
from c.building import HERE
from c.test_build import COMPONENTS, LINUX, check_library, elf_surface

from tests.support.emulated import build_cross

pytestmark = pytest.mark.slow
NAMES = {
    "linux-x64": "lib{}.so",
    "linux-arm64": "lib{}.so",
    "osx-x64": "lib{}.dylib",
    "osx-arm64": "lib{}.dylib",
    "win-x64": "{}.dll",
    "win-arm64": "{}.dll",
}
MACHINES = {
    "linux-x64": lief.ELF.ARCH.X86_64,
    "linux-arm64": lief.ELF.ARCH.AARCH64,
    "osx-x64": lief.MachO.Header.CPU_TYPE.X86_64,
    "osx-arm64": lief.MachO.Header.CPU_TYPE.ARM64,
    "win-x64": lief.PE.Header.MACHINE_TYPES.AMD64,
    "win-arm64": lief.PE.Header.MACHINE_TYPES.ARM64,
}
SYSTEM = {
    "linux": LINUX,
    "osx": re.compile(r"/usr/lib/libSystem\.B\.dylib"),
    "win": re.compile(r"KERNEL32\.dll|api-ms-win-crt-[a-z]+-l1-1-0\.dll"),
}
# zig's linker lists these two of its own in the symbol table of every dylib.
LINKERS_OWN = {"__mh_dylib_header", "___dso_handle"}


def surface(path, rid):
    """What a library exports and what it needs; it is for the right processor, and has a name to link it by."""
    binary = lief.parse(str(path))
    if isinstance(binary, lief.PE.Binary):
        assert binary.header.machine == MACHINES[rid]
        return {entry.name for entry in binary.get_export().entries}, {library.name for library in binary.imports}
    if isinstance(binary, lief.MachO.Binary):
        assert binary.header.cpu_type == MACHINES[rid]
        assert not binary.has_rpath
        (identity,) = [
            command for command in binary.commands if command.command == lief.MachO.LoadCommand.TYPE.ID_DYLIB
        ]
        assert identity.name == f"@rpath/{path.name}"
        exports = {symbol.name for symbol in binary.exported_symbols} - LINKERS_OWN
        needed = {library.name for library in binary.libraries} - {identity.name}
        return {name.removeprefix("_") for name in exports}, needed
    assert binary.header.machine_type == MACHINES[rid]
    return elf_surface(path)


@pytest.mark.parametrize("rid", NAMES)
def test_libraries_have_the_right_surface(latenn_packages, rid):
    """That two folders give the same bytes is shown by test_packages.py."""
    stage = latenn_packages.parent / "stage" / rid
    for component in COMPONENTS:
        (path,) = stage.rglob(NAMES[rid].format(f"latenn_{component}"))
        check_library(path, component, surface(path, rid), SYSTEM[rid.partition("-")[0]], stage.parents[1])


@pytest.mark.parametrize("rid", ["linux-arm64", "osx-arm64", "win-x64"])
def test_the_test_programs_build_for_every_system(shared_folder, rid):
    folder = build_cross(shared_folder, rid, source=HERE)
    names = {path.name for path in folder.rglob("*") if path.is_file()}
    suffix = ".exe" if rid.startswith("win") else ""
    assert {f"{name}{suffix}" for name in ("runner", "crowd")} <= names
