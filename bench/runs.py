"""Times runs of models by latenn beside onnxruntime's own, in one process; prints rows as JSON for latency.py.

    python bench/runs.py [--rounds N]

Both must be importable. Each round times both, one after the other, on inputs that change with every call.
"""

from __future__ import annotations

import argparse
import importlib
import json
import statistics
import sys
import threading
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import latenn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

sys.path.insert(1, str(Path(__file__).resolve().parent.parent))
models: Any = importlib.import_module("tests.python.models")

NODES = (1, 5, 10)
SHAPES: dict[str, tuple[tuple[int | str, ...], tuple[int, ...], int]] = {
    "small": ((1, 16), (1, 16), 5000),
    "open": (("n", 16), (1, 16), 5000),
    "large": ((150_000,), (150_000,), 200),
    "open, large": (("n",), (150_000,), 200),
    "large, one thread": ((150_000,), (150_000,), 200),
    "open, large, one thread": (("n",), (150_000,), 200),
}
"""What the model says, what it is given, and calls in a round. With one thread, the runtime has none of its own."""
_BOUND = ("small", "large, one thread")
_THREADS = ("small", "large, one thread")
_SETTLE = 0.02
"""Seconds in which a runtime's threads, which wait for work in a loop, go to sleep: the other is not to meet them."""
_WARM = 20  # calls before a round is timed
_MANY = 8  # different inputs
_kept: list[Any] = []  # onnxruntime's bindings know addresses alone


def rows(rounds: int) -> Iterator[dict[str, Any]]:
    """A row for each model and way of running it."""
    for kind in SHAPES:
        for nodes in NODES:
            yield _row(kind, _plain(kind, nodes), rounds) | {"what": "run", "nodes": nodes}
    for kind in _BOUND:
        for nodes in NODES:
            yield _row(kind, _bound(kind, nodes), rounds) | {"what": "bound", "nodes": nodes}
    for kind in _THREADS:
        yield _row(kind, _plain(kind, NODES[1]), rounds, threads=2) | {"what": "two threads", "nodes": NODES[1]}


def _row(kind: str, both: tuple[Any, Any], rounds: int, threads: int = 1) -> dict[str, Any]:
    calls = SHAPES[kind][2]
    pairs = [tuple(_time(go, calls, threads) for go in both) for _ in range(rounds + 1)][1:]
    row: dict[str, Any] = {"shape": kind}
    for index, clock in enumerate(("wall", "cpu")):
        ratios = [one[index] / other[index] for one, other in pairs]
        row[clock] = {
            "latenn us": round(statistics.median(one[index] for one, _ in pairs), 3),
            "onnxruntime us": round(statistics.median(other[index] for _, other in pairs), 3),
            "median": round(statistics.median(ratios), 3),
            "least": round(min(ratios), 3),
            "most": round(max(ratios), 3),
        }
    return row


def _inputs(kind: str) -> list[Any]:
    return [np.random.default_rng(seed).standard_normal(SHAPES[kind][1], np.float32) for seed in range(_MANY)]


def _both(kind: str, nodes: int) -> tuple[Any, Any]:
    """latenn's model and onnxruntime's session, of the same options."""
    import onnxruntime  # noqa: PLC0415  # after latenn, which is to find its own

    model, settings = models.relu(nodes, SHAPES[kind][0]), onnxruntime.SessionOptions()
    options = {"intra_op_num_threads": 1} if kind.endswith("one thread") else {}
    for key, value in options.items():
        setattr(settings, key, value)
    session = onnxruntime.InferenceSession(model, settings, providers=["CPUExecutionProvider"])
    return latenn.load(model, options=options), session


def _plain(kind: str, nodes: int) -> tuple[Any, Any]:
    model, session = _both(kind, nodes)
    run, inputs, names = model.run, _inputs(kind), ["y"]
    return lambda n: run({"x": inputs[n % _MANY]}), lambda n: session.run(names, {"x": inputs[n % _MANY]})


def _bound(kind: str, nodes: int) -> tuple[Any, Any]:
    """Input and output stay where they are; both write into the caller's memory."""
    model, session = _both(kind, nodes)
    given, shape = _inputs(kind)[0], SHAPES[kind][1]
    ours, theirs = np.empty(shape, np.float32), np.empty(shape, np.float32)
    binding, other = model.bind(), session.io_binding()
    binding.inputs["x"], binding.outputs["y"] = given, ours
    _kept.append((session, given, theirs))
    other.bind_input("x", "cpu", 0, np.float32, shape, given.ctypes.data)
    other.bind_output("y", "cpu", 0, np.float32, shape, theirs.ctypes.data)

    def go_on(run: Callable[[], object]) -> Callable[[int], object]:
        first = given.reshape(-1)

        def once(number: int) -> None:
            first[0] = number
            run()

        return once

    return go_on(binding.run), go_on(partial(session.run_with_iobinding, other))


def _time(go: Any, calls: int, threads: int) -> tuple[float, float]:
    """Microseconds of a call: of the clock, and of the calling thread (with several, of the process)."""

    def work() -> None:
        for number in range(calls):
            go(number)

    time.sleep(_SETTLE)
    for number in range(_WARM):
        go(number)
    clock = time.thread_time if threads == 1 else time.process_time
    crowd = [threading.Thread(target=work) for _ in range(threads - 1)]
    wall, cpu = time.perf_counter(), clock()
    for thread in crowd:
        thread.start()
    work()
    for thread in crowd:
        thread.join()
    spent = time.perf_counter() - wall, clock() - cpu
    return spent[0] / calls / threads * 1e6, spent[1] / calls / threads * 1e6


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    print(json.dumps(list(rows(parser.parse_args().rounds))))


if __name__ == "__main__":
    main()
