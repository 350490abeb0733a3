"""The stub in the place of a linked ONNX Runtime: programs on the official API that know nothing of latebind."""

import functools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from subprocess import PIPE

import pytest
from packaging.version import Version

from ci.gen import ort_slots
from latebind.backend.targets import Rid
from latebind.verify.run.index import EACH_MINOR, Question, ask
from latebind.verify.run.installers import installer
from loadcheck.api import audit_paths
from loadcheck.facts import read_image
from tests.support.building import LOADER_TESTS as HERE
from tests.support.building import NOISE, ROOT, build, configure, needed_compiler
from tests.support.emulated import ORT_VERSIONS, fetch_runtime, fetch_wheel, onnx_sum
from tests.support.needs import official_header
from tests.support.running import assert_success, run_program

SLOTS = dict(enumerate([280, 285, 285, 318, 390, 415, 419, 419, 422, 424, 425, 426, 428, 429], 19))
"""The slots of OrtApi in the official header of each version; for 27 and from 30 on, in the library for macOS."""
FLOOR, NEWEST = (int(version.split(".")[1]) for version in ORT_VERSIONS)
BETWEEN = [f"1.{minor}" for minor in range(FLOOR + 1, NEWEST)]
PIP, NPM = 'pip install "onnxruntime>=1.19"', 'npm install "onnxruntime-node@>=1.19"'
DOTNET = "dotnet add package Microsoft.ML.OnnxRuntime "
OTHERS = [pytest.param(name, marks=pytest.mark.slow) for name in (*BETWEEN, "latest")]


def build_programs(shared, folder, flags="", *targets, header="1.21"):
    """Build the programs, or some of them, with an official header, or that in another folder."""
    include = header if isinstance(header, Path) else official_header(shared, header).parent
    options = (f"-Dlatebind_DIR={ROOT / 'loader'}", f"-DORT_INCLUDE={include}", f"-DCMAKE_C_FLAGS={flags}")
    configure(HERE / "stub", folder, needed_compiler(), *options)
    build(folder, *targets)
    return folder


@pytest.fixture(scope="session")
def users(shared_folder, tmp_path_factory):
    """The folder of the programs."""
    return build_programs(shared_folder, tmp_path_factory.mktemp("stub"))


@pytest.fixture(scope="module", params=["plain", "address,undefined", "thread"])
def crowd(request, shared_folder, tmp_path_factory):
    """Calls `first` with a number of threads and of rounds, under sanitizers."""
    flags = "-O1" if request.param == "plain" else f"-O1 -g -fsanitize={request.param} -fno-sanitize-recover=all"
    folder = build_programs(shared_folder, tmp_path_factory.mktemp("crowd"), flags, "first", "library")
    options = {
        "ASAN_OPTIONS": "detect_leaks=0",  # what is bound stays for good, and the stub that knows it is closed
        # A child ends with threads of its parent. The sanitizer does not see the lock under which ld.so allocates.
        "TSAN_OPTIONS": "die_after_fork=0:report_thread_leaks=0:ignore_noninstrumented_modules=1",
        "ONNXRUNTIME_LIB_PATH": library(ORT_VERSIONS[-1]),
    }

    def call(*arguments, **environment):
        done = run(folder / "first", folder / "liblibrary.so", *map(str, arguments), **{**options, **environment})
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    return call, request.param


@functools.cache
def in_index():
    """The newest release of each minor version that the package index has, in ascending order."""
    question = Question(
        distribution="onnxruntime", minimum=f"1.{FLOOR}", entry=EACH_MINOR, target=Rid("linux-x64"), python="3.11"
    )
    with tempfile.TemporaryDirectory() as home:
        answers = ask([question], installer(Path(home)), Path(sys.executable))
    if "no-index" in {error.reason for error in answers.trouble.values()}:
        pytest.skip("not run: the package index cannot be reached")
    return answers.found[question]


def library(version, name="onnxruntime"):
    (path,) = fetch_wheel("linux-x64", name, version).glob("**/libonnxruntime*.so.*")
    return path


def minor_of(runtime):
    return int(runtime.name.split(".")[3])


