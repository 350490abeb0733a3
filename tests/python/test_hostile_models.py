"""Models from anyone, wrapped as a node: each attribute is tried as a way to open code or files of the machine."""

from __future__ import annotations

import os

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from tests.python import models
from tests.python.wrapping import attribute, older_session, refusal, session, tflite

fuzz_customop = pytest.importorskip("research.fuzz_customop", reason="not run: ai-edge-litert is not installed")
hostile = fuzz_customop.hostile  # makes such models for the fuzzer, too

X = np.arange(8, dtype=np.float32).reshape(2, 4)
NAME = "a model may only name one backend"
BELOW = "a model may only name a file in its own folder or below"
LINK = "which is outside the folder"
FILES = "The model keeps data in other files"


@pytest.fixture(scope="module")
def wrapped(customop):
    return customop.wrap(models.relu(1, (2, 4)))


# ---- backend -------------------------------------------------------------------------------------------------------


@pytest.fixture
def planted(tmp_path):
    """A library whose constructor makes a file, and that file."""
    library = tmp_path / "liblatenn_backend_evil.so"
    library.write_bytes(fuzz_customop.evil(tmp_path))
    mark = tmp_path / "ran"
    return library, mark


@pytest.mark.skipif(os.name == "nt", reason="not run: the library is made for this system with GNU attributes")
def test_no_code_runs_that_the_attribute_backend_gives_a_path_of(customop, wrapped, planted):
    library, mark = planted
    relative = os.path.relpath(library)
    for path in (str(library), relative, f"{library},onnxruntime", f"onnxruntime,{library}"):
        assert NAME in refusal(customop, attribute(wrapped, "backend", path))
        assert not mark.exists()
    refusal(customop, wrapped, backend=str(library))  # the control: what the host names is opened
    assert mark.exists()


@pytest.mark.parametrize(
    "text",
    [
        "/", "./onnxruntime", "../onnxruntime", "onnxruntime/", "\\\\host\\share\\x.dll", "C:\\x.dll", "C:x.dll",
        "onnxruntime,openvino", "onnxruntime,", "onnxruntime.so", "Onnxruntime", "onnx-runtime", "on nx", "x" * 64,
        "onnxruntime\0/x", "onnxruntime\n", "\u00f6nnx",
    ],
)  # fmt: skip
def test_the_attribute_backend_is_one_plain_name(customop, wrapped, text):
    assert NAME in refusal(customop, attribute(wrapped, "backend", text))
    assert NAME in refusal(customop, attribute(wrapped, "backend", text), backend="onnxruntime")


def test_a_graph_is_not_made_with_the_path_of_a_backend(customop, latenn):
    with pytest.raises(latenn.InvalidArgumentError, match="and no path"):
        customop.wrap(models.relu(1, (2, 4)), backend="/lib/liblatenn_backend_x.so")


@pytest.mark.parametrize("text", ["../x", "AUTO:/x", "GPU\\x", "cpu\0x", "cpu\n", "x" * 64])
def test_the_attribute_device_is_a_plain_name(customop, wrapped, text):
    said = refusal(customop, attribute(wrapped, "device", text))
    assert "which is not the name of a device" in said


def test_names_end_where_their_attribute_does(customop, wrapped):
    said = refusal(customop, attribute(wrapped, "input_names", "x\0y"))
    assert 'One of its attributes has a NUL after "x".' in said


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
def test_a_path_below_the_sessions_folder_is_opened(customop, wrapped, folder, path):
    (y,) = session(customop, at_path(wrapped, path), directory=folder).run(None, {"x": X})
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
def test_a_path_that_leads_elsewhere_is_refused_on_every_system(customop, wrapped, folder, path):
    said = refusal(customop, at_path(wrapped, path), directory=folder)
    assert BELOW in said or "has a NUL after" in said


@pytest.mark.parametrize("path", ["console.onnx", "com.onnx", "com10", "nulls", "aux_1/x.onnx", "a..b", ".hidden"])
def test_names_that_are_close_to_those_of_devices_are_looked_for(customop, wrapped, folder, path):
    assert "there is no such file" in refusal(customop, at_path(wrapped, path), directory=folder)


def test_the_whole_path_of_a_model_needs_the_hosts_word(customop, wrapped, folder):
    secret = at_path(wrapped, str(folder.parent / "secret.onnx"))
    assert "set the session entry custom_op.Model.allow_any_path to 1" in refusal(customop, secret, directory=folder)
    assert BELOW in refusal(customop, secret, allow_any_path=False)
    for choices in ({"allow_any_path": True}, {"nodes": {"model": {"allow_any_path": True}}}):
        (y,) = session(customop, secret, **choices).run(None, {"x": X})
        np.testing.assert_array_equal(y, X)


def test_a_path_does_not_begin_at_the_current_folder(customop, wrapped, folder, monkeypatch):
    monkeypatch.chdir(folder)
    said = refusal(customop, at_path(wrapped, "relu.onnx"))
    assert "Set the session entry custom_op.Model.directory to the model's folder." in said


def linked(link, target):
    try:
        link.symlink_to(target)
    except OSError:
        pytest.skip("not run: this system makes no links without a privilege")


def test_links_are_followed_and_must_stay_in_the_folder(customop, wrapped, folder):
    linked(folder / "out.onnx", folder.parent / "secret.onnx")
    linked(folder / "in.onnx", folder / "relu.onnx")
    linked(folder.parent / "other name", folder)
    said = refusal(customop, at_path(wrapped, "out.onnx"), directory=folder)
    assert LINK in said
    for place, path in ((folder, "in.onnx"), (folder.parent / "other name", "relu.onnx")):
        session(customop, at_path(wrapped, path), directory=place)
    session(customop, at_path(wrapped, "out.onnx"), directory=folder, allow_any_path=True)


