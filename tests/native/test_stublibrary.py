"""The stub as a library of its own: every way in which projects look for ONNX Runtime leads to it."""

import os
import re
from pathlib import Path

import pytest

from latebind.backend.stub import IN_FRONT
from latebind.backend.targets import host_rid
from latebind.backend.toolchain import require
from latebind.system.files import sha256
from loadcheck.facts import read_image
from tests.conftest import ROOT
from tests.support.needs import official_header, require_programs, runtime_folder, zig
from tests.support.running import assert_refused, assert_success, run_checked

PUBLIC = re.compile(r"lb_onnxruntime_(path|available|message|version|file|report|on_missing)")
# How public projects look for the runtime and link it.
WAYS = {
    "config": "find_package(onnxruntime 1.17 CONFIG REQUIRED)\nset(LIBS onnxruntime::onnxruntime)",
    "paths": "find_package(onnxruntime REQUIRED PATHS /opt/ort NO_DEFAULT_PATH)\nset(LIBS onnxruntime)",
    "module": "list(APPEND CMAKE_MODULE_PATH ${CMAKE_SOURCE_DIR}/cmake)\nfind_package(ONNXRuntime MODULE REQUIRED)\n"
    "set(LIBS ONNXRuntime::ONNXRuntime)",
    "variables": "find_package(OnnxRuntime REQUIRED)\ninclude_directories(${OnnxRuntime_INCLUDE_DIRS})\n"
    "set(LIBS ${OnnxRuntime_LIBRARIES})",
    "find_library": "find_library(ORT NAMES onnxruntime HINTS /opt/ort/lib REQUIRED)\n"
    "find_path(ORT_INCLUDE onnxruntime_cxx_api.h REQUIRED)\ninclude_directories(${ORT_INCLUDE})\nset(LIBS ${ORT})",
    "link_directories": "link_directories(/opt/ort/lib)\ninclude_directories(${LATEBIND_HEADERS_onnxruntime})\n"
    "set(LIBS onnxruntime)",
}
PROGRAM = """\
#include <onnxruntime_cxx_api.h>
#include <cstdio>
int main() {
  try {
    Ort::Env env;
    std::puts("made");
  } catch (const Ort::Exception& error) {
    std::puts(error.what());
  }
}
"""


@pytest.fixture(scope="module")
def headers(tmp_path_factory):
    return official_header(tmp_path_factory.getbasetemp().parent).parent


@pytest.fixture(scope="module")
def stub(tmp_path_factory, latebind):
    """The stub for the machine that runs the tests."""
    folder = tmp_path_factory.mktemp("stubs")
    printed = assert_success(latebind("stub", "onnxruntime", "--output", folder, "--minimum", "1.20"))
    return folder / printed.strip().rpartition("/")[2]


@pytest.fixture(scope="module")
def ways_folder(tmp_path_factory, stub, headers):
    """The folder with a program for each way; their project knows nothing of latebind."""
    require_programs("c++")
    source = tmp_path_factory.mktemp("ways")
    text = "cmake_minimum_required(VERSION 3.20)\nproject(ways CXX)\nset(CMAKE_CXX_STANDARD 17)\n"
    (source / "program.cpp").write_text(PROGRAM)
    (source / "cmake").mkdir()
    (source / "cmake" / "FindONNXRuntime.cmake").write_text('message(FATAL_ERROR "the project\'s own module")\n')
    for name, lines in WAYS.items():
        (source / name).mkdir()
        target = f"add_executable({name} ../program.cpp)\ntarget_link_libraries({name} PRIVATE ${{LIBS}})\n"
        (source / name / "CMakeLists.txt").write_text(f"{lines}\n{target}")
        text += f"add_subdirectory({name})\n"
    (source / "CMakeLists.txt").write_text(text)
    cmake, ninja = require("cmake"), require("ninja")
    definitions = {
        "CMAKE_MAKE_PROGRAM": ninja,
        "CMAKE_PROJECT_TOP_LEVEL_INCLUDES": stub / IN_FRONT,
        "LATEBIND_HEADERS_onnxruntime": headers,
    }
    options = [f"-D{name}={value}" for name, value in definitions.items()]
    for step in (["-S", source, "-B", source / "tree", "-G", "Ninja", *options], ["--build", source / "tree"]):
        run_checked(cmake, *step)
    return source / "tree"


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_look_for_the_runtime_leads_to_the_stub(ways_folder, way):
    program = ways_folder / way / way
    assert not [name for name in read_image(program.read_bytes(), way).needed if "onnxruntime" in name]
    printed = run_checked(program, env={"PATH": "/usr/bin"})
    assert "ONNX Runtime was not found" in printed
    assert "version 1.20 or newer is needed" in printed


