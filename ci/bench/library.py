"""Compares programs that link a C library, zlib, with those that use its stub and Implib.so's.

    python ci/bench/library.py [--rounds N] [--write]

`IMPLIB` names a folder with Implib.so's sources; without it, Implib.so is not run.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from measure import ROOT, Sample, answer, claim, in_turn, machine, options, run, show, spread, summary, write

from ci.machines.pinned import cache

if TYPE_CHECKING:
    from collections.abc import Mapping

IMPLIB_COMMIT = "ae294daac027700835e1fc17e675b4a21bf7d76d"
SOURCES = ROOT / "ci/bench/library"
DESCRIBED = """\
name = "zlib"
entry = "zlibVersion"
version = "text"
minimum = "1.2"
built = "1.3"
files.linux = ["libz.so.1"]
advice = "apt-get install zlib1g"
[stub]
functions = ["{library}"]
failures = {{ compressBound = 0, zlibVersion = "message" }}
library = "z"
"""
LINUX = ("-ldl", "-lpthread")
DOES = {
    "first calls of eight threads at once": "threads",
    "the address of a function": "pointer",
    "goes on without the library": "missing",
}
"""What a row of the table says, and the argument of does.c."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """A way to use the library: what a program links, and what makes that."""

    links: tuple[str, ...]
    make: tuple[tuple[str | Path, ...], ...] = ()


def ways(work: Path, library: Path) -> dict[str, Way]:
    """All ways that can be run here."""
    latebind = (sys.executable, "-m", "latebind", "-q", "stub", work / "zlib.toml", "--output", work / "stubs")
    found = {
        "linked": Way(links=(str(library),)),
        "late": Way(links=(str(work / "stubs/linux-x64/lib/libz.a"), *LINUX), make=(latebind,)),
    }
    if sources := os.environ.get("IMPLIB"):
        objects = [f"{library.name}.tramp.S", f"{library.name}.init.c"]
        generate = (sys.executable, Path(sources) / "implib-gen.py", "-q", "-o", work, library)
        compile_both: tuple[str | Path, ...] = ("gcc", "-O2", "-c", *(work / name for name in objects))
        built = [str(work / f"{library.name}.{part}.o") for part in ("tramp", "init")]
        found["Implib.so"] = Way(links=(*built, *LINUX), make=(generate, compile_both))
    return found


def make(way: Way, work: Path) -> Sample:
    """What it costs to make what programs link: a stub is written again, with the compiler itself in its caches."""
    shutil.rmtree(work / "stubs", ignore_errors=True)
    here = Path.cwd()
    os.chdir(work)
    try:
        samples = [run(command) for command in way.make]
    finally:
        os.chdir(here)
    return Sample(wall=sum(row.wall for row in samples), cpu=sum(row.cpu for row in samples))


def link(way: Way, source: str, program: Path) -> Path:
    """A stripped program."""
    run(["gcc", "-O2", "-s", SOURCES / source, *way.links, "-o", program])
    return program


def does(program: Path, argument: str, folder: Path) -> str:
    """Whether a program does something as it should; `missing` runs where there is no library."""
    command = [str(program), argument]
    if argument == "missing":  # a folder with the loader's own libraries and nothing else
        command = ["unshare", "-rm", "sh", "-c", f'mount --bind /dev/null "$0"; exec "{program}" missing', str(folder)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    return "yes" if done.stdout.strip() == "yes" else f"no ({done.returncode})"


def time_calls(programs: Mapping[str, Path], library: Path, rounds: int) -> dict[str, list[tuple[float, float]]]:
    """The time of a first call, and of one more, of each program in turn; `dlopen` opens the library itself."""
    commands = {name: [str(program)] for name, program in programs.items()}
    commands["dlopen"] = [str(programs["late"]), str(library)]
    commands["linked again"] = commands["linked"]
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for number in range(rounds + 1):
        for name, command in commands.items():
            first, more = map(float, answer(command).split())
            if number:  # after one round, all is in the system's cache
                times[name].append((first, more))
    return times


def main() -> None:
    """Measure, print, and keep the result when asked to."""
    arguments = options(__doc__, 15)
    before, work = machine(), cache() / "library"
    work.mkdir(exist_ok=True)
    library = Path(answer(["gcc", "-print-file-name=libz.so.1"]).strip()).resolve().with_name("libz.so.1")
    (work / "zlib.toml").write_text(DESCRIBED.format(library=library), "utf-8")
    found = ways(work, library)
    made = in_turn({name: partial(make, way, work) for name, way in found.items() if way.make}, 3)
    make(found["late"], work)
    calls = {name: link(way, "calls.c", work / f"calls-{number}") for number, (name, way) in enumerate(found.items())}
    tries = {name: link(way, "does.c", work / f"does-{number}") for number, (name, way) in enumerate(found.items())}
    times = time_calls(calls, library, arguments.rounds)

    sizes = {name: program.stat().st_size for name, program in calls.items()}
    rows: list[tuple[str, ...]] = [("", *found)]
    more = (f"{(size - sizes['linked']) / 1000:.1f}" for size in sizes.values())
    rows.append(("larger than the linked program, kB", *more))
    for text, place, scale in (("a call, ns", 1, 1), ("the first call, µs", 0, 1000)):
        medians = (spread(pair[place] / scale for pair in times[name])["median"] for name in found)
        rows.append((text, *(f"{median:.2f}" for median in medians)))
    rows += [(text, *(does(tries[name], argument, library) for name in found)) for text, argument in DOES.items()]
    claims = [
        claim("program with the stub minus linked program, kB", 60, spread([(sizes["late"] - sizes["linked"]) / 1000])),
        claim(
            "time of a call through the stub, relative to a linked program",
            1.02,
            spread(late[1] / linked[1] for late, linked in zip(times["late"], times["linked"], strict=True)),
            noise=spread(
                there[1] / here[1] for there, here in zip(times["linked again"], times["linked"], strict=True)
            ),
        ),
        claim(
            "the first call minus dlopen() and dlsym(), ms",
            0.2,
            spread((late[0] - opened[0]) / 1e6 for late, opened in zip(times["late"], times["dlopen"], strict=True)),
        ),
        claim("`latebind stub` of another library, s", 1, spread(row.wall for row in made["late"])),
    ]
    show(claims)
    print(*rows, sep="\n")
    document: dict[str, Any] = {
        "machine": before,
        "versions": {"zlib": answer([str(tries["linked"])]).strip(), "Implib.so": IMPLIB_COMMIT[:12]},
        "contenders": summary(made),
        "table": rows,
        "claims": claims,
    }
    if "Implib.so" not in found:
        document["not run"] = {"Implib.so": "IMPLIB names no folder"}
    if arguments.write:
        write("library", document)


if __name__ == "__main__":
    main()