@pytest.fixture(params=[*ORT_VERSIONS, *OTHERS])
def runtime(request):
    """The floor, the newest of each minor version after it, and the index's latest."""
    if request.param in ORT_VERSIONS:
        return library(request.param)
    name = "" if request.param == "latest" else f"{request.param}."
    return library([version for version in in_index() if version.startswith(name)][-1])


def run(program, *arguments, **environment):
    clean = {
        key: value for key, value in os.environ.items() if key not in (*NOISE, "VIRTUAL_ENV", "CONDA_PREFIX", "HOME")
    }
    env = {**clean, **{key: str(value) for key, value in environment.items()}}
    done = run_program(program, *arguments, env=env, timeout=120)
    assert done.returncode >= 0, (done.returncode, done.stdout, done.stderr)  # no signal
    return done


@pytest.mark.builds
def test_arguments_and_results_of_every_kind_go_through_a_trampoline(users):
    assert run(users / "calls").stdout == "right\n"


@pytest.mark.builds
def test_vectors_of_every_size_that_the_processor_has_go_through_a_trampoline(users):
    cpuinfo = Path("/proc/cpuinfo")
    flags = cpuinfo.read_text("utf-8").split() if cpuinfo.exists() else []
    *sizes, last = assert_success(run(users / "vectors")).split()
    assert last == "right"
    for flag, size in (("avx", "ymm"), ("avx512f", "zmm"), ("asimd", "q")):
        assert (flag in flags) <= (size in sizes), flag


@pytest.mark.builds
def test_a_program_on_the_official_interface_runs_unchanged(users, runtime, tmp_path):
    model, version = onnx_sum(tmp_path / "sum.onnx"), runtime.name.partition(".so.")[2]
    for program, arguments in (("user", [model]), ("user_c", [])):
        done = run(users / program, *arguments, ONNXRUNTIME_LIB_PATH=runtime)
        assert (done.returncode, done.stdout) == (0, f"right with {version}\n"), done.stderr
    assert re.fullmatch(r"[1-9] providers\n", run(users / "global", ONNXRUNTIME_LIB_PATH=runtime).stdout)


@pytest.mark.slow
@pytest.mark.parametrize("header", ["1.19", "newest"])
def test_programs_that_were_compiled_with_another_header_run_unchanged(shared_folder, tmp_path, header):
    folder = build_programs(shared_folder, tmp_path / "built", "", "user", "user_c", "global", header=header)
    model = onnx_sum(tmp_path / "sum.onnx")
    for version in ORT_VERSIONS:
        for program, arguments in (("user", [model]), ("user_c", [])):
            done = run(folder / program, *arguments, ONNXRUNTIME_LIB_PATH=library(version))
            assert (done.returncode, done.stdout) == (0, f"right with {version}\n"), done.stderr
        assert re.fullmatch(r"[1-9] providers\n", run(folder / "global", ONNXRUNTIME_LIB_PATH=library(version)).stdout)
    assert run(folder / "user", model).stdout.startswith("Ort::Exception 1: ONNX Runtime was not found")


@pytest.fixture(scope="module")
def assembled(shared_folder, tmp_path_factory):
    """The newest header that can be had, with the slots of ONNX Runtime 1.32's own library and one more."""
    folder = tmp_path_factory.mktemp("assembled") / "include"
    shutil.copytree(official_header(shared_folder, "newest").parent, folder)
    header = folder / "onnxruntime_c_api.h"
    text = header.read_text("utf-8")
    added = ort_slots.read_tables()["LB_ORT_API"][len(ort_slots.slots(text)["OrtApi"]) :]
    names = [*(slot.name for slot in added), "AfterAllOthers"]
    fields = "".join(f"  OrtStatus*(ORT_API_CALL* {name})(const void*, int, void*, void*);\n" for name in names)
    text = re.sub(r"#define ORT_API_VERSION \d+", "#define ORT_API_VERSION 32", text)
    header.write_text(re.sub(r"(?ms)(^struct OrtApi \{.*?)(^\};)", lambda m: m[1] + fields + m[2], text))
    return folder


