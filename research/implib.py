"""Runs the tests of Implib.so, another generator of stubs, with latebind's stub in place of its own.

Takes the folder of a copy of github.com/yugr/Implib.so. Only the programs and expected outputs of its tests are used.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

_DESCRIBED = """\
name = "{name}"
entry = "{entry}"
version = "none"
files.linux = ["{file}"]
advice = "make"
stub.functions = ["{functions}"]
"""
_RUNS = 10
"""How often a test of threads runs, as in Implib.so's own scripts."""
_FLAGS = ("-Wall", "-Wextra", "-g", "-O2")


@dataclass(frozen=True)
class Case:
    """A test: what its library and its program are made of."""

    library: tuple[str, ...] = ("interposed.c",)
    program: tuple[str, ...] = ("main.c",)
    flags: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ("",)
    expected: str = "test.ref"
    """The file of the output; "" for that of the program that links the library."""
    entry: str = "foo"
    functions: str = "libinterposed.so"
    shared: tuple[str, ...] = ()
    """The sources of a library with the stub, which the program links."""
    runs: int = 1
    sanitizer: str = ""
    left_out: bool = False
    """Whether latebind's stub does not do this."""


_BASIC = ("main.c", "test.c")
_RESET = "void _libinterposed_so_tramp_reset(void) {}\nvoid _libinterposed_so_tramp_set_handle(void* h) { (void)h; }\n"
"""The library stays loaded, so there is nothing to reset, and a loaded library is found without its handle."""
_OPEN = "#include <dlfcn.h>\n#define dlclose(handle) 0\n"
"""The stub opens the library, so the program has no handle to close."""
CASES = {
    "basic": Case(program=_BASIC),
    "basic, -no-pie": Case(program=_BASIC, flags=("-no-pie",)),
    "basic, shared library": Case(shared=("shlib.c", "test.c")),
    "no_dlopen": Case(program=_BASIC),
    "no_dlopen, shared library": Case(shared=("shlib.c", "test.c"), flags=("-DSHLIB",)),
    "def": Case(functions="interposed.def"),
    "stack-args": Case(library=("interposed.c", "dummy.c"), arguments=("int", "float")),
    "vector-args": Case(library=("interposed.c", "dummy.c")),
    "many-functions": Case(library=("test.c",), expected="nothing", entry="foo0"),
    "thread": Case(entry="foo0", runs=_RUNS),
    "thread, ThreadSanitizer": Case(entry="foo0", runs=_RUNS, sanitizer="-fsanitize=thread"),
    "thread-2": Case(entry="foo0", runs=_RUNS),
    "thread-2, ThreadSanitizer": Case(entry="foo0", runs=_RUNS, sanitizer="-fsanitize=thread"),
    "exceptions": Case(library=("interposed.cpp",), program=("main.cpp",), expected="", entry="_Z3fooii"),
    "vtables": Case(
        library=("interposed.cpp",), program=("main.cpp",), expected="", entry="_ZN1A3fooEii", left_out=True
    ),
    "multiple-dlopens, without unloading": Case(program=("main.c", "reset.c"), flags=("-DNDEBUG",)),
    "multiple-dlopens-2, without unloading": Case(
        program=("main.c", "reset.c"), flags=("-DNDEBUG", "-w", "-D_GNU_SOURCE", "-include", "open.h")
    ),
    "multiple-dlopens-3, without unloading": Case(program=("main.c", "reset.c"), flags=("-DNDEBUG",)),
}


