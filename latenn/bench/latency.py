"""Holds latenn's runs, binding and import against onnxruntime's own Python API, for several runtimes.

    python latenn/bench/latency.py [--rounds N] [--write]

Runs are timed by runs.py, in a process for each runtime; a large output by output.py, the loader by bind/. Of the
models of a claim the worst counts, by the clock. How busy the machine is without us is measured before and after; no
result of a busy one is kept.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import output

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "ci" / "bench"))
from measure import (  # noqa: E402
    ROOT,
    RUNTIMES,
    answer,
    claim,
    machine,
    options,
    run,
    show,
    spread,
    write,
)

from ci.machines.pinned import cache  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

_LARGE = ("large", "open, large", "large, one thread", "open, large, one thread")
CLAIMS: dict[str, dict[str, float]] = {
    "run": {"small": 0.65, "open": 0.95, **dict.fromkeys(_LARGE, 0.95)},
    "bound": {"small": 0.8, "large, one thread": 1},
    "two threads": {"small": 1, "large, one thread": 1},
}
"""What each may be of onnxruntime's time, at most."""
MOST_BUSY = 0.1
_SAMPLES = 9


def busy(seconds: float = 3) -> float:
    """The share of the processors that is used while we sleep; 0 where the system does not tell."""
    before = _ticks()
    time.sleep(seconds)
    spent = [after - start for start, after in zip(before, _ticks(), strict=True)]
    return round(1 - spent[1] / spent[0], 3) if spent[0] else 0.0


def _ticks() -> tuple[int, int]:
    """Of all processors: all, and idle ones."""
    try:
        fields = [int(text) for text in Path("/proc/stat").read_text("ascii").splitlines()[0].split()[1:9]]
    except OSError:
        return 0, 0
    return sum(fields), fields[3] + fields[4]


def sites() -> dict[str, Path]:
    """A folder for each runtime, with it and latenn's wheels of this tree."""
    work = cache() / "latency"
    call = [sys.executable, "-m", "latebind.cli", "-C", str(ROOT / "latenn"), "--workdir", str(work)]
    for step in ("build", "pack"):
        run([*call, step])
    wheels = sorted((work / "dist").glob("*.whl"))
    folders = {version: work / version for version in RUNTIMES}
    for version, folder in folders.items():
        install: list[str | Path] = [sys.executable, "-m", "pip", "install", "--quiet", "--target", folder]
        if not (folder / "onnxruntime").is_dir():
            run([*install, f"onnxruntime=={version}"])
        run([*install, "--upgrade", "--no-deps", *wheels])
    return folders


def runs(folders: dict[str, Path], rounds: int) -> list[dict[str, Any]]:
    """The rows of runs.py for every runtime."""
    rows = []
    for version, folder in folders.items():
        command = [sys.executable, str(HERE / "runs.py"), "--rounds", str(rounds)]
        found = json.loads(answer(command, PYTHONPATH=str(folder)))
        rows += [{"runtime": version, **row} for row in found]
        for row in rows[-len(found) :]:
            print(*(f"{key} {value}" for key, value in row.items()), flush=True)
    return rows


def claims_of_runs(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The worst model of each claim, whatever the runtime."""
    found = []
    for what, limits in CLAIMS.items():
        for shape, limit in limits.items():
            fit = [row for row in rows if (row["what"], row["shape"]) == (what, shape)]
            worst = max(fit, key=lambda row: float(row["wall"]["median"]))
            text = f"{what}, {shape} ({worst['nodes']} nodes, {worst['runtime']})"
            found.append(claim(text, limit, worst["wall"], cpu=worst["cpu"]["median"]))
    return found


def claims_of_binding(folder: Path) -> list[dict[str, Any]]:
    """The loader's own cost, by a C program; the first binding against dlopen() alone, in turn."""
    build = cache() / "latency" / "bind"
    shutil.rmtree(build, ignore_errors=True)  # it may be another checkout's
    cmake = str(Path(sys.executable).with_name("cmake"))
    run([cmake, "-S", HERE / "bind", "-B", build, "-DCMAKE_BUILD_TYPE=Release"])
    run([cmake, "--build", build])
    (library,) = (folder / "onnxruntime/capi").glob("libonnxruntime.so.1*")
    beyond, again = [], []
    for _ in range(_SAMPLES):
        opened = float(answer([str(build / "bind"), "open", str(library)]))
        first, bound = map(float, answer([str(build / "bind"), "bind", str(library.parent)]).split())
        beyond.append((first - opened) / 1e6)
        again.append(bound)
    return [
        claim("the first lb_bind() minus dlopen(), ms", 1, spread(beyond)),
        claim("lb_bind() if the runtime is already bound, ns", 10, spread(again)),
    ]


def claim_of_import(folder: Path) -> dict[str, Any]:
    """What `import latenn` takes after NumPy."""
    code = "import numpy, time; t = time.perf_counter(); import latenn; print((time.perf_counter() - t) * 1e3)"
    times = [float(answer([sys.executable, "-c", code], PYTHONPATH=str(folder))) for _ in range(_SAMPLES + 1)]
    return claim("import latenn if NumPy is already imported, ms", 30, spread(times[1:]))


def claims_of_output(folder: Path) -> list[dict[str, Any]]:
    """Time and peak memory of 256 MB of unknown shape."""
    found = output.rounds(256, 3, {"PYTHONPATH": str(folder)})
    claims = []
    for name in ("latenn run", "latenn bound"):
        for key, limit in (("seconds", 1.1), ("grew", 1.05)):
            ratios = [one[key] / other[key] for one, other in zip(found[name], found["onnxruntime"], strict=True)]
            what = "time" if key == "seconds" else "peak memory"
            text = f"{name}, output of 256 MB with unknown shape: {what} relative to onnxruntime"
            claims.append(claim(text, limit, spread(ratios)))
    return claims


def main() -> None:
    """Measure, print, and keep the result when asked to."""
    arguments = options(__doc__, 15)
    folders = sites()
    newest = folders[RUNTIMES[-1]]
    shares = [busy()]
    if arguments.write and shares[0] > MOST_BUSY:
        raise SystemExit(f"Others use {shares[0]:.0%} of the processors: nothing is measured. Try when they are idle.")
    rows = runs(folders, arguments.rounds)
    steps: list[Callable[[], list[dict[str, Any]]]] = [
        lambda: claims_of_runs(rows),
        lambda: claims_of_binding(newest),
        lambda: [claim_of_import(newest)],
        lambda: claims_of_output(newest),
    ]
    claims = [row for step in steps for row in step()]
    shares.append(busy())
    show(claims)
    print(f"Others used {shares[0]:.0%} of the processors before and {shares[1]:.0%} after.")
    if max(shares) > MOST_BUSY:
        raise SystemExit("The machine was busy: the numbers are no result, and are not kept.")
    if arguments.write:
        versions = {"onnxruntime": " and ".join(RUNTIMES)}
        facts = {**machine(), "busy": shares}
        write("latency", {"machine": facts, "versions": versions, "claims": claims, "rows": rows})


if __name__ == "__main__":
    main()
