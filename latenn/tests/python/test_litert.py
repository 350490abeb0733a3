"""latenn's LiteRT backend against the interpreter of LiteRT's own package."""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
from python.running import crowd, python

pytest.importorskip("ai_edge_litert", reason="not run: ai-edge-litert is not installed: pip install ai-edge-litert")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "verify"))
import tflite_cases as tflite  # is next to the consumers

WHERE = tflite.Case(
    {"x": tflite.Tensor("bool", (4,)), "y": tflite.Tensor("int64", (-1, 1))},
    (tflite.Node(tflite.OP.WHERE, "x", "y"),), "x", "y",
)  # fmt: skip


@pytest.mark.parametrize("name", tflite.CASES)
def test_every_model_gives_what_the_runtimes_own_interpreter_gives(latenn, name):
    case = tflite.CASES[name]
    data = tflite.write(case)
    with latenn.load(data) as model:
        assert model.backend == "litert"
        for seed, shapes in enumerate(case.shapes):
            inputs = tflite.arrays(case, shapes, seed)
            expected, outputs = tflite.compute(data, inputs), model.run(inputs)
            assert list(outputs) == case.outputs.split() or case.signature
            for port, array in outputs.items():
                assert array.dtype == expected[port].dtype
                np.testing.assert_allclose(array, expected[port], rtol=1e-5)


def test_ports_tell_names_types_and_open_dimensions(latenn, tmp_path):
    path = tmp_path / "модель.tflite"
    path.write_bytes(tflite.write(tflite.CASES["add_open"]))
    with latenn.load(path) as model:
        assert model.inputs == tuple(latenn.Port(name, "float32", (None, 3)) for name in "ab")
        assert model.outputs[0].name == "y"
        assert model.report["version"][:3] == metadata.version("ai-edge-litert")[:3]


def test_a_shape_that_changes_back_and_forth(latenn):
    with latenn.load(tflite.write(tflite.CASES["add_open"]), options={"num_threads": 2}) as model:
        for height in (1, 100, 2, 100, 1):
            array = np.full((height, 3), height, np.float32)
            np.testing.assert_array_equal(model.run({"a": array, "b": array})["y"], 2 * array)


def test_many_threads_share_a_model(latenn):
    def work(number):
        array = np.full((2, 3), number, np.float32)
        for _ in range(30):
            np.testing.assert_array_equal(model.run({"a": array, "b": array})["y"], 2 * array)

    with latenn.load(tflite.write(tflite.CASES["add"])) as model:
        crowd(work)


@pytest.mark.parametrize(
    ("case", "choice", "kind", "message"),
    [
        ("add", {"options": {"treads": 1}}, "InvalidArgumentError", "Known: num_threads, signature, log_severity"),
        ("add", {"options": {"num_threads": "many"}}, "InvalidArgumentError", 'num_threads is "many"'),
        ("add", {"options": {"num_threads": -1}}, "InvalidArgumentError", 'num_threads is "-1"'),
        ("add_signature", {"options": {"signature": "go"}}, "InvalidArgumentError", 'no signature "go"; it has serve'),
        ("add", {"device": "gpu"}, "UnsupportedError", 'The device "gpu" is not supported'),
        ("add", {"runtime_minimum": "99.0"}, "RuntimeUnavailableError", "99.0 or newer"),
    ],
)
def test_a_choice_that_cannot_be_had_says_so(latenn, case, choice, kind, message):
    with pytest.raises(latenn.LatennError) as caught:
        latenn.load(tflite.write(tflite.CASES[case]), **choice)
    assert type(caught.value).__name__ == kind
    assert message in str(caught.value)


@pytest.mark.parametrize("data", [b"\0\0\0\0TFL3" + b"\0" * 40, tflite.write(tflite.CASES["add"])[:60]])
def test_a_broken_model_is_refused(latenn, data):
    with pytest.raises(latenn.ModelError, match="LiteRT refuses the model: not a valid flatbuffer"):
        latenn.load(data)


def test_strings_are_refused_by_name(latenn, monkeypatch):
    monkeypatch.setitem(tflite.TYPES, "string", (tflite.KIND.STRING, 8))
    data = tflite.write(tflite.alike(tflite.OP.ADD, "string", options=tflite.schema.AddOptionsT()))
    with pytest.raises(latenn.UnsupportedError, match='input "a" has elements of type string, which latenn'):
        latenn.load(data)


def test_an_output_whose_shape_only_the_computation_tells_is_refused(latenn):
    with latenn.load(tflite.write(WHERE)) as model, pytest.raises(latenn.UnsupportedError) as caught:
        model.run({"x": np.array([1, 0, 1, 1], np.bool_)})
    assert "needs to know the shape of every output before it computes" in str(caught.value)


LOG = """
import ctypes, sys
import latenn
model, path = bytes.fromhex(sys.argv[1]), sys.argv[2]
runtime = ctypes.CDLL(path)
class Option(ctypes.Structure):
    _fields_ = [("tag", ctypes.c_int), ("type", ctypes.c_int64), ("number", ctypes.c_int64)]
def host(severity):
    option, environment = Option(25, 2, severity), ctypes.c_void_p()
    assert not runtime.LiteRtCreateEnvironment(1, ctypes.byref(option), ctypes.byref(environment))
def load(**options):
    return latenn.load(model, "litert", runtime_path=path, options=options)
kept = []
for step in sys.argv[3:]:
    print("begin", file=sys.stderr, flush=True)
    kept.append(host(1) if step == "host" else load(log_severity_level=1) if step == "asked" else load())
"""


def read_log(latenn_site, *steps):
    import ai_edge_litert  # noqa: PLC0415  # for its folder

    library = Path(ai_edge_litert.__path__[0]) / "libLiteRt.so"
    done = python(latenn_site, "-c", LOG, tflite.write(tflite.CASES["add"]).hex(), library, *steps)
    assert done.returncode == 0, done.stderr
    return ["environment.cc" in part for part in done.stderr.split("begin\n")[1:]]


@pytest.mark.skipif(sys.platform != "linux", reason="not run: the library has another name")
def test_a_log_that_the_host_asks_for_stays_on_when_more_models_are_loaded(latenn_site):
    assert read_log(latenn_site, "load", "load", "host", "load") == [False, False, True, True]
    assert read_log(latenn_site, "asked", "load") == [True, True]
    assert read_log(latenn_site, "load", "asked", "load") == [False, True, True]
