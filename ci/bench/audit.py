"""Times `latebind audit` against the peers and against bare reading, on the same real wheels, in turn.

    python ci/bench/audit.py [--rounds N] [--write]

Downloads (0.5 GB) and peers are in LATEBIND_BENCH_CACHE. delocate asks for otool, lipo and install_name_tool, which
ci/machines/llvm.py supplies.
"""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING, Any

from measure import ROOT, Sample, add, in_turn, machine, options, ratio, run, show, spread, summary, write

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

from ci.machines import llvm, pinned

BENCH = ROOT / "ci" / "bench"
PEERS_PINNED = ROOT / "loadcheck" / "accuracy" / "peers.txt"
PEERS_AT_LEAST, FLOOR_AT_MOST, FLOOR_WITH_ALL_CHECKS, RESOLVING_AT_MOST = 5.0, 0.8, 1.3, 2.0
MEMORY_BASE, MEMORY_PER_BYTE = 120 * 10**6, 3
SMALL_AT_MOST, MANY_AT_MOST, MEMBERS = 0.5, 20.0, 20_000
HUGE_AT_MOST = 512 * 10**6
# Program, its arguments, the part of a platform tag for which it is made, exit statuses that are no failure.
PEERS: tuple[tuple[str, tuple[str, ...], str, tuple[int, ...]], ...] = (
    ("auditwheel", ("show",), "linux", (0,)),
    ("delvewheel", ("show",), "win", (0,)),
    ("delocate-listdeps", (), "macosx", (0,)),
    ("abi3audit", (), "", (0, 1)),  # 1: it found something
)


def peers(paths: Sequence[Path]) -> Sample:
    """Every peer on each wheel that it is made for."""
    binaries = pinned.environment("peers", PEERS_PINNED)
    env = {"PATH": ":".join([str(binaries), str(llvm.prepare(pinned.cache() / "apple")), "/usr/bin", "/bin"])}
    return add(
        run([binaries / program, *words, path], env=env, allowed=allowed)
        for program, words, system, allowed in PEERS
        for path in paths
        if system in path.name.rpartition("-")[2] and (program != "abi3audit" or "abi3" in path.name)
    )


def audit(paths: Sequence[Path], *options: str) -> Sample:
    """`latebind audit` as a user calls it."""
    return run([sys.executable, "-c", _CALL, "audit", *options, *paths], allowed=(0, 1))


_CALL = "import sys; from latebind.cli import main; sys.exit(main())"


def floor(paths: Sequence[Path]) -> Sample:
    """Bare inflating and hashing."""
    return run([sys.executable, BENCH / "floor.py", *paths])


def memory(paths: Sequence[Path]) -> dict[str, Any]:
    """The wheel whose worker comes nearest to what it may use."""
    command = [sys.executable, str(BENCH / "memory.py"), *map(str, paths)]
    rows = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    for row in rows:
        row["allowed"] = MEMORY_BASE + MEMORY_PER_BYTE * row["largest"]
    return {"worst": max(rows, key=lambda row: row["peak"] / row["allowed"]), "wheels": rows}


def many() -> Path:
    """A wheel with many members."""
    path = pinned.cache() / "many-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(MEMBERS):
            archive.writestr(f"many/p{number % 200}/m{number}.py", f"x = {number}\n" * 20)
        archive.writestr("many-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: many\nVersion: 1.0\n")
        archive.writestr("many-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    return path


def extremes(rounds: int) -> dict[str, Any]:
    """A small wheel, one with many members and a huge one, each by itself."""
    small, huge = pinned.wheels(BENCH / "extremes.toml")
    thousands = many()
    samples = in_turn({"small": lambda: audit([small]), "many": lambda: audit([thousands])}, rounds)
    return {
        **{name: spread(row.wall for row in rows) for name, rows in samples.items()},
        "huge": memory([huge])["worst"],
    }


def claims(document: dict[str, Any]) -> list[dict[str, Any]]:
    """What is claimed, what was measured, and whether it is met."""
    worst, ratios, found = document["memory"]["worst"], document["ratios"], document["extremes"]
    share = round(worst["peak"] / worst["allowed"], 3)
    wall, cpu = ratios["wall"], ratios["cpu"]
    rows: list[tuple[str, float, float]] = [
        ("latebind audit / floor, clock", wall["latebind audit"]["floor"], FLOOR_AT_MOST),
        ("all checks / floor, clock", wall["all checks"]["floor"], FLOOR_WITH_ALL_CHECKS),
        ("all checks / floor, CPU", cpu["all checks"]["floor"], FLOOR_WITH_ALL_CHECKS),
        ("all checks / peers, clock", wall["all checks"]["peers"], 1 / PEERS_AT_LEAST),
        ("all checks / peers, CPU", cpu["all checks"]["peers"], 1 / PEERS_AT_LEAST),
        ("with --resolve / latebind audit, clock", wall["with --resolve"]["latebind audit"], RESOLVING_AT_MOST),
        ("one small wheel, s", found["small"]["median"], SMALL_AT_MOST),
        (f"one wheel with {MEMBERS:,} members, s", found["many"]["median"], MANY_AT_MOST),
        ("peak memory of a worker / its limit", share, 1.0),
        ("peak memory for a wheel of 350 MB, MB", round(found["huge"]["peak"] / 10**6), HUGE_AT_MOST / 10**6),
    ]
    return [{"claim": text, "measured": value, "at most": most, "met": value <= most} for text, value, most in rows]


def sizes(paths: Iterable[Path]) -> dict[str, int]:
    """How much is read."""
    inflated = 0
    for path in paths:
        with zipfile.ZipFile(path) as archive:
            inflated += sum(info.file_size for info in archive.infolist())
    return {"wheels": len(list(paths)), "bytes": sum(path.stat().st_size for path in paths), "inflated": inflated}


def main() -> None:
    """Measure, print the claims, and keep the result when asked to."""
    arguments = options(__doc__, 5)
    paths = pinned.wheels(BENCH / "wheels.toml")
    before = machine()
    for go in (audit, floor, peers):
        go(paths[:1])  # whatever is made only once
    audit(paths, "--resolve")  # fills the cache
    samples = in_turn(
        {
            "latebind audit": lambda: audit(paths),
            "all checks": lambda: audit(paths, "--profile", "all"),
            "with --resolve": lambda: audit(paths, "--resolve"),
            "floor": lambda: floor(paths),
            "peers": lambda: peers(paths),
        },
        arguments.rounds,
    )
    document: dict[str, Any] = {
        "machine": before,
        "versions": dict(_pins()),
        "input": sizes(paths),
        "contenders": summary(samples),
        "ratios": {
            key: {
                ours: {other: ratio(samples, ours, other, key) for other in ("peers", "floor", "latebind audit")}
                for ours in ("latebind audit", "all checks", "with --resolve")
            }
            for key in ("wall", "cpu")
        },
        "memory": memory(paths),
        "extremes": extremes(arguments.rounds),
    }
    document["claims"] = claims(document)
    show(document["claims"])
    if arguments.write:
        write("audit", document)


def _pins() -> list[tuple[str, str]]:
    lines = PEERS_PINNED.read_text("utf-8").splitlines()
    rows = (line.partition("==") for line in lines if "==" in line)
    return [(name, number) for name, _, number in rows]


if __name__ == "__main__":
    main()
