"""Python modules in wheels: by the stable ABI for six targets, for one CPython on this machine, refused elsewhere."""

import json
import os
import shutil
import sys
import sysconfig
from pathlib import Path

import pytest

from latebind.backend import extension
from latebind.backend.kinds import fits
from latebind.backend.stage import open_stage
from latebind.backend.targets import host_rid, target
from latebind.config.file import load
from latebind.config.project import Project, read_project
from latebind.errors import BuildError
from latebind.fingerprint import LOADCHECK
from latebind.native.builds import stage_target
from latebind.pack.planned import plan_packages
from loadcheck.api import audit_here
from loadcheck.facts import read_image
from tests.support.client import CONFIG, PYPROJECT, SOURCE, edit, hashes, member, members, pack_project, write_client
from tests.support.moduleclient import CMAKE, config, write_module_client
from tests.support.needs import require_programs
from tests.support.running import CLI, assert_refused, assert_success, run_checked, run_program

pytestmark = pytest.mark.slow

HOST = f'["{host_rid()}"]'
RUN = "import tiny; assert tiny.add(2, 3) == 5; print(tiny._tiny.__file__)"
OWN = f"cp{sys.version_info.major}{sys.version_info.minor}"


def wheels(result):
    return {artifact.path.name: artifact.path for artifact in result.artifacts if artifact.kind == "wheel"}


def cpythons():
    """Every CPython from 3.10 on that pyenv or uv have installed, and this one, by version."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    uv = Path(os.environ.get("UV_PYTHON_INSTALL_DIR") or Path.home() / ".local/share/uv/python")
    ask = "import sys; assert sys.version_info >= (3, 10); print(sys.implementation.name, sys.version.split()[0])"
    interpreters = {}
    for python in [Path(sys.executable), *pyenv.glob("*/bin/python"), *uv.glob("*/bin/python3")]:
        ended = run_program(python, "-c", ask)
        if ended.returncode == 0 and ended.stdout.startswith("cpython"):
            interpreters.setdefault(ended.stdout.split()[1], python)
    return interpreters


@pytest.fixture(scope="module")
def six(tmp_path_factory):
    """The stable-ABI wheels for all six targets, made on this machine."""
    if host_rid() != "linux-x64":
        pytest.skip("not run: cross-building is tried from Linux x64")
    project = write_module_client(tmp_path_factory.mktemp("six") / "tiny", "cp310-abi3")
    return wheels(pack_project(project))


def test_one_machine_makes_stable_abi_wheels_for_six_targets_and_the_audit_finds_no_fault(six):
    platforms = (
        *("manylinux_2_28_x86_64", "manylinux_2_28_aarch64", "macosx_11_0_x86_64", "macosx_11_0_arm64"),
        *("win_amd64", "win_arm64"),
    )
    assert set(six) == {f"tiny-1.2.3-cp310-abi3-{platform}.whl" for platform in platforms}
    assert {finding.code for finding in audit_here(list(six.values())).findings} == {"LB509"}  # it has no README


def test_no_module_links_a_python_but_the_stable_one_of_windows(six):
    for name, wheel in six.items():
        suffix = ".pyd" if "-win_" in name else ".abi3.so"
        image = read_image(members(wheel)[f"tiny/_tiny{suffix}"], name)
        pythons = [library for library in image.needed if "python" in library.lower()]
        assert pythons == (["python3.dll"] if "-win_" in name else [])
        edges = {"_mh_dylib_header", "__dso_handle"}  # the linker's own, on macOS
        assert {export.name for export in image.exports} - edges == {"PyInit__tiny"}


@pytest.mark.parametrize("version", cpythons())
def test_the_stable_abi_wheel_runs_on_every_cpython_here(six, tmp_path, version):
    python = cpythons()[version]
    install(python, six["tiny-1.2.3-cp310-abi3-manylinux_2_28_x86_64.whl"], tmp_path)
    assert "_tiny.abi3.so" in run(python, RUN, tmp_path)


def install(python, wheel, folder):
    command = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--offline", "--no-index", "--no-deps"]
    run_checked(*command, "--python", python, "--target", folder, wheel)


def run(python, code, folder):
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    return run_checked(python, "-c", code, env=environment)


def test_a_wheel_for_one_cpython_is_made_here_and_refused_for_other_machines(tmp_path):
    other = "win-arm64"
    project = write_module_client(tmp_path / "tiny", "cpython")
    result = pack_project(project, host_rid(), other)

    (name,) = wheels(result)
    assert name.startswith(f"tiny-1.2.3-{OWN}-{OWN}")
    assert [artifact.kind for artifact in result.artifacts] == ["wheel", "sdist"]
    (missing,) = result.not_made
    assert (missing.kind, missing.reason) == ("wheel", "no-interpreter")
    assert (
        f"a wheel of kind cpython for {other} needs a CPython on {other}, but this machine is {host_rid()}"
        in missing.message
    )
    report = audit_here([artifact.path for artifact in result.artifacts])
    assert {finding.code for finding in report.findings} == {"LB509"}  # it has no README
    install(sys.executable, wheels(result)[name], tmp_path / "site")
    assert sysconfig.get_config_var("EXT_SUFFIX") in run(sys.executable, RUN, tmp_path / "site")

    planned = [entry.file for entry in plan_packages(load(project / "latebind.toml"), [host_rid(), other]).files]
    assert planned == [artifact.path.name for artifact in result.artifacts]


def test_two_folders_give_equal_wheels_with_modules(tmp_path):
    first = pack_project(write_module_client(tmp_path / "one", "cp310-abi3"), host_rid())
    second = pack_project(write_module_client(tmp_path / "somewhere else" / "two", "cp310-abi3"), host_rid())
    assert hashes(first) == hashes(second)


def run_of_own_compiler(folder, kind, **changed):
    """What the module prints that the machine's own compiler made, for its own libc."""
    settings = config(kind, HOST) + f'\n[targets.{host_rid()}]\ntoolchain = "host"\n'
    floor = f'glibc = "{os.confstr("CS_GNU_LIBC_VERSION").split()[1]}"' if sys.platform == "linux" else ""
    project = write_module_client(folder / "tiny", "", latebind=settings.replace('glibc = "2.28"', floor), **changed)
    (wheel,) = wheels(pack_project(project, host_rid())).values()
    install(sys.executable, wheel, folder / "site")
    return run(sys.executable, RUN, folder / "site")


