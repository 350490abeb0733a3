"""Between NumPy arrays and latenn_tensor; numbers go in without a copy and come out with one."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from latenn import _values
from latenn._errors import InvalidArgumentError, UnsupportedError
from latenn._native import Tensor

if TYPE_CHECKING:
    from numpy.typing import NDArray

STRING = 8

_DTYPES: dict[int, str] = {
    1: "float32",
    2: "uint8",
    3: "int8",
    4: "uint16",
    5: "int16",
    6: "int32",
    7: "int64",
    9: "bool",
    10: "float16",
    11: "float64",
    12: "uint32",
    13: "uint64",
    14: "complex64",
    15: "complex128",
}
_EXTENDED: dict[int, str] = {
    16: "bfloat16",
    17: "float8_e4m3fn",
    18: "float8_e4m3fnuz",
    19: "float8_e5m2",
    20: "float8_e5m2fnuz",
    21: "uint4",
    22: "int4",
}
"""Element types that NumPy gets from the distribution ml_dtypes, which is used when it is installed."""

PLAIN = frozenset(_DTYPES)
"""Element types that NumPy has itself."""

PACKED = (21, 22)
"""Types of which one byte holds two elements."""

NAMES = {**_DTYPES, **_EXTENDED, STRING: "string"}
NUMBERS = {name: number for number, name in NAMES.items()}


def dtype_of(number: int) -> np.dtype[Any]:
    """The NumPy dtype of an element type; strings are `object`.

    Raises UnsupportedError for a type that needs ml_dtypes when that is not installed.
    """
    if number == STRING:
        return np.dtype(object)
    if number in _DTYPES:
        return np.dtype(_DTYPES[number])
    if number not in _EXTENDED:
        raise UnsupportedError(f"element type {number} has no NumPy dtype")
    try:
        import ml_dtypes  # noqa: PLC0415  # optional: only models with these types need it
    except ImportError:
        name = _EXTENDED[number]
        raise UnsupportedError(f"{name} needs the package ml_dtypes. Run: pip install ml_dtypes") from None
    dtype: np.dtype[Any] = np.dtype(getattr(ml_dtypes, _EXTENDED[number]))
    return dtype


def to_tensor(name: str, number: int, array: Any) -> tuple[Tensor, list[object]]:
    """A view of an array as an input of element type `number`, and what must stay alive while it is used.

    Raises InvalidArgumentError when the dtype differs: nothing is converted silently. Python's scalars and lists, which
    have no dtype, become the model's where that loses nothing: see _values.
    """
    if number == STRING:
        return _strings(name, array)
    dtype = dtype_of(number)
    converted = array if type(array) is np.ndarray else _values.numbers(name, NAMES[number], dtype, array)
    if converted.dtype != dtype:
        raise _values.different(name, converted.dtype, dtype)
    shape = converted.shape
    data = np.ascontiguousarray(converted if number not in PACKED else _pack(converted))
    return _view(number, shape, data.ctypes.data, data.nbytes, None), [data]


def to_array(tensor: Tensor) -> NDArray[Any]:
    """A copy of an output as an array."""
    shape = tuple(tensor.shape[axis] for axis in range(tensor.rank))
    if tensor.type not in PACKED and tensor.type != STRING:
        array = np.empty(shape, dtype_of(tensor.type))
        ctypes.memmove(array.ctypes.data, tensor.data, tensor.bytes)
        return array
    raw = ctypes.string_at(tensor.data, tensor.bytes) if tensor.bytes else b""
    if tensor.type == STRING:
        count = int(np.prod(shape, dtype=np.int64))
        bounds = [tensor.offsets[index] for index in range(count + 1)]
        values = [raw[start:end].decode("utf-8", "surrogateescape") for start, end in zip(bounds, bounds[1:])]  # noqa: B905, RUF007
        array = np.empty(count, dtype=object)
        array[:] = values
        return array.reshape(shape)
    return _unpack(raw, dtype_of(tensor.type), shape)


def _view(number: int, shape: tuple[int, ...], data: int | None, size: int, offsets: Any) -> Tensor:
    # One element more than needed: a zero-length ctypes array has no address.
    dims = (ctypes.c_int64 * (len(shape) + 1))(*shape)
    return Tensor(number, len(shape), dims, data, size, offsets)


def _strings(name: str, array: Any) -> tuple[Tensor, list[object]]:
    strings = _values.texts(name, array)
    texts = [_encode_text(name, value) for value in strings.ravel().tolist()]
    data = b"".join(texts)
    offsets = (ctypes.c_size_t * (len(texts) + 1))()
    end = 0
    for index, text in enumerate(texts, start=1):
        end += len(text)
        offsets[index] = end
    buffer = ctypes.create_string_buffer(data, max(len(data), 1))
    return _view(STRING, strings.shape, ctypes.addressof(buffer), len(data), offsets), [buffer, offsets]


def _encode_text(name: str, value: object) -> bytes:
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        try:
            return value.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError as error:
            raise InvalidArgumentError(
                f"input {name!r} holds {_values.show_value(value)}, which is not Unicode text: {error.reason}. "
                "Give bytes."
            ) from None
    raise _values.not_text(name, value)


def _pack(array: NDArray[Any]) -> NDArray[np.uint8]:
    """Two 4-bit elements to a byte, the first in the low half, as ONNX stores them."""
    flat = np.ascontiguousarray(array).view(np.uint8).ravel() & 0x0F
    if flat.size % 2:
        flat = np.append(flat, np.uint8(0))
    packed: NDArray[np.uint8] = np.bitwise_or(flat[0::2], np.left_shift(flat[1::2], 4)).astype(np.uint8)
    return packed


def _unpack(raw: bytes, dtype: np.dtype[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    count = int(np.prod(shape, dtype=np.int64))
    packed = np.frombuffer(raw, dtype=np.uint8)
    halves = np.empty(packed.size * 2, dtype=np.uint8)
    halves[0::2], halves[1::2] = packed & 0x0F, packed >> 4
    values: NDArray[np.int8] = halves[:count].astype(np.int8)
    if "uint" not in str(dtype):
        values[values > 7] -= 16  # noqa: PLR2004  # two's complement of 4 bits
    return values.astype(dtype).reshape(shape)
