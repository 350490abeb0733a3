"""latenn's libraries for all six targets: equal bytes from two folders, what they export, what they need."""

import re

import lief
import pytest

from tests.native.building import CannotBuildError
from tests.native.emulated import build_cross, configure_cross
from tests.native.test_build import LINUX, build_copy, check_two_builds, elf_surface

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


def configure_for(rid):
    return lambda source, tree, *arguments: configure_cross(source, tree, rid, *arguments)


@pytest.mark.parametrize("rid", ["linux-x64", "osx-arm64", "win-x64"])  # one for each linker
def test_two_folders_give_the_same_bytes_with_the_right_surface(tmp_path, rid):
    def surface(path):
        binary = lief.parse(str(path))
        if isinstance(binary, lief.PE.Binary):
            assert binary.header.machine == MACHINES[rid]
            exports = {entry.name for entry in binary.get_export().entries}
            return exports, {library.name for library in binary.imports}
        if isinstance(binary, lief.MachO.Binary):
            assert binary.header.cpu_type == MACHINES[rid]
            assert not binary.has_rpath
            exports = {symbol.name for symbol in binary.exported_symbols} - LINKERS_OWN
            needed = {library.name for library in binary.libraries} - {path.name}
            return {name.removeprefix("_") for name in exports}, needed
        assert binary.header.machine_type == MACHINES[rid]
        return elf_surface(path)

    check_two_builds(tmp_path, configure_for(rid), NAMES[rid], surface, SYSTEM[rid.partition("-")[0]])


@pytest.mark.parametrize("rid", ["osx-x64", "osx-arm64"])
def test_a_dylibs_own_name_is_its_plain_file_name(tmp_path, rid):
    tree = build_copy(tmp_path / "one", configure_for(rid))
    binary = lief.parse(str(tree / "liblatenn_core.dylib"))
    identities = [command for command in binary.commands if command.command == lief.MachO.LoadCommand.TYPE.ID_DYLIB]
    assert [identity.name for identity in identities] == ["liblatenn_core.dylib"]


@pytest.mark.parametrize("rid", NAMES)
def test_the_test_programs_build_for_every_target(shared, rid):
    try:
        folder = build_cross(shared, rid)
    except CannotBuildError as reason:
        pytest.skip(f"not run: {reason}")
    names = {path.name for path in folder.rglob("*") if path.is_file()}
    suffix = ".exe" if rid.startswith("win") else ""
    assert {f"{name}{suffix}" for name in ("unit", "probe", "heads", "runner", "crowd")} <= names
