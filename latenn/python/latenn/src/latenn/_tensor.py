"""Tensors in the runtime's memory, as arrays of NumPy and of other libraries without a copy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from latenn import _dlpack, _tensors
from latenn._errors import LatennError, UnsupportedError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from latenn._value import Held

_CPU = 1
_DEVICES = {_CPU: "cpu", 2: "cuda", 3: "cuda-host"}
_ON_HOST = (_CPU, 3)


class Tensor:
    """An output in the memory where the runtime left it.

    It owns that memory, together with every array that was made of it without a copy: the memory stays until the last
    of them is gone, whatever became of the binding, the model and the session. Safe to use from several threads.

    NumPy (`np.asarray`), and what speaks DLPack (`torch.from_dlpack`, `jax.dlpack.from_dlpack`), take it as it is.
    """

    __slots__ = ("__weakref__", "_held")

    def __init__(self, handle: Held) -> None:
        self._held = handle

    @property
    def shape(self) -> tuple[int, ...]:
        """The dimensions."""
        return self._held.shape

    @property
    def nbytes(self) -> int:
        """The bytes of the elements."""
        size: int = self._held.tensor.bytes
        return size

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype; `object` for strings. Raises UnsupportedError for one that needs ml_dtypes without it."""
        return _tensors.dtype_of(self._held.tensor.type)

    @property
    def device(self) -> str:
        """Where the memory is: "cpu", "cuda:0"."""
        kind, number = self._held.device
        name = _DEVICES.get(kind, f"device type {kind}")
        return name if kind == _CPU else f"{name}:{number}"

    def numpy(self) -> NDArray[Any]:
        """The tensor as an array over the same memory. Strings and 4-bit integers, which NumPy packs otherwise, copy.

        Raises UnsupportedError when the memory is not the CPU's.
        """
        if self._held.device[0] not in _ON_HOST:
            raise UnsupportedError(
                f"the tensor is on {self.device}, which NumPy cannot read. Hand it to a library of that device, as "
                "with torch.from_dlpack, or have the output on the processor."
            )
        tensor = self._held.tensor
        if tensor.type == _tensors.STRING or tensor.type in _tensors.PACKED or not tensor.bytes:
            return _tensors.to_array(tensor)
        raw = np.asarray(_Memory(self._held, tensor.bytes))
        return raw.view(self.dtype).reshape(self.shape)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:  # noqa: FBT001  # NumPy's protocol
        array = self.numpy()
        if dtype is not None and array.dtype != dtype:
            if copy is False:
                raise ValueError(f"the tensor is {array.dtype}; as {dtype} it must be copied")
            return array.astype(dtype)
        return array.copy() if copy else array

    def __buffer__(self, flags: int) -> memoryview:
        """The buffer protocol, which Python has for classes like this from 3.12 on."""
        return self.numpy().data

    def __dlpack__(
        self,
        *,
        stream: Any = None,  # the runtime has finished: there is nothing to wait for
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> object:
        """A capsule for `from_dlpack` of another library: versioned where that reads DLPack 1.0, else the older kind.

        Raises BufferError for strings, for another device than the tensor's, and for a copy of what is on a device.
        """
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f"the tensor is on {self.device} and is not moved. Take it there, then move the result.")
        if copy:
            return self._export_copy(max_version)
        try:
            return _dlpack.export(self._held, versioned=max_version is not None and max_version[0] >= 1)
        except LatennError as error:
            raise BufferError(str(error)) from None

    def _export_copy(self, max_version: tuple[int, int] | None) -> object:
        """A capsule of NumPy's, around a copy."""
        try:
            array: Any = self.numpy().copy()
        except LatennError as error:
            raise BufferError(str(error)) from None
        try:
            return array.__dlpack__(max_version=max_version)
        except TypeError:  # NumPy before 2.1
            return array.__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._held.device

    def __reduce__(self) -> str:
        raise TypeError("the memory of a latenn.Tensor cannot be pickled or copied. Use tensor.numpy().copy().")

    def __repr__(self) -> str:
        kind = _tensors.NAMES.get(self._held.tensor.type, "unknown")
        return f"<latenn.Tensor {kind}{list(self.shape)} on {self.device}>"


class _Memory:
    """What NumPy keeps as the base of an array: the bytes, and who holds them."""

    __slots__ = ("__array_interface__", "held")

    def __init__(self, handle: Held, size: int) -> None:
        self.held = handle
        self.__array_interface__ = {
            "shape": (size,),
            "typestr": "|u1",
            "data": (handle.tensor.data, False),
            "version": 3,
        }
