"""Runs a project's Python consumer in a clean environment as its scenario asks, and lists what was mapped.

    python -I driver.py --seen SEEN.json [--site FOLDER ...] [--read-only FOLDER] [ACTION] -- SCRIPT [ARGUMENT ...]

It only needs the standard library. ACTION is one of

    --preload FILE       open that library before the script begins
    --plant FILE         copy that library into Windows' system folder for as long as the script runs
    --import-before NAME / --import-after NAME
    --threads N          call the script's main(arguments) in N threads at once
    --fork               call it, fork, and call it again in both
    --spawn              call it in a process that multiprocessing spawned
    --subprocess         run the script in a process of its own

The script gets its arguments. When it runs several times, each run gets `--out` with a number before the suffix, and
the worst result is kept under the original name. Exit status: the script's own; the highest of several; 9 when a write
into --read-only was not denied.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib
import importlib.machinery
import importlib.util
import json
import os
import runpy
import shutil
import site
import subprocess
import sys
import threading
import traceback
from pathlib import Path
from typing import Any

WRITABLE = 9
_SIGNALLED = 128


def main() -> int:
    """Run the script, and always write SEEN.json."""
    at = sys.argv.index("--")
    options, script = _parser().parse_args(sys.argv[1:at]), sys.argv[at + 1 :]
    own = str(Path(__file__).parent)
    sys.path[:] = [entry for entry in sys.path if entry != own]  # where Python puts it in front, and has no -P
    for folder in reversed(options.site):
        site.addsitedir(folder)
        sys.path.remove(folder)
        sys.path.insert(0, folder)
    if options.read_only and _writable(Path(options.read_only)):
        sys.stderr.write(f"a write to {options.read_only} was not denied\n")
        return WRITABLE
    planted = _plant_library(Path(options.plant)) if options.plant else None
    if options.preload:
        ctypes.CDLL(options.preload)
    if options.import_before:
        importlib.import_module(options.import_before)
    try:
        status = _run(options, script)
        if options.import_after:
            importlib.import_module(options.import_after)
    finally:
        if planted is not None:
            planted.unlink()
        seen = {"path": sys.path, "libraries": list_mapped_libraries(), "variables": sorted(os.environ)}
        Path(options.seen).write_text(json.dumps(seen, indent=1), encoding="utf-8")
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seen", required=True)
    parser.add_argument("--site", action="append", default=[])
    parser.add_argument("--read-only")
    parser.add_argument("--preload")
    parser.add_argument("--plant")
    parser.add_argument("--import-before")
    parser.add_argument("--import-after")
    parser.add_argument("--threads", type=int, default=0)
    for action in ("--fork", "--spawn", "--subprocess"):
        parser.add_argument(action, action="store_true")
    return parser


def _run(options: argparse.Namespace, script: list[str]) -> int:
    path, arguments = script[0], script[1:]
    if options.threads:
        return _together(_threads(options.threads, path, arguments), arguments)
    if options.fork:
        first = call(path, _number_result(arguments, 0))
        return _together([first, *_fork_script(path, arguments)], arguments)
    if options.spawn:
        return _together([_spawn_script(path, _number_result(arguments, 0))], arguments)
    if options.subprocess:
        again = [sys.executable, "-I", __file__, "--seen", f"{options.seen}.child"]
        again += [word for folder in options.site for word in ("--site", folder)]
        ended = subprocess.run([*again, "--", *script], check=False)  # the test case's own interpreter
        return _status(ended.returncode)
    return _whole(path, arguments)


def _whole(path: str, arguments: list[str]) -> int:
    """The script as a program."""
    sys.argv = [path, *arguments]
    try:
        runpy.run_path(path, run_name="__main__")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def call(path: str, arguments: list[str]) -> int:
    """The script's main(arguments), with the script as a module."""
    return int(_module(path).main(arguments) or 0)


class _Uncached(importlib.machinery.SourceFileLoader):
    """Leaves no byte-code among the project's sources."""

    def set_data(self, path: str, data: object, *, _mode: int = 0) -> None:
        """Called with the byte-code."""


