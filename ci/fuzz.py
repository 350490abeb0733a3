"""Audits mutated wheels, nupkgs and binaries and reports which of them crash, hang, hoard memory or write a file.

    python ci/fuzz.py --count 100000        # some minutes; the same cases in every run
    python ci/fuzz.py --case 4711 --keep x  # one case again, and its file in the folder x

The subjects are packages and libraries of a small project that is built for every target. A case is a subject, changed
as its number says. Exit status: 0 all well, 1 otherwise.
"""

from __future__ import annotations

import argparse
import itertools
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "ci")]

from latebind.audit.audit import audit_here  # noqa: E402  # the root has to be on the path, for the tests' own modules
from latebind.audit.pool import Died, Pool, WorkerLimits, default_jobs  # noqa: E402
from latebind.audit.render import RENDERERS  # noqa: E402
from latebind.errors import InputError  # noqa: E402
from mutation import mutated  # noqa: E402

from tests.audit.corpus import universal  # noqa: E402
from tests.client import write_portable  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SECONDS = 5.0
MEMORY = 1 << 30
_CHUNK = 250
_TARGETS = ["linux-x64", "linux-arm64", "osx-x64", "osx-arm64", "win-x64", "win-arm64"]


@dataclass(frozen=True)
class Chunk:
    """Cases from `first` up to and without `last`, of the subjects in a folder."""

    subjects: Path
    seed: int
    first: int
    last: int


def make_subjects(folder: Path) -> Path:
    """Build and pack the small project for every target; the folder with all that came out."""
    project = write_portable(folder / "project", _TARGETS)
    command = [sys.executable, "-m", "latebind.cli", "-q", "-C", str(project), "pack", "--target", "all"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    made = folder / "subjects"
    made.mkdir()
    for path in sorted((project / "dist").iterdir()):
        shutil.copy(path, made)
    for path in sorted((project / "stage").glob("*/tiny/*/*")):
        if path.suffix in (".so", ".dylib", ".dll"):
            shutil.copy(path, made / f"{path.parts[-4]}-{path.name}")
    slices = [(made / f"osx-{arch}-libtiny.dylib").read_bytes() for arch in ("x64", "arm64")]
    (made / "universal-libtiny.dylib").write_bytes(universal(*slices))
    return made


def fuzz(chunk: Chunk, tell: Callable[[str], None]) -> tuple[Counter[str], list[str]]:
    """Audit the cases of a chunk; how often each outcome was, and what went wrong."""
    subjects = [(path.name, path.read_bytes()) for path in sorted(chunk.subjects.iterdir())]
    outcomes: Counter[str] = Counter()
    wrong: list[str] = []
    with tempfile.TemporaryDirectory(prefix="latebind-fuzz-") as folder:
        for number in range(chunk.first, chunk.last):
            tell(str(number))
            path = write_case(subjects, chunk.seed, number, Path(folder))
            _WATCH.start()
            started = time.monotonic()
            try:
                outcomes[_audited(path)] += 1
            except Exception:  # noqa: BLE001  # what is sought
                wrong.append(f"case {number}: {traceback.format_exc()}")
            seconds = time.monotonic() - started
            wrong += [f"case {number}: {what}" for what in _WATCH.stop()]
            wrong += [f"case {number}: took {seconds:.1f} s"] if seconds > SECONDS else []
            path.unlink()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return outcomes, wrong + ([f"cases up to {chunk.last}: {peak >> 20} MB of memory"] if peak > MEMORY else [])


def write_case(subjects: Sequence[tuple[str, bytes]], seed: int, number: int, folder: Path) -> Path:
    """Write the file of a case."""
    name, data = mutated(subjects, f"{seed}:{number}")
    path = folder / name
    path.write_bytes(data)
    return path


def _audited(path: Path) -> str:
    try:
        report = audit_here([path])
    except InputError as error:
        str(error)
        return "refused"
    for render in RENDERERS.values():
        render(report).encode("utf-8")
    return "findings" if report.findings else "clean"


_EVENTS = (
    *("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.truncate", "os.chmod", "shutil."),
    *("subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.fork", "socket."),
)


class _Watch:
    """Notes each file that is written, moved or removed, and each program that is started, while it is on."""

    def __init__(self) -> None:
        self._on = False
        self._hooked = False
        self._seen: list[str] = []

    def start(self) -> None:
        if not self._hooked:
            sys.addaudithook(self._note)  # there is no way to take a hook out again
            self._hooked = True
        self._on, self._seen = True, []

    def stop(self) -> list[str]:
        self._on = False
        return self._seen

    def _note(self, event: str, arguments: tuple[object, ...]) -> None:
        if not self._on:
            return
        if event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR):
            self._seen.append(f"wrote {arguments[0]!r}")
        elif event.startswith(_EVENTS):
            self._seen.append(f"{event} {arguments!r}")