def test_the_machines_own_compiler_builds_modules_too(tmp_path):
    assert "abi3" in run_of_own_compiler(tmp_path, "cp310-abi3")


@pytest.mark.skipif(sys.platform == "win32", reason="not run: the compiler of this machine is that of a prompt")
def test_what_finds_python_in_cmake_gets_the_one_that_runs_latebind(tmp_path):
    """As nanobind and pybind11 do; a module's open symbols are CPython's, however the target was made."""
    find_python = f"""
find_package(Python REQUIRED COMPONENTS Interpreter Development.Module)
if(NOT Python_EXECUTABLE STREQUAL "{Path(sys.executable).as_posix()}")
  message(FATAL_ERROR "another Python: ${{Python_EXECUTABLE}}")
endif()
Python_add_library(_tiny MODULE WITH_SOABI tiny.c)"""
    run_of_own_compiler(
        tmp_path, "cpython", cmakelists=CMAKE.replace("latebind_add_python_module(_tiny tiny.c)", find_python)
    )


def test_plain_cmake_builds_the_module_for_the_cpython_that_it_finds(tmp_path, latebind):
    project = write_module_client(tmp_path / "tiny", "cp310-abi3")
    cmake, *_ = require_programs("cmake", "ninja", "cc")
    folder = latebind("--cmake-dir").stdout.strip()
    options = [cmake, "-S", project / "native", "-B", tmp_path / "out", "-G", "Ninja", f"-Dlatebind_DIR={folder}"]
    run_checked(*options, f"-DPython_ROOT_DIR={sys.base_prefix}")
    run_checked(cmake, "--build", tmp_path / "out")
    (module,) = (tmp_path / "out").glob("_tiny*")
    assert module.name.endswith(f".cpython-{OWN[2:]}-x86_64-linux-gnu.so")


@pytest.mark.parametrize("rid", ["linux-x64", "win-x64"])
def test_what_is_newer_than_the_floor_does_not_build(tmp_path, rid):
    source = (write_module_client(tmp_path / "tiny", "cp310-abi3") / "native" / "tiny.c").read_text("utf-8")
    newer = source.replace("(void)self;", "(void)self; Py_XDECREF(PyType_GetName(Py_TYPE(args)));")
    project = write_module_client(tmp_path / "tiny", "cp310-abi3", tiny=newer)
    with pytest.raises(BuildError, match="PyType_GetName"):
        pack_project(project, rid)
    write_module_client(tmp_path / "tiny", "cp311-abi3", tiny=newer)
    assert wheels(pack_project(project, rid))


