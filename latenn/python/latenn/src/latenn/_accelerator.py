"""Makes a builtin of a model's run: the core library's own C, given CPython's functions by address.

Where that cannot be (another Python, LATENN_ACCELERATOR=0), `reason()` says why and ctypes does the work.
"""

from __future__ import annotations

import atexit
import ctypes
import importlib
import sys
import weakref
from ctypes import POINTER, Structure, byref, c_char_p, c_int, c_size_t, c_ssize_t, c_uint, c_void_p, py_object
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from latenn import _native, _tensors
from latenn._status import check

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from latenn._runner import Port, Runner

_FUNCTIONS = (
    "Py_IncRef",
    "Py_DecRef",
    "PyObject_Type",
    "PyObject_GetItem",
    "PyObject_Call",
    "PyObject_GetBuffer",
    "PyBuffer_Release",
    "PyDict_New",
    "PyDict_Copy",
    "PyDict_SetItem",
    "PyDict_Size",
    "PyTuple_New",
    "PyTuple_SetItem",
    "PyTuple_Size",
    "PyLong_FromLongLong",
    "PyLong_FromVoidPtr",
    "PyCapsule_New",
    "PyCapsule_GetPointer",
    "PyEval_SaveThread",
    "PyEval_RestoreThread",
    "PyErr_Clear",
    "PyErr_NoMemory",
    "PyCFunction_NewEx",
)
"""In the order of latenn_python_table; all belong to the stable ABI, or have stood as they are since Python 3.0."""
_ARRAYS = {"PyArray_NewFromDescr": 94, "PyArray_GetPtr": 160, "PyArray_SetBaseObject": 282}
"""The rest of it, and where they are in NumPy's table, as extension modules have it compiled into them: no place of it
is given another function while the table's version stays (numpy/_core/code_generators/numpy_api.py)."""
_VERSIONS = (1, 2)
"""Of that table (NPY_VERSION, by its upper byte), where they are there. NumPy 1.7 and later have the first."""


class _Table(Structure):
    """latenn_python_table."""

    _fields_ = tuple((name, c_void_p) for name in (*_FUNCTIONS, *_ARRAYS))


class _Buffer(Structure):
    """latenn_buffer."""

    _fields_ = (
        ("data", c_void_p),
        ("owner", c_void_p),
        ("bytes", c_ssize_t),
        ("item", c_ssize_t),
        ("is_readonly", c_int),
        ("rank", c_int),
        ("format", c_char_p),
        ("shape", POINTER(c_ssize_t)),
        ("strides", POINTER(c_ssize_t)),
        ("suboffsets", POINTER(c_ssize_t)),
        ("internal", c_void_p),
    )


class _Port(Structure):
    """latenn_python_port."""

    _fields_ = (
        ("name", py_object),
        ("dtype", py_object),
        ("format", c_char_p),
    )


class _Spec(Structure):
    """latenn_python_spec."""

    _fields_ = (
        ("size", c_size_t),
        ("table", _Table),
        ("model", c_void_p),
        ("inputs", POINTER(_Port)),
        ("outputs", POINTER(_Port)),
        *((name, py_object) for name in ("dict", "ndarray", "slow", "failed")),
    )


def reason() -> str:
    """Why runs are not builtins here; "" where they are."""
    if _native.variable("LATENN_ACCELERATOR") == "0":
        return "it is turned off by LATENN_ACCELERATOR=0"
    return _reason()


def describe_use() -> str:
    """How models of plain numbers run, for reports."""
    why = reason()
    return f"not in use: {why}. Runs go through ctypes." if why else "in use"


def builtin(runner: Runner) -> Callable[..., dict[str, NDArray[Any]]] | None:
    """A builtin that runs the model; None where there can be none, or where values are not plain numbers."""
    inputs, outputs = _sides(runner.inputs), _sides(runner.outputs)
    if reason() or inputs is None or outputs is None:
        return None
    spec = _Spec(ctypes.sizeof(_Spec), _table(), inputs=inputs, outputs=outputs)
    spec.dict, spec.ndarray, spec.slow, spec.failed = dict, np.ndarray, runner.run, check
    with runner.handle as model:
        spec.model = model
        function: Callable[..., dict[str, NDArray[Any]]] = _library().latenn_python_builtin(byref(spec))
    _open.add(function)
    return function


def close(run: Any) -> None:
    """Let the builtin begin no run any more, and give back what idle runs hold."""
    _library().latenn_python_close(run.__self__)


