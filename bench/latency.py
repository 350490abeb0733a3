"""Times latenn's Model.run against onnxruntime's InferenceSession.run, both in one process, for several runtimes.

    python bench/latency.py [--rounds N] [--write]

Chains of Relu over small, open and large (600 KB) shapes; with the accelerator and with ctypes alone. Each round times
both, one after the other, on inputs that change with every call; the median of the rounds' ratios counts. The time is
that of the calling thread, which another program's load disturbs less than the clock. A loaded machine is told, and no
result of one is kept.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import statistics
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

from measure import ROOT, machine, write
from pinned import cache

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

RUNTIMES = ("1.19.2", "1.31.1")
NODES = (1, 5, 10)
SHAPES: dict[str, tuple[tuple[int | str, ...], tuple[int, ...], int]] = {
    "small": ((1, 16), (1, 16), 5000),
    "open": (("n", 16), (1, 16), 5000),
    "large": ((150_000,), (150_000,), 100),
    "open, large": (("n",), (150_000,), 100),
}
"""What the model says, what it is given, and calls in a round."""
MOST_LOAD = 0.3


def site(version: str) -> Path:
    """A folder with latenn's wheels of this tree and one onnxruntime."""
    work, folder = cache() / "latency", cache() / "latency" / version
    call = [sys.executable, "-m", "latebind.cli", "-C", str(ROOT / "latenn"), "--workdir", str(work)]
    for step in ("build", "pack"):
        subprocess.run([*call, step], check=True, stdout=subprocess.DEVNULL)
    wheels = map(str, (work / "dist").glob("*.whl"))
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--upgrade", "--target", str(folder)]
    subprocess.run([*install, f"onnxruntime=={version}", *wheels], check=True)
    return folder


def compare(rounds: int) -> list[dict[str, Any]]:
    """In a process of its own, with that site before all else: a row for each model."""
    import numpy as np  # noqa: PLC0415  # of the site
    import onnxruntime  # noqa: PLC0415  # of the site

    import latenn  # noqa: PLC0415  # of the site

    sys.path.insert(1, str(ROOT))
    models = importlib.import_module("tests.python.models")

    rows = []
    for kind, (said, given, calls) in SHAPES.items():
        inputs = [np.random.default_rng(seed).standard_normal(given, np.float32) for seed in range(8)]
        for nodes in NODES:
            model = models.relu(nodes, said)
            session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
            run = latenn.load(model).run
            pairs = [
                (_time(run, (), inputs, calls), _time(session.run, (["y"],), inputs, calls)) for _ in range(rounds)
            ]
            ratios = [one / other for one, other in pairs]
            rows.append(
                {
                    "shape": kind,
                    "nodes": nodes,
                    "latenn_us": round(statistics.median(one for one, _ in pairs), 3),
                    "onnxruntime_us": round(statistics.median(other for _, other in pairs), 3),
                    "ratio": round(statistics.median(ratios), 3),
                    "ratios": [round(min(ratios), 3), round(max(ratios), 3)],
                }
            )
    return rows


def _time(run: Callable[..., Any], first: tuple[Any, ...], inputs: list[Any], calls: int) -> float:
    start = time.thread_time()
    for number in range(calls):
        run(*first, {"x": inputs[number & 7]})
    return (time.thread_time() - start) / calls * 1e6


def main() -> None:
    """Measure, print, and keep the result when asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9, help="of each model; the medians count")
    parser.add_argument("--write", action="store_true", help="keep the result in bench/results")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        print(json.dumps(compare(arguments.rounds)))
        return
    before = machine()
    loaded = before["load before"][0] > MOST_LOAD * before["processors"]
    results = {}
    for version in RUNTIMES:
        folder = site(version)
        for way, value in (("accelerator", "1"), ("ctypes", "0")):
            env = {**os.environ, "PYTHONPATH": str(folder), "LATENN_ACCELERATOR": value}
            command = [sys.executable, __file__, "--child", "--rounds", str(arguments.rounds)]
            done = subprocess.run(command, env=env, check=True, stdout=subprocess.PIPE)
            rows = results[f"onnxruntime {version}, {way}"] = json.loads(done.stdout)
            for row in rows:
                print(version, way, *(f"{key} {value}" for key, value in row.items()), flush=True)
    if loaded:
        raise SystemExit("The machine was busy when this began: the numbers are no result, and are not kept.")
    if arguments.write:
        write("latency", {"machine": before, "results": results})


if __name__ == "__main__":
    main()