def test_a_module_without_sources_is_refused_by_cmake(tmp_path):
    project = write_module_client(tmp_path / "tiny", "cp310-abi3", cmakelists=CMAKE.replace(" tiny.c)", ")"))
    with pytest.raises(BuildError, match='latebind_add_python_module: "_tiny" has no sources'):
        pack_project(project, host_rid())


# -- whose interpreter ------------------------------------------------------------------------------------------------


def another_python():
    """Another installation of this very version, which can import what is installed for this one."""
    here = sys.version_info[:2]
    for python in (Path("/usr/bin") / f"python3.{here[1]}", *(path for path in cpythons().values())):
        ask = "import sys, sysconfig; print(sys.base_prefix, sys.version_info[:2], sysconfig.get_path('include'))"
        ended = run_program(python, "-c", ask) if python.exists() else 0
        if not ended or ended.returncode or str(here) not in ended.stdout:
            continue
        prefix, include = ended.stdout.split()[0], ended.stdout.split()[-1]
        if prefix != sys.base_prefix and (Path(include) / "Python.h").is_file():
            return python
    return None


def by(python, project, *arguments):
    """latebind as another Python runs it, with the packages of this one."""
    site_packages = [path for path in sys.path if path.endswith("site-packages")]
    folders = [Path(extension.__file__).parents[2], LOADCHECK.parent]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, [*folders, *site_packages])), "PATH": path}
    return run_program(python, "-m", "latebind.cli", "-C", project, *arguments, env=environment)


@pytest.mark.parametrize("kind", ["cpython", "cp310-abi3"])
def test_another_interpreter_builds_the_modules_again(tmp_path, kind):
    other = another_python()
    if other is None:
        pytest.skip("not run: no other installation of this Python version with headers is here: uv python install")
    project = write_module_client(tmp_path / "tiny", kind)
    key = stage_target(read_project(project / "latebind.toml", project), target(host_rid())).manifest.key
    assert_success(by(other, project, "build"))
    again = open_stage(project / "stage" / host_rid())
    assert again.manifest.key != key
    assert [path.name.startswith("_tiny.") for path in again.libraries("tiny")] == [True]


def test_another_interpreter_changes_nothing_where_no_module_is_built(tiny):
    other = another_python()
    if other is None:
        pytest.skip("not run: no other installation of this Python version is here: uv python install")
    key = stage_target(read_project(tiny / "latebind.toml", tiny), target(host_rid())).manifest.key
    assert by(other, tiny, "build").returncode == 0
    assert open_stage(tiny / "stage" / host_rid()).manifest.key == key


def test_a_python_without_headers_is_told_how_to_get_them(tmp_path):
    if sys.platform != "linux":
        pytest.skip("not run: the installation is copied by its layout on Linux")
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    prefix = tmp_path / "prefix"
    (prefix / "bin").mkdir(parents=True)
    shutil.copy2(Path(sys.base_prefix) / "bin" / version, prefix / "bin" / version)
    (prefix / "lib").symlink_to(Path(sys.base_prefix) / "lib")

    done = by(prefix / "bin" / version, write_module_client(tmp_path / "tiny", "cp310-abi3"), "build")

    assert_refused(
        done,
        f"the headers of Python {version[6:]}, which modules are compiled with, are not installed",
        f"apt install {version}-dev",
    )


def test_an_older_cpython_than_the_floor_is_refused(tmp_path):
    newer = f"cp3{sys.version_info.minor + 1}-abi3"
    with pytest.raises(BuildError, match=rf"kind {newer} needs CPython 3\.{sys.version_info.minor + 1} or newer"):
        pack_project(write_module_client(tmp_path / "tiny", newer), host_rid())


def test_a_free_threaded_cpython_has_no_stable_abi(monkeypatch):
    # No free-threaded build is among those that tests can count on: only the answer that it would give is put in.
    monkeypatch.setattr(extension.sysconfig, "get_config_var", lambda name: int(name == "Py_GIL_DISABLED"))
    with pytest.raises(BuildError, match="needs a CPython with the GIL"):
        extension.refuse_interpreter("cp310-abi3")
    extension.refuse_interpreter("cpython")
    extension.refuse_interpreter("py3-none")


