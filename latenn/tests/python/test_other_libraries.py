"""Tensors in PyTorch and JAX: the same memory, in both kinds of capsules, anyone who goes first.

A session of its own (`python3 noxfile.py -s libraries`), which installs both; elsewhere this is not run.
"""

import gc
import importlib
import itertools

import models
import numpy as np
import pytest
from onnx import TensorProto, helper

pytestmark = [
    pytest.mark.libraries,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # theirs
]

COUNT = 1000


class Torch:
    def __init__(self):
        self.module = pytest.importorskip(
            "torch", reason="not run: PyTorch is not installed; noxfile.py -s libraries installs it"
        )

    def take(self, tensor):
        return self.module.from_dlpack(tensor)

    def make(self, array):
        return self.module.from_numpy(array.copy())

    @staticmethod
    def address(array):
        return array.data_ptr()


class Jax:
    def __init__(self):
        self.module = pytest.importorskip(
            "jax", reason="not run: JAX is not installed; noxfile.py -s libraries installs it"
        )

    def take(self, tensor):
        if isinstance(tensor, AsNewer):
            pytest.skip("not run: this JAX takes no versioned capsules")
        return self.module.dlpack.from_dlpack(tensor)

    def make(self, array):
        return self.module.numpy.asarray(array)

    @staticmethod
    def address(array):
        return array.unsafe_buffer_pointer()


@pytest.fixture(params=[Torch, Jax], ids=["torch", "jax"])
def library(request):
    return request.param()


class AsOlder:
    """A tensor that gives the older kind of capsule, whatever is asked for."""

    def __init__(self, tensor):
        self.tensor = tensor

    def __dlpack__(self, **_options):
        return self.tensor.__dlpack__()

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()


class AsNewer(AsOlder):
    def __dlpack__(self, **_options):
        return self.tensor.__dlpack__(max_version=(1, 0))


KINDS = {"as asked": lambda tensor: tensor, "older": AsOlder, "versioned": AsNewer}


def double():
    """y = x + x."""
    ports = [("x", TensorProto.FLOAT, ["n"]), ("y", TensorProto.FLOAT, ["n"])]
    return models.model([helper.make_node("Add", ["x", "x"], ["y"])], ports[:1], ports[1:])


def bind_ones(latenn):
    binding = latenn.load(double()).bind()
    binding.inputs["x"] = np.ones(COUNT, np.float32)
    return binding


@pytest.mark.parametrize("kind", KINDS)
def test_the_memory_is_the_runtimes(latenn, library, kind):
    tensor = bind_ones(latenn).run()["y"]
    taken = library.take(KINDS[kind](tensor))
    assert library.address(taken) == tensor.numpy().__array_interface__["data"][0]
    assert float(taken[COUNT - 1]) == 2


HOLDERS = ("binding", "model", "tensor", "array", "taken")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("last", ["array", "taken"])
def test_whoever_goes_first_the_last_can_still_read(latenn, library, kind, last):
    for order in itertools.permutations([name for name in HOLDERS if name != last]):
        model = latenn.load(double())
        holders = {"model": model, "binding": model.bind()}
        holders["binding"].inputs["x"] = np.ones(COUNT, np.float32)
        holders["tensor"] = holders["binding"].run()["y"]
        holders["array"] = holders["tensor"].numpy()
        holders["taken"] = library.take(KINDS[kind](holders["tensor"]))
        del model
        for name in order:
            del holders[name]
            gc.collect(0)
        assert float(holders[last].sum()) == 2 * COUNT, order


def test_their_tensors_are_inputs_where_they_lie(latenn, library):
    tensor = library.make(np.arange(COUNT, dtype=np.float32))
    binding = latenn.load(double()).bind(copy=False)
    binding.inputs["x"] = tensor
    assert binding._bound._bound_inputs["x"].held.tensor.data == library.address(tensor)
    del tensor
    gc.collect()
    assert binding.run()["y"].numpy()[-1] == 2 * (COUNT - 1)
    with latenn.load(double()) as model:
        assert model.run({"x": library.make(np.ones(2, np.float32))})["y"].tolist() == [2, 2]


def test_torch_takes_outputs_in_its_own_memory_and_what_cannot_change_is_refused(latenn):
    torch = Torch().module
    binding = bind_ones(latenn)
    target = torch.zeros(COUNT)
    binding.outputs["y"] = target
    assert binding.run()["y"] is target
    assert float(target.sum()) == 2 * COUNT
    with pytest.raises(latenn.InvalidArgumentError, match=r"that cannot be used without a copy: .*gradient"):
        latenn.load(double()).bind(copy=False).inputs["x"] = torch.ones(2, requires_grad=True)


def test_the_memory_of_jax_is_no_place_for_an_output(latenn):
    target = Jax().make(np.zeros(COUNT, np.float32))
    with pytest.raises(latenn.InvalidArgumentError, match="cannot be written to this ArrayImpl: it is read-only"):
        bind_ones(latenn).outputs["y"] = target


def test_bfloat16_goes_there_and_back(latenn, library):
    ml_dtypes = importlib.import_module("ml_dtypes")
    binding = latenn.load(models.identity(TensorProto.BFLOAT16, ["n"])).bind()
    binding.inputs["x"] = np.array([1, 2.5], ml_dtypes.bfloat16)
    taken = library.take(binding.run()["y"])
    assert "bfloat16" in str(taken.dtype)
    binding.inputs["x"] = taken
    assert binding.run()["y"].numpy().tolist() == [1, 2.5]
