"""Bindings: whose memory is used, what is kept alive, and what is refused in which words."""

import copy
import gc
import pickle
import weakref

import ml_dtypes
import models
import numpy as np
import pytest
from onnx import TensorProto


@pytest.fixture
def binding(latenn):
    return latenn.load(models.step()).bind()


def floats(count=4):
    return np.arange(count, dtype=np.float32)


def address(array):
    return array.__array_interface__["data"][0]


@pytest.mark.slow
def test_an_input_is_used_where_it_lies_and_its_changes_are_seen(binding):
    state = floats()
    binding.inputs["state"] = state
    assert binding.inputs["state"] is state
    assert binding.run()["next"].numpy().tolist() == [1, 2, 3, 4]
    state[0] = 10
    assert binding.run()["next"].numpy().tolist() == [11, 2, 3, 4]


def test_an_output_is_written_where_it_is_bound(binding):
    target = np.zeros(4, np.float32)
    binding.inputs["state"], binding.outputs["next"] = floats(), target
    results = binding.run()
    assert results["next"] is target
    assert target.tolist() == [1, 2, 3, 4]
    del binding.outputs["next"]
    assert binding.run()["next"] is not target
    assert dict(binding.outputs) == {}


def test_every_run_gives_a_new_tensor_of_whatever_shape_comes(binding, latenn):
    state = floats()
    binding.inputs["state"] = state
    first = binding.run()["places"]
    state[1] = 0
    second = binding.run()["places"]
    assert isinstance(first, latenn.Tensor)
    assert (first.shape, second.shape) == ((3, 1), (2, 1))
    assert (first.dtype, first.device, first.nbytes) == (np.int64, "cpu", 24)
    assert first.numpy().ravel().tolist() == [1, 2, 3]
    assert repr(second) == "<latenn.Tensor int64[2, 1] on cpu>"


def test_a_loop_with_bound_memory_writes_the_same_two_pieces_in_turn(binding):
    ping, pong = np.zeros(4, np.float32), np.zeros(4, np.float32)
    binding.inputs["state"], binding.outputs["next"] = ping, pong
    binding.feed({"next": "state"})
    results = [binding.run()["next"] for _ in range(5)]
    assert [result is pong for result in results] == [True, False, True, False, True]
    assert (ping.tolist(), pong.tolist()) == ([4] * 4, [5] * 4)


def test_a_loop_with_nothing_bound_feeds_every_tensor_on_and_keeps_it(binding):
    binding.inputs["state"] = np.zeros(4, np.float32)
    binding.feed({"next": "state"})
    results = [binding.run()["next"] for _ in range(4)]
    assert [result.numpy()[0] for result in results] == [1, 2, 3, 4]
    assert binding.inputs["state"] is results[-1]
    binding.feed({})
    assert [binding.run()["next"].numpy()[0] for _ in range(2)] == [5, 5]


def test_a_tensor_of_one_model_is_the_input_of_another(binding, latenn):
    other = latenn.load(models.step()).bind()
    binding.inputs["state"] = floats()
    other.inputs["state"] = binding.run()["next"]
    del binding
    gc.collect()
    assert other.run()["next"].numpy().tolist() == [2, 3, 4, 5]


def make_strided():
    array = np.zeros(8, np.float32)
    array[::2] = floats()
    return array[::2]


GIVEN = {
    "strided": make_strided,
    "misaligned": lambda: np.frombuffer(b"\0" + floats().tobytes(), np.uint8)[1:].view(np.float32),
    "a list": lambda: [0, 1, 2, 3.0],
    "a buffer": lambda: memoryview(floats()),
    "read-only": lambda: np.frombuffer(floats().tobytes(), np.float32),
    "DLPack alone": lambda: OnlyDlpack(floats()),
    "older DLPack": lambda: OlderDlpack(floats()),
    "strided DLPack": lambda: OnlyDlpack(make_strided()),
}