FREE_H = """\
#if Py_LIMITED_API != 0x030F0000 || Py_TARGET_ABI3T != 0x030F0000
#error "another ABI than the wheel's"
#endif
__attribute__((visibility("default"))) void *PyModExport__tiny(void);
int PyABIInfo_Check(void *info, const char *name);
"""
FREE = '#include <Python.h>\nvoid *PyModExport__tiny(void)\n{\n  PyABIInfo_Check(0, "");\n  return 0;\n}\n'


@pytest.mark.parametrize(("rid", "file", "needed"), [
    ("linux-x64", "_tiny.abi3t.so", ()), ("win-x64", "_tiny.pyd", ("python3t.dll",)),
])  # fmt: skip
def test_modules_for_both_stable_abis_have_the_macros_name_and_library_of_pep_803(
    tmp_path, monkeypatch, rid, file, needed
):
    # Not run: importing it. No CPython 3.15 is among those that tests can count on, so its headers are a stand-in.
    headers = tmp_path / "headers"
    headers.mkdir()
    (headers / "Python.h").write_text(FREE_H, "utf-8")
    monkeypatch.setattr(extension, "find_headers", lambda: headers)
    monkeypatch.setattr(extension, "refuse_interpreter", lambda _kind: None)
    project = write_module_client(tmp_path / "tiny", "cp315-abi3.abi3t", tiny=FREE)
    (library,) = stage_target(read_project(project / "latebind.toml", project), target(rid)).libraries("tiny")
    image = read_image(library.read_bytes(), library.name)
    assert library.name == file
    assert tuple(name for name in image.needed if "python" in name.lower()) == needed


def test_modules_of_other_cpythons_in_a_merged_stage_stay_out(tmp_path):
    project = write_module_client(tmp_path / "tiny", "cpython")
    settings = load(project / "latebind.toml")
    stage = stage_target(Project(config=settings, workdir=tmp_path / "machine"), target(host_rid()))
    (module,) = stage.libraries("tiny")
    strange = module.name.replace(f"cpython-{OWN[2:]}", "cpython-399")
    assert fits("cpython", module.name)
    assert not fits("cpython", strange)
    assert fits("cpython", "libhelper.so")

    folder = tmp_path / "elsewhere" / "tiny" / "lib"
    folder.mkdir(parents=True)
    shutil.copy(module, folder / strange)
    shutil.copy(module, folder / module.name)
    run_checked(*CLI, "-C", project, "stage", "--import", folder.parents[1], "--target", host_rid())
    (wheel,) = wheels(pack_project(project, host_rid())).values()
    manifest = json.loads(member(wheel, "tiny-1.2.3.dist-info/extra_metadata/latebind.json"))
    assert [name for name in members(wheel) if name.endswith(".so")] == [f"tiny/{module.name}"]
    assert [Path(file["path"]).name for file in manifest["files"]] == [module.name]


# -- floors -----------------------------------------------------------------------------------------------------------

THREAD = """
#include <pthread.h>
static void *nothing(void *arg) { return arg; }
__attribute__((visibility("default"))) int tiny_start(void)
{
  pthread_t thread;
  return pthread_create(&thread, 0, nothing, 0);
}
"""


def import_library(folder, rid, source, triple, name="libtiny.so"):
    """The small project with a library that was compiled elsewhere, for another system than the floor says."""
    project = write_client(folder / "tiny", latebind=CONFIG.replace('"linux-x64"', f'"{rid}"'))
    libdir = folder / "elsewhere" / "tiny" / "lib"
    libdir.mkdir(parents=True)
    code = folder / "x.c"
    code.write_text(source, encoding="utf-8")
    arguments = ["cc", "-target", triple, "-shared", "-fPIC", "-O2", "-s", code, "-o", libdir / name]
    run_checked(sys.executable, "-m", "ziglang", *arguments)
    arguments = ["-C", project, "stage", "--import", libdir.parents[1], "--target", rid]
    run_checked(*CLI, *arguments)
    return project


@pytest.mark.parametrize("packages", ["both", "wheel"])
def test_a_library_over_the_floor_is_refused_with_version_symbol_file_and_cure(tmp_path, packages):
    project = import_library(tmp_path, "linux-x64", THREAD, "x86_64-linux-gnu.2.34")
    if packages == "wheel":  # the hook reports it, also to other callers
        edit(project / "latebind.toml", 'nuget = { id = "Tiny" }\n', "")
    with pytest.raises(BuildError) as caught:
        pack_project(project, "linux-x64")
    text = str(caught.value)
    assert "libtiny.so needs GLIBC_2.34 because of pthread_create, but linux-x64 promises glibc 2.28" in text
    assert "stage/linux-x64/tiny/lib/libtiny.so" in text
    assert "with zig, or in the image manylinux_2_28" in text
    assert 'write glibc = "2.34" below [targets]' in text
    assert not list((project / "dist").glob("*.whl"))
    assert not list((project / "dist").glob("*.nupkg"))


