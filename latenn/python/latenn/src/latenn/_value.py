"""latenn_value in Python: one holder of one value, and the arrays that values are made from."""

from __future__ import annotations

from ctypes import byref, c_int64, c_void_p
from typing import TYPE_CHECKING, Any

from latenn import _native
from latenn._status import check

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Held:
    """A latenn_value that is released when this object goes, then what its memory belongs to.

    There is no finalizer at exit: arrays may still look at the memory then, and the process takes it back anyway.
    """

    __slots__ = ("_release", "owner", "pointer")

    def __init__(self, value: c_void_p, owner: object = None) -> None:
        self.pointer = value.value
        self.owner = owner
        self._release = _native.library().latenn_value_release  # kept: modules may be gone before the last tensor

    def __del__(self) -> None:
        self._release(self.pointer)

    @property
    def tensor(self) -> _native.Tensor:
        """The C struct; it lives as long as this object."""
        struct: _native.Tensor = _native.library().latenn_value_tensor(self.pointer).contents
        return struct

    @property
    def shape(self) -> tuple[int, ...]:
        """The dimensions."""
        struct = self.tensor
        return tuple(struct.shape[: struct.rank])

    @property
    def writable(self) -> bool:
        """Whether an output may be written there."""
        return not _native.library().latenn_value_read_only(self.pointer)

    @property
    def device(self) -> tuple[int, int]:
        """Type and number of the device, as in DLPack."""
        device = _native.library().latenn_value_device(self.pointer)
        return device.type, device.id


def wrap(model: c_void_p, number: int, array: NDArray[Any]) -> Held:
    """The memory of an aligned C-contiguous array as a value of element type `number`, which keeps the array."""
    value = c_void_p()
    dimensions = (c_int64 * (array.ndim + 1))(*array.shape)
    tensor = _native.Tensor(number, array.ndim, dimensions, array.ctypes.data, array.nbytes, None)
    library = _native.library()
    check(library.latenn_value_wrap(model, byref(tensor), _native.CPU, None, None, byref(value)))
    return Held(value, array)


def create(model: c_void_p, number: int, shape: tuple[int, ...]) -> Held:
    """A value in the runtime's own plain memory."""
    value = c_void_p()
    dimensions = (c_int64 * (len(shape) + 1))(*shape)
    library = _native.library()
    check(library.latenn_value_create(model, number, len(shape), dimensions, _native.CPU, byref(value)))
    return Held(value)
