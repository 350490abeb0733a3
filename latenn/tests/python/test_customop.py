"""Models wrapped as one node of an ONNX graph, in plain onnxruntime: the newest in this process, older ones outside."""

from __future__ import annotations

import ctypes
import gc
import shutil
import sys

import models
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from python.running import crowd, python
from python.wrapping import attribute, made_session, older_session, refusal, session, tflite

from tests.support.programs import assert_success

onnxruntime = pytest.importorskip(
    "onnxruntime", reason="not run: onnxruntime is not installed: pip install onnxruntime"
)
openvino = pytest.importorskip("openvino", reason="not run: openvino is not installed: pip install openvino")

FLOAT = TensorProto.FLOAT
X = np.arange(-4, 4, dtype=np.float32).reshape(2, 4)


def around(inner):
    """Neg before and Abs after the one node of a graph from x to y of float32 [n, 4]."""
    node = onnx.NodeProto()
    node.CopyFrom(inner.graph.node[0])
    node.input[:], node.output[:] = ["a"], ["b"]
    nodes = [helper.make_node("Neg", ["x"], ["a"]), node, helper.make_node("Abs", ["b"], ["y"])]
    x, y, b = (helper.make_tensor_value_info(name, FLOAT, ["n", 4]) for name in "xyb")
    graph = helper.make_graph(nodes, "around", [x], [y], value_info=[b])
    return helper.make_model(graph, opset_imports=list(inner.opset_import), ir_version=inner.ir_version)


# ---- the same numbers ----------------------------------------------------------------------------------------------


def test_an_ir_without_weights_is_wrapped_too(customop, tmp_path):
    x = openvino.opset13.parameter(openvino.PartialShape([-1, 4]), np.float32, name="x")
    y = openvino.opset13.relu(x)
    x.output(0).set_names({"x"})
    y.output(0).set_names({"y"})
    openvino.save_model(openvino.Model([y], [x]), tmp_path / "bare.xml")
    (output,) = session(customop, customop.wrap(tmp_path / "bare.xml")).run(None, {"x": X})
    np.testing.assert_array_equal(output, np.maximum(X, 0))


def test_nodes_around_a_wrapped_ir_give_what_plain_numpy_gives(customop, ir):
    graph = around(customop.wrap(ir))
    onnx.checker.check_model(graph)
    (y,) = session(customop, graph).run(None, {"x": X})
    np.testing.assert_array_equal(y, np.abs(-X + np.arange(4, dtype=np.float32)))


@pytest.mark.parametrize("backend", ["onnxruntime", "openvino"])
def test_a_wrapped_onnx_model_equals_the_model(customop, backend):
    plain = models.add((2, "width"))
    left, right = X, X[::-1].copy()
    expected = made_session(plain, onnxruntime.SessionOptions()).run(None, {"left": left, "right": right})
    outputs = session(customop, customop.wrap(plain, backend=backend)).run(None, {"left": left, "right": right})
    for array, other in zip(expected, outputs, strict=True):
        np.testing.assert_array_equal(array, other)


@pytest.mark.parametrize("name", ["add", "add_open"])
def test_a_wrapped_tflite_model_gives_what_litert_gives(customop, name):
    case = tflite.CASES[name]
    data = tflite.write(case)
    inputs = tflite.arrays(case, case.shapes[0], 7)
    wrapped_session = session(customop, customop.wrap(data))
    outputs = dict(
        zip((port.name for port in wrapped_session.get_outputs()), wrapped_session.run(None, inputs), strict=True)
    )
    for port, array in tflite.compute(data, inputs).items():
        np.testing.assert_allclose(outputs[port], array, rtol=1e-6)


@pytest.mark.parametrize("kind", models.PLAIN)
@pytest.mark.parametrize("shape", models.SHAPES, ids=str)
def test_every_number_type_and_rank_goes_through_unchanged(customop, kind, shape):
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(kind)
    wrapped_session = session(
        customop, customop.wrap(models.identity(models.PLAIN[kind], shape), backend="onnxruntime")
    )
    (result,) = wrapped_session.run(None, {"x": array})
    assert result.dtype == array.dtype
    np.testing.assert_array_equal(result, array)


def test_strings_go_through_with_every_byte(customop):
    array = np.array([["", "Grüße"], ["日本", "a" * 10_000]], dtype=object)
    wrapped_session = session(customop, customop.wrap(models.identity(TensorProto.STRING, (2, "n"))))
    assert wrapped_session.run(None, {"x": array})[0].tolist() == array.tolist()
    empty = np.empty((2, 0), dtype=object)
    assert wrapped_session.run(None, {"x": empty})[0].shape == (2, 0)


