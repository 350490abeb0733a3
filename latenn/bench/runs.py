"""Times runs of models by latenn next to onnxruntime's own, in one process; prints rows as JSON for latency.py.

    python latenn/bench/runs.py [--rounds N]

Both must be importable. Each round times both in several short turns, on inputs that change with every call.
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

ROOT = Path(__file__).resolve().parents[2]
sys.path[1:1] = [str(ROOT / "ci" / "bench"), str(ROOT / "latenn" / "tests"), str(ROOT)]
from measure import spread  # noqa: E402

models: Any = importlib.import_module("models")

NODES = (1, 5, 10)
SHAPES: dict[str, tuple[tuple[int | str, ...], tuple[int, ...], int]] = {
    "small": ((1, 16), (1, 16), 600),
    "open": (("n", 16), (1, 16), 600),
    "large": ((150_000,), (150_000,), 60),
    "open, large": (("n",), (150_000,), 60),
    "large, one thread": ((150_000,), (150_000,), 20),
    "open, large, one thread": (("n",), (150_000,), 20),
}
"""What the model says, what it is given, and calls in a turn. With one thread, the runtime has none of its own."""
_BOUND = ("small", "large, one thread")
_THREADS = ("small", "large, one thread")
_FLOOR = ("large", "large, one thread")
_WITH_THREADS = ("large", "open, large")
"""Where the runtime has threads of its own. After a run they wait for the next one in a loop, for 50 ms and more, in
which they would take a processor from the other."""
_IDLE = 0.001  # seconds of processors in ten milliseconds that are nobody's work
_WARM = 5  # calls before a turn is timed
_TURNS = 7  # of each in a round: whatever else runs meanwhile disturbs some of them, and the medians count
_MANY = 8  # different inputs
_kept: list[Any] = []  # onnxruntime's bindings know addresses alone


def rows(rounds: int) -> Iterator[dict[str, Any]]:
    """A row for each model and how it is run."""
    for kind in SHAPES:
        for nodes in NODES:
            yield _row(kind, _plain(kind, nodes), rounds) | {"what": "run", "nodes": nodes}
    for kind in _BOUND:
        for nodes in NODES:
            yield _row(kind, _bound(kind, nodes), rounds) | {"what": "bound", "nodes": nodes}
    for kind in _FLOOR:
        for nodes in NODES:
            yield _row(kind, _floor(kind, nodes), rounds) | {"what": "floor", "nodes": nodes}
    for kind in _THREADS:
        yield _row(kind, _plain(kind, NODES[1]), rounds, threads=2) | {"what": "two threads", "nodes": NODES[1]}


def _row(kind: str, both: tuple[Any, Any], rounds: int, threads: int = 1) -> dict[str, Any]:
    pairs = [_round(kind, both, threads) for _ in range(rounds + 1)][1:]
    row: dict[str, Any] = {"shape": kind}
    for index, clock in enumerate(("wall", "cpu")):
        row[clock] = {
            "latenn us": round(statistics.median(pair[index][0] for pair in pairs), 3),
            "onnxruntime us": round(statistics.median(pair[index][1] for pair in pairs), 3),
            **spread(pair[index][2] for pair in pairs),
        }
    return row


def _round(kind: str, both: tuple[Any, Any], threads: int) -> list[tuple[float, float, float]]:
    """By the clock and by the processors: medians of our turns, of the other's, and of their ratios."""
    calls = SHAPES[kind][2] * (1 if threads == 1 else 10)  # threads take a while to begin
    turns = []
    for number in range(_TURNS):
        first = number % 2  # neither is always the one that comes after the other
        times = {}
        for index in (first, 1 - first):
            if kind in _WITH_THREADS:
                _settle()
            times[index] = _time(both[index], calls, threads)
        turns.append((times[0], times[1]))
    return [
        (
            statistics.median(one[index] for one, _ in turns),
            statistics.median(other[index] for _, other in turns),
            statistics.median(one[index] / other[index] for one, other in turns),
        )
        for index in range(2)
    ]


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


def _floor(kind: str, nodes: int) -> tuple[Any, Any]:
    """What is left of a run when nothing is done but to compute: all is bound. Next to a plain run of the other."""
    model, session = _both(kind, nodes)
    given, taken, binding = _inputs(kind)[0], np.empty(SHAPES[kind][1], np.float32), model.bind()
    binding.inputs["x"], binding.outputs["y"] = given, taken
    run = binding.run
    return lambda _: run(), lambda _: session.run(["y"], {"x": given})


def _settle() -> None:
    """Wait until no thread of this process works any more."""
    for _ in range(100):
        before = time.process_time()
        time.sleep(0.01)
        if time.process_time() - before < _IDLE:
            return


def _time(go: Any, calls: int, threads: int) -> tuple[float, float]:
    """Microseconds of a call: of the clock, and of the calling thread (with several, of the process)."""

    def work() -> None:
        for number in range(calls):
            go(number)

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
