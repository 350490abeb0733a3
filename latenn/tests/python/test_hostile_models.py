"""Models from anyone, wrapped as a node: each attribute is tried as a way to open code or files of the machine."""

from __future__ import annotations

import os

import models
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from python.wrapping import attribute, older_session, refusal, session, tflite

fuzz_customop = pytest.importorskip(
    "fuzz_customop", reason="not run: ai-edge-litert is not installed: pip install ai-edge-litert"
)
hostile = fuzz_customop.hostile  # makes such models for the fuzzer, too

X = np.arange(8, dtype=np.float32).reshape(2, 4)
NAME = "a model may only name one backend"
BELOW = "a model may only name a file in its own folder or below"
LINK = "which is outside the folder"
FILES = "The model keeps data in other files"


@pytest.fixture(scope="module")
def wrapped_model(customop):
    return customop.wrap(models.relu(1, (2, 4)))


# ---- backend -------------------------------------------------------------------------------------------------------


@pytest.fixture
def planted_library(tmp_path):
    """A library whose constructor makes a file, and that file."""
    library = tmp_path / "liblatenn_backend_evil.so"
    library.write_bytes(fuzz_customop.evil(tmp_path))
    mark = tmp_path / "ran"
    return library, mark


@pytest.mark.skipif(os.name == "nt", reason="not run: the library is made for this system with GNU attributes")
def test_no_code_runs_that_the_attribute_backend_gives_a_path_of(customop, wrapped_model, planted_library):
    library, mark = planted_library
    relative = os.path.relpath(library)
    for path in (str(library), relative, f"{library},onnxruntime", f"onnxruntime,{library}"):
        assert NAME in refusal(customop, attribute(wrapped_model, "backend", path))
        assert not mark.exists()
    refusal(customop, wrapped_model, backend=str(library))  # the control: what the host names is opened
    assert mark.exists()


@pytest.mark.parametrize(
    "text",
    [
        "/", "./onnxruntime", "../onnxruntime", "onnxruntime/", "\\\\host\\share\\x.dll", "C:\\x.dll", "C:x.dll",
        "onnxruntime,openvino", "onnxruntime,", "onnxruntime.so", "Onnxruntime", "onnx-runtime", "on nx", "x" * 64,
        "onnxruntime\0/x", "onnxruntime\n", "\u00f6nnx",
    ],
)  # fmt: skip
def test_the_attribute_backend_is_one_plain_name(customop, wrapped_model, text):
    assert NAME in refusal(customop, attribute(wrapped_model, "backend", text))
    assert NAME in refusal(customop, attribute(wrapped_model, "backend", text), backend="onnxruntime")


def test_a_graph_is_not_made_with_the_path_of_a_backend(customop, latenn):
    with pytest.raises(latenn.InvalidArgumentError, match="and no path"):
        customop.wrap(models.relu(1, (2, 4)), backend="/lib/liblatenn_backend_x.so")


@pytest.mark.parametrize("text", ["../x", "AUTO:/x", "GPU\\x", "cpu\0x", "cpu\n", "x" * 64])
def test_the_attribute_device_is_a_plain_name(customop, wrapped_model, text):
    message = refusal(customop, attribute(wrapped_model, "device", text))
    assert "which is not the name of a device" in message


def test_names_end_where_their_attribute_does(customop, wrapped_model):
    message = refusal(customop, attribute(wrapped_model, "input_names", "x\0y"))
    assert 'One of its attributes has a NUL after "x".' in message


# ---- path ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    """models/relu.onnx and, outside of models, secret.onnx."""
    (tmp_path / "models" / "deep").mkdir(parents=True)
    for name in ("models/relu.onnx", "models/deep/relu.onnx", "secret.onnx"):
        (tmp_path / name).write_bytes(models.relu(1, (2, 4)))
    return tmp_path / "models"


def at_path(wrapped, path):
    return attribute(attribute(wrapped, "model", None), "path", path)


@pytest.mark.parametrize("path", ["relu.onnx", "./relu.onnx", "deep/relu.onnx"])
def test_a_path_below_the_sessions_folder_is_opened(customop, wrapped_model, folder, path):
    (y,) = session(customop, at_path(wrapped_model, path), directory=folder).run(None, {"x": X})
    np.testing.assert_array_equal(y, X)


@pytest.mark.parametrize(
    "path",
    [
        "../secret.onnx", "deep/../../secret.onnx", "deep/../relu.onnx", "..", "/etc/passwd", "//host/share/x.onnx",
        "\\\\host\\share\\x.onnx", "\\\\?\\C:\\x.onnx", "..\\secret.onnx", "C:\\x.onnx", "C:/x.onnx", "C:x.onnx",
        "relu.onnx:stream", "deep//relu.onnx", "deep/", "nul", "NUL.onnx", "deep/con .txt", "com1", "lpt\u00b9.onnx",
        "conin$", "relu.onnx.", "relu.onnx ", "... /secret.onnx", "relu.onnx\0", "a\nb",
    ],
)  # fmt: skip
def test_a_path_that_leads_elsewhere_is_refused_on_every_system(customop, wrapped_model, folder, path):
    message = refusal(customop, at_path(wrapped_model, path), directory=folder)
    assert BELOW in message or "has a NUL after" in message


