"""How latenn's libraries build: what they export and need, and that they are the same everywhere."""

import re
import shutil
import sys

import lief
import pytest

from tests.support.building import ROOT, build, configure, needed_compiler
from tests.support.programs import run_checked

COMPONENTS = ("core", "customop", "backend_onnxruntime", "backend_openvino", "backend_litert")
LINUX = re.compile(r"lib(c\.so\.6|dl\.so\.2|pthread\.so\.0)|ld-linux-aarch64\.so\.1")


def build_copy(folder, configure_for):
    """Build from a copy of the sources in a folder of its own."""
    for part in ("loader", "latenn/native"):
        shutil.copytree(ROOT / part, folder / part)
    tree = folder / "out"
    arguments = [
        f"-Dlatebind_DIR={folder / 'loader'}",
        "-DCMAKE_BUILD_TYPE=Release",
        "-DLATEBIND_PROJECT_VERSION=0.1.0",
    ]
    configure_for(folder / "latenn/native", tree, *arguments)
    build(tree)
    return tree


def expected_exports(component):
    if component != "core":
        return {"RegisterCustomOps" if component == "customop" else "latenn_backend_table"}
    native = ROOT / "latenn/native"
    sources = [native / "include/latenn.h", *sorted((native / "src/python").glob("*.[ch]"))]
    text = "".join(source.read_text("utf-8") for source in sources)
    return set(re.findall(r"LATENN_API [^;(]*?(latenn_\w+)\(", text))


def check_two_builds(tmp_path, configure_for, name, surface, system):
    """Two folders give the same bytes without a path in them, with the right exports and needs; gives the first."""
    first = build_copy(tmp_path / "one", configure_for)
    second = build_copy(tmp_path / "a longer folder, with spaces", configure_for)
    for component in COMPONENTS:
        path = first / name.format(f"latenn_{component}")
        assert path.read_bytes() == (second / path.name).read_bytes(), path.name
        check_library(path, component, surface(path), system, tmp_path)
    return first


def check_library(path, component, surface, system, built_below):
    """A library is small, names no folder that it was built in, and has the right exports and needs."""
    data = path.read_bytes()
    assert str(ROOT).encode() not in data
    assert str(built_below).encode() not in data
    assert len(data) < 200_000
    exports, needed = surface
    assert exports == expected_exports(component)
    assert not [library for library in needed if not system.fullmatch(library)]


def elf_surface(path):
    """What a library of Linux exports and needs."""
    binary = lief.ELF.parse(str(path))
    assert not any("PATH" in str(entry.tag) for entry in binary.dynamic_entries)
    tag = lief.ELF.DynamicEntry.TAG
    assert binary.get(tag.SONAME).name == path.name
    assert binary.get(tag.FLAGS).has(lief.ELF.DynamicEntryFlags.FLAG.BIND_NOW)
    return {symbol.name for symbol in binary.exported_symbols if symbol.name}, set(binary.libraries)


UNLOAD = """
import _ctypes, ctypes, os, pathlib, sys
core = ctypes.CDLL(str(pathlib.Path(sys.argv[1]) / "liblatenn_core.so"))
report = ctypes.c_char_p()
options = (ctypes.c_uint32 * 64)(256)  # nothing but its size is set
core.latenn_runtime_report.restype = ctypes.c_void_p
core.latenn_runtime_report(ctypes.byref(options), ctypes.byref(report))
assert report.value, "the backend was not asked"
_ctypes.dlclose(core._handle)
assert "liblatenn_core" not in pathlib.Path("/proc/self/maps").read_text(), "still loaded"
child = os.fork()
if not child:
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.slow
def test_two_folders_give_the_same_bytes_and_the_core_may_be_unloaded(tmp_path):
    """A fork after that must not call into what is gone."""
    compiler = needed_compiler()

    def configure_here(source, tree, *arguments):
        configure(source, tree, compiler, *arguments)

    first = check_two_builds(tmp_path, configure_here, "lib{}.so", elf_surface, LINUX)
    run_checked(sys.executable, "-c", UNLOAD, first)
