"""How the native libraries build: what they export and need, that they are the same everywhere, what CMake says."""

import importlib.metadata
import re
import shutil
import subprocess
import sys

import pytest

from tests.native.building import ROOT, CannotBuildError, build, configure, program, system_compiler, zig_wrapper

BACKENDS = ("onnxruntime", "openvino", "litert")
LIBRARIES = ("liblatenn_core.so", "liblatenn_customop.so", *(f"liblatenn_backend_{name}.so" for name in BACKENDS))


def compiler_of(kind, folder):
    if kind == "host":
        found = system_compiler()
        if found is None:
            pytest.skip("not run: no C compiler is on PATH")
        return found
    found = zig_wrapper(folder)
    if found is None:
        pytest.skip("not run: the ziglang package is missing")
    return f"{found};-target;x86_64-linux-gnu.2.28"


def build_copy(place, compiler):
    """Build from a copy of the sources in a folder of its own."""
    for part in ("loader", "latenn/native"):
        shutil.copytree(ROOT / part, place / part)
    tree = place / "out"
    arguments = [f"-Dlatebind_DIR={place / 'loader'}", "-DCMAKE_BUILD_TYPE=Release", "-DLATEBIND_PROJECT_VERSION=0.1.0"]
    try:
        configure(place / "latenn/native", tree, compiler, *arguments)
    except CannotBuildError as reason:
        pytest.skip(f"not run: {reason}")
    build(tree)
    return tree


@pytest.mark.parametrize("kind", ["host", pytest.param("zig", marks=pytest.mark.slow)])
def test_two_folders_give_the_same_bytes_and_no_path_gets_in(tmp_path, kind):
    compiler = compiler_of(kind, tmp_path)
    first = build_copy(tmp_path / "one", compiler)
    second = build_copy(tmp_path / "a longer folder, with spaces", compiler)
    for name in LIBRARIES:
        data = (first / name).read_bytes()
        assert data == (second / name).read_bytes(), name
        assert str(tmp_path).encode() not in data
        assert len(data) < 120_000
        check_surface(first / name)
    check_unload(first)


def check_surface(library):
    readelf = shutil.which("readelf")
    if readelf is None:
        return
    dynamic = subprocess.run([readelf, "-dW", library], capture_output=True, text=True, check=True).stdout
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)
    assert set(needed) <= {"libc.so.6", "libdl.so.2", "libpthread.so.0"}
    assert f"[{library.name}]" in dynamic
    assert "RPATH" not in dynamic
    assert "RUNPATH" not in dynamic
    assert "BIND_NOW" in dynamic
    symbols = subprocess.run([readelf, "--dyn-syms", "-W", library], capture_output=True, text=True, check=True).stdout
    exported = {line.split()[7] for line in symbols.splitlines() if re.search(r"GLOBAL +DEFAULT +\d+ ", line)}
    if "customop" in library.name:
        assert exported == {"RegisterCustomOps"}
        return
    if "backend" in library.name:
        assert exported == {"latenn_backend_table"}
    else:
        native = ROOT / "latenn/native"
        sources = [native / "include/latenn.h", *sorted((native / "src/python").glob("*.[ch]"))]
        text = "".join(source.read_text("utf-8") for source in sources)
        assert exported == set(re.findall(r"LATENN_API [^;(]*?(latenn_\w+)\(", text))


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


def check_unload(folder):
    """The core may be unloaded, and a fork after that must not call into what is gone."""
    done = subprocess.run([sys.executable, "-c", UNLOAD, folder], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def run_cmake(tmp_path, text, *arguments):
    cmake, ninja = program("cmake"), program("ninja")
    if not cmake or not ninja:
        pytest.skip("not run: cmake or ninja is missing")
    compiler = system_compiler() or zig_wrapper(tmp_path)
    if compiler is None:
        pytest.skip("not run: there is no C compiler")
    (tmp_path / "l.c").write_text("int l(void);\nint l(void) { return 0; }\n")
    lines = ["cmake_minimum_required(VERSION 3.20)", "project(l LANGUAGES C)", "find_package(latebind CONFIG REQUIRED)"]
    (tmp_path / "CMakeLists.txt").write_text("\n".join([*lines, "add_library(l SHARED l.c)", text, ""]))
    command = [cmake, "-S", tmp_path, "-B", tmp_path / "out", "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja}"]
    return subprocess.run(
        [*command, f"-DCMAKE_C_COMPILER={compiler}", f"-Dlatebind_DIR={ROOT / 'loader'}", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("text", "arguments", "says"),
    [
        ("latebind_add_runtime(m onnxruntime)", [], 'there is no target "m". Call add_library(m ...) first.'),
        (
            "latebind_add_runtime(l onnxruntim)",
            [],
            '"onnxruntim" is not a runtime that latebind knows. Known: onnxruntime, openvino, litert.',
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
    rules = (tmp_path / "out" / "build.ninja").read_text()
    found = re.search(r"MINIMUM_MAJOR=(\d+) -DLATEBIND_ONNXRUNTIME_MINIMUM_MINOR=(\d+) -D\w+_PATCH=(\d+)", rules)
    assert (found.groups() if found else None) == floor


def test_every_runtime_that_cmake_knows_has_its_files():
    text = (ROOT / "loader" / "latebindConfig.cmake").read_text()
    names = re.search(r"set\(LATEBIND_RUNTIMES ([^)]*)\)", text).group(1).split()
    for name in names:
        assert (ROOT / "loader" / "src" / f"{name}.c").exists()
        assert (ROOT / "loader" / "include" / "latebind" / f"{name}.h").exists()


def test_every_source_of_the_loader_is_named_in_cmake():
    text = (ROOT / "loader" / "latebindConfig.cmake").read_text()
    words = set(re.findall(r"\w+", text))
    assert not {source.stem for source in (ROOT / "loader" / "src").glob("*.c")} - words


@pytest.mark.parametrize("folder", ["loader", "latenn/native", "tests/native"])
def test_c_is_formatted(folder):
    formatter = program("clang-format")
    pinned = re.search(r"clang-format==([\d.]+)", (ROOT / "pyproject.toml").read_text())
    try:
        version = importlib.metadata.version("clang-format")
    except importlib.metadata.PackageNotFoundError:
        version = None
    if formatter is None or not pinned or version != pinned.group(1):
        pytest.skip("not run: clang-format of the pinned version is missing")
    files = [path for path in (ROOT / folder).rglob("*") if path.suffix in {".c", ".h"}]
    done = subprocess.run([formatter, "--dry-run", "-Werror", *files], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]