class OnlyDlpack:
    """An array of a library that speaks DLPack and nothing else."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class OlderDlpack(OnlyDlpack):
    """One from before DLPack 1.0."""

    def __dlpack__(self, stream=None):
        return self.array.__dlpack__()


@pytest.mark.parametrize("kind", GIVEN)
def test_inputs_of_many_kinds(binding, kind):
    binding.inputs["state"] = GIVEN[kind]()
    gc.collect()
    assert binding.run()["next"].numpy().tolist() == [1, 2, 3, 4]


@pytest.mark.slow
@pytest.mark.parametrize("kind", GIVEN)
def test_without_leave_to_copy_what_needs_a_copy_is_refused(latenn, kind):
    binding = latenn.load(models.step()).bind(copy=False)
    if kind in ("a buffer", "read-only", "DLPack alone", "older DLPack"):
        binding.inputs["state"] = GIVEN[kind]()
        assert binding.run()["next"].numpy().tolist() == [1, 2, 3, 4]
        return
    with pytest.raises(latenn.InvalidArgumentError, match=r"input 'state' .*(copy is False|without a copy)"):
        binding.inputs["state"] = GIVEN[kind]()


def test_run_takes_tensors_and_dlpack_too(latenn, binding):
    binding.inputs["state"] = floats()
    with latenn.load(models.step()) as model:
        for value in (GIVEN["DLPack alone"](), GIVEN["older DLPack"]()):
            assert model.run({"state": value})["next"].tolist() == [1, 2, 3, 4]
        assert model.run({"state": binding.run()["next"]})["next"].tolist() == [2, 3, 4, 5]


class Untellable:
    def __dlpack__(self, **_options):
        raise RuntimeError("it lies on a moon")


WRONG_INPUTS = {
    "type": (np.ones(4), "input 'state' is float64, the model takes float32"),
    "type by DLPack": (OnlyDlpack(np.ones(4)), 'input "state" takes float32; it was given float64'),
    "rank": (np.ones((2, 2), np.float32), 'input "state" takes shape [n]; it was given [2, 2]'),
    "text": ("abc", "input 'state' holds 'abc' (str)"),
    "a broken producer": (Untellable(), "input 'state' is a Untellable that cannot be used without a copy: it lies on"),
    "masked": (np.ma.array([1.0], mask=[1], dtype=np.float32), "is a masked array"),
}


@pytest.mark.parametrize(("value", "message"), WRONG_INPUTS.values(), ids=WRONG_INPUTS)
def test_a_wrong_input_is_refused_and_what_was_bound_stays(latenn, binding, value, message):
    binding.inputs["state"] = floats()
    with pytest.raises(latenn.InvalidArgumentError) as caught:
        binding.inputs["state"] = value
    assert message in str(caught.value)
    assert binding.run()["next"].numpy().tolist() == [1, 2, 3, 4]


def read_only():
    array = floats()
    array.flags.writeable = False
    return array


WRONG_OUTPUTS = {
    "type": (np.ones(4), "it is float64, the model gives float32"),
    "rank": (np.ones((2, 2), np.float32), 'output "next" takes shape [n]; it was given [2, 2]'),
    "strided": (np.ones(8, np.float32)[::2], "it is not C-contiguous and aligned"),
    "read-only": (read_only(), "it is read-only"),
    "strided DLPack": (OnlyDlpack(np.ones(8, np.float32)[::2]), "A DLPack tensor is not C-contiguous"),
    "older DLPack": (OlderDlpack(floats()), "it is read-only, or cannot say that it is not"),
    "a list": ([1, 2], "it is not an array"),
    "no device": ("moon", "output 'next' cannot be left on 'moon'. Give an array, or a device"),
    "a device of another model": ("cuda", 'output "next" cannot stay on a device (type 2)'),
}


@pytest.mark.parametrize(("value", "message"), WRONG_OUTPUTS.values(), ids=WRONG_OUTPUTS)
def test_a_wrong_output_is_refused_and_what_was_bound_stays(latenn, binding, value, message):
    target = np.zeros(4, np.float32)
    binding.inputs["state"], binding.outputs["next"] = floats(), target
    with pytest.raises(latenn.LatennError) as caught:
        binding.outputs["next"] = value
    assert message in str(caught.value)
    assert binding.run()["next"] is target
    assert target.tolist() == [1, 2, 3, 4]


def test_what_is_lent_for_reading_is_no_output(latenn, binding):
    if np.lib.NumpyVersion(np.__version__) < "2.1.0":
        pytest.skip("not run: this NumPy marks no capsule read-only")
    with pytest.raises(latenn.InvalidArgumentError, match="it is read-only, or cannot say"):
        binding.outputs["next"] = OnlyDlpack(read_only())


def test_an_output_of_another_shape_than_what_is_bound_fails_and_writes_nothing_beyond(latenn, binding):
    target = np.full(6, 7, np.int64)
    binding.inputs["state"], binding.outputs["places"] = floats(), target[:2].reshape(2, 1)
    with pytest.raises(latenn.LatennError, match="shape"):
        binding.run()
    assert target[2:].tolist() == [7] * 4
    binding.outputs["places"] = target[:3].reshape(3, 1)
    binding.run()
    assert target.tolist() == [1, 2, 3, 7, 7, 7]


def test_an_output_left_on_the_processor_by_name(binding):
    binding.inputs["state"], binding.outputs["next"] = floats(), "cpu"
    assert binding.run()["next"].numpy().tolist() == [1, 2, 3, 4]
    assert dict(binding.outputs) == {"next": "cpu"}
    del binding.outputs["next"]
    assert binding.run()["next"].numpy().tolist() == [1, 2, 3, 4]


def test_names_that_are_not_there(latenn, binding):
    for call in (
        lambda: binding.inputs.update(x=1),
        lambda: binding.outputs.update(x=1),
        lambda: binding.feed({"x": "state"}),
        lambda: binding.feed({"next": "x"}),
    ):
        with pytest.raises(latenn.InvalidArgumentError, match=r"unknown (in|out)put 'x'. The model has '"):
            call()
    with pytest.raises(latenn.InvalidArgumentError, match="two outputs cannot become one input"):
        binding.feed({"next": "state", "places": "state"})
    for side in (binding.inputs, binding.outputs):
        with pytest.raises(KeyError):
            side["x"]
    with pytest.raises(KeyError):
        del binding.inputs["state"]
    with pytest.raises(latenn.InvalidArgumentError, match='Input "state" was not set'):
        binding.run()


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (read_only(), "which is read-only"),
        (OlderDlpack(floats()), "which is read-only"),
        (floats(3), "has shape [3], the output [4]"),
    ],
)
def test_a_loop_that_cannot_change_places_says_so_before_it_computes(latenn, binding, state, message):
    target = np.zeros(4, np.float32)
    binding.inputs["state"], binding.outputs["next"] = state, target
    binding.feed({"next": "state"})
    with pytest.raises(latenn.InvalidArgumentError) as caught:
        binding.run()
    assert message in str(caught.value)
    assert not target.any()


def test_strings_are_set_anew_for_every_run(latenn):
    binding = latenn.load(models.identity(TensorProto.STRING, [None])).bind()
    binding.inputs["x"] = ["a\0", "ü"]
    assert binding.inputs["x"] == ["a\0", "ü"]
    for _ in range(2):
        result = binding.run()["y"]
        assert np.asarray(result).tolist() == ["a\0", "ü"]
    with pytest.raises(BufferError, match="DLPack has no type for string"):
        result.__dlpack__()
    with pytest.raises(latenn.InvalidArgumentError, match="lies otherwise in NumPy"):
        binding.outputs["y"] = np.empty(2, object)
    del binding.inputs["x"]
    with pytest.raises(latenn.InvalidArgumentError, match='Input "x" was not set'):
        binding.run()


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [
        (TensorProto.FLOAT16, np.float16),
        (TensorProto.BOOL, np.bool_),
        (TensorProto.UINT64, np.uint64),
        (TensorProto.BFLOAT16, ml_dtypes.bfloat16),
        (TensorProto.DOUBLE, np.float64),
    ],
)
def test_element_types_come_out_as_they_went_in(latenn, kind, dtype):
    array = np.array([1, 0, 1], dtype)
    binding = latenn.load(models.identity(kind, ["n"])).bind()
    binding.inputs["x"] = array
    tensor = binding.run()["y"]
    assert tensor.dtype == dtype
    assert tensor.numpy().tolist() == array.tolist()
    assert tensor.numpy().flags.writeable


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1, 1)])
def test_scalars_and_empty_arrays(latenn, shape):
    binding = latenn.load(models.identity(TensorProto.FLOAT, list(shape))).bind()
    binding.inputs["x"] = np.ones(shape, np.float32)
    tensor = binding.run()["y"]
    assert tensor.shape == shape
    assert np.from_dlpack(tensor).shape == tensor.numpy().shape == shape


def test_protocols_copy_when_asked_and_refuse_what_they_cannot_give(binding):
    binding.inputs["state"] = floats()
    tensor = binding.run()["next"]
    here = address(tensor.numpy())
    assert address(np.asarray(tensor)) == address(np.from_dlpack(tensor)) == here
    assert address(np.array(tensor)) != here
    assert np.asarray(tensor, dtype=np.float64).tolist() == [1, 2, 3, 4]
    assert address(np.from_dlpack(Asking(tensor, copy=True))) != here
    with pytest.raises(ValueError, match="must be copied"):
        tensor.__array__(np.float64, copy=False)
    with pytest.raises(BufferError, match="the tensor is on cpu and is not moved"):
        tensor.__dlpack__(dl_device=(2, 0))
    for spoil in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match=r"Use tensor\.numpy\(\)\.copy\(\)"):
            spoil(tensor)


class Asking:
    """What a consumer sees of a tensor of which it asks something special."""

    def __init__(self, tensor, **asked):
        self.tensor, self.asked = tensor, asked

    def __dlpack__(self, **options):
        return self.tensor.__dlpack__(**{**options, **self.asked})

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()


def test_a_closed_model_is_not_run_and_its_tensors_stay(latenn):
    model = latenn.load(models.step())
    binding = model.bind()
    binding.inputs["state"] = floats()
    tensor = binding.run()["next"]
    model.close()
    with pytest.raises(latenn.InvalidArgumentError, match="the model is closed"):
        binding.run()
    with pytest.raises(latenn.InvalidArgumentError, match="the model is closed"):
        model.bind()
    assert tensor.numpy().tolist() == [1, 2, 3, 4]


def test_memory_is_let_go_with_the_last_who_holds_it(latenn, binding):
    state = floats()
    gone = weakref.ref(state)
    binding.inputs["state"] = state
    del state
    binding.run()
    assert gone() is not None
    binding.inputs["state"] = floats()
    gc.collect()
    assert gone() is None


def test_four_bit_numbers_are_packed_on_the_way_in_and_unpacked_on_the_way_out(latenn):
    model = latenn.load(models.halves(TensorProto.INT4))
    array = np.array([-8, 7, -1], ml_dtypes.int4)
    binding = model.bind()
    binding.inputs["x"] = array
    results = binding.run()
    assert results["wide"].numpy().tolist() == [-8, 7, -1]
    assert results["narrow"].numpy().astype(int).tolist() == [-8, 7, -1]
    assert results["narrow"].nbytes == 2
    binding.inputs["x"] = results["narrow"]
    assert binding.run()["wide"].numpy().tolist() == [-8, 7, -1]
    with pytest.raises(latenn.InvalidArgumentError, match="copy is False"):
        model.bind(copy=False).inputs["x"] = array
    with pytest.raises(latenn.InvalidArgumentError, match="int4 lies otherwise in NumPy"):
        binding.outputs["narrow"] = array
