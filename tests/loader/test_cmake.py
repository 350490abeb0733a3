"""What the CMake package of the loader says when it is called wrongly, and where a runtime's minimum comes from."""

import re

import pytest

from tests.support.building import ROOT, needed_compiler, program
from tests.support.running import run_program


def run_cmake(tmp_path, text, *arguments):
    cmake, ninja = program("cmake"), program("ninja")
    if not cmake or not ninja:
        pytest.skip("not run: cmake or ninja is missing: pip install cmake ninja")
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
