"""Audits mutated wheels, nupkgs and binaries and reports which of them crash, hang, hoard memory or write a file.

    python -m tests.support.fuzz --count 100000        # some minutes; the same cases in every run
    python -m tests.support.fuzz --case 4711 --keep x  # one case again, and its file in the folder x

The subjects are packages and libraries of a small project that is built for every target. A case is a subject, changed
as its number says. Exit status: 0 all well, 1 otherwise.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from loadcheck import InputError
from loadcheck.api import audit_here
from loadcheck.engine.pool import Died, Pool, WorkerLimits, default_jobs
from loadcheck.reports.render import RENDERERS
from tests.support.client import write_portable
from tests.support.mutation import mutate_subject

sys.path.append(str(Path(__file__).resolve().parents[2] / "loadcheck" / "tests"))
from corpus.packages import universal  # of there

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

SECONDS = 5.0
MEMORY = 2 << 30
_ROUND, _CHUNK, _SHOWN = 400, 50, 20
_TARGETS = ["linux-x64", "linux-arm64", "osx-x64", "osx-arm64", "win-x64", "win-arm64"]


def make_subjects(folder: Path) -> Path:
    """Build and pack the small project for every target; the folder with all that came out."""
    project = write_portable(folder / "project", _TARGETS)
    command = [sys.executable, "-m", "latebind.cli", "-q", "-C", str(project), "pack", "--target", "all"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    subjects = folder / "subjects"
    subjects.mkdir()
    for path in sorted((project / "dist").glob("[!.]*")):
        shutil.copy(path, subjects)
    for path in sorted((project / "stage").glob("*/tiny/*/*")):
        if path.suffix in (".so", ".dylib", ".dll"):
            shutil.copy(path, subjects / f"{path.parts[-4]}-{path.name}")
    slices = [(subjects / f"osx-{arch}-libtiny.dylib").read_bytes() for arch in ("x64", "arm64")]
    (subjects / "universal-libtiny.dylib").write_bytes(universal(*slices))
    return subjects


def write_case(subjects: Sequence[tuple[str, bytes]], seed: int, number: int, folder: Path) -> Path:
    """Write the file of a case, in a folder of its own."""
    name, data = mutate_subject(subjects, f"{seed}:{number}")
    path = folder / str(number) / name
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    return path


def audit_cases(paths: Sequence[Path], tell: Callable[[str], None]) -> list[str]:
    """Audit cases one by one; how each ended. Raises RuntimeError for what an audit must not do."""
    return [_audit_case(path, tell) for path in paths]


def _audit_case(path: Path, tell: Callable[[str], None]) -> str:
    tell(path.name)
    _WATCH.start()
    try:
        report = audit_here([path])
        for render in RENDERERS.values():
            render(report).encode("utf-8")
        ended = "findings" if report.findings else "clean"
    except InputError as error:
        str(error)
        ended = "refused"
    finally:
        seen = _WATCH.stop()
    if seen:
        raise RuntimeError("; ".join(seen))
    return ended


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
    """All cases in worker processes with limits: how often each outcome was, and what went wrong."""
    files = [(path.name, path.read_bytes()) for path in sorted(subjects.iterdir())]
    outcomes: Counter[str] = Counter()
    wrong: list[str] = []
    with Pool(audit_cases, default_jobs(), WorkerLimits(seconds=SECONDS, memory=MEMORY)) as pool:
        for start in range(0, len(numbers), _ROUND):
            with tempfile.TemporaryDirectory(prefix="latebind-fuzz-") as folder:
                paths = [write_case(files, seed, number, Path(folder)) for number in numbers[start : start + _ROUND]]
                chunks = [paths[first : first + _CHUNK] for first in range(0, len(paths), _CHUNK)]
                results = list(_results(pool, chunks))
            for path, result in zip(paths, results, strict=True):
                outcomes[outcome(result)] += 1
                if outcome(result) == "wrong":
                    wrong.append(f"case {path.parent.name}: {result}")
    return outcomes, wrong


def _results(pool: Pool[Sequence[Path], list[str]], chunks: Sequence[Sequence[Path]]) -> Iterator[str | Died]:
    """The result of each case. The cases of a chunk whose worker died are audited again, each alone."""
    for chunk, result in zip(chunks, pool.run(chunks), strict=True):
        if isinstance(result, Died):
            for single in pool.run([[path] for path in chunk]):
                yield single if isinstance(single, Died) else single[0]
        else:
            yield from result


def outcome(result: str | Died) -> str:
    """How a case ended. A crash of native code is a finding of the audit (LB605); nothing else may end a worker."""
    if isinstance(result, str):
        return result
    return "killed a worker" if result.how.startswith("was killed by") else "wrong"


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
    print(*wrong[:_SHOWN], f"{len(wrong)} went wrong", sep="\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
