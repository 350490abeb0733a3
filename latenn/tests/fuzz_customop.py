"""Loads damaged models through latenn's operator and reports which of them open anything that no model may reach.

    python latenn/tests/fuzz_customop.py --count 50000          # the same cases in every run
    python latenn/tests/fuzz_customop.py --case 4711            # one case again
    python latenn/tests/fuzz_customop.py --count 200 --control  # with a session that allows any path: it must find some

A case is made by hostile.py and loaded, and run once, by the onnxruntime of this Python, in processes that strace
watches. What a good model opens is allowed, too. A process that crashes or hangs has gone wrong as well. Exit status: 0
all well, 1 otherwise.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import os
import subprocess
import sys
import sysconfig
import tempfile
import time
import zipfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT))  # as a program, it starts with this folder alone
import hostile  # noqa: E402
import opened  # noqa: E402

_CHUNK = 1000
_CASE_SECONDS = 10.0
_CHUNK_SECONDS = 900.0
_ENDED = "ended its process"
_RUNTIME = "ended the runtime alone, too"
_EVIL = """
#include <stdio.h>
__attribute__((constructor)) static void run(void) { FILE* file = fopen("%s", "w"); if (file) fclose(file); }
"""


@dataclass(frozen=True)
class Chunk:
    """Cases from `first` up to and without `last`."""

    site: Path
    folder: Path
    seed: int
    first: int
    last: int
    trusting: bool

    @property
    def place(self) -> hostile.Place:
        """Where the cases are, and what they may not reach."""
        return hostile.Place(self.folder / "models", self.folder / "outside")


def make_site(folder: Path) -> Path:
    """Build latenn for this machine and unpack its wheels, as `pip install --target` leaves them."""
    from latebind.backend.targets import host_rid  # noqa: PLC0415
    from latebind.config.project import read_project  # noqa: PLC0415  # a given site needs no build
    from latebind.pack.make import pack  # noqa: PLC0415

    packed = pack(read_project(ROOT / "latenn" / "latebind.toml", folder), [host_rid()])
    for artifact in packed.artifacts:
        if artifact.kind == "wheel":
            with zipfile.ZipFile(artifact.path) as archive:
                archive.extractall(folder / "site")
    return folder / "site"


def evil(folder: Path) -> bytes:
    """A library that leaves the file `ran` in the folder when it is opened."""
    source, library = folder / "evil.c", folder / "evil.so"
    source.write_text(_EVIL % (folder / "ran"), encoding="utf-8")
    subprocess.run([sys.executable, "-m", "ziglang", "cc", "-shared", "-o", library, source], check=True)
    return library.read_bytes()


# ---- the process that is watched -----------------------------------------------------------------------------------


def work(chunk: Chunk) -> None:
    """Load good models, then the cases; report how each one ended."""
    import latenn_customop  # noqa: PLC0415  # of the site
    import numpy as np  # noqa: PLC0415
    import onnxruntime  # noqa: PLC0415

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    latenn_customop.register(options, directory=chunk.place.models, allow_any_path=chunk.trusting)
    graphs = hostile.subjects(latenn_customop.wrap, chunk.place)

    def load(data: bytes) -> str:
        try:
            session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # noqa: BLE001  # whatever the runtime throws
            return "refused by latenn" if "latenn's node" in str(error) else "refused by the runtime"
        try:
            session.run(None, {port.name: np.ones((2, 4), np.float32) for port in session.get_inputs()})
        except Exception:  # noqa: BLE001
            return "loaded"
        return "ran"

    for graph in graphs:
        load(graph)
    load(hostile.unknown(graphs[0]))  # all places where a backend is looked for
    for number in range(chunk.first, chunk.last):
        data = hostile.case(graphs, chunk.place, f"{chunk.seed}:{number}")
        faulthandler.dump_traceback_later(_CASE_SECONDS, exit=True)
        opened.mark(number)
        ended = load(data)
        opened.mark("")
        print(number, ended, flush=True)


# ---- the process that watches --------------------------------------------------------------------------------------


def watch(chunk: Chunk) -> tuple[Counter[str], list[str]]:
    """The cases of a chunk; one that ends its process is counted, and the rest goes on in another."""
    outcomes: Counter[str] = Counter()
    wrong: list[str] = []
    first = chunk.first
    while first < chunk.last:
        command = [sys.executable, __file__, "--worker", f"{first}:{chunk.last}", "--seed", str(chunk.seed)]
        command += ["--site", str(chunk.site), "--folder", str(chunk.folder), *["--control"] * chunk.trusting]
        environment = {**os.environ, "PYTHONPATH": f"{chunk.site}{os.pathsep}{ROOT}", "ORT_DISABLE_TELEMETRY": "1"}
        run = opened.watch(command, environment, chunk.folder / "cwd", _CHUNK_SECONDS)
        lines = [line.partition(" ") for line in run.output.splitlines() if line[:1].isdigit()]
        outcomes.update(ended for _, _, ended in lines)
        wrong += judge(chunk, run)
        if run.status == 0:
            break
        if not run.last:
            return outcomes, [*wrong, f"case {first}: no case began: {run.output[-2000:]}"]
        how = blame_ending(chunk, int(run.last), environment)
        outcomes[how] += 1
        wrong += [f"case {run.last}: {how}: {run.status}: {run.output[-200:]!r}"] * (how == _ENDED)
        first = int(run.last) + 1
    return outcomes, wrong


def blame_ending(chunk: Chunk, number: int, environment: dict[str, str]) -> str:
    """Whose fault it is that a case ended its process: the runtime may do so without latenn, by the wrapped model."""
    command = [sys.executable, __file__, "--worker", f"{number}:", "--seed", str(chunk.seed)]
    command += ["--site", str(chunk.site), "--folder", str(chunk.folder)]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, timeout=_CASE_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return _RUNTIME
    return _RUNTIME if done.returncode < 0 else _ENDED


def load_bare(chunk: Chunk) -> None:
    """Load what the first case wraps, with the runtime's own package and no latenn."""
    import latenn_customop  # noqa: PLC0415  # of the site

    graphs = hostile.subjects(latenn_customop.wrap, chunk.place)
    case = hostile.case(graphs, chunk.place, f"{chunk.seed}:{chunk.first}")
    content, backend = hostile.unwrap_model(case, chunk.place)
    if content[4:8] == b"TFL3":
        from ai_edge_litert import compiled_model  # noqa: PLC0415

        file = chunk.place.models / "bare.tflite"
        file.write_bytes(content)
        for load in (lambda: compiled_model.CompiledModel.from_buffer(content), lambda: _run_file(file)):
            with contextlib.suppress(Exception):
                load()
    elif backend == "openvino":
        import openvino  # noqa: PLC0415

        openvino.Core().compile_model(openvino.Core().read_model(content), "CPU")
    else:
        import onnxruntime  # noqa: PLC0415

        onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])


