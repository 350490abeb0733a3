"""What a run gets besides its inputs, and a way to end it from another thread."""

from __future__ import annotations

from ctypes import byref, c_void_p
from typing import TYPE_CHECKING

from latenn import _native
from latenn._arguments import rows
from latenn._errors import InvalidArgumentError
from latenn._status import check

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from latenn._runner import Handle


class RunOptions:
    """Options of runs. Made by `Model.run_options`; may serve many runs of that model, also at the same time."""

    def __init__(self, model: Handle, outputs: Iterable[str], options: Mapping[str, object]) -> None:
        self._library = _native.library()
        self._pointer = c_void_p()
        self._release = self._library.latenn_run_release
        self.outputs = (outputs,) if isinstance(outputs, str) else tuple(outputs)
        """The outputs that are wanted; none for all."""
        pairs = [*(("output", name) for name in self.outputs), *options.items()]
        array, _owners = rows("run_options", pairs)
        with model as handle:
            check(self._library.latenn_run_create(handle, array, len(pairs), byref(self._pointer)))

    def cancel(self) -> None:
        """End the runs that use these options, from any thread, with CancelledError; no other begins.

        Raises UnsupportedError where the backend cannot end a run that has begun; none begins all the same.
        """
        check(self._library.latenn_run_cancel(self._pointer))

    def __del__(self) -> None:
        # Of one whose creation failed there is nothing.
        if getattr(self, "_pointer", None):
            self._release(self._pointer)


def compute(context: c_void_p, options: RunOptions | None) -> tuple[str, ...]:
    """Compute in a context, with options or without; gives the outputs that are wanted, none for all."""
    library = _native.library()
    if options is None:
        check(library.latenn_compute(context))
        return ()
    if not isinstance(options, RunOptions):
        raise InvalidArgumentError(f"options is {options!r}; make them with model.run_options().")
    check(library.latenn_compute_with(context, options._pointer))  # noqa: SLF001  # of this module
    return options.outputs