def _module(path: str) -> Any:
    name = "latebind_consumer"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path, loader=_Uncached(name, path))
        if spec is None or spec.loader is None:
            raise ImportError(path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


def _threads(count: int, path: str, arguments: list[str]) -> list[int]:
    """All threads start together, with the script loaded, so that they only race for the binding."""
    _module(path)
    barrier = threading.Barrier(count)
    printing = threading.Lock()  # so that the lines of two exceptions don't mix
    statuses = [1] * count

    def work(number: int) -> None:
        barrier.wait()
        try:
            statuses[number] = call(path, _number_result(arguments, number))
        except Exception:  # noqa: BLE001  # threading would print it, too, with those of other threads between its lines
            with printing:
                traceback.print_exc()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return statuses


def _fork_script(path: str, arguments: list[str]) -> list[int]:
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = call(path, _number_result(arguments, 1))
        except Exception:  # noqa: BLE001  # os._exit() would print nothing
            traceback.print_exc()
        finally:
            os._exit(status)
    parent = call(path, _number_result(arguments, 2))
    _, ended = os.waitpid(child, 0)
    return [_status(os.waitstatus_to_exitcode(ended)), parent]


def _spawn_script(path: str, arguments: list[str]) -> int:
    import multiprocessing  # noqa: PLC0415  # a script may come first and choose its own way to start processes

    context = multiprocessing.get_context("spawn")
    answer = context.SimpleQueue()
    process = context.Process(target=_child, args=(path, arguments, sys.path, answer))
    process.start()
    process.join()
    return answer.get() if process.exitcode == 0 else _status(process.exitcode or 1)


def _status(code: int) -> int:
    """A status that this process can end with; 128 and the number of a signal, as in shells."""
    return code if code >= 0 else _SIGNALLED - code


def _child(path: str, arguments: list[str], search_path: list[str], answer: Any) -> None:
    sys.path[:] = search_path
    answer.put(call(path, arguments))


def _number_result(arguments: list[str], number: int) -> list[str]:
    """The arguments with a numbered name of the result."""
    at = arguments.index("--out") + 1
    return [*arguments[:at], _name(arguments[at], number), *arguments[at + 1 :]]


def _name(path: str, number: int) -> str:
    stem, suffix = os.path.splitext(path)  # noqa: PTH122  # a text in, a text out
    return f"{stem}.{number}{suffix}"


def _together(statuses: list[int], arguments: list[str]) -> int:
    """The highest status; the worst result under the original name, failed when the others differ from it."""
    out = arguments[arguments.index("--out") + 1]
    worst = max(range(len(statuses)), key=lambda number: statuses[number])
    if not all(Path(_name(out, number)).is_file() for number in range(len(statuses))):
        return max(statuses) or 1  # what ended the run without a result is in the output
    results = [json.loads(Path(_name(out, number)).read_text("utf-8")) for number in range(len(statuses))]
    differing = [n for n, result in enumerate(results) if _essence(result) != _essence(results[worst])]
    if differing and not any(statuses):
        results[worst].setdefault("failed", []).append(
            {"name": "all at once", "message": f"the results of runs {differing} differ from the result of run {worst}"}
        )
        statuses = [1]
    Path(out).write_text(json.dumps(results[worst]), encoding="utf-8")
    return max(statuses)


def _essence(result: dict[str, Any]) -> list[object]:
    return [result.get("passed"), result.get("error"), (result.get("report") or {}).get("path")]


def _plant_library(library: Path) -> Path:
    """Copy a library into Windows' system folder."""
    name = ctypes.create_unicode_buffer(32768)
    ctypes.windll.kernel32.GetSystemDirectoryW(name, len(name))  # type: ignore[attr-defined]  # Windows alone has it
    destination = Path(name.value) / library.name
    shutil.copyfile(library, destination)
    return destination


def _writable(folder: Path) -> bool:
    try:
        (folder / "written-by-latebind").write_bytes(b"")
    except OSError:
        return False
    return True


def list_mapped_libraries() -> list[str]:
    """The files of the libraries that are mapped into this process."""
    if sys.platform == "linux":
        lines = Path("/proc/self/maps").read_text("utf-8", "surrogateescape").splitlines()
        paths = {parts[5] for line in lines if len(parts := line.split(None, 5)) > 5}  # noqa: PLR2004  # the sixth
        return sorted(path for path in paths if ".so" in path.rsplit("/", 1)[-1])
    return sorted(_mapped_macos() if sys.platform == "darwin" else _mapped_windows())


def _mapped_macos() -> list[str]:
    system = ctypes.CDLL(None)
    system._dyld_get_image_name.restype = ctypes.c_char_p  # noqa: SLF001  # dyld(3)
    count = system._dyld_image_count()  # noqa: SLF001
    return [os.fsdecode(system._dyld_get_image_name(number) or b"") for number in range(count)]  # noqa: SLF001


def _mapped_windows() -> list[str]:
    windll = ctypes.windll  # type: ignore[attr-defined]  # Windows alone has it
    process, name = ctypes.c_void_p(-1), ctypes.create_unicode_buffer(32768)
    modules, needed = (ctypes.c_void_p * 4096)(), ctypes.c_uint32()
    windll.psapi.EnumProcessModules(process, modules, ctypes.sizeof(modules), ctypes.byref(needed))
    return [
        name.value
        for module in modules[: needed.value // ctypes.sizeof(ctypes.c_void_p)]
        if windll.psapi.GetModuleFileNameExW(process, ctypes.c_void_p(module), name, len(name))
    ]


if __name__ == "__main__":
    sys.exit(main())