def test_weights_next_to_an_ir_must_stay_in_the_folder(customop, ir, tmp_path):
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "ir.xml").write_bytes(ir.read_bytes())
    (tmp_path / "secret.bin").write_bytes(ir.with_suffix(".bin").read_bytes())
    linked(tmp_path / "models" / "ir.bin", tmp_path / "secret.bin")
    made = at_path(customop.wrap(ir), "ir.xml")
    made = attribute(made, "weights", None)
    assert LINK in refusal(customop, made, directory=tmp_path / "models")
    session(customop, made, directory=tmp_path / "models", allow_any_path=True)


def test_weights_are_bytes_and_never_the_name_of_a_file(customop, ir, tmp_path):
    weights = tmp_path / "weights.bin"
    weights.write_bytes(ir.with_suffix(".bin").read_bytes())
    made = attribute(customop.wrap(ir), "weights", str(weights))
    try:
        (y,) = session(customop, made).run(None, {"x": X})
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


def unchecked(nodes, initializers=()):
    """A model from x to y, which onnx's own checker, that refuses such files, has not seen."""
    x, y = ((name, TensorProto.FLOAT, [2, 4]) for name in "xy")
    return models.model(nodes, [x], [y], initializers=initializers, checked=False)


def in_initializer(tensor):
    return unchecked([helper.make_node("Add", ["x", "w"], ["y"])], [tensor])


def in_attribute(tensor):
    return unchecked(
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
    return unchecked(nodes)


def in_function(tensor):
    made = onnx.load_model_from_string(unchecked([helper.make_node("F", ["x"], ["y"], domain="own")]))
    nodes = [helper.make_node("Constant", [], ["w"], value=tensor), helper.make_node("Add", ["a", "w"], ["b"])]
    opsets = [helper.make_opsetid("", 17)]
    made.functions.append(helper.make_function("own", "F", ["a"], ["b"], nodes, opsets))
    made.opset_import.append(helper.make_opsetid("own", 1))
    return made.SerializeToString()


PLACES = (in_initializer, in_attribute, in_branch, in_function)


@pytest.mark.parametrize("backend", ["onnxruntime", "openvino"])
@pytest.mark.parametrize("place", PLACES)
def test_a_model_inside_a_graph_has_no_data_in_files(customop, wrapped, place, backend, tmp_path):
    (tmp_path / "secret").write_bytes(bytes(32))
    for location in (str(tmp_path / "secret"), os.path.relpath(tmp_path / "secret"), "w.bin"):
        made = attribute(attribute(wrapped, "model", place(external(location))), "backend", backend)
        assert FILES in refusal(customop, made)


def test_older_releases_do_not_read_the_file_either(wrapped, latenn_site, older, tmp_path):
    (tmp_path / "secret").write_bytes(np.full(8, 7, np.float32).tobytes())
    made = tmp_path / "hostile.onnx"
    inner = in_initializer(external(str(tmp_path / "secret")))
    made.write_bytes(attribute(wrapped, "model", inner).SerializeToString())
    done = older_session(older, latenn_site, made)
    assert (done.returncode, done.stdout) == (1, "")
    assert FILES in done.stderr


def test_a_disguise_does_not_hide_the_files_of_an_onnx_model(customop, wrapped):
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
        made = attribute(attribute(wrapped, "model", disguised), "backend", "onnxruntime")
        assert FILES in refusal(customop, made), name


@pytest.mark.parametrize("place", PLACES)
def test_data_of_a_model_with_a_path_stays_in_its_folder(customop, wrapped, folder, place):
    made = at_path(wrapped, "data.onnx")
    (folder.parent / "secret").write_bytes(bytes(32))
    (folder / "w.bin").write_bytes(np.ones(8, np.float32).tobytes())
    for location in ("../secret", str(folder.parent / "secret"), "deep/../../secret", "*/_ORT_MEM_ADDR_/*\\"):
        (folder / "data.onnx").write_bytes(place(external(location)))
        said = refusal(customop, made, directory=folder)
        assert f'The model keeps data in "{location}", {LINK}' in said
    (folder / "data.onnx").write_bytes(in_initializer(external("w.bin")))
    np.testing.assert_array_equal(session(customop, made, directory=folder).run(None, {"x": X})[0], X + 1)
    linked(folder / "linked.bin", folder.parent / "secret")
    (folder / "data.onnx").write_bytes(place(external("linked.bin")))
    assert LINK in refusal(customop, made, directory=folder)


def test_weights_of_a_tflite_model_stay_in_its_folder(customop, folder):
    made = customop.wrap(tflite.write(tflite.CASES["add"]))
    (folder.parent / "secret").write_bytes(bytes(24))
    assert FILES in refusal(customop, attribute(made, "model", hostile.group_weights("weights.bin")))
    for name in ("../secret", str(folder.parent / "secret")):
        (folder / "data.tflite").write_bytes(hostile.group_weights(name))
        said = refusal(customop, at_path(made, "data.tflite"), directory=folder)
        assert f'The model keeps data in "{name}", {LINK}' in said


def test_data_of_attributes_goes_into_the_graph(customop, tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(in_attribute(external("w.bin")))
    (tmp_path / "w.bin").write_bytes(np.ones(8, np.float32).tobytes())
    made = customop.wrap(path)
    np.testing.assert_array_equal(session(customop, made).run(None, {"x": X})[0], X + 1)