@pytest.mark.slow
def test_a_program_of_a_header_that_is_newer_than_the_runtime_or_than_the_stub_runs(shared_folder, tmp_path, assembled):
    folder = build_programs(shared_folder, tmp_path / "built", "", "user", "newer", header=assembled)
    model = onnx_sum(tmp_path / "sum.onnx")
    for version, says in (("1.19.2", "needs ONNX Runtime 1.32; 1.19.2 is bound"), ("1.32.0", "must not be null")):
        runtime = {"ONNXRUNTIME_LIB_PATH": library(version)}
        done = run(folder / "user", model, **runtime)
        assert (done.returncode, done.stdout) == (0, f"right with {version}\n"), done.stderr
        newest, unknown = run(folder / "newer", **runtime).stdout.splitlines()
        assert says in newest
        assert unknown.startswith("OrtApi has a function at 429 that this build of latebind doesn't know")


@pytest.mark.slow
@pytest.mark.parametrize("minor", [30, 31, 32])
def test_the_slots_are_those_that_a_release_names_in_its_own_library(minor):
    release = max((version for version in in_index() if version.startswith(f"1.{minor}.")), key=Version)
    for table, rows in ort_slots.slots_in(*ort_slots.fetch_library(release)).items():
        known = ort_slots.read_tables()[ort_slots.macro(table)]
        assert [row.name for row in rows] == [row.name for row in known if row.since <= minor]


def test_a_release_that_changed_a_slot_is_not_taken():
    known = ort_slots.read_tables()["LB_ORT_API"]
    swapped = [*known[:-2], known[-1], known[-2]]
    with pytest.raises(SystemExit, match=f"OrtApi has {known[-1].name} at {len(known) - 2}"):
        ort_slots.extend(known, swapped, "OrtApi")
    with pytest.raises(SystemExit, match="no library for macOS"):
        ort_slots.slots_in(b"\x7fELF", 32)


@pytest.mark.builds
def test_the_stub_is_no_dependency_and_exports_nothing(users):
    image = read_image((users / "user").read_bytes(), "user")
    assert not [name for name in image.needed if "onnxruntime" in name]
    assert not [export.name for export in image.exports if export.name.startswith(("Ort", "lb_"))]


@pytest.mark.builds
def test_every_slot_is_the_runtimes_own_and_newer_ones_name_their_version(users, runtime):
    done = run(users / "slots", runtime)
    version = runtime.name.partition(".so.")[2]
    lines = done.stdout.splitlines()
    assert lines[-1] == f"same {SLOTS[min(minor_of(runtime), max(SLOTS))]}"
    assert not [line for line in lines if line.startswith("other")]
    served = [line for line in lines if line.startswith("served")]
    assert served == ["served GetTensorData by GetTensorMutableData"] * (minor_of(runtime) < 23)
    newer = [line for line in lines if line.startswith("newer")]
    assert all(
        re.fullmatch(rf"newer \w+ needs ONNX Runtime 1\.\d\d; {re.escape(version)} is bound", line) for line in newer
    )
    assert bool(newer) == (minor_of(runtime) < max(SLOTS))
    # One of a table that OrtApi gives since 1.22: while it lacks slots, programs get a copy with trampolines.
    inner = [line for line in newer if "ModelCompilationOptions_SetWeightlessEnabled needs ONNX Runtime 1.29" in line]
    assert len(inner) == (22 <= minor_of(runtime) < 29)


@pytest.mark.builds
def test_an_experimental_function_is_found_where_the_runtime_has_it(users, runtime):
    """A program asks for it by name, and gets NULL up to 1.27, where nobody can ask, and without a runtime."""
    done = run(users / "experimental", ONNXRUNTIME_LIB_PATH=runtime)
    assert (done.returncode, done.stdout) == (0, "none\n" if minor_of(runtime) < 28 else "12345\n")
    assert run(users / "experimental").stdout == "none\n"


@pytest.mark.builds
def test_a_function_that_the_runtime_lacks_is_an_exception_with_both_versions(users, runtime, tmp_path):
    done = run(users / "user", onnx_sum(tmp_path / "sum.onnx"), "newer", ONNXRUNTIME_LIB_PATH=runtime)
    assert done.returncode == 1
    message = "CreateLoraAdapter needs ONNX Runtime 1.20; 1.19.2 is bound"
    assert (message in done.stdout) == (minor_of(runtime) < 20)


