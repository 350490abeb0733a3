"""latenn on Windows: built by zig, run under wine, with a synthetic backend and with the real ONNX Runtime."""

import shutil

import pytest
from c.building import HERE

from ci.machines import wine
from tests.support.emulated import FEED, ORT_VERSIONS, SUM, emulate_windows, fetch_runtime, onnx_sum

pytestmark = [pytest.mark.emulated, pytest.mark.slow]
NAME = "onnxruntime.dll"


@pytest.fixture(scope="module")
def windows(shared_folder):
    with emulate_windows(shared_folder, HERE) as system:
        yield system


@pytest.fixture(scope="module", params=ORT_VERSIONS)
def runtime(request):
    return fetch_runtime("win-x64", request.param), request.param


@pytest.fixture
def model(tmp_path):
    folder = tmp_path / "Modell für 日本"
    folder.mkdir()
    return onnx_sum(folder / "m.onnx")


@pytest.mark.parametrize("how", ["path", "bytes"])
def test_a_model_computes(windows, runtime, model, how):
    folder, version = runtime
    folders = ("--runtime-dir", folder, "--backend-dir", windows.folder / "latenn")
    output, report = windows.runner(how, model, *folders, feed=FEED)
    assert output["hex"] == SUM
    assert report["report"]["version"] == version
    assert report["report"]["path"] == wine.windows_path(folder / NAME)


def test_a_model_whose_path_is_long_computes(windows, runtime, model):
    folder, _ = runtime
    deep = model.parent.joinpath(*["a folder of many"] * 16)
    deep.mkdir(parents=True)
    shutil.copy(model, deep)
    folders = ("--runtime-dir", folder, "--backend-dir", windows.folder / "latenn")
    assert windows.runner("path", deep / "m.onnx", *folders, feed=FEED)[0]["hex"] == SUM


def test_many_threads_load_and_share_a_model(windows, runtime, model):
    assert windows.run("crowd", model, runtime[0], windows.folder / "latenn") == b"all well\n"


def test_a_model_that_is_not_there(windows, tmp_path):
    (answer,) = windows.runner("path", tmp_path / "gönn.onnx")
    assert (answer["error"], "there is no such file" in answer["message"]) == (9, True)
    (answer,) = windows.runner("path", tmp_path)
    assert (answer["error"], "it is a folder" in answer["message"]) == (9, True)


def test_a_missing_backend_and_a_missing_runtime_are_told(windows, model, tmp_path):
    (answer,) = windows.runner("path", model, "--backend", "absent")
    assert "latenn's absent backend was not found in" in answer["message"]
    (answer,) = windows.runner("path", model, "--backend-dir", windows.folder / "latenn", "--runtime-dir", tmp_path)
    assert answer["error"] == 4
    assert "ONNX Runtime was not found in" in answer["message"]
    assert answer["report"]["message"] == answer["message"]


def test_a_backend_by_path_and_by_environment(windows, model):
    library = windows.folder / "backends" / "latenn_backend_echo.dll"
    for arguments, environment in [
        (["--backend", library], {}),
        ([], {"LATENN_BACKEND": wine.windows_path(library)}),
        (["--backend-dir", library.parent], {"LATENN_BACKEND": "echo"}),
    ]:
        (answer,) = windows.runner("path", model, *arguments, feed="report\n", environment=environment)
        assert answer == {"backend": "echo", "report": {"runtime": "none"}}
