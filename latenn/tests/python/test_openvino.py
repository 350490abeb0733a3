"""latenn's OpenVINO backend against plain openvino: IR, ONNX and TensorFlow Lite models."""

from __future__ import annotations

import shutil
from importlib import metadata
from pathlib import Path

import models
import numpy as np
import pytest
from onnx import TensorProto, helper
from onnx.backend.test.loader import load_model_tests
from python.running import crowd, in_process

openvino = pytest.importorskip("openvino", reason="not run: openvino is not installed: pip install openvino")
ONES = np.ones((2, 4), np.float32)
EVERY = 60
"""Of ONNX's node tests so many are passed over for each that is computed here; a verify cell computes all."""


def run(latenn, data, inputs, **choice):
    with latenn.load(data, backend="openvino", **choice) as model:
        return model.run(inputs)


@pytest.mark.parametrize("kind", models.PLAIN)
@pytest.mark.parametrize("shape", models.SHAPES, ids=str)
def test_every_number_type_and_rank_goes_through_unchanged(latenn, kind, shape):
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(kind)
    result = run(latenn, models.identity(models.PLAIN[kind], shape), {"x": array})["y"]
    assert result.dtype == array.dtype
    np.testing.assert_array_equal(result, array)


def test_an_ir_finds_its_weights_beside_it(latenn, ir):
    with latenn.load(ir) as model:
        assert model.backend == "openvino"
        assert model.inputs == (latenn.Port("x", "float32", (None, 4)),)
        np.testing.assert_array_equal(model.run({"x": ONES})["y"], ONES + np.arange(4))
        assert model.report["version"] == metadata.version("openvino")


def test_an_ir_from_memory_is_told_where_its_weights_are(latenn, ir):
    weights = ir.with_suffix(".bin")
    result = run(latenn, ir.read_bytes(), {"x": ONES}, options={"weights": weights})
    np.testing.assert_array_equal(result["y"], ONES + np.arange(4))


@pytest.mark.parametrize(
    ("choice", "kind", "message"),
    [
        ({"options": {"treads": 1}}, "InvalidArgumentError", "NUM_STREAMS, INFERENCE_NUM_THREADS and PERFORMANCE_HINT"),
        ({"options": {"TREADS": 1}}, "InvalidArgumentError", "Unsupported property TREADS"),
        ({"options": {"NUM_STREAMS": "many"}}, "InvalidArgumentError", "many"),
        ({"options": {"weights": "/gone.bin"}}, "LatennOSError", "/gone.bin cannot be loaded: there is no such file"),
        ({"device": "moon"}, "UnsupportedError", 'OpenVINO has no device "MOON" here. It has: CPU'),
        ({"runtime_minimum": "2099.0"}, "RuntimeUnavailableError", "2099.0 or newer"),
    ],
)
def test_a_choice_that_cannot_be_had_says_so(latenn, choice, kind, message):
    with pytest.raises(latenn.LatennError) as caught:
        latenn.load(models.add(), backend="openvino", **choice)
    assert type(caught.value).__name__ == kind
    assert message in str(caught.value)


def test_weights_are_for_models_from_memory(latenn, ir):
    with pytest.raises(latenn.InvalidArgumentError, match="The option weights is for a model from memory"):
        latenn.load(ir, options={"weights": ir.with_suffix(".bin")})


@pytest.mark.parametrize(
    ("data", "kind", "message"),
    [
        (b"\x08nothing", "ModelError", "refuses the model"),
        (b"<?xml version='1.0'?><net>", "ModelError", "refuses the model"),
        (models.sequence(), "ModelError", "Sequence"),
        (models.identity(TensorProto.STRING), "UnsupportedError", 'input "x" has elements of string'),
        (b"\0\0\0\0TFL3" + b"\0" * 40, "UnsupportedError", "from files only"),
    ],
    ids=["onnx", "ir", "sequence", "strings", "tflite"],
)
def test_a_model_that_cannot_be_had_says_why(latenn, data, kind, message):
    with pytest.raises(latenn.LatennError) as caught:
        latenn.load(data, backend="openvino")
    assert type(caught.value).__name__ == kind
    assert message in str(caught.value)


@pytest.mark.parametrize("from_file", [False, True])
def test_ports_have_the_names_of_the_onnx_model(latenn, tmp_path, from_file):
    """Identity goes when OpenVINO reads the model: what it joined has both names, and "a" comes first."""
    nodes = [helper.make_node("Identity", ["z"], ["a"]), helper.make_node("Relu", ["a"], ["b"])]
    nodes += [helper.make_node("Identity", ["b"], ["y"])]
    data = models.model(nodes, [("z", TensorProto.FLOAT, [2])], [("y", TensorProto.FLOAT, [2])])
    path = tmp_path / "m.onnx"
    path.write_bytes(data)
    with latenn.load(path if from_file else data, backend="openvino") as model:
        assert [port.name for port in (*model.inputs, *model.outputs)] == ["z", "y"]


def test_properties_and_devices_reach_the_runtime(latenn):
    options = {"NUM_STREAMS": 1, "INFERENCE_NUM_THREADS": 1, "PERFORMANCE_HINT": "LATENCY"}
    for choice in ({"options": options}, {"device": "cpu"}, {"device": "AUTO"}, {"device": "AUTO:CPU"}):
        assert run(latenn, models.add(), {"left": ONES, "right": ONES}, **choice)["sum"][0, 0] == 2


def test_many_threads_share_a_model(latenn):
    def work(number):
        array = np.full((2, number + 1), number, np.float32)
        for _ in range(20):
            np.testing.assert_array_equal(model.run({"left": array, "right": array})["sum"], 2 * array)

    with latenn.load(models.add(), backend="openvino") as model:
        crowd(work)


def test_onnx_node_tests_give_what_plain_openvino_gives(latenn):
    core, compared = openvino.Core(), 0
    for test in sorted(load_model_tests(kind="node"), key=lambda test: test.name)[::EVERY]:
        data = (Path(test.model_dir) / "model.onnx").read_bytes()
        try:
            compiled = core.compile_model(core.read_model(data), "CPU")
            inputs = [_some(port) for port in compiled.inputs]
            expected = list(compiled(inputs).values())
        except Exception:  # noqa: BLE001, S112  # what plain openvino cannot do is not asked of latenn
            continue
        with latenn.load(data, backend="openvino") as model:
            named = {port.name: array for port, array in zip(model.inputs, inputs, strict=True)}
            for got, want in zip(model.run(named).values(), expected, strict=True):
                np.testing.assert_array_equal(got, want)
        compared += 1
    assert compared >= 10


def _some(port):
    """Numbers that any operation takes."""
    return np.ones(list(port.get_shape()), port.get_element_type().to_dtype())


ONLY = """
import latenn, sys
with latenn.load(sys.argv[1]) as model:
    print(model.backend)
"""


def test_where_it_is_the_only_backend_it_reads_onnx_unasked(latenn_site, tmp_path):
    alone = tmp_path / "site"
    shutil.copytree(latenn_site, alone, ignore=shutil.ignore_patterns("latenn_onnxruntime*", "latenn_litert*"))
    model = tmp_path / "m.onnx"
    model.write_bytes(models.add())
    done = in_process(alone, ONLY, model)
    assert done.stdout == "openvino\n", done.stderr