def _run_file(file: Path) -> None:
    """Load a model of LiteRT from its file, which is not looked through as one from memory is, and run it."""
    from ai_edge_litert import compiled_model  # noqa: PLC0415

    model = compiled_model.CompiledModel.from_file(str(file))
    model.run_by_index(0, model.create_input_buffers(0), model.create_output_buffers(0))


def judge(chunk: Chunk, run: opened.Run) -> list[str]:
    """What each case opened and no model may reach."""
    harmless = {call.path for call in run.opened if not call.step}
    allowed = tuple(f"{folder}{os.sep}" for folder in (chunk.place.models, *_folders(chunk.site)))
    wrong = []
    for call in run.opened:
        is_inside = f"{call.path}{os.sep}".startswith(f"{chunk.place.models}{os.sep}")
        is_known = call.path in harmless or call.path.startswith(allowed)
        if call.step and not (is_inside or (is_known and hostile.SIGN not in Path(call.path).name)):
            wrong.append(f"case {call.step}: {call.call} {call.path}")
    return wrong


def _folders(site: Path) -> list[str]:
    """What a session may open as it pleases: code of this Python, of latenn, of the runtimes and of the system."""
    paths = sysconfig.get_paths()
    folders = (str(site), paths["purelib"], paths["platlib"], paths["stdlib"], sys.prefix, sys.base_prefix)
    return [*folders, "/lib", "/lib64", "/usr/lib", "/usr/lib64", "/proc", "/sys"]


def fuzz(site: Path, folder: Path, seed: int, numbers: range, *, trusting: bool) -> tuple[Counter[str], list[str]]:
    """All cases, in as many processes as there are processors, each with folders of its own."""
    chunks = []
    for first in range(numbers.start, numbers.stop, _CHUNK):
        chunk_folder = folder / str(first)
        (chunk_folder / "cwd").mkdir(parents=True)
        chunk = Chunk(site, chunk_folder, seed, first, min(first + _CHUNK, numbers.stop), trusting)
        hostile.settle(chunk.place, evil(chunk_folder))
        chunks.append(chunk)
    outcomes: Counter[str] = Counter()
    wrong: list[str] = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for counted, problems in pool.map(watch, chunks):
            outcomes += counted
            wrong += problems
    wrong += [f"the constructor of {chunk.folder}/evil.so ran" for chunk in chunks if (chunk.folder / "ran").exists()]
    return outcomes, wrong


def main() -> int:
    """Make the site and the folders, run the cases, print what came of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=2000, help="how many cases")
    parser.add_argument("--seed", type=int, default=1, help="other cases")
    parser.add_argument("--case", type=int, help="this case alone")
    parser.add_argument("--control", action="store_true", help="allow any path: what is found proves the watching")
    parser.add_argument("--site", type=Path, help="a folder with latenn's wheels unpacked; built when it is not given")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        first, _, last = arguments.worker.partition(":")
        chunk = Chunk(arguments.site, arguments.folder, arguments.seed, int(first), int(last or 0), arguments.control)
        (work if last else load_bare)(chunk)
        return 0
    if not opened.is_there():
        parser.error("strace is not installed, or may not watch programs here: apt install strace")
    numbers = range(arguments.count) if arguments.case is None else range(arguments.case, arguments.case + 1)
    with tempfile.TemporaryDirectory(prefix="latebind-fuzz-") as name:
        folder = Path(name).resolve()
        site = (arguments.site or make_site(folder)).resolve()
        started = time.monotonic()
        outcomes, wrong = fuzz(site, folder / "cases", arguments.seed, numbers, trusting=arguments.control)
    seconds = time.monotonic() - started
    print(f"{outcomes.total()} cases in {seconds:.0f} s: {', '.join(f'{n} {what}' for what, n in outcomes.items())}")
    print(*wrong[:50], f"{len(wrong)} went wrong", sep="\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