@pytest.mark.builds
def test_what_was_bound_and_the_newest_call_are_recorded_on_request(users, runtime, tmp_path):
    model, record = onnx_sum(tmp_path / "sum.onnx"), tmp_path / "record"
    assert_success(run(users / "user", model, ONNXRUNTIME_LIB_PATH=runtime, LATEBIND_RECORD=record))
    first, *calls = [json.loads(line) for line in record.read_text("utf-8").splitlines()]
    assert first["report"]["path"] == str(runtime)
    assert {call["since"] for call in calls} == {"1.14"}
    run(users / "user", model, "newer", ONNXRUNTIME_LIB_PATH=runtime, LATEBIND_RECORD=record)
    last = json.loads(record.read_text("utf-8").splitlines()[-1])
    assert last == {"runtime": "onnxruntime", "function": "CreateLoraAdapter", "since": "1.20"}


@pytest.mark.builds
@pytest.mark.skipif(sys.platform == "win32", reason="not run: Windows has no such links and pipes")
@pytest.mark.parametrize("make", [lambda place: place.symlink_to("other"), os.mkfifo], ids=["link", "pipe"])
def test_nothing_is_recorded_where_another_user_could_have_put_a_link_or_a_pipe(users, runtime, tmp_path, make):
    model, record = onnx_sum(tmp_path / "sum.onnx"), tmp_path / "record"
    (tmp_path / "other").write_text("whole", "utf-8")
    make(record)
    assert_success(run(users / "user", model, ONNXRUNTIME_LIB_PATH=runtime, LATEBIND_RECORD=record))
    assert (tmp_path / "other").read_text("utf-8") == "whole"


@pytest.mark.builds
def test_a_first_call_without_a_result_binds_too_and_leaves_nothing_undefined(users, runtime):
    ended = run(users / "pairs", ONNXRUNTIME_LIB_PATH=runtime)
    assert (ended.returncode, ended.stdout) == (0, "none\n" if minor_of(runtime) < 22 else "made\n")
    absent = run(users / "pairs")
    assert (absent.returncode, absent.stdout) == (0, "none\n")


@pytest.mark.builds
def test_functions_outside_the_table_are_the_runtimes_or_say_that_it_lacks_them(users, runtime):
    version = runtime.name.partition(".so.")[2]
    rocm = f"OrtSessionOptionsAppendExecutionProvider_ROCM is not in this build of ONNX Runtime {version}"
    assert run(users / "exports", ONNXRUNTIME_LIB_PATH=runtime).stdout == f"CPU: appended\nROCM: {rocm}\n"
    assert run(users / "exports").stdout.count("ONNX Runtime was not found in") == 2


@pytest.mark.parametrize("program", ["user", "user_c"])
@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("absent", r'was not found .*Get it with: pip install "onnxruntime>=1\.19"'),
        ("corrupt", r"is not a usable library"),
        ("truncated", r"is not a usable library: truncated: 10000000 bytes"),
        ("foreign", r"is for another processor: built for aarch64"),
        pytest.param(
            "old", r"ONNX Runtime 1\.14\.1 at .* is too old; version 1\.19 or newer is needed", marks=pytest.mark.slow
        ),
    ],
)
def test_without_a_usable_runtime_the_programs_own_error_says_why(users, tmp_path, program, what, says):
    environment = {}
    if what == "corrupt":
        environment["ONNXRUNTIME_LIB_PATH"] = tmp_path / "libonnxruntime.so"
        environment["ONNXRUNTIME_LIB_PATH"].write_bytes(b"\x7fELF, nearly")
    if what == "truncated":
        environment["ONNXRUNTIME_LIB_PATH"] = tmp_path / "libonnxruntime.so"
        with library(ORT_VERSIONS[0]).open("rb") as file:
            environment["ONNXRUNTIME_LIB_PATH"].write_bytes(file.read(10_000_000))
    if what == "old":
        # ONNX Runtime's own wheels for Linux have a shared library only from the floor on.
        environment["ONNXRUNTIME_LIB_PATH"] = library("1.1.0", "piper-phonemize")
    if what == "foreign":
        environment["ONNXRUNTIME_LIB_PATH"] = fetch_runtime("linux-arm64", "1.19.2")
    done = run(users / program, "no-model", **environment)
    assert done.returncode == 1, done.stderr
    assert re.search(says, done.stdout)
    assert done.stdout.startswith("Ort::Exception 1: ONNX Runtime" if program == "user" else "1: ONNX Runtime")
    if program == "user_c":
        assert done.stdout.splitlines()[1] == "4: mine"


