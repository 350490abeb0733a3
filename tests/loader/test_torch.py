"""PyTorch's C interface in programs that link none of it: absent, too old by function, around its import."""

import os
import shutil
import sys

import pytest

from loadcheck.facts import read_image
from tests.support.building import LOADER_TESTS as HERE
from tests.support.building import build, configure, needed_compiler
from tests.support.emulated import fetch_wheel
from tests.support.needs import zig
from tests.support.running import run_checked, run_program

VERSION = "2.13.0+cpu"
"""The wheels of PyPI for Linux on x64 need libraries of CUDA."""
RIGHT = "6 of rank 2 with {}\ntorch_is_tensor_pyobject needs PyTorch 2.15; {} is bound\n"
PROJECT = """
cmake_minimum_required(VERSION 3.20)
project(user C)
find_package(Torch REQUIRED)
add_executable(user user.c)
"""
AROUND = """
import ctypes, sys
if sys.argv[2] == "before": import torch
status = ctypes.CDLL(sys.argv[1]).run()
import torch
copies = {line.split()[-1] for line in open("/proc/self/maps") if "libtorch_cpu" in line}
assert (status, len(copies), float(torch.ones(3).sum())) == (0, 1, 3.0)
"""


def build_user(latebind, folder, rid, *words, name=""):
    ended = latebind("stub", "torch", "--target", rid, "--output", folder)
    assert ended.returncode == 0, ended.stderr
    user = folder / "app" / (name or ("user.so" if words else "user"))
    user.parent.mkdir(parents=True)
    links = [f"-I{folder / rid / 'include'}", f"-L{folder / rid / 'lib'}"]
    source = HERE / "stub" / "torch_user.c"
    run_checked(*zig(rid), "-std=c99", "-Wall", "-Werror", "-fvisibility=hidden", *words, *links, source,
                "-ltorch_cpu", "-ldl", "-pthread", "-o", user)  # fmt: skip
    image = read_image(user.read_bytes(), user.name)
    assert not [name for name in image.needed if "torch" in name or "c10" in name]
    return user


def install(site, rid, version):
    shutil.copytree(fetch_wheel(rid, "torch", version), site, copy_function=os.link, dirs_exist_ok=True)


@pytest.mark.slow
def test_without_torch_a_program_says_what_to_install_and_with_it_which_function_is_newer(latebind, tmp_path):
    user = build_user(latebind, tmp_path, "linux-x64")
    absent = run_program(user)
    assert (absent.returncode, "PyTorch was not found in" in absent.stdout) == (1, True)
    assert 'pip install "torch>=2.8"' in absent.stdout
    install(tmp_path, "linux-x64", VERSION)
    version = VERSION.partition("+")[0]
    assert run_checked(user) == RIGHT.format(version, version)


@pytest.mark.builds
def test_a_constructor_of_the_program_finds_what_main_would(latebind, tmp_path):
    """It runs before the stub's own, which notes the root folder; the message named a root that nobody had entered."""
    early = run_program(build_user(latebind, tmp_path, "linux-x64", "-DTORCH_USER_EARLY", name="user"))
    lines = early.stdout.splitlines()
    assert ["PyTorch was not found in" in line and "root folder" not in line for line in lines] == [True, True]


@pytest.mark.slow
@pytest.mark.parametrize("links", ["${TORCH_LIBRARIES}", "torch c10"])
def test_a_project_that_finds_torch_by_cmake_links_the_stub(latebind, tmp_path, links):
    assert latebind("stub", "torch", "--target", "linux-x64", "--output", tmp_path).returncode == 0
    shutil.copy(HERE / "stub" / "torch_user.c", tmp_path / "user.c")
    (tmp_path / "CMakeLists.txt").write_text(PROJECT + f"target_link_libraries(user {links})\n")
    configure(tmp_path, tmp_path / "build", needed_compiler(), f"-DCMAKE_PREFIX_PATH={tmp_path / 'linux-x64'}")
    build(tmp_path / "build")
    assert "PyTorch was not found in" in run_program(tmp_path / "build" / "user").stdout


@pytest.mark.slow
@pytest.mark.parametrize("order", ["before", "after"])
def test_a_library_uses_the_copy_that_python_imports_before_or_after_it(latebind, tmp_path, order):
    library = build_user(latebind, tmp_path, "linux-x64", "-shared", "-fPIC", "-DTORCH_USER_LIBRARY")
    install(tmp_path, "linux-x64", VERSION)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    run_checked(sys.executable, "-c", AROUND, library, order, env=environment)
