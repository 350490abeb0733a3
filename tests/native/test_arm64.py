"""The loader and latenn on arm64 Linux: built by zig, run under qemu, with stand-ins and with the real ONNX Runtime."""

import shutil

import confine
import pytest
import qemu

from tests.native.building import CannotBuildError
from tests.native.emulated import ORT_VERSIONS, Emulated, build_cross, cache, fetch_runtime, onnx_sum

pytestmark = [pytest.mark.emulated, pytest.mark.slow]
NAME = "libonnxruntime.so.1"
ENVIRONMENT = "ONNXRUNTIME_LIB_PATH"
FEED = "input x 1 2 1 3 0000803f0000004000004040\ncompute\noutputs\nreport\n"
SUM = "0000c03f0000204000006040"  # 1.5, 2.5, 3.5


@pytest.fixture(scope="module")
def arm64(shared):
    try:
        emulator = qemu.prepare(cache() / "qemu", confine.Limits(seconds=120))
        folder = build_cross(shared, "linux-arm64")
    except (qemu.NotAvailableError, CannotBuildError) as reason:
        pytest.skip(f"not run: {reason}")
    yield Emulated(folder, emulator, "", ".so", str)
    emulator.close()


@pytest.fixture(scope="module", params=ORT_VERSIONS)
def runtime(request):
    try:
        return fetch_runtime("linux-arm64", request.param), request.param
    except LookupError as reason:
        pytest.skip(f"not run: {reason}")


def outcomes(answer):
    return [(attempt["source"], attempt["outcome"]) for attempt in answer["report"]["attempts"]]


def test_units(arm64):
    assert arm64.run("unit") == b"all well\n"


@pytest.mark.parametrize(
    ("stand_in", "outcome", "says"),
    [
        ("good", "bound", "ONNX Runtime 1.25.3 is bound from"),
        ("old", "too-old", "ONNX Runtime 1.10.0 at {path} is too old; version 1.19 or newer is needed"),
        ("other_major", "other-major", "2.0.0 at {path} is of another major version"),
        ("no_version", "no-version", "{path} does not tell its version"),
        ("no_entry", "no-entry", "{path} is something else: it has no symbol OrtGetApiBase"),
        ("needs_gone", "missing-dependency", "a library that it needs is missing or broken: libgone.so"),
    ],
)
def test_explicit_file(arm64, stand_in, outcome, says):
    path = arm64.stand_in(stand_in)
    answer = arm64.probe("--path", path)
    assert outcomes(answer) == [("explicit", outcome)]
    assert says.format(path=path) in answer["report"]["sentence"]


def test_the_hosts_own_library_is_for_another_processor(arm64, plain):
    answer = arm64.probe("--path", plain.stand_in("good"))
    assert answer["outcome"] == "wrong-architecture"
    assert "built for x86_64, this process is aarch64" in answer["report"]["sentence"]


def test_text_and_nothing(arm64, tmp_path):
    (tmp_path / NAME).write_text("no\n")
    assert "a text file, not a library" in arm64.probe("--path", tmp_path / NAME)["report"]["sentence"]
    assert arm64.probe(env={ENVIRONMENT: "/gone"})["outcome"] == "not-found"


def test_a_renamed_copy_that_is_loaded_is_found(arm64, tmp_path):
    path = shutil.copy(arm64.stand_in("good"), tmp_path / "something-else.bin")
    answer = arm64.probe("--preload", path)
    assert outcomes(answer) == [("loaded", "bound")]


def test_threads_and_a_fork(arm64):
    answer = arm64.probe("--threads", "8", "--path", arm64.stand_in("slow"))
    assert (answer["extra"], answer["version_calls"]) == (0, 1)
    assert arm64.probe("--fork", "--path", arm64.stand_in("slow"))["extra"] == 0


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
