"""latenn's operator in a host in C: registered, created and computed; with a real runtime here, and a small elsewhere.

The small runtime runs on systems where no real one does, so there it is the machine code of latenn that is tried.
"""

import json
from types import SimpleNamespace

import models
import numpy as np
import pytest
from c.building import HERE, build_latenn
from onnx import TensorProto, helper

from tests.support.emulated import build_cross
from tests.support.small_runtime import NATIVE, SYSTEMS, VERSION, only_small, open_host

pytestmark = pytest.mark.slow
FLOAT, TEXT, INT4, INT64 = TensorProto.FLOAT, TensorProto.STRING, TensorProto.INT4, TensorProto.INT64
STATE, NEXT, COUNT = ("state", FLOAT, [4]), ("next", FLOAT, [4]), ("count", INT64, ["n", 1])
NUMBERS, WORDS = ("numbers", FLOAT, ["batch", 3]), ("words", TEXT, ["m"])
FED = np.array([1, 0, -2.5, 4], np.float32)
PLAIN = {"version": 1, "model": b"\x08anything", "input_names": "state", "output_names": "next\ncount"}
FAIL = 1
LIBRARIES = (".so", ".dylib", ".dll")

REFUSED = {
    "attributes of a later version": ({"version": 2}, "It was written in version 2 of its attributes"),
    "no names of inputs": ({"input_names": None}, "It lacks the attribute input_names"),
    "no model": ({"model": None}, "It lacks the attribute model"),
    "an input that the model has not": (
        {"input_names": "other"},
        'The model has no input "other"; its first is "state"',
    ),
    "an output twice": ({"output_names": "next\nnext"}, 'output_names names "next" twice'),
    "fewer names than outputs": ({"output_names": "next"}, "It has 2 outputs, and its attribute output_names names 1"),
    "outputs in another order": ({"output_names": "count\nnext"}, 'output "count" is int64; the graph has float32'),
    "a path as a backend": ({"backend": "../backend.so"}, "a model may only name one backend"),
    "a device that is a sentence": ({"device": "a b"}, "which is not the name of a device"),
    "a file outside of the folder": ({"model": None, "path": "../m.onnx"}, "a model may only name a file in its own"),
    "a device of Windows": ({"model": None, "path": "nul.onnx"}, "a model may only name a file in its own"),
    "a file, and no folder": ({"model": None, "path": "m.onnx"}, "the session does not say where that begins"),
    "a device that there is not": ({"device": "moon"}, "no such device"),
}
"""Attributes of a node, and what the refusal says."""


@pytest.fixture(scope="module", params=SYSTEMS)
def host(request, shared_folder):
    with open_host(request.param, shared_folder) as opened:
        yield opened


@pytest.fixture
def operator(host, shared_folder, kept_builds, tmp_path):
    """Runs a model with the operator, and gives what the host printed."""
    tree = (
        build_latenn(kept_builds, "").folder
        if host.rid == NATIVE
        else build_cross(shared_folder, host.rid, source=HERE)
    )
    (library,) = (path for path in (tree / "latenn").glob("*latenn_customop.*") if path.suffix in LIBRARIES)

    def run(model, *words, entries=(), version=None):
        (tmp_path / "graph.onnx").write_bytes(model)
        folder = host.name(tree / "backends")
        entry = [word for key, value in (("backend_directories", folder), *entries)
                 for word in ("entry", f"custom_op.Model.{key}", value)]  # fmt: skip
        environment = {} if version is None else {VERSION: version}
        arguments = (host.runtime, library, tmp_path / "graph.onnx", *entry, *words)
        status, printed, errors = host.run(tree / f"operator{host.suffix}", *arguments, **environment)
        assert (status, errors) == (0, ""), printed
        return [json.loads(line) for line in printed.splitlines()]

    return SimpleNamespace(run=run, host=host, folder=tmp_path)


def graph(inputs=(STATE,), outputs=(NEXT, COUNT), **attributes):
    """A model with the operator as its one node."""
    chosen = {key: value for key, value in {**PLAIN, "backend": "plain", **attributes}.items() if value is not None}
    names = [[port[0] for port in side] for side in (inputs, outputs)]
    node = helper.make_node("Model", *names, name="Node", domain="latenn", **chosen)
    return models.model([node], inputs, outputs, domains=["latenn"], checked=False)


def input_words(name, type_, array):
    return ["in", name, type_, ",".join(map(str, array.shape)) or "-", array.tobytes().hex()]


def outputs(*names):
    return [word for name in names for word in ("out", name)]


