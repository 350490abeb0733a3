"""Test cases with a stand-in for the runtime: a new project on this system, in the place of an emulated one."""

import json
import shutil
import sys

import pytest

from machines import table
from testing.emulated import cache
from tests.client import edit
from tests.programs import CLI, run_program

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
    "adds nothing": (("if (!failed) failed = lb_ort_Run(", "if (0) failed = lb_ort_Run("), {"consumed", "path"}),
}  # fmt: skip


def make_new(root, rid, more=""):
    run_program(*CLI, "new", root)
    config = root / "latebind.toml"
    text = config.read_text("utf-8").replace("minimum = ", f"{more}minimum = ")
    line = next(line for line in text.splitlines() if line.startswith("include = "))
    config.write_text(text.replace(line, f'include = ["{rid}"]'), encoding="utf-8")
    return root


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
    assert [case for case in cases if case["outcome"] != "glue passed"] == []
    assert {case["scenario"] for case in cases if case["consumer"] == "c-nupkg"} == ALL
    assert "stood in" in str(next(case for case in cases if case["scenario"] == "consumed")["facts"])


@pytest.mark.emulated
@pytest.mark.parametrize("rid", ["linux-musl-x64", "linux-musl-arm64"])
def test_packages_for_musl_pass_as_well(tmp_path, rid):
    made = table.make(cache() / "glue", rid)[rid]
    if made.startswith("not available"):
        pytest.skip(f"not run: {made}")
    root = make_new(tmp_path / "tiny", rid, 'libc = ["glibc", "musl"]\n')
    cases = run_cases(root, cache() / "glue", "--target", rid)
    assert [case for case in cases if case["outcome"] != "glue passed"] == []
    assert {case["scenario"] for case in cases if case["consumer"] == "c-nupkg"} >= ALL - {"wrong-architecture"}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_library_fails(new, tmp_path, fault):
    (old, replacement), expected = FAULTS[fault]
    root = tmp_path / "tiny"
    shutil.copytree(new, root, ignore=shutil.ignore_patterns("build", "reports", "dist"))
    edit(root / "native" / "tiny.c", old, replacement)
    failed = {case["scenario"] for case in verify(root, tmp_path) if case["outcome"] == "failed"}
    assert expected <= failed
    assert failed == expected or fault == "adds nothing"
