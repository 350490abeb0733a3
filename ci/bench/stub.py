"""Times calls of ONNX Runtime through the stub next to those of a program that links the runtime.

    python ci/bench/stub.py [--rounds N] [--write]

The program is ci/bench/stub. Each round runs it linked, late, linked again for the noise, and with dlopen().
"""

from __future__ import annotations

import sys
from pathlib import Path

from measure import ROOT, RUNTIMES, answer, claim, machine, options, run, show, spread, write

from ci.machines.pinned import cache

RUNTIME = RUNTIMES[-1]


def programs(work: Path) -> Path:
    """Build the programs; next to them is an environment with the runtime. Returns the runtime's file."""
    site = work / "venv/lib/python3/site-packages"
    if not site.is_dir():
        run([sys.executable, "-m", "pip", "install", "-q", "--no-deps", "-t", str(site), f"onnxruntime=={RUNTIME}"])
    library = site / "onnxruntime/capi" / f"libonnxruntime.so.{RUNTIME}"
    named = work / "libonnxruntime.so.1"  # as the linked program asks for it; not in the wheel
    named.unlink(missing_ok=True)
    named.symlink_to(library)
    cmake, build = Path(sys.executable).with_name("cmake"), work / "build"
    source = ROOT / "ci/bench/stub"
    run([cmake, "--fresh", "-S", source, "-B", build, "-DCMAKE_BUILD_TYPE=Release", f"-DRUNTIME={named}"])
    run([cmake, "--build", build])
    return library


def main() -> None:
    """Measure, print, and keep the result when asked to."""
    arguments = options(__doc__, 25)
    before, work = machine(), cache() / "stub"
    work.mkdir(exist_ok=True)
    library = str(programs(work))
    linked, late = str(work / "build/linked"), str(work / "build/late")
    rows = []
    for _ in range(arguments.rounds + 1):
        told = (
            answer([linked]),
            answer([late], ONNXRUNTIME_LIB_PATH=library),
            answer([linked]),
            answer([late, library]),
            answer([late], ONNXRUNTIME_LIB_PATH="", VIRTUAL_ENV=str(work / "venv")),
        )
        rows.append([tuple(map(float, text.split())) for text in told])
    rows = rows[1:]  # after one round, all is in the system's cache
    noise = spread(again[1] / there[1] for there, _, again, _, _ in rows)
    calls = spread(here[1] / there[1] for there, here, _, _, _ in rows)
    named = spread((here[0] - opened[0]) / 1e6 for _, here, _, opened, _ in rows)
    found = spread((here[0] - opened[0]) / 1e6 for _, _, _, opened, here in rows)
    claims = [
        claim("time of a call through the stub, relative to a call in a linked program", 1.02, calls, noise=noise),
        claim("the first call minus dlopen() and dlsym(), if a variable names the file, ms", 1, named),
        claim("the first call minus dlopen() and dlsym(), if the search finds the file, ms", 1, found),
    ]
    show(claims)
    if arguments.write:
        write("stub", {"machine": before, "versions": {"onnxruntime": RUNTIME}, "claims": claims})


if __name__ == "__main__":
    main()
