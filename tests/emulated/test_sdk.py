"""latenn's SDK on other systems: a program that CMake finds it for is linked here by zig, and infers there."""

import subprocess

import pytest
from latebind.compilers.choose import program
from latebind.system.run import run
from latebind.tables.targets import target

from tests.native.emulated import ORT_VERSIONS, configure_cross, fetch_runtime, onnx_sum
from tests.sdkclient import latenn_sdk, write_latenn_consumer

pytestmark = [pytest.mark.emulated, pytest.mark.slow]


def test_a_program_with_the_sdk_infers_there(machine, tmp_path):
    try:
        runtime = fetch_runtime(machine.rid, ORT_VERSIONS[-1])
    except LookupError as error:
        pytest.skip(f"not run: {error}")
    prefix = latenn_sdk(tmp_path / "sdk", machine.rid)
    folder = write_latenn_consumer(tmp_path / "consumer")
    configure_cross(folder, folder / "tree", machine.rid, f"-DCMAKE_PREFIX_PATH={prefix}")
    run([program("cmake"), "--build", folder / "tree"], timeout=600)
    made = folder / "tree" / f"program{target(machine.rid).program_suffix}"
    argv = machine.argv(made, onnx_sum(tmp_path / "sum.onnx"), runtime)
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=300)
    assert done.stdout.split() == ["1.5", "2.5", "3.5"], done.stdout + done.stderr
    assert done.returncode == 0
