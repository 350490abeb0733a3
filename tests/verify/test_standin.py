"""Test cases with a stand-in for the runtime: a new project on this system, in the place of an emulated one.

And faults in somebody's packages for macOS: which scenario of the emulated Mac catches each, and which it cannot see.
"""

import json
import shutil
import sys
import zipfile

import pytest

from ci.machines import table
from latebind.tables.presets import preset
from tests.support.client import edit, members
from tests.support.emulated import cache
from tests.support.running import CLI, run_checked, run_program

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="not run: the machine is this Linux"),
    pytest.mark.slow,
]
MACHINE = 'rid = "linux-x64"\ntitle = "this Linux"\nlevel = "glue"\ncommand = ["/usr/bin/env"]\n'
ALL = {"consumed", "odd-folder", "path", "path-folder", "path-relative", "path-odd", "environment", "decoy", "too-old",
       "other-major", "truncated", "corrupt", "text-file", "wrong-architecture", "dependency-missing", "path-wrong",
       "not-a-library", "environment-wrong", "absent", "older-loaded", "two-runtimes", "threads", "fork",
       "two-packages"}  # fmt: skip
PRINTS = '__attribute__((constructor)) static void start(void) { puts("x"); }\n'
LEAVES = (
    "#include <stdlib.h>\n"
    '__attribute__((destructor)) static void end(void) { setenv("TINY_WAS_HERE", "1", 1); }\n'
    '__attribute__((constructor)) static void start(void) { if (getenv("TINY_WAS_HERE")) abort(); }\n'
)
ALONE = (
    "static volatile int inside; if (inside++) { inside = 0; return 1; }\n"
    "  for (volatile long i = 0; i < 200000000; i++) {}\n  inside = 0; "
)
FAULTS = {
    "forgets the minimum": (("if (minimum) ", "if (0) "), {"too-old", "older-loaded"}),
    "forgets the path": ((".path = path", ".path = NULL"), {"path-wrong", "not-a-library"}),
    "prints at load time": (("int tiny_open(", f"{PRINTS}int tiny_open("), {"loads-in-c"}),
    "loads once": (("int tiny_open(", f"{LEAVES}int tiny_open("), {"loads-in-c"}),
    "is not for threads": (("int outcome = lb_bind(", f"{ALONE}int outcome = lb_bind("), {"threads"}),
    "shares no runtime": (("options.directory_count", "options.flags = LB_FLAG_NO_LOADED, options.directory_count"),
                          {"two-packages", "two-runtimes"}),
    "adds nothing": (("if (!status) status = lb_ort_Run(", "if (0) status = lb_ort_Run("), {"consumed", "path"}),
}  # fmt: skip


def make_new(root, *rids, more=""):
    run_checked(*CLI, "new", root)
    config = root / "latebind.toml"
    text = config.read_text("utf-8").replace("minimum = ", f"{more}minimum = ")
    line = next(line for line in text.splitlines() if line.startswith("include = "))
    config.write_text(text.replace(line, f"include = {json.dumps(rids)}"), encoding="utf-8")
    return root


def prepare(rid):
    """The folder of emulated machines, with one of a target."""
    made = table.make(cache() / "glue", rid)[rid]
    if made.startswith("not available"):
        pytest.skip(f"not run: {made}")
    return cache() / "glue"


def copy_with_fault(new, tmp_path, old, replacement):
    root = shutil.copytree(new, tmp_path / "tiny", ignore=shutil.ignore_patterns("build", "reports", "dist"))
    edit(root / "native" / "tiny.c", old, replacement)
    return root


def find_failed(cases):
    assert {case["outcome"] for case in cases} <= {"failed", "glue passed"}
    return {case["scenario"] for case in cases if case["outcome"] == "failed"}


@pytest.fixture(scope="module")
def new(tmp_path_factory):
    return make_new(tmp_path_factory.mktemp("new") / "tiny", "linux-x64")


def verify(root, tmp_path):
    (tmp_path / "machines").mkdir()
    (tmp_path / "machines" / "linux-x64.toml").write_text(MACHINE, encoding="utf-8")
    return run_cases(root, tmp_path / "machines")


def run_cases(root, machines, *options):
    ended = run_program(*CLI, "-C", root, "verify", "--machines", machines, *options, timeout=900)
    assert "Traceback" not in ended.stderr
    cases = json.loads((root / "reports" / "verify.json").read_text("utf-8"))["cases"]
    return [case for case in cases if case["outcome"] != "not run"]


def test_a_new_project_passes_twelve_and_more(new, tmp_path):
    cases = verify(new, tmp_path)
    assert find_failed(cases) == set()
    assert {case["scenario"] for case in cases if case["consumer"] == "c-nupkg"} == ALL
    assert "stood in" in str(next(case for case in cases if case["scenario"] == "consumed")["facts"])


@pytest.mark.emulated
@pytest.mark.parametrize("rid", ["linux-musl-x64", "linux-musl-arm64"])
def test_packages_for_musl_pass_as_well(tmp_path, rid):
    machines = prepare(rid)
    root = make_new(tmp_path / "tiny", rid, more='libc = ["glibc", "musl"]\n')
    cases = run_cases(root, machines, "--target", rid)
    assert find_failed(cases) == set()
    assert {case["scenario"] for case in cases if case["consumer"] == "c-nupkg"} >= ALL - {"wrong-architecture"}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_library_fails(new, tmp_path, fault):
    (old, replacement), expected = FAULTS[fault]
    failed = find_failed(verify(copy_with_fault(new, tmp_path, old, replacement), tmp_path))
    assert expected <= failed
    assert failed == expected or fault == "adds nothing"


# ---- an emulated Mac -----------------------------------------------------------------------------------------------

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
MAC_FAULTS = {
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
def mac(tmp_path_factory):
    prepare(MAC)
    root = make_new(tmp_path_factory.mktemp("new") / "tiny", MAC, "osx-x64")
    run_checked(*CLI, "-C", root, "pack", "--target", "all", timeout=300)
    return root


def verify_mac(root, *options):
    """The scenarios that failed."""
    patterns = [word for name in (CONSUMES, "loads-in-c", "absent") for word in ("-k", name)]
    return find_failed(run_cases(root, cache() / "glue", "--target", MAC, *patterns, *options))


@pytest.mark.emulated
def test_packages_without_a_fault_pass(mac):
    assert verify_mac(mac) == set()


@pytest.mark.emulated
@pytest.mark.parametrize("fault", MAC_FAULTS)
def test_a_fault_in_the_packages_is_caught(mac, tmp_path, fault):
    change, expected = MAC_FAULTS[fault]
    for path in (mac / "dist").glob("*"):
        if path.suffix not in {".nupkg", ".whl"}:
            continue
        files = members(path)
        change(files)
        with zipfile.ZipFile(tmp_path / path.name, "w") as archive:
            for name, data in files.items():
                archive.writestr(name, data)
    assert verify_mac(mac, "--dist", tmp_path) == expected


@pytest.mark.emulated
@pytest.mark.parametrize("fault", SOURCES)
def test_a_fault_in_the_sources_is_caught(mac, tmp_path, fault):
    (old, replacement), expected = SOURCES[fault]
    assert verify_mac(copy_with_fault(mac, tmp_path, old, replacement)) == expected