LACKS = "ONNX Runtime was not found in "


@pytest.mark.builds
@pytest.mark.parametrize(
    ("kind", "arguments", "environment", "status", "output", "printed"),
    [
        ("plain", (), {}, -signal.SIGABRT, "", 0),
        ("plain", ("asks",), {}, 0, "not available\n", 0),
        ("plain", ("prints",), {}, -signal.SIGABRT, "", 1),
        ("plain", (), {"LATEBIND_ON_MISSING": "print"}, -signal.SIGABRT, "", 1),
        ("catching", (), {}, 0, "-1\n", 0),
        ("catching", ("prints", "call", "call"), {}, 0, "-1\n", 1),  # once for one message
        ("catching", ("prints", "twice"), {"LATEBIND_ON_MISSING": "print"}, 0, "-1\n", 2),  # by the first, and as asked
        ("catching", ("asks", "call"), {"LATEBIND_ON_MISSING": "print"}, 0, "not available\n", 0),
        ("catching", ("call",), {"LATEBIND_ON_MISSING": "print"}, 0, "-1\n", 1),
        ("catching", (), {"LATEBIND_ON_MISSING": "abort"}, 0, "-1\n", 0),  # only printing can be asked for
    ],
)
def test_a_c_interface_over_ort_may_ask_first_or_have_the_sentence_printed(  # a table
    users, kind, arguments, environment, status, output, printed
):
    clean = {key: value for key, value in os.environ.items() if key not in (*NOISE, "VIRTUAL_ENV", "HOME")}
    done = run_program(users / f"c_api_{kind}", *arguments, env={**clean, **environment}, timeout=120)
    assert (done.returncode, done.stdout) == (status, output)
    lines = [line for line in done.stderr.splitlines() if LACKS in line and "what():" not in line]  # the C++ library's
    assert len(lines) == printed
    assert sum(line.startswith("first: ") for line in lines) == ("prints" in arguments)


@pytest.mark.builds
def test_the_audit_reports_a_c_interface_that_catches_nothing(users):
    findings = {kind: audit_paths([users / f"libspeech_{kind}.so"]).findings for kind in ("plain", "catching")}
    assert "LB113" in {finding.code for finding in findings["plain"]}
    assert "LB113" not in {finding.code for finding in findings["catching"]}


@pytest.mark.slow
def test_threads_call_first_at_once_and_all_get_the_same(crowd, tmp_path):
    call, sanitizers = crowd
    assert call(64, 100) == "6400 bound, 0 refused, 0 other\n"
    assert call(64, 1, ONNXRUNTIME_LIB_PATH=tmp_path) == "0 bound, 64 refused, 0 other\n"
    rounds = 100 if sanitizers == "thread" else 2_000  # that one takes ten times as long to close a library
    assert call(2, rounds) == f"{2 * rounds} bound, 0 refused, 0 other\n"


@pytest.mark.slow
# AddressSanitizer's allocator may stay locked in a child.
@pytest.mark.parametrize("crowd", ["plain", "thread"], indirect=True)
def test_children_made_before_during_and_after_the_first_call_bind_too(crowd):
    call, sanitizers = crowd
    rounds = 30 if sanitizers == "thread" else 200
    assert call("fork", rounds) == f"{11 * rounds} bound, 0 refused, 0 other\n"