@pytest.mark.parametrize("path", ["console.onnx", "com.onnx", "com10", "nulls", "aux_1/x.onnx", "a..b", ".hidden"])
def test_names_that_are_close_to_those_of_devices_are_looked_for(customop, wrapped_model, folder, path):
    assert "there is no such file" in refusal(customop, at_path(wrapped_model, path), directory=folder)


def test_the_whole_path_of_a_model_needs_the_hosts_word(customop, wrapped_model, folder):
    secret = at_path(wrapped_model, str(folder.parent / "secret.onnx"))
    assert "set the session entry custom_op.Model.allow_any_path to 1" in refusal(customop, secret, directory=folder)
    assert BELOW in refusal(customop, secret, allow_any_path=False)
    for choices in ({"allow_any_path": True}, {"nodes": {"model": {"allow_any_path": True}}}):
        (y,) = session(customop, secret, **choices).run(None, {"x": X})
        np.testing.assert_array_equal(y, X)


def test_a_path_does_not_begin_at_the_current_folder(customop, wrapped_model, folder, monkeypatch):
    monkeypatch.chdir(folder)
    message = refusal(customop, at_path(wrapped_model, "relu.onnx"))
    assert "Set the session entry custom_op.Model.directory to the model's folder." in message


def make_link(link, target):
    try:
        link.symlink_to(target)
    except OSError:
        pytest.skip("not run: this system makes no links without a privilege")


def test_links_are_followed_and_must_stay_in_the_folder(customop, wrapped_model, folder):
    make_link(folder / "out.onnx", folder.parent / "secret.onnx")
    make_link(folder / "in.onnx", folder / "relu.onnx")
    make_link(folder.parent / "other name", folder)
    message = refusal(customop, at_path(wrapped_model, "out.onnx"), directory=folder)
    assert LINK in message
    for directory, path in ((folder, "in.onnx"), (folder.parent / "other name", "relu.onnx")):
        session(customop, at_path(wrapped_model, path), directory=directory)
    session(customop, at_path(wrapped_model, "out.onnx"), directory=folder, allow_any_path=True)


def test_weights_next_to_an_ir_must_stay_in_the_folder(customop, ir, tmp_path):
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "ir.xml").write_bytes(ir.read_bytes())
    (tmp_path / "secret.bin").write_bytes(ir.with_suffix(".bin").read_bytes())
    make_link(tmp_path / "models" / "ir.bin", tmp_path / "secret.bin")
    wrapped = at_path(customop.wrap(ir), "ir.xml")
    wrapped = attribute(wrapped, "weights", None)
    assert LINK in refusal(customop, wrapped, directory=tmp_path / "models")
    session(customop, wrapped, directory=tmp_path / "models", allow_any_path=True)


def test_weights_are_bytes_and_never_the_name_of_a_file(customop, ir, tmp_path):
    weights = tmp_path / "weights.bin"
    weights.write_bytes(ir.with_suffix(".bin").read_bytes())
    wrapped = attribute(customop.wrap(ir), "weights", str(weights))
    try:
        (y,) = session(customop, wrapped).run(None, {"x": X})
    except Exception as error:  # noqa: BLE001  # of onnxruntime
        assert "OpenVINO" in str(error)  # noqa: PT017  # releases differ in whether they count the weights
    else:
        bias = np.frombuffer(str(weights).encode()[:16], np.float32)
        np.testing.assert_array_equal(y, X + bias)


# ---- data that the wrapped model keeps in files --------------------------------------------------------------------


def external(location):
    tensor = onnx.TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[2, 4], data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value=location)
    return tensor


def build_unchecked(nodes, initializers=()):
    """A model from x to y, which onnx's own checker, that refuses such files, has not seen."""
    x, y = ((name, TensorProto.FLOAT, [2, 4]) for name in "xy")
    return models.model(nodes, [x], [y], initializers=initializers, checked=False)


def in_initializer(tensor):
    return build_unchecked([helper.make_node("Add", ["x", "w"], ["y"])], [tensor])


def in_attribute(tensor):
    return build_unchecked(
        [helper.make_node("Constant", [], ["w"], value=tensor), helper.make_node("Add", ["x", "w"], ["y"])]
    )


def in_branch(tensor):
    out = helper.make_tensor_value_info("z", TensorProto.FLOAT, [2, 4])
    branch = helper.make_graph([helper.make_node("Identity", ["w"], ["z"])], "b", [], [out], initializer=[tensor])
    yes = helper.make_tensor("c", TensorProto.BOOL, [], [1])
    nodes = [
        helper.make_node("Constant", [], ["c"], value=yes),
        helper.make_node("If", ["c"], ["b"], then_branch=branch, else_branch=branch),
        helper.make_node("Add", ["x", "b"], ["y"]),
    ]
    return build_unchecked(nodes)


