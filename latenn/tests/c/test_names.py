"""What the openvino backend reads of ONNX files itself, as it comes: well-formed, damaged and hostile."""

import pytest
from onnx import TensorProto, helper


def model(names):
    """A model whose inputs are called so, each with its output."""
    nodes = [helper.make_node("Relu", [name], [f"{name}.out"]) for name in names]
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in names]
    outputs = [helper.make_tensor_value_info(f"{name}.out", TensorProto.FLOAT, [2]) for name in names]
    return helper.make_model(helper.make_graph(nodes, "g", inputs, outputs)).SerializeToString()


@pytest.fixture
def read_names(programs, tmp_path):
    """Reported for bytes: from memory, then from a file."""

    def ask(data):
        (tmp_path / "model").write_bytes(data)
        lines = programs.run("names", tmp_path / "model").stdout.decode().splitlines()
        half = len(lines) // 2
        assert lines[:half] == lines[half:]
        return lines[:half]

    return ask


def test_names_are_those_of_the_graph_in_order(read_names):
    names = ["x", "a long/name", "\u03b1", "n" * 4000]
    assert read_names(model(names)) == [f"input {name}" for name in names] + [f"output {name}.out" for name in names]


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"\x07" * 50, id="no wire type"),
        pytest.param(b"\x3a\xff\xff\xff\xff\xff\xff\xff\xff\x7f", id="a graph of 2**63 bytes"),
        pytest.param(b"\x3a\x02\x5a\x7f", id="an input longer than its graph"),
        pytest.param(b"\x3a\x04\x5a\x02\x0a\x7fxyz", id="a name longer than its input"),
        pytest.param(model(["n" * 4000])[:3000], id="a name that the file does not end"),
        # The length of a field reaches beyond its message and says: go back to where you were.
        pytest.param(b"\x3a\x02\x5a\xf5\xff\xff\xff\xff\xff\xff\xff\xff\x01", id="backwards"),
    ],
)
def test_what_is_no_model_has_no_names_and_an_end(read_names, data):
    assert read_names(data) == []


def test_damaged_models_are_read_within_their_bounds(programs, tmp_path):
    (tmp_path / "model").write_bytes(model(["x", "state", "mask"]))
    printed = programs.run("names", tmp_path / "model", tmp_path / "scratch", "50000").stdout
    assert int(printed.split()[0]) > 200_000  # most are still read