_WATCH = _Watch()


def run(subjects: Path, seed: int, numbers: range) -> tuple[Counter[str], list[str]]:
    """All cases in worker processes. A case that kills its worker is audited again as a user would do it."""
    edges = [*range(numbers.start, numbers.stop, _CHUNK), numbers.stop]
    outcomes: Counter[str] = Counter()
    wrong: list[str] = []
    waiting = [Chunk(subjects, seed, first, last) for first, last in itertools.pairwise(edges)]
    while waiting:
        with Pool(fuzz, default_jobs(), WorkerLimits(seconds=4 * SECONDS, memory=2 * MEMORY)) as pool:
            results = pool.run(waiting)
        again = []
        for chunk, result in zip(waiting, results, strict=True):
            if not isinstance(result, Died):
                outcomes += result[0]
                wrong += result[1]
                continue
            number = int(result.part or chunk.first)
            outcomes["killed a worker"] += 1
            wrong += by_command(chunk, number, result.how)
            halves = ((chunk.first, number), (number + 1, chunk.last))
            again += [Chunk(subjects, seed, first, last) for first, last in halves if first < last]
        waiting = again
    return outcomes, wrong


def by_command(chunk: Chunk, number: int, how: str) -> list[str]:
    """Audit one case, which ended a worker, with the command line; what is wrong with how that ends."""
    subjects = [(path.name, path.read_bytes()) for path in sorted(chunk.subjects.iterdir())]
    with tempfile.TemporaryDirectory(prefix="latebind-fuzz-") as folder:
        path = write_case(subjects, chunk.seed, number, Path(folder))
        command = [sys.executable, "-m", "latebind.cli", "audit", str(path)]
        limit = partial(resource.setrlimit, resource.RLIMIT_AS, (4 * MEMORY, 4 * MEMORY))
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=12 * SECONDS, check=False, preexec_fn=limit
            )
        except subprocess.TimeoutExpired:
            return [f"case {number}: the command did not end"]
    if done.returncode not in (0, 1, 2) or "Traceback" in done.stderr:
        return [f"case {number}: the command ended with {done.returncode}: {done.stderr[-2000:]}"]
    return [f"case {number}: the worker {how}"] if how.startswith("failed") else []


def main() -> int:
    """Make the subjects, run the cases, print what came of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=2000, help="how many cases")
    parser.add_argument("--seed", type=int, default=1, help="other cases")
    parser.add_argument("--case", type=int, help="this case alone")
    parser.add_argument("--keep", type=Path, help="a folder that gets the case's file")
    parser.add_argument("--subjects", type=Path, help="a folder with other files to mutate")
    arguments = parser.parse_args()
    numbers = range(arguments.count) if arguments.case is None else range(arguments.case, arguments.case + 1)
    with tempfile.TemporaryDirectory(prefix="latebind-fuzz-") as folder:
        subjects = arguments.subjects or make_subjects(Path(folder))
        if arguments.keep is not None:
            arguments.keep.mkdir(parents=True, exist_ok=True)
            files = [(path.name, path.read_bytes()) for path in sorted(subjects.iterdir())]
            print(*(write_case(files, arguments.seed, number, arguments.keep) for number in numbers), sep="\n")
        started = time.monotonic()
        outcomes, wrong = run(subjects, arguments.seed, numbers)
    seconds = time.monotonic() - started
    print(f"{outcomes.total()} cases in {seconds:.0f} s: {', '.join(f'{n} {what}' for what, n in outcomes.items())}")
    kinds = {text.rstrip().rpartition("\n")[2].partition(": ")[2]: text for text in reversed(wrong)}
    print(*kinds.values(), f"{len(wrong)} went wrong, in {len(kinds)} ways", sep="\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