def test_shapes_change_from_run_to_run_and_names_of_dimensions_stay(customop):
    wrapped_session = session(customop, customop.wrap(models.relu(3, ("batch", 4))))
    assert wrapped_session.get_outputs()[0].shape == ["batch", 4]
    for height in (1, 100, 0, 7):
        x = np.full((height, 4), height, np.float32)
        np.testing.assert_array_equal(wrapped_session.run(None, {"x": x})[0], x)


def test_outputs_may_be_left_out_and_ports_stand_in_another_order(customop):
    wrapped = customop.wrap(models.add((2, 4)))
    wrapped = attribute(wrapped, "input_names", "right\nleft")
    wrapped = attribute(wrapped, "output_names", "sum")
    del wrapped.graph.node[0].output[1:]
    del wrapped.graph.output[1:]
    wrapped.graph.output[0].type.tensor_type.shape.dim[1].dim_value = 4
    (result,) = session(customop, wrapped).run(None, {"left": X, "right": 2 * X})
    np.testing.assert_array_equal(result, 3 * X)


def test_a_model_whose_output_has_the_name_of_its_input_is_wrapped(customop, latenn):
    x = ("x", FLOAT, [2, 4])
    wrapped = customop.wrap(models.model([], [x], [x], checked=False), backend="onnxruntime")
    assert [value.name for value in (*wrapped.graph.input, *wrapped.graph.output)] == ["x", "x_out"]
    np.testing.assert_array_equal(session(customop, wrapped).run(None, {"x": X})[0], X)


def test_data_beside_an_onnx_model_goes_into_the_graph(customop, tmp_path):
    weights = onnx.numpy_helper.from_array(np.arange(400, dtype=np.float32), "w")
    node = helper.make_node("Add", ["x", "w"], ["y"])
    plain = models.model([node], [("x", FLOAT, [400])], [("y", FLOAT, [400])], initializers=[weights])
    path = tmp_path / "model.onnx"
    onnx.save(onnx.load_model_from_string(plain), path, save_as_external_data=True, size_threshold=0)
    wrapped = customop.wrap(path)
    shutil.rmtree(tmp_path)
    x = np.ones(400, np.float32)
    np.testing.assert_array_equal(session(customop, wrapped).run(None, {"x": x})[0], x + np.arange(400))


# ---- options -------------------------------------------------------------------------------------------------------


def test_each_of_two_nodes_gets_its_own_options(customop, ir):
    """Shown by what each refuses: one node's bad option does not reach the other, whose device is bad."""
    first, second = customop.wrap(ir, name="first").graph.node[0], customop.wrap(ir, name="second").graph.node[0]
    first.output[:], second.input[:] = ["between"], ["between"]
    x, y, between = (helper.make_tensor_value_info(name, FLOAT, ["n", 4]) for name in ("x", "y", "between"))
    graph = helper.make_graph([first, second], "two", [x], [y], value_info=[between])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("latenn", 1)]
    proto = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    entries = {"first": {"options": {"NUM_STREAMS": 1}}, "second": {"options": {"NUM_STREAMS": 2}}}
    (y,) = session(customop, proto, nodes=entries).run(None, {"x": X})
    np.testing.assert_array_equal(y, X + 2 * np.arange(4, dtype=np.float32))
    message = refusal(customop, proto, nodes={"second": {"device": "NPU"}})
    assert 'latenn\'s node "second": ' in message
    assert "NPU" in message
    message = refusal(customop, proto, options={"NUM_STREAMS": 1}, nodes={"first": {"options": {"num_streams": 3}}})
    assert 'latenn\'s node "first": The option "num_streams" is not known.' in message


def test_an_entry_is_stronger_than_the_attribute_and_the_nodes_than_the_operators(customop):
    wrapped = customop.wrap(models.relu(1, (2, 4)), backend="onnxruntime", name="mine")
    assert "no_such backend" in refusal(customop, wrapped, backend="no_such")
    session(customop, wrapped, backend="no_such", nodes={"mine": {"backend": "openvino"}}).run(None, {"x": X})


