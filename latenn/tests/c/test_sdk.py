"""latenn's SDK in a CMake project in C++, whose program adds what the model says to 1, 2, 3."""

import shutil
import tarfile

import pytest
from c.building import HERE

from tests.support.building import program
from tests.support.emulated import ORT_VERSIONS, fetch_runtime, onnx_sum
from tests.support.programs import run_checked, run_program


@pytest.fixture
def sdk(latenn_here, tmp_path):
    """latenn's SDK for Linux in a folder with a space in its name, an ONNX Runtime from its wheel, and a model."""
    (archive,) = latenn_here.glob("latenn-*-linux-x64-sdk.tar.gz")
    with tarfile.open(archive) as tar:
        tar.extractall(tmp_path / "a place", filter="data")
    (prefix,) = (tmp_path / "a place").iterdir()
    return prefix, [onnx_sum(tmp_path / "sum.onnx"), fetch_runtime("linux-x64", ORT_VERSIONS[-1])]


@pytest.mark.slow
def test_latenn_infers_in_a_program_in_cpp(sdk, tmp_path):
    prefix, arguments = sdk
    folder = shutil.copytree(HERE / "sdk-user", tmp_path / "user")
    command = [program("cmake"), "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={program('ninja')}"]
    run_checked(*command, "-S", folder, "-B", folder / "tree", f"-DCMAKE_PREFIX_PATH={prefix}", timeout=120)
    run_checked(program("cmake"), "--build", folder / "tree", timeout=120)
    assert run_checked(folder / "tree" / "program", *arguments, timeout=120) == "1.5 2.5 3.5\n"
    assert run_program(folder / "tree" / "program", arguments[0], tmp_path, timeout=120).returncode == 1
