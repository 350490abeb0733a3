"""latenn's SDK in a CMake project in C++, whose program adds what the model says to 1, 2, 3."""

import shutil

import pytest
from tests.c.building import HERE

from latebind.build.native import stage_target
from latebind.compilers.choose import program
from latebind.config.project import read_project
from latebind.ecosystems.sdk.pack import pack_sdk
from latebind.system.archive import unpack_tar
from latebind.system.run import run
from latebind.tables.targets import target
from tests.conftest import ROOT
from tests.native.emulated import ORT_VERSIONS, fetch_runtime, onnx_sum


def unpack_sdk(folder):
    """The SDK for Linux, packed and unpacked below a folder with a space in its name."""
    project = read_project(ROOT / "latenn" / "latebind.toml", folder / "work")
    stage = stage_target(project, target("linux-x64"))
    path = pack_sdk(project.config, project.config.sdk_packages, stage, folder)
    return unpack_tar(path, folder / "a place").rename(folder / "a place" / "a prefix")


@pytest.fixture(scope="module")
def sdk(tmp_path_factory):
    """latenn's SDK for Linux, an ONNX Runtime from its wheel, and a model."""
    folder = tmp_path_factory.mktemp("latenn")
    runtime = fetch_runtime("linux-x64", ORT_VERSIONS[-1])
    return unpack_sdk(folder), [str(onnx_sum(folder / "sum.onnx")), str(runtime)]


@pytest.mark.slow
def test_latenn_infers_in_a_program_in_cpp(sdk, tmp_path):
    prefix, arguments = sdk
    folder = shutil.copytree(HERE / "sdk-user", tmp_path / "user")
    command = [program("cmake"), "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={program('ninja')}"]
    run([*command, "-S", folder, "-B", folder / "tree", f"-DCMAKE_PREFIX_PATH={prefix}"], timeout=120)
    run([program("cmake"), "--build", folder / "tree"], timeout=120)
    assert run([folder / "tree" / "program", *arguments], timeout=120).output == "1.5 2.5 3.5\n"
    assert run([folder / "tree" / "program", arguments[0], tmp_path], check=False, timeout=120).returncode == 1
