"""Runs commands in turn and takes time and memory of each whole process tree; knows nothing of what they do.

POSIX only: the times are the kernel's own, of the process and of all that it waited for.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "ci" / "bench" / "results"
RUNTIMES = ("1.19.2", "1.31.1")
"""The versions of ONNX Runtime that programs are measured with."""
sys.path.insert(0, str(ROOT))
from ci.machines.pinned import cache  # noqa: E402


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """What one run cost: seconds of the clock, seconds of all processors (user and system)."""

    wall: float
    cpu: float


def run(
    command: Sequence[str | Path], *, env: Mapping[str, str] | None = None, allowed: Iterable[int] = (0,)
) -> Sample:
    """Run a command to its end. Raises SystemExit with its output when its status is none of `allowed`."""
    log = cache() / "last.log"
    with log.open("wb") as output:
        start = time.perf_counter()
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env={**os.environ, **(env or {})}
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in set(allowed):
        tail = log.read_text("utf-8", "replace")[-2000:]
        raise SystemExit(f"{' '.join(map(str, command))} ended with {process.returncode}:\n{tail}")
    return Sample(wall=wall, cpu=usage.ru_utime + usage.ru_stime)


def answer(command: Sequence[str], **env: str) -> str:
    """What a program prints."""
    done = subprocess.run(command, env={**os.environ, **env}, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout


def add(samples: Iterable[Sample]) -> Sample:
    """The sum of runs that belong together."""
    rows = list(samples)
    return Sample(wall=sum(row.wall for row in rows), cpu=sum(row.cpu for row in rows))


def in_turn(contenders: Mapping[str, Callable[[], Sample]], rounds: int) -> dict[str, list[Sample]]:
    """Each contender once a round, one after the other, so that all meet the same weather."""
    samples: dict[str, list[Sample]] = {name: [] for name in contenders}
    for number in range(rounds):
        for name, go in contenders.items():
            sample = go()
            samples[name].append(sample)
            print(f"round {number + 1}: {name} {sample.wall:.2f} s, {sample.cpu:.2f} s of processors", flush=True)
    return samples


def summary(samples: Mapping[str, Sequence[Sample]]) -> dict[str, Any]:
    """Samples with median, least and most of each measure."""
    return {
        name: {
            "samples": [{key: round(value, 3) for key, value in asdict(row).items()} for row in rows],
            **{
                key: {
                    word: round(function(getattr(row, key) for row in rows), 3)
                    for word, function in (("median", statistics.median), ("least", min), ("most", max))
                }
                for key in ("wall", "cpu")
            },
        }
        for name, rows in samples.items()
    }


def ratio(samples: Mapping[str, Sequence[Sample]], above: str, below: str, key: str) -> float:
    """The median of the ratios of runs of the same round."""
    pairs = zip(samples[above], samples[below], strict=True)
    ratios: list[float] = [getattr(one, key) / getattr(other, key) for one, other in pairs]
    return round(statistics.median(ratios), 3)


def spread(values: Iterable[float], digits: int = 3) -> dict[str, float]:
    """Median, least and most."""
    rows = list(values)
    found = {"median": statistics.median(rows), "least": min(rows), "most": max(rows)}
    return {name: round(value, digits) for name, value in found.items()}


def claim(text: str, limit: float, found: Mapping[str, float], **more: object) -> dict[str, Any]:
    """A row of the page: the median of a spread counts."""
    measured = {"claim": text, "measured": found["median"], "least": found["least"], "most": found["most"]}
    return {**measured, **more, "at most": limit, "met": found["median"] <= limit}


def options(description: str | None, rounds: int) -> argparse.Namespace:
    """`rounds` and `write` of the command line."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=rounds, help="runs of each contender; the medians count")
    parser.add_argument("--write", action="store_true", help="keep the result in ci/bench/results")
    return parser.parse_args()


def show(claims: Iterable[Mapping[str, Any]]) -> None:
    """Print which claims are met."""
    for row in claims:
        print("met    " if row["met"] else "NOT MET", *(f"{key} {value};" for key, value in row.items()))


def machine() -> dict[str, Any]:
    """What the numbers were taken on, without names."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "system": platform.system(),
        "processor": platform.machine(),
        "processors": count,
        "python": platform.python_version(),
        "load before": [round(row, 2) for row in os.getloadavg()],
    }


def write(name: str, document: Mapping[str, Any]) -> None:
    """Keep a result in ci/bench/results; `python ci/bench/report.py` then rewrites its section of docs/bench.md."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / f"{name}.json"
    aside = path.with_suffix(".part")
    aside.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    aside.replace(path)
    print(f"written: {path.relative_to(ROOT)}")