def test_entries_are_those_of_the_time_of_registration(customop):
    wrapped = customop.wrap(models.relu(1, (2, 4)), backend="onnxruntime")
    options = onnxruntime.SessionOptions()
    customop.register(options)
    options.add_session_config_entry("custom_op.Model.backend", "no_such")
    np.testing.assert_array_equal(made_session(wrapped, options).run(None, {"x": X})[0], np.maximum(X, 0))


def test_a_path_begins_at_the_directory_that_the_session_names(customop, ir, tmp_path):
    wrapped = attribute(customop.wrap(ir, embed=False), "path", ir.name)
    (y,) = session(customop, wrapped, directory=ir.parent).run(None, {"x": X})
    np.testing.assert_array_equal(y, X + np.arange(4, dtype=np.float32))
    message = refusal(customop, wrapped, directory=tmp_path)
    assert f'latenn\'s node "model": The model {tmp_path}/{ir.name} cannot be loaded: there is no such file.' in message


# ---- what is wrong -------------------------------------------------------------------------------------------------

AGAIN = "Wrap the model again."
MAKE = "Make the node with: python -m latenn wrap MODEL."


def whole_numbers():
    """The model of `models.add`, of int32."""
    nodes = [helper.make_node("Add", ["left", "right"], ["sum"]), helper.make_node("Neg", ["sum"], ["twice"])]
    left, right, total, twice = ((name, TensorProto.INT32, [2, 4]) for name in ("left", "right", "sum", "twice"))
    return models.model(nodes, [left, right], [twice, total])


REFUSALS = {
    "no version": ("version", None, f"It lacks the attribute version. {MAKE}"),
    "newer": (
        "version", 2,
        ("It was written in version 2 of its attributes; latenn 0.1.0 reads up to 1. "
         "Update latenn-customop, or wrap the model again."),
    ),
    "no model": ("model", None, f"It lacks the attribute model. {MAKE}"),
    "no names": ("input_names", None, f"It lacks the attribute input_names. {MAKE}"),
    "inputs": ("input_names", "left", f"It has 2 inputs, and its attribute input_names names 1. {AGAIN}"),
    "outputs": ("output_names", "a\nb\nc", f"It has 2 outputs, and its attribute output_names names 3. {AGAIN}"),
    "twice": ("input_names", "left\nleft", f'Its attribute input_names names "left" twice. {AGAIN}'),
    "name": ("input_names", "left\nx", f'The model has no input "x"; its first is "left". {AGAIN}'),
    "fewer": ("model", models.relu(1, (2, 4)), f"It has 2 inputs; the model has 1. {AGAIN}"),
    "type": ("model", whole_numbers(), 'The model\'s input "left" is int32; the graph has float32 there.'),
    "rank": (
        "model", models.add((2, 4, 1)),
        'The model\'s input "left" has shape [2, 4, 1]; the graph has [2, width] there.',
    ),
    "shape": (
        "model", models.add((3, "wide")),
        'The model\'s input "left" has shape [3, wide]; the graph has [2, width] there.',
    ),
    "backend": (
        "backend", "no_such",
        ("and 1 more place, nor by the system's own search. "
         "Get it with: pip install latenn-no_such, or dotnet add package Latenn.no_such"),
    ),
    "device": (
        "device", "tpu",
        'The device "tpu" is not supported; this backend computes on "cpu", "cuda" or "cuda:N".',
    ),
    "bad model": (
        "model", b"\x08\x08garbage", "refuses the model: Failed to load model because protobuf parsing failed.",
    ),
    "no encoding": (
        "model", b"garbage",
        ("The model is in no encoding that latenn knows (ONNX, TFLite, OpenVINO IR). "
         "If a backend can read it, name that backend."),
    ),
    "weights": (
        "weights", b"1234", "weights are for an OpenVINO IR from memory; this model is not one. Leave them out.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSALS)
def test_what_is_wrong_with_a_node_is_said_in_words(customop, case):
    name, value, expected = REFUSALS[case]
    wrapped = attribute(customop.wrap(models.add()), name, value)
    message = refusal(customop, wrapped)
    assert 'latenn\'s node "model": ' in message
    assert expected in message, message


def test_another_runtime_than_the_processs_own_is_refused(customop, tmp_path):
    wrapped = customop.wrap(models.relu(1, (2, 4)))
    message = refusal(customop, wrapped, runtime_path=tmp_path / "nowhere.so")
    assert (
        f"{tmp_path}/nowhere.so was asked for. A process binds one: give its path when the first model is loaded."
        in message
    )


def test_a_shape_that_the_model_does_not_take_fails_the_run_and_not_the_session(customop, ir):
    wrapped = customop.wrap(ir)
    wrapped.graph.input[0].type.tensor_type.shape.dim[1].dim_param = "any"
    ready = session(customop, wrapped)
    with pytest.raises(Exception, match=r'node "model": input "x" takes shape \[\?, 4\]; it was given \[2, 3\]\.'):
        ready.run(None, {"x": X[:, :3]})
    np.testing.assert_array_equal(ready.run(None, {"x": X})[0], X + np.arange(4, dtype=np.float32))


def test_what_the_runtime_says_of_a_failed_run_comes_through(customop):
    ready = session(customop, customop.wrap(models.gather()))
    with pytest.raises(Exception, match=r'latenn\'s node "model": .*out of data bounds'):
        ready.run(None, {"x": np.array([7], np.int64)})


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"nodes": {"a": {"devise": "CPU"}}}, r"nodes\['a'\] does not know 'devise'\. Known: backend, device,"),
        ({"nodes": {"Model": {}}}, "give the name of a node"),
        ({"options": {"a=b": 1}}, "which no line KEY=VALUE can hold"),
        ({"device": "x" * 9000}, "refuses the entry custom_op.Model.device of 9000 characters"),
        ({"device": "a\0b"}, "it takes a text"),
    ],
    ids=lambda value: "" if isinstance(value, dict) else value[:12],
)
def test_what_no_entry_can_say_is_refused_before_anything_is_registered(customop, latenn, choices, message):
    with pytest.raises(latenn.InvalidArgumentError, match=message):
        customop.register(onnxruntime.SessionOptions(), **choices)


