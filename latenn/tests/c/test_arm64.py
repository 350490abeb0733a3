"""latenn on arm64 Linux: built by zig, run by qemu, with the real ONNX Runtime."""

import pytest
from c.building import HERE

from ci.machines import qemu
from tests.support.emulated import FEED, ORT_VERSIONS, SUM, emulate_linux, fetch_runtime, onnx_sum

pytestmark = [pytest.mark.emulated, pytest.mark.slow]


@pytest.fixture(scope="module")
def arm64(shared_folder):
    with emulate_linux(shared_folder, "linux-arm64", qemu, source=HERE) as system:
        yield system


@pytest.fixture(scope="module", params=ORT_VERSIONS)
def runtime(request):
    return fetch_runtime("linux-arm64", request.param), request.param


@pytest.mark.parametrize("how", ["path", "bytes"])
def test_a_model_computes(arm64, runtime, tmp_path, how):
    folder, version = runtime
    folders = ("--runtime-dir", folder, "--backend-dir", arm64.folder / "latenn")
    output, report = arm64.runner(how, onnx_sum(tmp_path / "m.onnx"), *folders, feed=FEED)
    assert output["hex"] == SUM
    assert report["report"]["version"] == version


def test_many_threads_load_and_share_a_model(arm64, runtime, tmp_path):
    model = onnx_sum(tmp_path / "m.onnx")
    assert arm64.run("crowd", model, runtime[0], arm64.folder / "latenn") == b"all well\n"