@pytest.mark.parametrize("runs", [1, 3])
def test_a_node_computes_and_its_outputs_have_the_shapes_of_the_data(operator, runs):
    words = (*input_words("state", FLOAT, FED), *outputs("next", "count"), "runs", runs)
    following, count = operator.run(graph(), *words)
    assert np.frombuffer(bytes.fromhex(following["data"][0]), np.float32).tolist() == (FED + 0.5).tolist()
    assert count["shape"] == [3, 1]
    assert np.frombuffer(bytes.fromhex(count["data"][0]), np.int64).tolist() == [0, 2, 3]


def test_an_output_that_nobody_wants_is_left_out(operator):
    model = graph(outputs=(COUNT,), output_names="count")
    (count,) = operator.run(model, *input_words("state", FLOAT, FED), *outputs("count"))
    assert count["shape"] == [3, 1]


def test_strings_and_numbers_go_through_a_node_with_every_byte(operator):
    ports = (NUMBERS, WORDS, ("nibbles", INT4, [3]))
    model = graph(
        ports,
        (("w", *WORDS[1:]), ("n", *NUMBERS[1:]), ("h", INT4, [3])),
        backend="echo",
        input_names="numbers\nwords\nnibbles",
        output_names="words\nnumbers\nnibbles",
    )
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    words = ("in", "words", TEXT, "3", "61,,c3a400ff", "in", "nibbles", INT4, "3", "2103")
    answers = operator.run(model, *input_words("numbers", FLOAT, array), *words, *outputs("w", "n", "h"))
    assert len(answers) == 3, answers
    strings, numbers, nibbles = answers
    assert strings["data"] == ["61", "", "c3a400ff"]
    assert (numbers["data"], numbers["shape"]) == ([array.tobytes().hex()], [2, 3])
    assert (nibbles["data"], nibbles["shape"]) == (["2103"], [3])


@pytest.mark.parametrize("name", REFUSED)
def test_a_node_is_refused_in_words(operator, name):
    attributes, says = REFUSED[name]
    (answer,) = operator.run(graph(**attributes))
    assert answer["step"] == "creating the session"
    assert 'latenn\'s node "Node": ' in answer["message"]
    assert says in answer["message"]


def test_an_entry_of_the_session_wins_over_the_attribute(operator):
    (answer,) = operator.run(graph(), entries=[("backend", "absent")])
    assert "latenn's absent backend was not found in" in answer["message"]
    (answer,) = operator.run(graph(), entries=[("options", "no sign")])
    assert 'has the line "no sign"; it takes KEY=VALUE' in answer["message"]


def test_types_and_shapes_of_the_graph_are_compared_with_the_models(operator):
    (answer,) = operator.run(graph(inputs=(("state", FLOAT, [5]),)))
    assert 'The model\'s input "state" has shape [4]; the graph has [5] there.' in answer["message"]
    (answer,) = operator.run(graph(inputs=(("state", INT64, [4]),)))
    assert 'input "state" is float32; the graph has int64 there.' in answer["message"]


def test_a_file_in_the_folder_is_read_and_a_link_out_of_it_is_not(operator):
    folder = operator.folder / "models"
    folder.mkdir()
    (folder / "m.onnx").write_bytes(PLAIN["model"])
    (operator.folder / "outside.onnx").write_bytes(PLAIN["model"])
    (folder / "link.onnx").symlink_to(operator.folder / "outside.onnx")
    entries = [("directory", operator.host.name(folder))]
    words = (*input_words("state", FLOAT, FED), *outputs("next"))
    assert operator.run(graph(model=None, path="m.onnx"), *words, entries=entries)[0]["shape"] == [4]
    (answer,) = operator.run(graph(model=None, path="link.onnx"), entries=entries)
    assert "Its attribute path is a link:" in answer["message"]


@only_small
@pytest.mark.parametrize(
    ("version", "says"),
    [
        ("1.18.1", "the one that registers it is older. Update it."),
        ("1.13.1", "this is another one. Update it."),
        ("2.0.0", "this is another one. Update it."),
    ],
)
def test_a_runtime_of_another_version_is_refused_in_words(operator, version, says):
    (answer,) = operator.run(graph(), version=version)
    assert (answer["step"], answer["code"]) == ("registering", FAIL)
    assert answer["message"] == f"latenn's operator needs ONNX Runtime 1.19 or newer; {says}"


@only_small
@pytest.mark.parametrize("version", ["1.19.0", "1.25.3"])
def test_a_node_computes_with_every_version_from_the_minimum_on(operator, version):
    words = (*input_words("state", FLOAT, FED), *outputs("next"))
    assert operator.run(graph(), *words, version=version)[0]["shape"] == [4]