def in_function(tensor):
    proto = onnx.load_model_from_string(build_unchecked([helper.make_node("F", ["x"], ["y"], domain="own")]))
    nodes = [helper.make_node("Constant", [], ["w"], value=tensor), helper.make_node("Add", ["a", "w"], ["b"])]
    opsets = [helper.make_opsetid("", 17)]
    proto.functions.append(helper.make_function("own", "F", ["a"], ["b"], nodes, opsets))
    proto.opset_import.append(helper.make_opsetid("own", 1))
    return proto.SerializeToString()


PLACES = (in_initializer, in_attribute, in_branch, in_function)


@pytest.mark.parametrize("backend", ["onnxruntime", "openvino"])
@pytest.mark.parametrize("embed", PLACES)
def test_a_model_inside_a_graph_has_no_data_in_files(customop, wrapped_model, embed, backend, tmp_path):
    (tmp_path / "secret").write_bytes(bytes(32))
    for location in (str(tmp_path / "secret"), os.path.relpath(tmp_path / "secret"), "w.bin"):
        wrapped = attribute(attribute(wrapped_model, "model", embed(external(location))), "backend", backend)
        assert FILES in refusal(customop, wrapped)


def test_older_releases_do_not_read_the_file_either(wrapped_model, latenn_site, older, tmp_path):
    (tmp_path / "secret").write_bytes(np.full(8, 7, np.float32).tobytes())
    path = tmp_path / "hostile.onnx"
    inner = in_initializer(external(str(tmp_path / "secret")))
    path.write_bytes(attribute(wrapped_model, "model", inner).SerializeToString())
    done = older_session(older, latenn_site, path)
    assert (done.returncode, done.stdout) == (1, "")
    assert FILES in done.stderr


def test_a_disguise_does_not_hide_the_files_of_an_onnx_model(customop, wrapped_model):
    """TFLite's mark, an unknown field in front, an overlong length: the runtime's parser reads past all of them."""
    plain = in_initializer(external("/etc/hostname"))
    version, rest = plain[:2], plain[2:]
    assert version[0] == 0x08
    disguises = {
        "mark": b"\x12\x06\x61\x61TFL3" + version + rest,
        "field": b"\xaa\x06\x01\x61" + plain,
        "length": b"\x12\x81\x80\x00\x61" + plain,
        "group": b"\xab\x06\xac\x06" + plain,
        "twice": plain + models.relu(1, (2, 4))[:2],
    }
    for name, disguised in disguises.items():
        wrapped = attribute(attribute(wrapped_model, "model", disguised), "backend", "onnxruntime")
        assert FILES in refusal(customop, wrapped), name


@pytest.mark.parametrize("embed", PLACES)
def test_data_of_a_model_with_a_path_stays_in_its_folder(customop, wrapped_model, folder, embed):
    wrapped = at_path(wrapped_model, "data.onnx")
    (folder.parent / "secret").write_bytes(bytes(32))
    (folder / "w.bin").write_bytes(np.ones(8, np.float32).tobytes())
    for location in ("../secret", str(folder.parent / "secret"), "deep/../../secret", "*/_ORT_MEM_ADDR_/*\\"):
        (folder / "data.onnx").write_bytes(embed(external(location)))
        message = refusal(customop, wrapped, directory=folder)
        assert f'The model keeps data in "{location}", {LINK}' in message
    (folder / "data.onnx").write_bytes(in_initializer(external("w.bin")))
    np.testing.assert_array_equal(session(customop, wrapped, directory=folder).run(None, {"x": X})[0], X + 1)
    make_link(folder / "linked.bin", folder.parent / "secret")
    (folder / "data.onnx").write_bytes(embed(external("linked.bin")))
    assert LINK in refusal(customop, wrapped, directory=folder)


def test_weights_of_a_tflite_model_stay_in_its_folder(customop, folder):
    wrapped = customop.wrap(tflite.write(tflite.CASES["add"]))
    (folder.parent / "secret").write_bytes(bytes(24))
    assert FILES in refusal(customop, attribute(wrapped, "model", hostile.group_weights("weights.bin")))
    for name in ("../secret", str(folder.parent / "secret")):
        (folder / "data.tflite").write_bytes(hostile.group_weights(name))
        message = refusal(customop, at_path(wrapped, "data.tflite"), directory=folder)
        assert f'The model keeps data in "{name}", {LINK}' in message


def test_data_of_attributes_goes_into_the_graph(customop, tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(in_attribute(external("w.bin")))
    (tmp_path / "w.bin").write_bytes(np.ones(8, np.float32).tobytes())
    wrapped = customop.wrap(path)
    np.testing.assert_array_equal(session(customop, wrapped).run(None, {"x": X})[0], X + 1)