def test_what_no_node_can_hold_is_refused(customop, latenn, monkeypatch):
    with pytest.raises(latenn.InvalidArgumentError, match="give the model's path"):
        customop.wrap(models.relu(1, (2, 4)), embed=False)
    two = models.model([helper.make_node("Neg", ["a\nb"], ["y"])], [("a\nb", FLOAT, [1])], [("y", FLOAT, [1])])
    with pytest.raises(latenn.InvalidArgumentError, match="names of one line"):
        customop.wrap(two)
    monkeypatch.setattr(sys.modules["latenn_customop._wrap"], "_LIMIT", 10)
    with pytest.raises(latenn.InvalidArgumentError, match="--external"):
        customop.wrap(models.relu(1, (2, 4)))
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(latenn.UnsupportedError, match=r'pip install "latenn-customop\[wrap\]"'):
        customop.wrap(models.relu(1, (2, 4)))


# ---- threads, lives, other hosts -----------------------------------------------------------------------------------


def test_runs_at_once_do_not_meet(customop, ir):
    ready = session(customop, around(customop.wrap(ir)))

    def work(number):
        for height in (1, number + 1):
            x = np.full((height, 4), number, np.float32)
            for _ in range(40):
                np.testing.assert_array_equal(ready.run(None, {"x": x})[0], np.abs(-x + np.arange(4)))

    crowd(work)


def test_sessions_come_and_go(customop, ir):
    graph = around(customop.wrap(ir))
    first_session = session(customop, graph)
    for _ in range(10):
        session(customop, graph).run(None, {"x": X})
        gc.collect()
    options = onnxruntime.SessionOptions()
    customop.register(options)
    several = [made_session(graph, options) for _ in range(2)]
    del options
    gc.collect()
    for opened in (first_session, *several):
        assert opened.run(None, {"x": X})[0].shape == (2, 4)


