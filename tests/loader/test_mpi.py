"""MPI's standard binary interface in a program that links none of it: absent, by mpich's wheel, and by another ABI."""

import os

import pytest

from loadcheck.facts import read_image
from tests.support.building import LOADER_TESTS as HERE
from tests.support.emulated import fetch_wheel
from tests.support.needs import zig
from tests.support.running import run_checked, run_program


@pytest.mark.slow
def test_a_program_binds_the_standard_abi_and_refuses_another(latebind, tmp_path):
    (data,) = fetch_wheel("linux-x64", "mpich", "5.0.2").glob("*.data/data")
    assert latebind("stub", "mpi", "--target", "linux-x64", "--output", tmp_path).returncode == 0
    program = tmp_path / "user"
    links = [f"-I{tmp_path / 'linux-x64/include'}", f"-I{data / 'include'}", f"-L{tmp_path / 'linux-x64/lib'}"]
    run_checked(*zig("linux-x64"), "-std=c99", "-w", *links, HERE / "stub/mpi_user.c",
                "-lmpi_abi", "-ldl", "-pthread", "-o", program)  # fmt: skip
    assert set(read_image(program.read_bytes(), program.name).needed) <= {"libc.so.6", "libdl.so.2", "libpthread.so.0"}

    def run(**variables):
        return run_program(program, env={"PATH": os.environ["PATH"], **variables}).stdout

    assert "pip install mpich" in run()
    assert run(VIRTUAL_ENV=str(data)) == "rank 0, 21, ABI 1.0\n"
    assert "another major version" in run(MPI_LIB_PATH=str(data / "lib/libmpi.so.12"))