def test_pkg_config_gives_what_a_linker_needs(stub):
    (tool,) = require_programs("pkg-config")
    env = {"PKG_CONFIG_PATH": str(stub / "lib" / "pkgconfig")}
    flags = run_checked(tool, "--libs", "--static", "libonnxruntime", env=env).split()
    assert "-lonnxruntime" in flags
    assert {flag[:2] for flag in flags} == {"-L", "-l"}, "setup files sort flags by these letters, and stop at others"
    assert any(flag.startswith("-L") and (stub / "lib").samefile(flag[2:]) for flag in flags)


@pytest.mark.builds
def test_pkg_config_finds_the_headers_of_the_library_that_stay_where_they_are(latebind, tmp_path, monkeypatch):
    require_programs("pkg-config")
    own = "prefix=/opt\nlibdir=/opt/z/lib\nservices=${prefix}/z/services\n"
    package = "Name: z\nDescription: z\nVersion: 1.2.3\nRequires: base >= 1\nRequires.private: none\n"
    (tmp_path / "z.pc").write_text(f"{own}{package}Cflags: -I/opt/z/include\n")
    (tmp_path / "base.pc").write_text("Name: base\nDescription: base\nVersion: 1.5\nLibs: -lbase\n")
    (tmp_path / "none.pc").write_text("Name: none\nDescription: none\nVersion: 1.5\nLibs: -lnone\n")
    described = 'name = "z"\nentry = "zlibVersion"\nversion = "none"\nadvice = "apt-get install z"\n'
    files = 'files.linux = ["libz.so.1"]\n[stub]\nfunctions = ["zlibVersion"]\nfailures = { zlibVersion = 0 }\n'
    (tmp_path / "z.toml").write_text(described + files)
    folder = tmp_path / "stubs" / host_rid() / "lib/pkgconfig"
    for _ in range(2):  # the second time, the stub's own file is in the way
        monkeypatch.setenv("PKG_CONFIG_PATH", f"{folder}{os.pathsep}{tmp_path}")
        assert_success(latebind("stub", tmp_path / "z.toml", "--output", tmp_path / "stubs"))
        assert run_checked("pkg-config", "--cflags", "z").split() == ["-I/opt/z/include"]
        assert run_checked("pkg-config", "--variable=services", "z").strip() == "/opt/z/services"
        assert run_checked("pkg-config", "--modversion", "z").strip() == "1.2.3", "of the headers"
        assert "/opt/z/lib" not in run_checked("pkg-config", "--libs", "z")
        assert "-lbase" in run_checked("pkg-config", "--libs", "z"), "which programs of the library link, too"


@pytest.mark.builds
def test_the_stub_answers_to_each_name_that_pkg_config_has_for_the_library(latebind, tmp_path, monkeypatch):
    require_programs("pkg-config")
    for name, libs in {"libthing": "-L/opt -lthing", "thing2": "-lthing-2 -lutil", "user": "-luser -lthing"}.items():
        text = f"Name: {name}\nDescription: one\nVersion: 1.2.3\nLibs: {libs}\nCflags: -I/opt/{name}\n"
        (tmp_path / f"{name}.pc").write_text(text)
    described = 'name = "mine"\nentry = "f"\nversion = "none"\nadvice = "apt-get install thing"\n'
    files = 'files.linux = ["libthing-2.so.1"]\n[stub]\nfunctions = ["f"]\nfailures = { f = 0 }\nlibrary = "thing"\n'
    (tmp_path / "mine.toml").write_text(described + files)
    monkeypatch.setenv("PKG_CONFIG_PATH", str(tmp_path))

    assert_success(latebind("stub", tmp_path / "mine.toml", "--output", tmp_path / "stubs"))

    folder = tmp_path / "stubs" / host_rid() / "lib/pkgconfig"
    assert {file.stem for file in folder.iterdir()} == {"mine", "libthing", "thing2"}
    given = run_checked("pkg-config", "--cflags", "--libs", "thing2", env={"PKG_CONFIG_PATH": str(folder)}).split()
    assert {"-I/opt/thing2", "-lthing", "-lutil"} <= {*given}
    assert "-lthing-2" not in given


@pytest.mark.builds
def test_the_headers_are_also_where_debian_has_them(latebind, tmp_path, headers):
    assert_success(latebind("stub", "onnxruntime", "--headers", headers, "--output", tmp_path))
    (folder,) = tmp_path.glob("*/include")
    assert (folder / "onnxruntime_c_api.h").read_bytes() == (folder / "onnxruntime/onnxruntime_c_api.h").read_bytes()