UNLOADED = """
import gc, pathlib, sys
import numpy as np
import onnxruntime
import latenn_customop
for _ in range(3):
    options = onnxruntime.SessionOptions()
    latenn_customop.register(options)
    session = onnxruntime.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])
    x = np.ones((2, 4), np.float32)
    assert session.run(None, {"x": -x})[0].sum() == 8
    del session, options
    gc.collect()
    print("latenn_customop" in pathlib.Path("/proc/self/maps").read_text())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="not run: only Linux has /proc/self/maps")
def test_the_library_goes_with_its_last_session_and_comes_back(customop, latenn_site, tmp_path):
    file = tmp_path / "relu.onnx"
    file.write_bytes(around(customop.wrap(models.relu(1, ("n", 4)))).SerializeToString())
    done = python(latenn_site, "-c", UNLOADED, file)
    assert (done.returncode, done.stdout.split()) == (0, ["False"] * 3), done.stderr


def test_a_host_that_is_too_old_or_of_another_kind_is_refused(customop):
    """A stand-in for the OrtApiBase of another release; only what is called is there."""
    messages = []
    create = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_int, ctypes.c_char_p)(
        lambda _, text: messages.append(text) or 1
    )
    table = (ctypes.c_void_p * 300)(ctypes.cast(create, ctypes.c_void_p))
    get_api = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_uint32)(lambda _: ctypes.addressof(table))
    register = ctypes.CDLL(customop.library_path()).RegisterCustomOps
    register.restype = ctypes.c_void_p
    for version, expected in ((b"1.18.1", b"the one that registers it is older"), (b"2.0.0", b"this is another one")):
        text = ctypes.create_string_buffer(version)
        get_version = ctypes.CFUNCTYPE(ctypes.c_size_t)(lambda text=text: ctypes.addressof(text))
        base = (ctypes.c_void_p * 2)(*(ctypes.cast(function, ctypes.c_void_p) for function in (get_api, get_version)))
        assert register(None, base) == 1
        assert expected in messages[-1]


def test_older_releases_run_the_same_graphs(customop, latenn_site, older, ir, tmp_path):
    files = [tmp_path / "ir.onnx", tmp_path / "onnx.onnx"]
    for file, inner in zip(files, (ir, models.relu(2, ("n", 4))), strict=True):
        file.write_bytes(around(customop.wrap(inner)).SerializeToString())
    printed = assert_success(older_session(older, latenn_site, *files))
    expected = (np.abs(-X + np.arange(4)), np.maximum(-X, 0))
    assert printed.splitlines() == [f"{array.tolist()} ['n', 4]" for array in expected]


def test_a_missing_runtime_is_said_with_the_command_that_brings_it(customop, latenn_site, older, ir, tmp_path):
    file = tmp_path / "ir.onnx"
    file.write_bytes(around(customop.wrap(ir)).SerializeToString())
    done = older_session(older, latenn_site, file, flags=("-S",))  # without the environment's own openvino
    assert done.returncode == 1, done.stdout
    assert 'latenn\'s node "model": OpenVINO was not found' in done.stderr
    assert 'pip install "latenn-openvino[cpu]"' in done.stderr


# ---- the command ---------------------------------------------------------------------------------------------------


def command(latenn_site, *arguments):
    return python(latenn_site, "-m", "latenn", *arguments)


def test_the_command_writes_what_a_session_runs(customop, latenn_site, ir, tmp_path):
    out = tmp_path / "wrapped.onnx"
    assert_success(
        command(latenn_site, "wrap", ir, "-o", out, "--backend", "openvino", "--device", "cpu", "--name", "mine")
    )
    wrapped = onnx.load(out)
    assert wrapped.graph.node[0].name == "mine"
    assert session(customop, wrapped).run(None, {"x": X})[0].tolist() == (X + np.arange(4)).tolist()


def test_the_command_keeps_the_path_alone_when_asked(customop, latenn_site, ir, tmp_path):
    out = ir.parent.parent / f"{tmp_path.name}.onnx"
    assert command(latenn_site, "wrap", ir, "-o", out, "--external").returncode == 0
    written = {entry.name: entry.s.decode() for entry in onnx.load(out).graph.node[0].attribute}
    assert set(written) == {"version", "path", "input_names", "output_names"}
    assert written["path"] == f"{ir.parent.name}/{ir.name}"
    assert session(customop, onnx.load(out), directory=out.parent).run(None, {"x": X})[0].shape == (2, 4)
    done = command(latenn_site, "wrap", ir, "-o", tmp_path / "elsewhere.onnx", "--external")
    assert (done.returncode, "Write the graph next to the model" in done.stderr) == (1, True)


def test_the_command_says_what_it_cannot_do(latenn_site, ir, tmp_path):
    done = command(latenn_site, "wrap", tmp_path / "none.xml", "-o", tmp_path / "out.onnx")
    assert (done.returncode, "there is no such file" in done.stderr) == (1, True)
    done = command(latenn_site, "wrap", ir, "-o", tmp_path / "no" / "folder.onnx")
    assert (done.returncode, "cannot be written: No such file or directory" in done.stderr) == (1, True)
    bare = tmp_path / "bare"
    shutil.copytree(latenn_site / "latenn", bare / "latenn")
    done = command(bare, "wrap", ir, "-o", tmp_path / "out.onnx")
    assert (done.returncode, done.stderr) == (
        1,
        'latenn: wrap needs latenn-customop: pip install "latenn-customop[wrap]"\n',
    )
