"""Libraries of CUDA 12 and 13 from NVIDIA's wheels, in one program that links none of them; without a GPU."""

import ctypes.util
import os
import shutil

import pytest

from ci.machines import wine
from ci.machines.emulator import Limits
from latebind.backend.targets import target
from latebind.backend.toolchain import require
from latebind.tables.presets import library_files
from loadcheck.facts import read_image
from tests.support.building import LOADER_TESTS as HERE
from tests.support.emulated import cache, fetch_wheel
from tests.support.needs import available, zig
from tests.support.running import run_checked

pytestmark = pytest.mark.builds

WHEELS = {
    "nvrtc": {12: "nvidia-cuda-nvrtc-cu12==12.9.86", 13: "nvidia-cuda-nvrtc==13.5.37"},
    "cudart": {12: "nvidia-cuda-runtime-cu12==12.9.79", 13: "nvidia-cuda-runtime==13.5.37"},
    "nvjitlink": {12: "nvidia-nvjitlink-cu12==12.9.86", 13: "nvidia-nvjitlink==13.5.37"},
}
LIBRARIES = {"nvjitlink": "nvJitLink"}
NVRTC_HEADERS = "nvidia/cu13/include"


def wheel(rid, name, major):
    return fetch_wheel(rid, *WHEELS[name][major].split("=="))


def install(site, rid, *wheels):
    for name, major in wheels:
        shutil.copytree(wheel(rid, name, major), site, copy_function=os.link, dirs_exist_ok=True)


def build_program(latebind, folder, rid, source, *names, include=()):
    for name in names:
        ended = latebind("stub", name, "--target", rid, "--output", folder)
        assert ended.returncode == 0, ended.stderr
    suffix = ".exe" if target(rid).system == "windows" else ""
    program = folder / "app" / f"user{suffix}"
    program.parent.mkdir()
    includes = [f"-I{path}" for path in (folder / rid / "include", *include)]
    links = [f"-l{LIBRARIES.get(name, name)}" for name in names] + ([] if suffix else ["-ldl", "-pthread"])
    source = HERE / "stub" / source
    run_checked(*zig(rid), "-std=c99", "-w", *includes, source, f"-L{folder / rid / 'lib'}", *links, "-o", program)
    return program


@pytest.fixture(scope="module")
def program(tmp_path_factory, latebind):
    include = wheel("linux-x64", "nvrtc", 13) / NVRTC_HEADERS
    folder = tmp_path_factory.mktemp("nvrtc")
    return build_program(latebind, folder, "linux-x64", "nvrtc_user.c", "nvrtc", include=[include])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("majors", "lost", "answer"),
    [
        ((12,), "", "12.9 twice"),
        ((13,), "", "13.5 twice"),
        ((12, 13), "", "13.5 twice"),
        ((12, 13), "nvidia/cu13/lib/libnvrtc-builtins.so.13.5", "12.9 twice"),
        ((12,), "nvidia/cuda_nvrtc/lib/libnvrtc-builtins.so.12.9", "it opens libnvrtc-builtins.so.12.9, which is"),
        ((), "", 'pip install "nvidia-cuda-nvrtc>=13.0", or with: pip install "nvidia-cuda-nvrtc-cu12>=12.0"'),
    ],
)
def test_one_program_compiles_a_kernel_with_the_nvrtc_that_is_installed(program, tmp_path, majors, lost, answer):
    if not majors and ctypes.util.find_library("nvrtc"):
        pytest.skip("not run: this machine's system has NVRTC")
    install(tmp_path, "linux-x64", *(("nvrtc", major) for major in majors))
    if lost:
        (tmp_path / lost).unlink()
    (tmp_path / "app").mkdir()
    mine = shutil.copy(program, tmp_path / "app")
    assert set(read_image(program.read_bytes(), program.name).needed) <= {"libc.so.6", "libdl.so.2", "libpthread.so.0"}
    assert answer in run_checked(mine, env={"PATH": os.environ["PATH"]})