@pytest.mark.slow  # zig compiles for another system
def test_it_has_the_same_bytes_everywhere_and_is_made_once(latebind, tmp_path):
    results = []
    for folder in (tmp_path / "one", tmp_path / "another folder"):
        command = ("stub", "onnxruntime", "--target", "linux-arm64,win-x64", "--output", folder)
        assert latebind(*command).returncode == 0
        files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
        results.append({path.relative_to(folder).as_posix(): sha256(path) for path in files})
    assert results[0] == results[1]
    libraries = {f"win-x64/lib/{folder}onnxruntime.lib" for folder in ("", "msvc/")}
    assert {"linux-arm64/lib/libonnxruntime.a", *libraries} <= set(results[0])
    assert "building" not in latebind(*command).stderr


@pytest.mark.parametrize(
    "rid",
    ["linux-x64", *(pytest.param(name, marks=pytest.mark.slow) for name in ("osx-arm64", "win-x64", "linux-arm64"))],
)
@pytest.mark.parametrize(("runtime", "minimum"), [("onnxruntime", "1.20"), ("openvino", "2025.1")])
def test_as_one_source_file_it_compiles_without_a_warning_and_exports_nothing(
    latebind, tmp_path, rid, runtime, minimum
):
    printed = assert_success(latebind("stub", runtime, "--source", "--minimum", minimum, "--output", tmp_path))
    source, header = (Path(line) for line in printed.splitlines())
    licence = (ROOT / "LICENSE").read_text("utf-8")
    assert (ROOT / "loader" / "LICENSE").read_text("utf-8") == licence
    assert licence.splitlines()[0] in source.read_text("utf-8")
    user = f'#include "{header.name}"\nint used(void) {{ lb_{runtime}_path("x"); return 0; }}\n'
    (tmp_path / "user.c").write_text(user)
    flags = ["-std=c99", "-Wall", "-Werror", "-fPIC", "-shared"]
    run_checked(*zig(rid), *flags, source, tmp_path / "user.c", "-o", tmp_path / "library")
    if rid.startswith("linux"):
        exported = {entry.name for entry in read_image((tmp_path / "library").read_bytes(), "library").exports}
        assert exported == {"used"}


TWO = """\
#include "latebind_onnxruntime.h"
#include "latebind_openvino.h"
#include <stdio.h>

const void* OrtGetApiBase(void);
int ov_core_create(void** core);

int main(void) {
  void* core = NULL;
  const int made[] = {OrtGetApiBase() != NULL, lb_onnxruntime_available("CreateEnv")};
  printf("%d %d %s\\n", made[0], made[1], lb_onnxruntime_message());
  const int failed[] = {ov_core_create(&core), lb_openvino_available(NULL)};
  printf("%d %d %s\\n", failed[0], failed[1], lb_openvino_message());
  return 0;
}
"""


@pytest.mark.builds
def test_source_files_of_several_stubs_and_of_the_loader_are_linked_into_one_program(latebind, tmp_path):
    for runtime in ("onnxruntime", "openvino"):
        assert latebind("stub", runtime, "--source", "--output", tmp_path).returncode == 0
    assert latebind("loader-source", "--single", "--runtime", "onnxruntime", tmp_path).returncode == 0
    (tmp_path / "two.c").write_text(TWO)
    options = ["-std=c99", "-Wall", "-Werror", "-ldl", "-pthread", "-o", tmp_path / "two"]
    run_checked(*zig(), *tmp_path.glob("*.c"), *options)
    for variables, bound in (({}, 0), ({"ONNXRUNTIME_LIB_PATH": str(runtime_folder())}, 1)):
        env = {"PATH": "/usr/bin", **variables}
        first, second = run_checked(tmp_path / "two", env=env).splitlines()
        assert first.startswith(f"1 {bound} " + ("" if bound else "ONNX Runtime was not found in "))
        assert second.startswith("-1 0 OpenVINO was not found in ")


