"""latenn's libraries for all six targets: equal bytes from two folders, what they export, what they need."""

import re
import shutil

import lief
import pytest

from tests.native.building import ROOT, CannotBuildError, build
from tests.native.emulated import build_cross, configure_cross

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
    "linux": re.compile(r"lib(c\.so\.6|dl\.so\.2|pthread\.so\.0)|ld-linux-aarch64\.so\.1"),
    "osx": re.compile(r"/usr/lib/libSystem\.B\.dylib"),
    "win": re.compile(r"KERNEL32\.dll|api-ms-win-crt-[a-z]+-l1-1-0\.dll"),
}
LIMIT = 150_000
# zig's linker lists these two of its own in the symbol table of every dylib.
LINKERS_OWN = {"__mh_dylib_header", "___dso_handle"}


def build_copy(place, rid):
    for part in ("loader", "latenn/native"):
        shutil.copytree(ROOT / part, place / part)
    arguments = [f"-Dlatebind_DIR={place / 'loader'}", "-DCMAKE_BUILD_TYPE=Release", "-DLATEBIND_PROJECT_VERSION=0.1.0"]
    try:
        configure_cross(place / "latenn/native", place / "out", rid, *arguments)
    except CannotBuildError as reason:
        pytest.skip(f"not run: {reason}")
    build(place / "out")
    return place / "out"


def surface(path):
    """Architecture, exports and needed libraries of a binary, as plain names."""
    binary = lief.parse(str(path))
    if isinstance(binary, lief.PE.Binary):
        exports = {entry.name for entry in binary.get_export().entries}
        return binary.header.machine, exports, {library.name for library in binary.imports}
    if isinstance(binary, lief.MachO.Binary):
        exports = {symbol.name for symbol in binary.exported_symbols} - LINKERS_OWN
        needed = {library.name for library in binary.libraries} - {path.name}
        assert not binary.has_rpath
        return binary.header.cpu_type, {name.removeprefix("_") for name in exports}, needed
    exports = {symbol.name for symbol in binary.exported_symbols if symbol.name}
    assert not any("PATH" in str(entry.tag) for entry in binary.dynamic_entries)
    return binary.header.machine_type, exports, set(binary.libraries)


def expected_exports(component):
    if component == "latenn_customop":
        return {"RegisterCustomOps"}
    if component != "latenn_core":
        return {"latenn_backend_table"}
    native = ROOT / "latenn/native"
    sources = [native / "include/latenn.h", *sorted((native / "src/python").glob("*.[ch]"))]
    text = "".join(source.read_text("utf-8") for source in sources)
    return set(re.findall(r"LATENN_API [^;(]*?(latenn_\w+)\(", text))


@pytest.mark.parametrize("rid", NAMES)
def test_two_folders_give_the_same_bytes_with_the_right_surface(tmp_path, rid):
    first = build_copy(tmp_path / "one", rid)
    second = build_copy(tmp_path / "a longer folder, with spaces", rid)
    for component in ("latenn_core", "latenn_backend_onnxruntime"):
        name = NAMES[rid].format(component)
        data = (first / name).read_bytes()
        assert data == (second / name).read_bytes(), name
        assert str(tmp_path).encode() not in data
        assert len(data) < LIMIT
        machine, exports, needed = surface(first / name)
        assert machine == MACHINES[rid]
        assert exports == expected_exports(component)
        assert not [library for library in needed if not SYSTEM[rid.partition("-")[0]].fullmatch(library)]


@pytest.mark.parametrize("rid", ["osx-x64", "osx-arm64"])
def test_a_dylibs_own_name_is_its_plain_file_name(tmp_path, rid):
    tree = build_copy(tmp_path / "one", rid)
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