def bind_run(run: Any, context: c_void_p, slow: Callable[[], object]) -> tuple[Callable[..., Any], c_void_p]:
    """A builtin that runs a context with what is bound to it, and its state, which lives as long.

    `run` is the builtin of the context's model. Without a turn, which `lend` gives, it leaves the call to `slow`.
    """
    state = c_void_p()
    function: Callable[..., Any] = _library().latenn_python_bound(run.__self__, context, slow, byref(state))
    return function, state


def lend(state: c_void_p, results: dict[str, Any]) -> None:
    """Leave runs, each of which gives a copy of `results`, to the builtin until `recall`."""
    _library().latenn_python_lend(state, results)


def recall(state: c_void_p) -> int:
    """Take the turn back; 0 where the builtin does not have it, or is running."""
    taken: int = _library().latenn_python_recall(state)
    return taken


_open: weakref.WeakSet[Callable[..., Any]] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """What is still open ends before the runtime's own end: its threads are not to outlive what they work on."""
    for run in list(_open):
        close(run)


@cache
def _reason() -> str:
    if sys.implementation.name != "cpython":
        return f"it needs CPython, this is {sys.implementation.name}"
    try:
        table = _table()
    except (AttributeError, ImportError, OSError, ValueError) as error:
        return f"there is no address of a function that it needs: {error}"
    if not all(_reads(table, array) for array in (np.zeros((2, 3), np.float32), np.zeros((), np.int64))):
        return "this Python's buffers are laid out in another way"
    return ""


@cache
def _table() -> _Table:
    python = ctypes.pythonapi
    arrays = _array_table()
    return _Table(
        *(ctypes.cast(getattr(python, name), c_void_p).value for name in _FUNCTIONS),
        *(arrays[name] for name in _ARRAYS.values()),
    )


def _array_table() -> Any:
    """NumPy's C functions, as extension modules get them (import_array). ValueError for a version that is not known."""
    try:
        module = importlib.import_module("numpy._core._multiarray_umath")
    except ModuleNotFoundError:  # before NumPy 2
        module = importlib.import_module("numpy.core._multiarray_umath")
    get_pointer = ctypes.PYFUNCTYPE(c_void_p, py_object, c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
    table = ctypes.cast(get_pointer(module._ARRAY_API, None), POINTER(c_void_p))  # noqa: SLF001  # as import_array() does
    version = ctypes.CFUNCTYPE(c_uint)(table[0])()  # PyArray_GetNDArrayCVersion, which every version has there
    if version >> 24 not in _VERSIONS:
        raise ValueError(f"NumPy {np.__version__} has them in places that are not known (version {version:#x})")
    return table


@cache
def _library() -> ctypes.PyDLL:
    """The core library once more, for functions that must be called with the interpreter held."""
    library = ctypes.PyDLL(_native.library()._name)  # noqa: SLF001  # ctypes has no other name for a library's file
    library.latenn_python_builtin.restype = py_object
    library.latenn_python_builtin.argtypes = (POINTER(_Spec),)
    library.latenn_python_close.restype = None
    library.latenn_python_close.argtypes = (py_object,)
    library.latenn_python_bound.restype = py_object
    library.latenn_python_bound.argtypes = (py_object, c_void_p, py_object, POINTER(c_void_p))
    library.latenn_python_lend.restype = None
    library.latenn_python_lend.argtypes = (c_void_p, py_object)
    library.latenn_python_recall.argtypes = (c_void_p,)
    library.latenn_python_reads.argtypes = (POINTER(_Table), py_object, POINTER(_Buffer))
    return library


def _reads(table: _Table, array: NDArray[Any]) -> bool:
    """Whether C sees an array as Python does: the layout of buffers is held against it once, and not taken on trust."""
    view = memoryview(array)  # type: ignore[arg-type]  # NumPy's types do not say that arrays are buffers
    buffer = _Buffer(array.ctypes.data, id(array), array.nbytes, array.itemsize, 0, array.ndim, view.format.encode())
    buffer.shape = (c_ssize_t * (array.ndim + 1))(*array.shape)
    return bool(_library().latenn_python_reads(byref(table), array, byref(buffer)))


def _sides(ports: tuple[tuple[Port, int], ...]) -> Any:
    """An array of _Port; None where a type is none that plain buffers carry."""
    entries = []
    for port, number in ports:
        if number == _tensors.STRING or number not in _tensors.PLAIN:
            return None
        dtype = _tensors.dtype_of(number)
        text = memoryview(np.empty(0, dtype)).format.encode()  # type: ignore[arg-type]  # as above
        entries.append(_Port(port.name, dtype, format=text))
    return (_Port * (len(entries) + 1))(*entries)