THING = """
name = "thing"
entry = "thing_version"
version = "none"
files.linux = ["libthing.so"]
advice = "apt-get install thing"
stub = { functions = ["thing_version", "thing_a"], failures = { "thing_b*" = 1 } }
"""


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["openvino", "--functions", "ov_x"], "latebind already knows the functions of OpenVINO"),
        (["onnxruntme"], "onnxruntme is not a known runtime"),
        (["onnxruntime", "--headers", "empty"], "contains no header"),
        (["onnxruntime", "--source", "--headers", "empty"], "--headers goes into"),
        (["onnxruntime", "--target", "linux-x86"], "linux-x86"),
        (["onnxruntime", "--minimum", "new"], "'new' is not a version"),
        (["thing.toml"], "'thing_b*' matches no function of the stub"),
        (["both.toml"], "minimum has no effect next to variants"),
        (["onnxruntime"], "exists and was not made by latebind"),
    ],
)
def test_what_cannot_be_made_is_refused_and_nothing_is_lost(latebind, tmp_path, monkeypatch, arguments, says):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "thing.toml").write_text(THING)
    (tmp_path / "both.toml").write_text(
        f'minimum = "1.0"\n{THING}[[variants]]\nfiles.linux = ["libthing.so.1"]\nadvice = "a"\n'
    )
    user_file = tmp_path / "out" / "linux-x64" / "mine.txt"
    user_file.parent.mkdir(parents=True)
    user_file.write_text("mine")
    assert_refused(latebind("stub", *arguments, "--output", tmp_path / "out"), says)
    assert [path.name for path in (tmp_path / "out").rglob("*") if path.is_file()] == ["mine.txt"]


def test_what_all_stubs_have_is_compiled_once_and_gives_the_same_bytes(latebind, tmp_path):
    """For each target: the second library takes the object of the first from the cache."""
    env = {"LATEBIND_CACHE": str(tmp_path / "cache")}
    made = {}
    for name, folder in (("litert", "first"), ("openvino", "first"), ("litert", "second"), ("onnxruntime", "second")):
        prefix = assert_success(latebind("stub", name, "--output", tmp_path / folder, env=env)).strip()
        made[name, folder] = {path.name: sha256(path) for path in Path(prefix, "lib").glob(f"*{name}*.a")}
        assert len(list((tmp_path / "cache/objects").iterdir())) == 1, name
    assert made["litert", "first"] == made["litert", "second"]


def test_all_names_in_the_archive_are_its_own(stub):
    """Names that another archive has, too, would let the linker take parts of both."""
    (archive,) = stub.glob("lib/*.a")
    (nm,) = require_programs("nm")
    lines = run_checked(nm, "-g", "--defined-only", archive).splitlines()
    names = {line.split()[-1] for line in lines if len(line.split()) == 3}
    assert {name for name in names if PUBLIC.fullmatch(name)} == {
        f"lb_onnxruntime_{name}" for name in ("path", "available", "message", "version", "file", "report", "on_missing")
    }
    others = {name for name in names if not PUBLIC.fullmatch(name)}
    assert others
    assert all(name.startswith(("lb_in_onnxruntime_", "Ort")) for name in others), sorted(others)


@pytest.mark.skipif(host_rid() != "linux-x64", reason="not run: linker scripts are Linux's")
def test_what_the_librarys_linker_script_names_comes_with_the_stub(latebind, tmp_path):
    """As Debian's libncursesw.so names libtinfo, and programs are linked with -lncursesw alone."""
    (tmp_path / "more.c").write_text("int more(void) { return 0; }\n")
    (tmp_path / "thing.c").write_text("int thing(void) { return 0; }\n")
    (tmp_path / "use.c").write_text("int thing(void), more(void);\nint main(void) { return thing() + more(); }\n")
    folder = tmp_path / "lib"
    folder.mkdir()
    for name in ("thing", "more"):
        soname = f"lib{name}.so.1"
        run_checked("cc", "-shared", "-fPIC", f"-Wl,-soname,{soname}", f"{name}.c", "-o", folder / soname, cwd=tmp_path)
    (folder / "libmore.so").symlink_to("libmore.so.1")
    (folder / "libthing.so").write_text("/* GNU ld script */\nGROUP ( libthing.so.1 AS_NEEDED ( -lmore ) )\n")
    (tmp_path / "thing.toml").write_text(
        'name = "thing"\nentry = "thing"\nversion = "none"\nfiles.linux = ["libthing.so.1"]\nadvice = "make"\n'
        f'[stub]\nfunctions = ["{folder}/libthing.so.1"]\n'
    )
    env = {"LIBRARY_PATH": str(folder)}
    command = ("stub", tmp_path / "thing.toml", "--output", tmp_path / "stubs")
    (prefix,) = assert_success(latebind(*command, env=env)).split()
    search = [f"-L{prefix}/lib", f"-L{folder}"]
    run_checked("cc", "use.c", *search, "-lthing", "-ldl", "-o", "user", cwd=tmp_path)
    image = read_image((tmp_path / "user").read_bytes(), "user")
    assert "libmore.so.1" in image.needed
    assert "libthing.so.1" not in image.needed
    run_checked(tmp_path / "user", env={**os.environ, "LD_LIBRARY_PATH": str(folder)})