@pytest.mark.builds
def test_a_program_that_is_linked_statically_says_so(shared_folder, latebind, tmp_path):
    assert_success(latebind("stub", "onnxruntime", "--output", tmp_path))
    (archive,) = tmp_path.glob("*/lib/libonnxruntime.a")
    program = tmp_path / "program"
    command = [
        "-static",
        f"-I{official_header(shared_folder).parent}",
        HERE / "stub" / "user_c.c",
        archive,
        "-o",
        program,
    ]
    if run_program(needed_compiler(), *command).returncode:
        pytest.skip("not run: this system has no static C library: apt-get install libc6-dev")
    done = run(program, "no-model", ONNXRUNTIME_LIB_PATH=library(ORT_VERSIONS[-1]))
    assert done.returncode == 1
    assert "this program is linked statically with glibc, and shared libraries don't work in it" in done.stdout
    assert "Link it dynamically." in done.stdout
    assert "Get it with" not in done.stdout
    lines = assert_success(latebind("adopt", program)).splitlines()
    assert lines[0].startswith("program: is linked statically, so it can open no library: link it dynamically: ")


def test_a_search_in_vain_is_repeated_when_the_environment_changes(plain, tmp_path):
    command = [plain.folder / "remember", tmp_path]
    with subprocess.Popen(command, stdin=PIPE, stdout=PIPE, text=True, env={}) as program:
        assert program.stdout.readline() == "no runtime\n"
        capi = tmp_path / ".local/lib/python3.12/site-packages/onnxruntime/capi"
        capi.mkdir(parents=True)
        shutil.copy(plain.stand_in("good"), capi / "libonnxruntime.so.1")
        answers, _ = program.communicate("go on\n", timeout=60)
    assert answers == "no runtime\ncalled\n"


NODE = "x/node_modules/onnxruntime-node/bin"


@pytest.mark.builds
@pytest.mark.parametrize(("program_folder", "with_", "theirs", "command"), [
    ("app", "", "app/runtimes/linux-x64/native/libonnxruntime.so", PIP),
    ("app", "a.deps.json", "app/libonnxruntime.so", DOTNET),
    ("app", "a.exe.config", "app/libonnxruntime.so", DOTNET),  # .NET Framework
    ("app/runtimes/linux-x64/native", "", "app/libonnxruntime.so", DOTNET),
    ("x/node_modules/@scope/y-linux-x64", "", f"{NODE}/napi-v6/linux/x64/libonnxruntime.so.1", NPM),
    ("x/build/Release", "../../package.json", f"{NODE}/napi-v3/linux/x64/libonnxruntime.so", PIP),
    ("app/_internal/pkg/lib", "../../base_library.zip", "app/_internal/onnxruntime/capi/libonnxruntime.so.1.19.2", PIP),
])  # fmt: skip
def test_layouts_of_applications_are_searched(users, tmp_path, program_folder, with_, theirs, command):  # a table
    (tmp_path / program_folder / with_).mkdir(parents=True)
    shutil.copy(users / "user_c", tmp_path / program_folder)
    program = tmp_path / program_folder / "user_c"
    (tmp_path / theirs).parent.mkdir(parents=True, exist_ok=True)
    absent = run(program)
    assert absent.returncode == 1
    assert f"Get it with: {command}" in absent.stdout + absent.stderr
    wrong = tmp_path / theirs.replace("x64", "arm64").replace("capi", "other").replace("app/lib", "app/else/lib")
    wrong.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(library(ORT_VERSIONS[0]), wrong)
    assert run(program).returncode == 1, "another platform's, or a folder that nobody meant"
    shutil.copy(library(ORT_VERSIONS[0]), tmp_path / theirs)
    assert_success(run(program))


@pytest.mark.builds
def test_the_runtimes_package_next_to_the_programs_own_is_found(users, runtime, tmp_path):
    package = tmp_path / "site-packages" / "pkg" / "lib"
    package.mkdir(parents=True)
    shutil.copy(users / "user_c", package)
    (tmp_path / "site-packages" / "onnxruntime").symlink_to(runtime.parent.parent)
    assert run(package / "user_c").returncode == 0
    environment = tmp_path / "venv" / "lib" / "python3.12" / "site-packages"
    environment.mkdir(parents=True)
    (environment / "onnxruntime").symlink_to(runtime.parent.parent)
    assert run(users / "user_c").returncode == 1
    assert run(users / "user_c", VIRTUAL_ENV=tmp_path / "venv").returncode == 0
