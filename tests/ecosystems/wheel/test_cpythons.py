"""Modules for several CPythons from one machine: built for three systems, audited, and run by real CPythons."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from ci.machines import arm64_python, qemu, windows_python, wine
from ci.machines.emulator import Limits
from latebind.backend.targets import host_rid
from latebind.compilers.interpreters import interpreters
from latebind.config.file import load
from latebind.errors import BuildError, ConfigError
from latebind.native.pythons import find_interpreter, list_exports
from latebind.pack.planned import plan_packages
from loadcheck.api import audit_here
from loadcheck.facts import read_image
from tests.support.client import by_kind, edit, members, pack_project
from tests.support.moduleclient import write_module_client
from tests.support.needs import available
from tests.support.running import CLI, assert_refused, run_checked, run_program

PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.13t")
RUN = "import tiny; assert tiny.add(2, 3) == 5; print(tiny._tiny.__file__)"
RIDS = ("linux-x64", "linux-arm64", "osx-arm64", "win-x64")


def write_project(folder, *pythons):
    project = write_module_client(folder, "cpython")
    edit(
        project / "latebind.toml", 'kind = "cpython"', f'kind = "cpython", pythons = {list(pythons)}'.replace("'", '"')
    )
    return project


def require_cpythons(*minors):
    if host_rid() != "linux-x64" or {python.minor for python in interpreters(minors)} != set(minors):
        pytest.skip(f"not run: this is not Linux x64, or it lacks one of CPython {minors}: uv python install")


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    """The wheels for five CPythons and four targets by name, all made on this machine."""
    require_cpythons(*PYTHONS[:4])
    result = pack_project(write_project(tmp_path_factory.mktemp("cpythons") / "tiny", *PYTHONS), *RIDS)
    assert not result.not_made
    return {artifact.path.name: artifact.path for artifact in result.artifacts if artifact.kind == "wheel"}


@pytest.mark.slow
def test_each_cpython_has_a_wheel_for_each_target_and_the_audit_finds_no_fault(wheels):
    tags = ("cp310-cp310", "cp311-cp311", "cp312-cp312", "cp313-cp313", "cp313-cp313t")
    platforms = ("manylinux_2_28_x86_64", "manylinux_2_28_aarch64", "macosx_11_0_arm64", "win_amd64")
    assert set(wheels) == {f"tiny-1.2.3-{tag}-{platform}.whl" for tag in tags for platform in platforms}
    assert {finding.code for finding in audit_here(list(wheels.values())).findings} == {"LB509"}  # it has no README


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wheel", "module", "library"),
    [
        ("cp310-cp310-manylinux_2_28_x86_64", "_tiny.cpython-310-x86_64-linux-gnu.so", ""),
        ("cp313-cp313t-manylinux_2_28_aarch64", "_tiny.cpython-313t-aarch64-linux-gnu.so", ""),
        ("cp312-cp312-macosx_11_0_arm64", "_tiny.cpython-312-darwin.so", ""),
        ("cp310-cp310-win_amd64", "_tiny.cp310-win_amd64.pyd", "python310.dll"),
        ("cp313-cp313t-win_amd64", "_tiny.cp313t-win_amd64.pyd", "python313t.dll"),
    ],
)
def test_a_module_is_named_and_linked_for_its_cpython_alone(wheels, wheel, module, library):
    files = {name: data for name, data in members(wheels[f"tiny-1.2.3-{wheel}.whl"]).items() if "_tiny." in name}
    assert files.keys() == {f"tiny/{module}"}
    image = read_image(files[f"tiny/{module}"], module)
    assert [name for name in image.needed if "python" in name] == [name for name in [library] if name]


@pytest.mark.slow
@pytest.mark.parametrize("minor", PYTHONS)
def test_the_module_runs_in_its_cpython(wheels, tmp_path, minor):
    python = next(iter(interpreters([minor])), None)
    if python is None:
        pytest.skip(f"not run: there is no CPython {minor} here: uv python install {minor}")
    digits = minor.replace(".", "")
    wheel = wheels[f"tiny-1.2.3-cp{digits.rstrip('t')}-cp{digits}-manylinux_2_28_x86_64.whl"]
    shutil.unpack_archive(wheel, tmp_path, "zip")
    output = run_checked(python.path, "-c", RUN, env={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert f"_tiny.cpython-{digits}-x86_64-linux-gnu.so" in output


@pytest.mark.slow
@pytest.mark.emulated
@pytest.mark.parametrize("minor", ["3.12", "3.13"])
def test_the_module_runs_in_windows_cpython(wheels, tmp_path, minor):
    python = available(windows_python.prepare, tmp_path / "windows", minor)
    digits = minor.replace(".", "")
    wheel = wheels[f"tiny-1.2.3-cp{digits}-cp{digits}-win_amd64.whl"]
    shutil.unpack_archive(wheel, python.parent / "Lib/site-packages", "zip")
    with wine.open_free(tmp_path / "wine", Limits(seconds=300)) as emulator:
        ended = emulator.run(python, "-I", "-c", RUN)
    assert ended.returncode == 0, ended.stderr
    assert f"_tiny.cp{digits}-win_amd64.pyd".encode() in ended.stdout


@pytest.mark.slow
@pytest.mark.emulated
@pytest.mark.parametrize("minor", ["3.11", "3.13"])
def test_the_module_runs_in_arm64_cpython(wheels, tmp_path, minor):
    python = available(arm64_python.prepare, tmp_path / "arm64", minor)
    digits = minor.replace(".", "")
    wheel = wheels[f"tiny-1.2.3-cp{digits}-cp{digits}-manylinux_2_28_aarch64.whl"]
    shutil.unpack_archive(wheel, tmp_path / "site", "zip")
    with qemu.open_arm64(tmp_path / "qemu", Limits(seconds=300)) as emulator:
        code = f"import sys; sys.path.insert(0, {str(tmp_path / 'site')!r}); {RUN}"
        ended = emulator.run(python, "-I", "-c", code)
    assert ended.returncode == 0, ended.stderr
    assert f"_tiny.cpython-{digits}-aarch64-linux-gnu.so".encode() in ended.stdout


def test_the_plan_names_a_wheel_for_each_cpython_and_target(tmp_path):
    config = load(write_project(tmp_path / "tiny", "3.10", "3.13t") / "latebind.toml")
    planned = [file.file for file in plan_packages(config, ["linux-x64", "win-arm64"]).files if file.kind == "wheel"]
    assert planned == [
        f"tiny-1.2.3-{tag}-{platform}.whl"
        for platform in ("manylinux_2_28_x86_64", "win_arm64")
        for tag in ("cp310-cp310", "cp313-cp313t")
    ]


@pytest.mark.parametrize(
    ("kind", "pythons", "message"),
    [
        ("cp310-abi3", ["3.10"], "pythons lists CPythons, but wheels of kind cp310-abi3"),
        ("cpython", ["3.10", "3.10"], "names a CPython twice"),
        ("cpython", ["3.10", "latest"], "'latest' is not a version of CPython"),
        ("cpython", ["310"], "'310' is not a version of CPython"),
    ],
)
def test_a_list_that_makes_no_sense_is_an_error(tmp_path, kind, pythons, message):
    project = write_project(tmp_path / "tiny", *pythons)
    edit(project / "latebind.toml", 'kind = "cpython"', f'kind = "{kind}"')
    with pytest.raises(ConfigError, match=message):
        load(project / "latebind.toml")


def test_a_cpython_that_is_not_installed_is_named_with_the_command_that_installs_it():
    with pytest.raises(BuildError, match=r"CPython 3\.77 is not installed") as error:
        find_interpreter("3.77t")
    assert "uv python install 3.77t" in error.value.advice


def test_the_import_library_lists_what_the_headers_declare(tmp_path):
    (tmp_path / "internal").mkdir()
    (tmp_path / "internal" / "pycore.h").write_text("PyAPI_FUNC(int) _Py_Hidden(void);\n", encoding="utf-8")
    (tmp_path / "object.h").write_text(
        "PyAPI_FUNC(PyObject *) PyType_Get(void);\nPyAPI_DATA(PyTypeObject) PyType_Type;\n"
        "PyAPI_FUNC(void *(*)(int)) Py_Odd(void);\nPyAPI_DATA(int) (*PyOS_InputHook)(void);\n"
        "PyAPI_FUNC(const char*)\n    Py_Next(PyObject *);\n"
        "PyAPI_DATA(struct _longobject) _Py_FalseStruct, _Py_TrueStruct;\n",
        encoding="utf-8",
    )
    assert list_exports(tmp_path, "python312.dll").splitlines() == [
        *("LIBRARY python312.dll", "EXPORTS", "PyOS_InputHook DATA", "PyType_Get", "PyType_Type DATA"),
        *("Py_Next", "Py_Odd", "_Py_FalseStruct DATA", "_Py_TrueStruct DATA"),
    ]


@pytest.mark.slow
@pytest.mark.emulated
@pytest.mark.parametrize("minor", ["3.12", "3.13"])
def test_the_real_dll_exports_all_that_its_import_library_lists(tmp_path, minor):
    python = available(windows_python.prepare, tmp_path / "windows", minor)
    library = f"python{minor.replace('.', '')}.dll"
    exported = {export.name for export in read_image((python.parent / library).read_bytes(), library).exports}
    listed = {line.split()[0] for line in list_exports(find_interpreter(minor).headers, library).splitlines()[2:]}
    lacking = {name for name in listed - exported if not name.startswith("_")}
    assert lacking <= ELSEWHERE, lacking
    assert len(listed & exported) > 1000


ELSEWHERE = {
    *("PyOS_AfterFork", "PyOS_AfterFork_Child", "PyOS_AfterFork_Parent", "PyOS_BeforeFork"),  # HAVE_FORK
    *("PyOS_CheckStack", "Py_FrozenMain", "PyUnstable_Module_SetGIL"),  # USE_STACKCHECK, programs, free-threaded builds
    *("PyUnstable_PerfMapState_Fini", "PyUnstable_PerfMapState_Init", "PyUnstable_WritePerfMapEntry"),  # perf of Linux
}
"""What the headers declare for other systems than Windows."""


@pytest.mark.slow
def test_a_user_who_installs_it_gets_the_module_for_their_own_cpython(tmp_path):
    """The build hook without `latebind pack` builds for no other CPython, which the user need not have."""
    project = write_project(tmp_path / "tiny", f"3.{sys.version_info.minor}", "3.77")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path / "out"]
    run_checked(*command, project / "python/tiny", cwd=project)
    (wheel,) = Path(tmp_path / "out").glob("*.whl")
    assert f"-cp3{sys.version_info.minor}-cp3{sys.version_info.minor}-" in wheel.name


def test_pack_refuses_a_cpython_that_is_not_here(tmp_path):
    project = write_project(tmp_path / "tiny", "3.77")
    assert_refused(
        run_program(*CLI, "-C", project, "pack", "--target", "linux-x64"), "CPython 3.77 is not installed", "uv "
    )


FIND_PYTHON = """cmake_minimum_required(VERSION 3.20)
project(tiny C)
find_package(Python REQUIRED COMPONENTS Interpreter Development.Module)
Python_add_library(_tiny MODULE WITH_SOABI tiny.c)
set_target_properties(_tiny PROPERTIES C_VISIBILITY_PRESET hidden)
install(TARGETS _tiny DESTINATION . COMPONENT tiny)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rid", "module"), [("win-x64", "_tiny.cp311-win_amd64.pyd"), ("osx-arm64", "_tiny.cpython-311-darwin.so")]
)
def test_a_python_config_of_this_machine_is_not_asked(tmp_path, monkeypatch, rid, module):
    """Debian's python3-dev installs one: it names libraries and file names of this machine, which the target lacks."""
    require_cpythons("3.11")
    answers = {"--prefix": "/usr", "--libs": "-lnowhere -lm", "--extension-suffix": ".cpython-311-x86_64-linux-gnu.so"}
    lines = [f"{option}) echo '{answer}';;" for option, answer in answers.items()]
    config = tmp_path / "bin" / "python3.11-config"
    config.parent.mkdir()
    config.write_text("\n".join(["#!/bin/sh", 'case "$1" in', *lines, "*) exit 0;;", "esac"]) + "\n")
    config.chmod(0o755)
    monkeypatch.setenv("PATH", f"{config.parent}{os.pathsep}{os.environ['PATH']}")
    project = write_project(tmp_path / "tiny", "3.11")
    (project / "native" / "CMakeLists.txt").write_text(FIND_PYTHON)

    result = pack_project(project, rid)

    assert f"tiny/{module}" in members(by_kind(result)["wheel"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("package", "python", "module"),
    [("Python", "3.11", "_tiny.cp311-win_arm64.pyd"), ("Python3", "3.13t", "_tiny.cp313t-win_arm64.pyd")],
)
def test_a_project_of_the_newest_cmake_finds_python(tmp_path, package, python, module):
    """Policy CMP0190 of CMake 4.1 refuses an interpreter in a cross build without an emulator."""
    require_cpythons(python.rstrip("t"))
    project = write_project(tmp_path / "tiny", python)
    text = FIND_PYTHON.replace("VERSION 3.20", "VERSION 4.1").replace("Python REQ", f"{package} REQ")
    (project / "native" / "CMakeLists.txt").write_text(text.replace("Python_add", f"{package}_add"))
    assert f"tiny/{module}" in members(by_kind(pack_project(project, "win-arm64"))["wheel"])
