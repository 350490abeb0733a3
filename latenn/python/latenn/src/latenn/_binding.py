"""Inputs and outputs that stay bound from run to run, so that a run copies and allocates as little as it can."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import TYPE_CHECKING, Any

from latenn._bound import Bound

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from latenn._model import Model
    from latenn._run_options import RunOptions


class Binding:
    """A model with its inputs and outputs bound. Made by `Model.bind`; for one thread at a time.

    `binding.inputs[name] = array` binds an input until it is bound anew or deleted. An array of NumPy, a latenn.Tensor,
    or another library's tensor that speaks DLPack is used where it lies when it is C-contiguous and aligned: what is
    written to it is seen by the next run. Anything else is copied once, when it is bound.

    `binding.outputs[name] = array` has an output written to the caller's memory: writable, C-contiguous, of the shape
    that comes. A str, such as "cuda", has the runtime allocate on that device. Where nothing is bound the runtime
    allocates, and every run gives a new Tensor.

    The binding keeps what is bound to it alive, and its model. A Tensor needs neither.
    """

    def __init__(self, model: Model, copy: bool | None) -> None:  # noqa: FBT001  # as NumPy has it
        self._bound = Bound(model, copy)
        self.__dict__["run"] = self._bound.fastest()  # a call less on the way

    @property
    def inputs(self) -> MutableMapping[str, Any]:
        """What is bound to the inputs, by name."""
        return _Side(self, self._bound.bind_input, self._bound.unbind_input, self._bound.all_inputs)

    @property
    def outputs(self) -> MutableMapping[str, Any]:
        """What is bound to the outputs, by name: arrays, tensors and names of devices."""
        return _Side(self, self._bound.bind_output, self._bound.unbind_output, self._bound.all_outputs)

    def feed(self, pairs: Mapping[str, str]) -> None:
        """Have outputs become inputs of the next run: `binding.feed({"next_state": "state"})`. Replaces earlier pairs.

        Where the output is bound, it and the input change places after every run: nothing is copied and nothing
        allocated, both pieces of memory are written in turn, and what a run gave is overwritten by the second run
        after it. Where it is not bound, the new Tensor is bound to the input: nothing is copied, and every run's tensor
        stays as it is.
        """
        self._bound.feed(pairs)

    def run(self, options: RunOptions | None = None) -> dict[str, Any]:
        """Run the model with what is bound: every output by its name, what is bound to it or a new Tensor.

        `options` are made by `Model.run_options`.

        Raises InvalidArgumentError where an input is not bound, ComputeError when the runtime fails, CancelledError
        after `options.cancel()`.
        """
        return self._bound.run(options)


class _Side(MutableMapping[str, Any]):
    """The inputs or the outputs of a binding."""

    def __init__(
        self,
        binding: Binding,
        bind: Callable[[str, Any], None],
        unbind: Callable[[str], None],
        every: Callable[[], dict[str, Any]],
    ) -> None:
        self._binding, self._bind, self._unbind, self._every = binding, bind, unbind, every

    def __getitem__(self, name: str) -> Any:
        return self._every()[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self._bind(name, value)

    def __delitem__(self, name: str) -> None:
        self._unbind(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._every())

    def __len__(self) -> int:
        return len(self._every())

    def __repr__(self) -> str:
        return repr(self._every())
