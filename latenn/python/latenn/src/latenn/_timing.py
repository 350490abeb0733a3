"""Times runs of a model with made-up inputs, for `python -m latenn bench`; must not judge the numbers."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from latenn import _accelerator, _tensors
from latenn._errors import UnsupportedError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from latenn._model import Model

_WARM_RUNS = 10


def measure(model: Model, threads: int, seconds: float) -> dict[str, Any]:
    """Microseconds of a run (median, and what nine of ten stay below) and runs a second, of all threads together."""
    inputs = _inputs(model)
    for _ in range(_WARM_RUNS):
        model.run(inputs)
    times: list[list[float]] = [[] for _ in range(threads)]
    failed: list[Exception] = []
    start = time.perf_counter()
    crowd = [threading.Thread(target=_work, args=(model, inputs, start + seconds, laps, failed)) for laps in times]
    for thread in crowd:
        thread.start()
    for thread in crowd:
        thread.join()
    wall = time.perf_counter() - start
    if failed:
        raise failed[0]
    every = np.array([lap for laps in times for lap in laps]) * 1e6
    return {
        "runs": int(every.size),
        "threads": threads,
        "median_us": round(float(np.median(every)), 2),
        "p90_us": round(float(np.quantile(every, 0.9)), 2),
        "runs_per_second": round(every.size / wall),
        "accelerator": _accelerator.describe_use(),
    }


def _work(model: Model, inputs: dict[str, Any], until: float, times: list[float], failed: list[Exception]) -> None:
    run, clock = model.run, time.perf_counter
    try:
        before = 0.0
        while before < until:
            before = clock()
            run(inputs)
            times.append(clock() - before)
    except Exception as error:  # noqa: BLE001  # raised by the thread that waits
        failed.append(error)


def _inputs(model: Model) -> dict[str, NDArray[Any]]:
    """Ones of every input's shape, 1 for what is open."""
    arrays = {}
    for port in model.inputs:
        if port.type == "string":
            raise UnsupportedError(f"input {port.name!r} takes strings: bench makes up numbers alone")
        shape = tuple(size if isinstance(size, int) else 1 for size in port.shape or ())
        arrays[port.name] = np.ones(shape, _tensors.dtype_of(_tensors.NUMBERS[port.type]))
    return arrays
