"""Times `python3 noxfile.py` from nothing, in a fresh clone of HEAD with empty caches, and says what its time goes to.

    python bench/main_job.py [--rounds N] [--write]

The CPU time of each process is read from /proc a few times a second, with that of children that ended meanwhile; what
the last readings missed is "not seen". Linux only.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from typing import TYPE_CHECKING

import psutil
from measure import ROOT, Sample, claim, in_turn, machine, options, run, show, spread, summary, write

if TYPE_CHECKING:
    from collections.abc import Mapping

_LIMIT = 150.0
_PERIOD = 0.2
PARTS = {
    r"/ziglang/|/cc1|/zig( |$)|bin/(cmake|ninja)( |$)|\bld( |$)": "compilers, CMake",
    r"/uv (pip|venv)|-m (pip|venv)|/pip/": "environments, downloads",
    r"dotnet|Smoke\b": ".NET",
    r"\bnode( |$)|/npm": "Node, npm",
    r"\bjavac?( |$)|/mvn": "Java",
    r"--runtime openvino": "OpenVINO",
    r"--runtime litert": "LiteRT",
    r"inside/driver\.py|smoke\.py|cases\.py": "ONNX Runtime",
    r"latebind": "latebind itself",
}
"""What the command line of a process has, the first that fits, and the part that its time belongs to."""


def name_part(command: str, parent: str) -> str:
    """The part of a process; that of its parent where its command line says nothing."""
    return next((part for pattern, part in PARTS.items() if re.search(pattern, command)), parent or "nox, others")


class Watch:
    """Reads the CPU time of all processes below this one until it is stopped."""

    def __init__(self) -> None:
        self._seen: dict[tuple[int, float], tuple[str, tuple[int, float] | None, float]] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(_PERIOD):
            keys: dict[int, tuple[int, float]] = {}
            for process in psutil.Process().children(recursive=True):  # parents come before their children
                try:
                    with process.oneshot():
                        times, key = process.cpu_times(), (process.pid, process.create_time())
                        above = keys.get(process.ppid())
                        keys[process.pid] = key
                        label = self._seen[above][0] if above else ""
                        part = name_part(" ".join(process.cmdline()), label)
                        self._seen[key] = (part, above, sum(times[:4]))
                except psutil.Error:
                    continue  # it has ended

    def parts(self) -> Counter[str]:
        """Seconds of CPU time of each part: of a process, without those of the processes below it that were seen."""
        seconds: Counter[str] = Counter()
        for part, above, total in self._seen.values():
            seconds[part] += total
            if above:
                seconds[self._seen[above][0]] -= total
        return seconds


def measure(breakdown: list[Mapping[str, float]]) -> Sample:
    """One run from nothing; adds seconds of CPU time by part."""
    with tempfile.TemporaryDirectory(prefix="main-job-") as folder:
        subprocess.run(["git", "clone", "--quiet", ROOT, f"{folder}/clone"], check=True)
        env = {"XDG_CACHE_HOME": f"{folder}/cache", "NUGET_PACKAGES": f"{folder}/nuget", "UV_CACHE_DIR": f"{folder}/uv"}
        with Watch() as watch:
            sample = run([sys.executable, f"{folder}/clone/noxfile.py"], env=env)
    parts = watch.parts()
    parts["not seen"] = sample.cpu - parts.total()
    breakdown.append({part: round(seconds, 1) for part, seconds in parts.most_common()})
    print(*(f"{seconds:7.1f} s CPU  {part}\n" for part, seconds in breakdown[-1].items()), sep="")
    return sample


def main() -> None:
    """Measure, print, and keep the result when asked to."""
    arguments = options(__doc__, 1)
    before = machine()
    breakdown: list[Mapping[str, float]] = []
    samples = in_turn({"main job": lambda: measure(breakdown)}, arguments.rounds)
    claims = [claim("the main job from nothing, s", _LIMIT, spread(row.wall for row in samples["main job"]))]
    show(claims)
    if arguments.write:
        versions = {"commit": subprocess.check_output(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], text=True)}
        contenders = summary(samples) | {
            part: {key: {"median": seconds} for key in ("wall", "cpu")} for part, seconds in breakdown[-1].items()
        }
        document = {"machine": before, "versions": {k: v.strip() for k, v in versions.items()}}
        write("main_job", {**document, "contenders": contenders, "claims": claims})


if __name__ == "__main__":
    main()