def run(*command: object, folder: Path, environment: dict[str, str] | None = None) -> str:
    """The output of a program that must not fail."""
    ended = subprocess.run(
        [str(part) for part in command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if ended.returncode != 0:
        lines = (ended.stderr or ended.stdout or f"exit status {ended.returncode}").strip().splitlines()
        error = next((line for line in lines if "undefined" in line or "error" in line), lines[-1])
        raise RuntimeError(error)
    return ended.stdout


def make_stub(folder: Path, name: str, entry: str, functions: str) -> None:
    """latebind_<name>.c for lib<name>.so."""
    text = _DESCRIBED.format(name=name, entry=entry, file=f"lib{name}.so", functions=functions)
    (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    run(sys.executable, "-m", "latebind", "stub", f"{name}.toml", "--source", "--output", ".", folder=folder)


def check_case(case: Case, folder: Path) -> None:
    """Raises RuntimeError for a test that fails. `folder` is a copy of that of the test."""
    compiler = "g++" if case.library[0].endswith("cpp") else "gcc"
    if case.library == ("test.c",):
        (folder / "test.c").write_text("".join(f"int foo{n}() {{ return {n}; }}\n" for n in range(8193)), "utf-8")
    (folder / "reset.c").write_text(_RESET, encoding="utf-8")
    (folder / "open.h").write_text(_OPEN, encoding="utf-8")
    run(compiler, *_FLAGS, "-shared", "-fPIC", *case.library, "-o", "libinterposed.so", folder=folder)
    environment = {"PATH": os.environ["PATH"], "LD_LIBRARY_PATH": str(folder)}
    if not case.expected:
        run(compiler, *_FLAGS, *case.program, "-L.", "-linterposed", "-o", "linked", folder=folder)
        expected = run("./linked", folder=folder, environment=environment)
    else:
        expected = (folder / case.expected).read_text("utf-8") if (folder / case.expected).exists() else ""
    make_stub(folder, "interposed", case.entry, case.functions)
    options = [*_FLAGS, *case.flags, *([case.sanitizer] if case.sanitizer else [])]
    run("gcc", *options, "-fPIC", "-c", "latebind_interposed.c", "-o", "stub.o", folder=folder)
    linked = ["stub.o"]
    if case.shared:
        run("gcc", *options, "-shared", "-fPIC", *case.shared, "stub.o", "-o", "shlib.so", folder=folder)
        linked = ["shlib.so"]
    run(compiler, *options, *case.program, *linked, "-ldl", "-pthread", "-o", "program", folder=folder)
    for argument in case.arguments * case.runs:
        given = run(folder / "program", *([argument] if argument else []), folder=folder, environment=environment)
        if given != expected:
            raise RuntimeError(f"printed {given!r} instead of {expected!r}")


def check_multilib(folder: Path) -> None:
    """Two libraries of which a program uses two functions each; Implib.so joins them to a library that exports them."""
    for name, source, entry in (("A", "a.c", "f1"), ("B", "b.c", "f4")):  # both libraries have f2 and f3
        run("gcc", "-shared", "-fPIC", "-fvisibility=hidden", source, "-o", f"lib{name.lower()}.so", folder=folder)
        symbols = (folder / f"lib{name}_syms.txt").read_text("utf-8").split()
        make_stub(folder, name.lower(), entry, '", "'.join(symbols))
    run("gcc", "-w", "main.c", "latebind_a.c", "latebind_b.c", "-ldl", "-pthread", "-o", "program", folder=folder)
    environment = {"LD_LIBRARY_PATH": str(folder)}
    if run("./program", folder=folder, environment=environment) != (folder / "out.ref").read_text("utf-8"):
        raise RuntimeError("printed something else")


def main(argv: list[str] | None = None) -> int:
    """Print how each test ends."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="a copy of the repository")
    tests = parser.parse_args(argv).folder.resolve() / "tests"
    failed = 0
    for name, case in {**CASES, "multilib, linked into the program": None}.items():
        with TemporaryDirectory() as scratch:
            folder = Path(scratch) / "test"
            shutil.copytree(tests / name.partition(",")[0], folder)
            try:
                check_case(case, folder) if case else check_multilib(folder)
                print(f"{name}: passed")
            except RuntimeError as error:
                is_left_out = case is not None and case.left_out
                failed += not is_left_out
                print(f"{name}: {'left out' if is_left_out else 'FAILED'}: {error}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
