"""A context and what is bound to it, for one thread at a time; must not know how a binding looks to its user."""

from __future__ import annotations

from contextlib import contextmanager
from ctypes import byref, c_void_p
from functools import partial
from typing import TYPE_CHECKING, Any

from latenn import _accelerator, _given, _native, _tensors
from latenn._errors import InvalidArgumentError
from latenn._run_options import compute
from latenn._status import check
from latenn._tensor import Tensor
from latenn._value import Held

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from latenn._model import Model
    from latenn._run_options import RunOptions


class Bound:
    """What a Binding does. See there.

    Anyone who runs or binds has the turn, and others are refused: it is in `_turn`, or with the builtin that `fastest`
    made, which takes it for runs that change nothing here.
    """

    def __init__(self, model: Model, copy: bool | None) -> None:  # noqa: FBT001  # as NumPy has it
        self._context = c_void_p()
        self._library = _native.library()
        self._release = self._library.latenn_context_release
        self._model = model
        self._handle = model._handle  # noqa: SLF001  # the same package
        self._copy = copy
        self._turn: list[object] = [None]  # append and pop are atomic, and quicker than a lock
        self._leave: Callable[[dict[str, Any] | None], object] = self._turn.append
        self._recall: Callable[[], int] = int  # 0: no builtin has it
        self._input_ports = _index_ports(model.inputs)
        self._output_ports = _index_ports(model.outputs)
        self._bound_inputs: dict[str, _given.Given] = {}
        self._bound_outputs: dict[str, _given.Given] = {}
        self._texts: dict[str, tuple[Any, Any]] = {}
        self._devices: dict[str, str] = {}
        self._fed: dict[str, str] = {}
        self._plain: dict[str, Any] | None = None  # the results, when every output is bound, none is fed, no input text
        with self._handle as handle:
            check(self._library.latenn_context_create(handle, byref(self._context)))

    def __del__(self) -> None:
        # Of one whose creation failed there is no context.
        if getattr(self, "_context", None):
            self._release(self._context)

    def fastest(self) -> Callable[[], dict[str, Any]]:
        """What runs it: a builtin, where the model's run is one. To be called once, and kept as long as this object."""
        of_model = self._model._builtin  # noqa: SLF001  # the same package
        if of_model is None:
            return self.run
        run, state = _accelerator.bind_run(of_model, self._context, self.run)
        turn, lend = self._turn, _accelerator.lend

        def leave(results: dict[str, Any] | None) -> None:
            if results is None:
                turn.append(None)
            else:
                lend(state, results)

        self._leave, self._recall = leave, partial(_accelerator.recall, state)
        return run

    def feed(self, pairs: Mapping[str, str]) -> None:
        """See Binding.feed."""
        for output, name in pairs.items():
            _find_port("output", output, self._output_ports)
            _find_port("input", name, self._input_ports)
        if len(set(pairs.values())) < len(pairs):
            raise InvalidArgumentError("feed: two outputs cannot become one input. Give every input once.")
        with self._alone():
            self._fed = dict(pairs)

    def run(self, options: RunOptions | None = None) -> dict[str, Any]:
        """See Binding.run."""
        self._take_turn()
        try:
            self._handle.check()  # the context keeps what it needs of the model, but a closed one computes no more
            return self._run(options)
        finally:
            self._leave(self._plain)

    def _take_turn(self) -> None:
        try:
            self._turn.pop()
        except IndexError:
            if not self._recall():
                message = "the binding is in use by another thread. Give every thread its own."
                raise InvalidArgumentError(message) from None

    def _run(self, options: RunOptions | None) -> dict[str, Any]:
        for output, name in self._fed.items():
            self._check_exchange(output, name)
        for name, (tensor, _owners) in self._texts.items():
            index, _ = self._input_ports[name]
            check(self._library.latenn_set_input(self._context, index, byref(tensor)))
        selected = compute(self._context, options)
        bound, ports = self._bound_outputs, self._output_ports
        results = {
            name: bound[name].given if name in bound else self._take(index)
            for name, (index, _) in ports.items()
            if not selected or name in selected
        }
        is_plain = len(bound) == len(ports) == len(results) and not self._texts and not self._fed
        self._plain = results.copy() if is_plain else None
        for output, name in self._fed.items():
            if output in results:
                self._pass_on(output, name, results[output])
        return results

    def _take(self, index: int) -> Tensor:
        value = c_void_p()
        check(self._library.latenn_take_output(self._context, index, byref(value)))
        return Tensor(Held(value))

    def _check_exchange(self, output: str, name: str) -> None:
        bound_output, bound_input = self._bound_outputs.get(output), self._bound_inputs.get(name)
        if bound_output is None or bound_input is None:
            return
        why = "is read-only" if not bound_input.writable else ""
        if bound_input.held.shape != bound_output.held.shape:
            why = f"has shape {list(bound_input.held.shape)}, the output {list(bound_output.held.shape)}"
        if why:
            raise InvalidArgumentError(
                f"feed: output {output!r} is bound and changes places with input {name!r}, which {why}. Bind "
                "memory that both can use, or leave the output unset."
            )

    def _pass_on(self, output: str, name: str, result: Any) -> None:
        bound_output, bound_input = self._bound_outputs.get(output), self._bound_inputs.get(name)
        into, _ = self._input_ports[name]
        if bound_output is None:
            bound_output = _given.Given(result, result._held, writable=True)  # noqa: SLF001  # the same package
        elif bound_input is not None:
            out, _ = self._output_ports[output]
            check(self._library.latenn_bind_output(self._context, out, bound_input.held.pointer))
            self._bound_outputs[output] = bound_input
        check(self._library.latenn_bind_input(self._context, into, bound_output.held.pointer))
        self._bound_inputs[name] = bound_output

    @contextmanager
    def _alone(self) -> Iterator[c_void_p]:
        """The model, for the one thread that is here: another would change what this one uses, and is refused."""
        self._take_turn()
        try:
            self._plain = None
            with self._handle as handle:
                yield handle
        finally:
            self._leave(None)

    # ---- what its user sees of it

    def all_inputs(self) -> dict[str, Any]:
        texts = {name: source for name, (_tensor, (source, *_)) in self._texts.items()}
        return {**{name: bound.given for name, bound in self._bound_inputs.items()}, **texts}

    def all_outputs(self) -> dict[str, Any]:
        return {**{name: bound.given for name, bound in self._bound_outputs.items()}, **self._devices}

    def bind_input(self, name: str, value: Any) -> None:
        index, number = _find_port("input", name, self._input_ports)
        with self._alone() as model:
            if number == _tensors.STRING:
                tensor, owners = _tensors.to_tensor(name, number, value)
                self._texts[name] = tensor, (value, *owners)
                return
            bound = _given.as_input(model, name, number, value, self._copy)
            check(self._library.latenn_bind_input(self._context, index, bound.held.pointer))
            self._bound_inputs[name] = bound

    def unbind_input(self, name: str) -> None:
        index, _ = _find_port("input", name, self._input_ports)
        with self._alone():
            check(self._library.latenn_bind_input(self._context, index, None))
            if self._bound_inputs.pop(name, None) is None and self._texts.pop(name, None) is None:
                raise KeyError(name)

    def bind_output(self, name: str, value: Any) -> None:
        index, number = _find_port("output", name, self._output_ports)
        with self._alone() as model:
            if isinstance(value, str):
                check(self._library.latenn_bind_output_device(self._context, index, _device(name, value)))
                self._bound_outputs.pop(name, None)
                self._devices[name] = value
                return
            bound = _given.as_output(model, name, number, value)
            check(self._library.latenn_bind_output(self._context, index, bound.held.pointer))
            self._devices.pop(name, None)
            self._bound_outputs[name] = bound

    def unbind_output(self, name: str) -> None:
        index, _ = _find_port("output", name, self._output_ports)
        with self._alone():
            check(self._library.latenn_bind_output(self._context, index, None))
            if self._bound_outputs.pop(name, None) is None and self._devices.pop(name, None) is None:
                raise KeyError(name)


def _index_ports(ports: Sequence[Any]) -> dict[str, tuple[int, int]]:
    """Ports by name: the index, and the number of the element type."""
    return {port.name: (index, _tensors.NUMBERS.get(port.type, 0)) for index, port in enumerate(ports)}


def _find_port(what: str, name: str, ports: dict[str, tuple[int, int]]) -> tuple[int, int]:
    if name in ports:
        return ports[name]
    raise InvalidArgumentError(f"unknown {what} {name!r}. The model has {', '.join(map(repr, ports)) or 'none'}.")


def _device(name: str, text: str) -> _native.Device:
    kind, _, number = text.partition(":")
    kinds = {"cpu": 1, "cuda": 2, "cuda-host": 3}
    if kind in kinds and (not number or (number.isascii() and number.isdigit() and len(number) < 5)):  # noqa: PLR2004
        return _native.Device(kinds[kind], int(number or 0))
    raise InvalidArgumentError(
        f"output {name!r} cannot be left on {text!r}. Give an array, or a device: 'cpu', 'cuda', 'cuda:1'."
    )