@pytest.mark.slow
@pytest.mark.parametrize(("major", "version"), [(12, "12.9"), (13, "13.5")])
def test_without_a_gpu_cuda_reports_it_and_its_other_libraries_work(latebind, tmp_path, major, version):
    program = build_program(latebind, tmp_path, "linux-x64", "cuda_user.c", "cuda", "cudart", "nvjitlink")
    install(tmp_path, "linux-x64", ("cudart", major), ("nvjitlink", major))
    driver, *others = run_checked(program, env={"PATH": os.environ["PATH"]}).splitlines()
    assert others == [f"cudart 35 {version}", f"nvjitlink 0 {version}"]
    if ctypes.util.find_library("cuda"):
        pytest.skip("not run: this machine has a driver")
    assert driver.startswith("cuda 34 NVIDIA driver was not found in")
    assert "Get it with: the installer at https://www.nvidia.com/drivers" in driver


TOOLKIT = """\
cmake_minimum_required(VERSION 3.24)
project(user C)
find_package(CUDAToolkit REQUIRED)
add_executable(user "${SOURCE}")
target_link_libraries(user PRIVATE CUDA::cuda_driver CUDA::cudart CUDA::nvJitLink)
"""


@pytest.mark.slow
def test_targets_of_cmakes_cuda_toolkit_become_the_stubs(latebind, tmp_path):
    cmake, ninja = require("cmake"), require("ninja")
    for name in ("cuda", "cudart", "nvjitlink"):
        assert latebind("stub", name, "--target", "linux-x64", "--output", tmp_path).returncode == 0
    (toolkit := tmp_path / "toolkit").mkdir()
    for folder in ("include", "lib64"):
        (toolkit / folder).mkdir()
    (toolkit / "include/cuda_runtime.h").touch()
    (toolkit / "version.json").write_text('{"cuda": {"version": "13.5.0"}}')
    for name in ("cuda", "cudart", "nvJitLink"):
        run_checked(*zig("linux-x64"), "-shared", "-x", "c", os.devnull, "-o", toolkit / f"lib64/lib{name}.so")
    (tmp_path / "CMakeLists.txt").write_text(TOOLKIT)
    prefix = tmp_path / "linux-x64"
    definitions = {
        "CUDAToolkit_ROOT": toolkit,
        "CMAKE_PROJECT_TOP_LEVEL_INCLUDES": prefix / "lib/cmake/latebind/inFront.cmake",
        "SOURCE": HERE / "stub/cuda_user.c",
        "CMAKE_C_STANDARD_LIBRARIES": "-ldl -pthread",
        "CMAKE_MAKE_PROGRAM": ninja,
    }
    arguments = [f"-D{name}={value}" for name, value in definitions.items()]
    run_checked(cmake, "-S", tmp_path, "-B", tmp_path / "build", "-G", "Ninja", *arguments)
    run_checked(cmake, "--build", tmp_path / "build")
    program = tmp_path / "build/user"
    assert set(read_image(program.read_bytes(), program.name).needed) <= {"libc.so.6", "libdl.so.2", "libpthread.so.0"}
    assert "nvjitlink" in run_checked(program, env={"PATH": os.environ["PATH"]})


@pytest.mark.slow
@pytest.mark.emulated
def test_a_program_for_windows_compiles_a_kernel_too(latebind, tmp_path):
    prefix = cache() / f"wine-{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}"
    emulator = available(wine.prepare, prefix, Limits(seconds=120))
    include = wheel("win-x64", "nvrtc", 13) / NVRTC_HEADERS
    program = build_program(latebind, tmp_path, "win-x64", "nvrtc_user.c", "nvrtc", include=[include])

    def answer():
        return emulator.run(program, env={}, cwd=None, feed=b"").stdout.decode().strip()

    assert "error 7: NVRTC was not found in" in answer()
    install(tmp_path, "win-x64", ("nvrtc", 12))
    assert answer() == "12.9 twice"
    install(tmp_path, "win-x64", ("nvrtc", 13))
    assert answer() == "13.5 twice"


@pytest.mark.parametrize("name", library_files())
def test_each_description_makes_a_stub_for_linux(latebind, tmp_path, name):
    ended = latebind("stub", name, "--target", "linux-x64", "--source", "--output", tmp_path)
    assert ended.returncode == 0, ended.stderr
    flags = ["-c", "-Wall", "-Wextra", "-Werror"]
    run_checked(*zig("linux-x64"), *flags, tmp_path / f"latebind_{name}.c", "-o", tmp_path / "stub.o")