def test_who_installs_the_sdist_on_a_newer_system_gets_a_wheel_for_that_machine(tmp_path):
    project = import_library(tmp_path, "linux-x64", THREAD, "x86_64-linux-gnu.2.34")

    def build(kind, folder):
        command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", tmp_path / "out"]
        environment = {**os.environ, "LATEBIND_WORKDIR": str(project)}
        return run_program(*command, cwd=folder, env=environment)

    refused = build("wheel", project / "python" / "tiny")
    assert refused.returncode != 0
    assert "libtiny.so needs GLIBC_2.34" in refused.stderr
    assert build("sdist", project / "python" / "tiny").returncode == 0
    (sdist,) = (tmp_path / "out").glob("*.tar.gz")
    shutil.unpack_archive(sdist, tmp_path / "unpacked")
    ended = build("wheel", next((tmp_path / "unpacked").iterdir()))
    assert ended.returncode == 0, ended.stderr
    (wheel,) = (tmp_path / "out").glob("*.whl")
    assert wheel.name.endswith("-linux_x86_64.whl")


def test_a_library_that_needs_less_keeps_the_tag_of_the_floor(tmp_path):
    project = import_library(tmp_path, "linux-x64", THREAD, "x86_64-linux-gnu.2.17")
    assert list(wheels(pack_project(project, "linux-x64"))) == ["tiny-1.2.3-py3-none-manylinux_2_28_x86_64.whl"]


@pytest.mark.parametrize(
    ("rid", "triple", "sentence"),
    [
        ("osx-arm64", "aarch64-macos.14.0", "needs macOS 14.0, but osx-arm64 promises macOS 11.0"),
        ("osx-arm64", "x86_64-macos.11.0", "is macho x86_64, but osx-arm64 runs macho aarch64"),
        ("linux-arm64", "x86_64-linux-gnu.2.28", "is elf x86_64, but linux-arm64 runs elf aarch64"),
        ("linux-x64", "aarch64-macos.11.0", "is macho aarch64, but linux-x64 runs elf x86_64"),
    ],
)
def test_a_library_for_a_newer_or_another_system_is_refused(tmp_path, rid, triple, sentence):
    name = "libtiny.dylib" if rid.startswith("osx") else "libtiny.so"
    with pytest.raises(BuildError) as caught:
        pack_project(import_library(tmp_path, rid, SOURCE, triple, name), rid)
    assert f"{name} {sentence}" in str(caught.value)


# -- from source, by users --------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("installer", "how", "kind"),
    [
        ("pip", "sdist", "cp310-abi3"),  # unpacks zig and CMake for each build; uv links them
        ("uv pip", "sdist", "cpython"),
        ("uv pip", "editable", "cp310-abi3"),
        ("uv pip", "editable", "cpython"),
    ],
)
def test_installers_make_the_module_from_source(tmp_path, links, installer, how, kind):
    project = write_module_client(tmp_path / "tiny", kind, pyproject=PYPROJECT)
    source = [project / "python" / "tiny"]
    if how == "sdist":
        arguments = [sys.executable, "-m", "build", "--sdist", "--no-isolation", "-x", "--outdir", tmp_path, *source]
        run_checked(*arguments)
        source = list(tmp_path.glob("*.tar.gz"))
        shutil.rmtree(project)
    environment = tmp_path / "env"
    run_checked(sys.executable, "-m", "uv", "venv", "--quiet", environment)
    python = environment / "bin" / "python"
    mode = ["--editable"] if how == "editable" else []
    arguments = [sys.executable, "-m", *installer.split()]
    arguments += ["install", "--python", python] if installer == "uv pip" else ["--python", python, "install"]
    arguments += ["--quiet", "--no-deps", "--find-links", links, *mode, *source]
    run_checked(*arguments)
    suffix = ".abi3.so" if kind == "cp310-abi3" else sysconfig.get_config_var("EXT_SUFFIX")
    assert run(python, RUN, "").strip().endswith(f"site-packages/tiny/_tiny{suffix}")
    if how == "editable":
        assert [path.name for path in (project / "python" / "tiny" / "src" / "tiny").glob("*.so")] == []
