"""How the native libraries build: what they export and need, that they are the same everywhere, what CMake says."""

import re
import shutil
import sys

import lief
import pytest

from tests.native.building import ROOT, build, configure, needed_compiler, program
from tests.programs import run_checked, run_program

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


def test_two_folders_give_the_same_bytes_and_the_core_may_be_unloaded(tmp_path):
    """A fork after that must not call into what is gone."""
    compiler = needed_compiler()

    def configure_here(source, tree, *arguments):
        configure(source, tree, compiler, *arguments)

    first = check_two_builds(tmp_path, configure_here, "lib{}.so", elf_surface, LINUX)
    run_checked(sys.executable, "-c", UNLOAD, first)


def run_cmake(tmp_path, text, *arguments):
    cmake, ninja = program("cmake"), program("ninja")
    if not cmake or not ninja:
        pytest.skip("not run: cmake or ninja is missing")
    compiler = needed_compiler(tmp_path)
    (tmp_path / "l.c").write_text("int l(void);\nint l(void) { return 0; }\n")
    lines = ["cmake_minimum_required(VERSION 3.20)", "project(l LANGUAGES C)", "find_package(latebind CONFIG REQUIRED)"]
    (tmp_path / "CMakeLists.txt").write_text("\n".join([*lines, "add_library(l SHARED l.c)", text, ""]))
    command = [cmake, "-S", tmp_path, "-B", tmp_path / "out", "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja}"]
    return run_program(*command, f"-DCMAKE_C_COMPILER={compiler}", f"-Dlatebind_DIR={ROOT / 'loader'}", *arguments)


@pytest.mark.parametrize(
    ("text", "arguments", "says"),
    [
        ("latebind_add_runtime(m onnxruntime)", [], 'there is no target "m". Call add_library(m ...) first.'),
        (
            "latebind_add_runtime(l onnxruntim)",
            [],
            '"onnxruntim" is not a runtime that latebind knows. Known: litert, onnxruntime, openvino.',
        ),
        ("latebind_add_runtime(l onnxruntime MINIMUM new)", [], 'the minimum of onnxruntime is "new"'),
        ("latebind_add_runtime(l onnxruntime 1.20)", [], '"1.20" is not understood; it takes <target> <runtime>'),
        (
            "latebind_add_runtime(l onnxruntime)",
            ["-DLATEBIND_MINIMUM_onnxruntime=1"],
            "it must look like 1.19 or 1.19.2.",
        ),
        ("latebind_hardening(m)", [], 'latebind_hardening: there is no target "m"'),
        ("latebind_exports(m x)", [], 'latebind_exports: there is no target "m"'),
    ],
)
def test_cmake_says_what_is_wrong(tmp_path, text, arguments, says):
    done = run_cmake(tmp_path, text, *arguments)
    assert done.returncode != 0
    assert says in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("text", "arguments", "floor"),
    [
        ("latebind_add_runtime(l onnxruntime)", [], None),
        ("latebind_add_runtime(l onnxruntime)", ["-DLATEBIND_MINIMUM_onnxruntime=1.22"], ("1", "22", "0")),
        (
            "latebind_add_runtime(l onnxruntime MINIMUM 1.23.4)",
            ["-DLATEBIND_MINIMUM_onnxruntime=1.22"],
            ("1", "23", "4"),
        ),
    ],
)
def test_the_floor_comes_from_one_number(tmp_path, text, arguments, floor):
    done = run_cmake(tmp_path, text, *arguments)
    assert done.returncode == 0, done.stderr
    rules = (tmp_path / "out" / "build.ninja").read_text().partition("CMakeFiles/l.dir/")[2]
    match = re.search(r"MINIMUM_MAJOR=(\d+) -DLATEBIND_ONNXRUNTIME_MINIMUM_MINOR=(\d+) -D\w+_PATCH=(\d+)", rules)
    assert (match.groups() if match else None) == floor
