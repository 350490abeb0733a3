"""Faults in somebody's packages for macOS: which scenario of the emulated Mac catches each, and which it cannot see."""

import json
import shutil
import zipfile

import pytest

from latebind.tables.presets import preset
from machines import table
from testing.emulated import cache
from tests.client import edit
from tests.programs import CLI, run_checked, run_program

pytestmark = [pytest.mark.slow, pytest.mark.emulated]
MAC = "osx-arm64"
CONSUMES = f"*/stand-in-{preset('onnxruntime').built}.0/consumed"
LIBRARY, FOLDER = "libtiny.dylib", f"runtimes/{MAC}/native/"
TRAPS = "__attribute__((constructor)) static void start(void) { __builtin_trap(); }\n"
SHIFTED = 'int tiny_run_(void) { return 0; }\n__asm__(".globl _tiny_run\\n.set _tiny_run, _tiny_run_ + 2");\n'


def replace_bytes(old, new):
    assert len(old) == len(new)

    def change(files):
        for name, data in files.items():
            if name.endswith(LIBRARY):
                assert old in data
                files[name] = data.replace(old, new)

    return change


def use_the_other_processor(files):
    other = next((data for name, data in files.items() if "osx-x64" in name), None)
    for name in files:
        if other and name.startswith(FOLDER):
            files[name] = other


def rename_the_folder(files):
    for name in [name for name in files if name.startswith(FOLDER)]:
        files[name.replace(MAC, "osx.11-arm64")] = files.pop(name)


def declare_another_call(files):
    """Apple's arm64 passes what a variadic function gets on the stack."""
    for name in files:
        if name.endswith("tiny.h"):
            start, _, rest = files[name].partition(b"TINY_API int tiny_open(")
            files[name] = start + b"TINY_API int tiny_open(const char* folder, ..." + rest[rest.index(b")") :]


def add_another_runtime(files):
    if any(name.startswith(FOLDER) for name in files):
        files[f"{FOLDER}libonnxruntime.dylib"] = b"another copy"


def hide(files):
    replace_bytes(b"_tiny_run\0", b"_tiny_ran\0")(files)


NOT_STARTED = {"consumed", "absent"}
"""The program in C does not start, so that it has no message to print either."""
NOT_LOADED = {*NOT_STARTED, "loads-in-c"}
FAULTS = {
    "wrong install name": (replace_bytes(b"@rpath/libtiny.dylib", b"/rpath/libtiny.dylib"), NOT_STARTED),
    "missing slice": (use_the_other_processor, NOT_STARTED),
    "bad run path": (replace_bytes(b"/usr/lib/libSystem.B.dylib", b"@rpath/libSystem.B.0.dylib"), NOT_LOADED),
    "wrong RID folder": (rename_the_folder, NOT_STARTED),
    "wrong calling convention": (declare_another_call, NOT_STARTED),
    "a symbol hidden": (hide, NOT_LOADED),
    "a second runtime": (add_another_runtime, {"absent"}),
}
"""What is done to the packages. A missing execute bit is no fault here: no loader asks for it."""
SOURCES = {
    "an initializer that fails": (("int tiny_open(", f"{TRAPS}int tiny_open("), NOT_LOADED),
    "a function at an odd address": (("int tiny_run(", f"{SHIFTED}int unused("), {"consumed"}),
}
"""What is done to the sources."""


@pytest.fixture(scope="module")
def new(tmp_path_factory):
    made = table.make(cache() / "glue", MAC)[MAC]
    if made.startswith("not available"):
        pytest.skip(f"not run: {made}")
    root = tmp_path_factory.mktemp("new") / "tiny"
    run_checked(*CLI, "new", root)
    config = root / "latebind.toml"
    text = config.read_text("utf-8")
    line = next(line for line in text.splitlines() if line.startswith("include = "))
    config.write_text(text.replace(line, f'include = ["{MAC}", "osx-x64"]'), encoding="utf-8")
    run_checked(*CLI, "-C", root, "pack", "--target", "all", timeout=300)
    return root


def verify(root, *options):
    patterns = [word for name in (CONSUMES, "loads-in-c", "absent") for word in ("-k", name)]
    machines = ["--machines", cache() / "glue", "--target", MAC]
    run_program(*CLI, "-C", root, "verify", *machines, *patterns, *options, timeout=600)
    cases = json.loads((root / "reports" / "verify.json").read_text("utf-8"))["cases"]
    return {case["scenario"]: case for case in cases}


def caught(cases):
    assert {case["outcome"] for case in cases.values()} <= {"failed", "glue passed"}
    return {name for name, case in cases.items() if case["outcome"] == "failed"}


def test_packages_without_a_fault_pass(new):
    assert caught(verify(new)) == set()


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_the_packages_is_caught(new, tmp_path, fault):
    change, expected = FAULTS[fault]
    for path in (new / "dist").glob("*"):
        if path.suffix not in {".nupkg", ".whl"}:
            continue
        with zipfile.ZipFile(path) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
        change(files)
        with zipfile.ZipFile(tmp_path / path.name, "w") as archive:
            for name, data in files.items():
                archive.writestr(name, data)
    assert caught(verify(new, "--dist", tmp_path)) == expected


@pytest.mark.parametrize("fault", SOURCES)
def test_a_fault_in_the_sources_is_caught(new, tmp_path, fault):
    (old, replacement), expected = SOURCES[fault]
    root = tmp_path / "tiny"
    shutil.copytree(new, root, ignore=shutil.ignore_patterns("build", "reports", "dist"))
    edit(root / "native" / "tiny.c", old, replacement)
    assert caught(verify(root)) == expected
