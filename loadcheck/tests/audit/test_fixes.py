"""Fixes and headlines fit what the reader has, and cut no name."""

import json

import pytest

from corpus.cases.case import wheel
from corpus.cases.hygiene import android_npm
from corpus.cases.linkage import LIB, alone, with_odd, with_rpath
from corpus.cases.metadata import with_backslashes
from corpus.cases.sdists import HATCH, IN_TREE, sdist
from corpus.cases.tags import thread
from loadcheck.audit import audit_here
from loadcheck.engine.policy import Choice, Policy
from loadcheck.engine.wording import first, list_names


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("/opt/ci/lib", "Link without the path (CMake: CMAKE_BUILD_WITH_INSTALL_RPATH ON)"),
        ("/opt/ci/lib:$ORIGIN", "keep $ORIGIN: set INSTALL_RPATH in CMake, or run patchelf --set-rpath '$ORIGIN' "),
    ],
)
def test_a_search_path_keeps_the_part_that_leads_into_the_package(bench, path, says):
    report = audit_here(with_rpath(path)(bench))

    [fix] = {finding.fix for finding in report.findings if finding.code == "LB108"}
    assert says in fix


@pytest.mark.parametrize(
    ("make", "code", "says"),
    [
        (sdist(setup_py="1"), "LB415", "Add a pyproject.toml next to setup.py: [build-system] with requires ="),
        (
            sdist(pyproject_toml=IN_TREE),
            "LB415",
            "Include own.backend in the sdist, in a folder",
        ),
        (sdist(setup_py="1", pyproject_toml=HATCH), "LB415", "Keep pyproject.toml with its build backend"),
        (sdist(x_py="1"), "LB415", "Keep pyproject.toml with its build backend"),
        (android_npm("jni/arm64-v8a", 4096), "LB117", "Link with -Wl,-z,max-page-size=16384, or use NDK r28"),
        (android_npm("jniLibs/x86_64", 4096, "x86_64-linux"), "LB117", "Link with -Wl,-z,max-page-size=16384"),
        (android_npm("lib", 4096), "LB117", "Link with -Wl,-z,max-page-size=65536."),
        (with_rpath("$ORIGIN/../acme/lib"), "LB107", "A search path leads to acme/ of another distribution"),
        (wheel({LIB: thread("2.34")}), "LB301", "Build for glibc 2.28 (zig cc -target x86_64-linux-gnu.2.28, or"),
        (wheel({LIB: thread("2.34")}, tag="py3-none-manylinux1_x86_64"), "LB301", "Promise a newer glibc: "),
        (wheel(record=with_backslashes()), "LB501", "or run `wheel unpack` and `wheel pack`: both write slashes."),
    ],
)
def test_a_fix_is_for_its_cause(bench, make, code, says):
    [fix] = {finding.fix for finding in audit_here(make(bench)).findings if finding.code == code}
    assert says in fix


@pytest.mark.parametrize("tag", ["linux_x86_64", "linux_i686"])
def test_a_wheel_for_this_machine_says_why_what_it_lacks_is_no_error(bench, tag):
    make = wheel({LIB: with_odd}, tag=f"py3-none-{tag}")
    [finding] = [each for each in audit_here(make(bench)).findings if each.code == "LB107"]

    assert finding.severity == "warning"
    assert finding.assumption == f"the wheel is for machines that have the library: its tag {tag} promises no others"


def test_a_record_with_the_separators_of_windows_is_one_finding(bench):
    findings = audit_here(wheel(record=with_backslashes())(bench)).findings

    [finding] = [finding for finding in findings if finding.code == "LB501"]
    assert "latenn\\liblatenn.so" in finding.evidence


class _Torch:
    name, entry_symbols, linked_globs, distribution = "LibTorch", (), ("libodd.so*",), "torch"


def test_the_distribution_that_supplies_a_runtime_is_to_be_required(bench):
    report = audit_here(with_rpath("$ORIGIN")(bench), Policy(runtimes=(_Torch(),), choice=Choice(select=("LB107",))))

    [fix] = {finding.fix for finding in report.findings if finding.code == "LB107"}
    assert fix.startswith("Require torch, which supplies LibTorch. This file then loads only if ")


@pytest.mark.parametrize(
    ("library", "says"),
    [
        ("libtorch.so", "Require torch, and import it"),
        ("libc10.so", "Require torch, and import it"),
        ("libtorch_cpu.so", "Require torch, and import it"),
        ("libcudart.so.13", "Require nvidia-cuda-runtime, which has the library, and open it by its path"),
        ("libcublasLt.so.12", "Require nvidia-cublas-cu12, which has the library, and open it by its path"),
        ("libnvJitLink.so.12", "Require nvidia-nvjitlink-cu12, which has the library, and open it by its path"),
    ],
)
def test_a_library_that_is_never_copied_is_to_be_required(bench, library, says):
    [fix] = {finding.fix for finding in audit_here(alone(library)(bench)).findings if finding.code == "LB107"}

    assert fix.startswith(says)
    assert "Add the library" not in fix


SONAME = json.dumps(json.dumps([{"feature": "mkl", "soname": ["libmkl_rt.so.2"]}]))[1:-1]
NOTE_LINES = (
    '.pushsection .note.dlopen,"a",@note', ".balign 4", ".long 4,1f-0f,0x407c0c0a", '.asciz "FDO"',
    f'0: .asciz "{SONAME}"', "1: .balign 4", ".popsection",
)  # fmt: skip
NOTE = f"__asm__({' '.join(json.dumps(line + chr(10)) for line in NOTE_LINES)});\nint latenn_f(void) {{ return 1; }}\n"


@pytest.mark.parametrize(
    ("source", "path", "codes"),
    [
        (NOTE, "$ORIGIN/../../..", []),
        (NOTE, "$ORIGIN/../../torch/lib", []),
        (NOTE, "/opt/ci/lib", ["LB108"]),
        ("int latenn_f(void) { return 1; }", "$ORIGIN/../../..", ["LB108"]),
    ],
)
def test_a_path_to_what_is_opened_at_run_time_may_leave_the_package(bench, source, path, codes):
    library = bench.compiler.library(source, f"-Wl,-rpath,{path}").read_bytes()
    packages = bench.wheel({"latenn/liblatenn.so": library})

    assert [each.code for each in audit_here(packages).findings if each.code == "LB108"] == codes


def test_what_a_library_by_itself_leaves_open_may_be_defined_by_any_program(bench):
    library = bench.compiler.library("int lua_gettop(void); int f(void) { return lua_gettop(); }", "-Wl,-z,undefs")

    [finding] = [each for each in audit_here([library]).findings if each.code == "LB106"]
    assert finding.severity == "note"
    assert finding.message == "has 1 undefined symbol that the program that opens it has to define: lua_gettop"


@pytest.mark.parametrize(
    ("names", "headline"),
    [
        (["a" * 100], "a" * 100),
        (["a" * 60, "b" * 60], f"{'a' * 60}, ..."),
        (["a", "b", "c"], "a, b, c"),
        (["a", "b", "c", "d"], "a, b, c, ..."),
        (["_ZN5arrow5Table4MakeEv"] * 2, "arrow::Table::Make"),
    ],
)
def test_a_headline_cuts_no_name(names, headline):
    assert first(names) == headline


@pytest.mark.parametrize(
    ("names", "text"),
    [("a", "a"), ("ab", "a and b"), ("abc", "a, b and c"), ("abcd", "a, b, c and 1 more")],
)
def test_names_in_a_sentence(names, text):
    assert list_names([*names]) == text
