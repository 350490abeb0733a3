"""The stub in the place of a linked ONNX Runtime: programs on the official API that know nothing of latebind."""

import os
import re
import shutil
import subprocess

import ort_header
import pytest
from latebind.binary.read import read_image

from tests.native.building import HERE, NOISE, ROOT, CannotBuildError, build, configure, system_compiler
from tests.native.emulated import ORT_VERSIONS, fetch_runtime, onnx_sum

SLOTS = {"1.19.2": 280, "1.31.1": 425}  # of OrtApi that the runtime and our table both have


@pytest.fixture(scope="session")
def users(shared, tmp_path_factory):
    """The folder of the programs."""
    try:
        header = ort_header.fetch(shared / "ort-header")
    except ort_header.NotAvailableError as reason:
        pytest.skip(f"not run: {reason}")
    folder = tmp_path_factory.mktemp("stub")
    compiler = system_compiler()
    if compiler is None:
        pytest.skip("not run: there is no C compiler")
    try:
        configure(
            HERE / "stub", folder, compiler, f"-Dlatebind_DIR={ROOT / 'loader'}", f"-DORT_INCLUDE={header.parent}"
        )
    except CannotBuildError as reason:
        pytest.skip(f"not run: {reason}")
    build(folder)
    return folder


@pytest.fixture(params=ORT_VERSIONS)
def runtime(request):
    try:
        folder = fetch_runtime("linux-x64", request.param)
    except LookupError as reason:
        pytest.skip(f"not run: {reason}")
    return next(path for path in folder.glob("libonnxruntime.so.*"))


def run(program, *words, **environment):
    clean = {
        key: value for key, value in os.environ.items() if key not in (*NOISE, "VIRTUAL_ENV", "CONDA_PREFIX", "HOME")
    }
    env = {**clean, **{key: str(value) for key, value in environment.items()}}
    done = subprocess.run([program, *words], env=env, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode >= 0, (done.returncode, done.stdout, done.stderr)  # no signal
    return done


def test_arguments_and_results_of_every_kind_go_through_a_trampoline(users):
    assert run(users / "calls").stdout == "right\n"


def test_a_program_on_the_official_interface_runs_unchanged(users, runtime, tmp_path):
    model, version = onnx_sum(tmp_path / "sum.onnx"), runtime.name.partition(".so.")[2]
    for program, words in (("user", [model]), ("user_c", [])):
        done = run(users / program, *words, ONNXRUNTIME_LIB_PATH=runtime)
        assert (done.returncode, done.stdout) == (0, f"right with {version}\n"), done.stderr
    assert re.fullmatch(r"[1-9] providers\n", run(users / "global", ONNXRUNTIME_LIB_PATH=runtime).stdout)


def test_the_stub_is_no_dependency_and_exports_nothing(users):
    image = read_image((users / "user").read_bytes(), "user")
    assert not [name for name in image.needed if "onnxruntime" in name]
    assert not [row.name for row in image.exports if row.name.startswith(("Ort", "lb_"))]


def test_every_slot_is_the_runtimes_own_and_newer_ones_name_their_version(users, runtime):
    done = run(users / "slots", runtime)
    version = runtime.name.partition(".so.")[2]
    lines = done.stdout.splitlines()
    assert lines[-1] == f"same {SLOTS[version]}"
    assert not [line for line in lines if line.startswith("other")]
    newer = [line for line in lines if line.startswith("newer")]
    assert all(
        re.fullmatch(rf"newer \w+ needs ONNX Runtime 1\.\d\d; {re.escape(version)} is bound", line) for line in newer
    )
    assert bool(newer) == (version == "1.19.2")


def test_a_function_that_the_runtime_lacks_is_an_exception_with_both_versions(users, runtime, tmp_path):
    done = run(users / "user", onnx_sum(tmp_path / "sum.onnx"), "newer", ONNXRUNTIME_LIB_PATH=runtime)
    assert done.returncode == 1
    told = "CreateLoraAdapter needs ONNX Runtime 1.20; 1.19.2 is bound"
    assert (told in done.stdout) == (runtime.name.endswith("1.19.2"))


def test_a_first_call_without_a_result_binds_too_and_leaves_nothing_undefined(users, runtime):
    made = run(users / "pairs", ONNXRUNTIME_LIB_PATH=runtime)
    assert (made.returncode, made.stdout) == (0, "none\n" if runtime.name.endswith("1.19.2") else "made\n")
    absent = run(users / "pairs")
    assert (absent.returncode, absent.stdout) == (0, "none\n")


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
        ("foreign", r"is for another processor: built for aarch64"),
    ],
)
def test_without_a_usable_runtime_the_programs_own_error_says_why(users, tmp_path, program, what, says):
    place = {}
    if what == "corrupt":
        place["ONNXRUNTIME_LIB_PATH"] = tmp_path / "libonnxruntime.so"
        place["ONNXRUNTIME_LIB_PATH"].write_bytes(b"\x7fELF, nearly")
    if what == "foreign":
        try:
            place["ONNXRUNTIME_LIB_PATH"] = fetch_runtime("linux-arm64", "1.19.2")
        except LookupError as reason:
            pytest.skip(f"not run: {reason}")
    done = run(users / program, "no-model", **place)
    assert done.returncode == 1, done.stderr
    assert re.search(says, done.stdout)
    assert done.stdout.startswith("Ort::Exception 1: ONNX Runtime" if program == "user" else "1: ONNX Runtime")
    if program == "user_c":
        assert done.stdout.splitlines()[1] == "4: mine"


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
