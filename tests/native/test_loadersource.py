"""C for a runtime that latebind.toml describes: built by latebind or by CMake alone, and bound for what it is."""

import ctypes
import os
import shutil
import sys

import pytest

from latebind.backend.targets import host_rid
from latebind.config.described import libraries
from latebind.config.file import load
from latebind.config.project import read_project
from latebind.errors import BuildError
from latebind.native.loadersource import runtime_header, write_sources
from latebind.native.nativerecipe import hash_sources
from latebind.system.resources import cmake_dir
from tests.support.client import edit, stage_project
from tests.support.needs import require_programs
from tests.support.running import assert_refused, assert_success, run_checked
from tests.support.thingclient import CMAKE, DESCRIBED, OWN_READER, SOURCE, TELLS, build_thing, write_thing_client

ON_LINUX = pytest.mark.skipif(host_rid() != "linux-x64", reason="not run: the runtime here is one of Linux on x64")

OPENSSL = """\
#include <stdio.h>
#include "latebind/latebind.h"

typedef unsigned (*number_function)(void);

/* The entry symbol is OPENSSL_version_major, which OpenSSL has had since 3.0. */
int lb_openssl_read_version(void* entry, char* text, size_t size) {
  number_function major = (number_function)entry;
  number_function minor = (number_function)lb_image_symbol(entry, "OPENSSL_version_minor");
  number_function patch = (number_function)lb_image_symbol(entry, "OPENSSL_version_patch");
  if (!minor || !patch) return 1;
  return snprintf(text, size, "%u.%u.%u", major(), minor(), patch()) < 1;
}
"""


def open_library(library, folder, **environment):
    """What binding says, and its outcome; in a process of its own, since a library stays for its life."""
    ask = (
        "import ctypes, sys; text = ctypes.create_string_buffer(4000)\n"
        "print(ctypes.CDLL(sys.argv[1]).tiny_open(sys.argv[2].encode(), text, ctypes.c_size_t(4000)))\n"
        "print(text.value.decode())"
    )
    printed = run_checked(sys.executable, "-c", ask, library, folder, env={**os.environ, **environment})
    outcome, _, sentence = printed.partition("\n")
    return int(outcome), sentence.strip()


@pytest.mark.slow
@ON_LINUX
@pytest.mark.parametrize("form", TELLS)
def test_a_described_runtime_is_bound_and_an_old_one_refused(tmp_path, form):
    source = SOURCE + (OWN_READER if form == "own" else "")
    project = write_thing_client(tmp_path / "tiny", DESCRIBED.replace('"text"', f'"{form}"'), tiny=source)
    (library,) = stage_project(project).libraries("tiny")

    good = open_library(library, build_thing(tmp_path / "good", form, (2, 3, 4)).parent)
    old = open_library(library, build_thing(tmp_path / "old", form, (2, 0, 9)).parent)
    other = open_library(library, build_thing(tmp_path / "other", form, (3, 0, 0)).parent)
    absent = open_library(library, tmp_path)

    assert good[0] == 0
    assert "The Thing 2.3.4" in good[1]
    assert "The Thing 2.0.9" in old[1]
    assert "is too old; version 2.1 or newer" in old[1]
    assert "another major version" in other[1]
    assert "The Thing was not found" in absent[1]
    assert 'pip install "thing-runtime>=2.1"' in absent[1]


@pytest.mark.builds
@ON_LINUX
def test_a_version_in_several_functions_is_read_from_the_same_library(tmp_path):
    """With OpenSSL."""
    described = DESCRIBED.replace("thing_version", "OPENSSL_version_major").replace('"text"', '"own"')
    described = (
        described.replace("libthing", "libcrypto")
        .replace('"2.1"', '"3.0"')
        .replace('"2.9"', '"3.9"')
        .replace('"thing"', '"openssl"')
    )
    source = OPENSSL + SOURCE.replace("lb_thing", "lb_openssl").replace("/thing.h", "/openssl.h")
    project = write_thing_client(
        tmp_path / "tiny", described, tiny=source, cmakelists=CMAKE.replace("thing", "openssl")
    )
    config = (project / "latebind.toml").read_text("utf-8").replace('runtime = "thing"', 'runtime = "openssl"')
    (project / "latebind.toml").write_text(config, encoding="utf-8")
    (library,) = stage_project(project).libraries("tiny")

    system = open_library(library, tmp_path)
    if "was not found" in system[1]:
        pytest.skip("not run: this system has no OpenSSL 3: apt-get install libssl3")
    tell = ctypes.CDLL("libcrypto.so.3").OpenSSL_version
    tell.restype = ctypes.c_char_p
    assert system[0] == 0
    assert f"The Thing {tell(0).split()[1].decode()}" in system[1]
    lone = tmp_path / "lone"
    lone.mkdir()
    (lone / "lone.c").write_text("unsigned OPENSSL_version_major(void) { return 3; }\n")
    run_checked(shutil.which("cc"), "-shared", "-fPIC", "-o", lone / "libcrypto.so", lone / "lone.c")
    assert "does not tell its version" in open_library(library, lone, OPENSSL_LIB_PATH=lone)[1]


@pytest.mark.builds
@ON_LINUX
def test_a_library_without_the_entry_is_not_the_runtime(tmp_path):
    (library,) = stage_project(write_thing_client(tmp_path / "tiny")).libraries("tiny")
    folder = tmp_path / "stranger"
    build_thing(folder, "text", (2, 3, 4))
    (folder / "thing.c").write_text("int something_else(void) { return 0; }\n")
    run_checked(shutil.which("cc"), "-shared", "-fPIC", "-o", folder / "libthing.so", folder / "thing.c")
    assert "thing_version" in open_library(library, folder)[1]


@pytest.mark.slow
@pytest.mark.parametrize("rid", ["osx-arm64", "win-x64"])
def test_it_compiles_for_the_other_systems(tmp_path, rid):
    files = 'files.macos = ["libthing.dylib"]\nfiles.windows = ["thing.dll"]\nfiles.linux'
    described = DESCRIBED.replace("files.linux", files).replace('"text"', '"four-numbers"')
    project = write_thing_client(tmp_path / "tiny", described)
    edit(project / "latebind.toml", '["linux-x64"]', f'["{rid}"]')
    assert stage_project(project, rid).libraries("tiny")


@pytest.mark.builds
@ON_LINUX
def test_another_description_is_another_build(tmp_path):
    project = write_thing_client(tmp_path / "tiny")
    file = project / "latebind.toml"
    before, (library,) = hash_sources(read_project(file, project)), stage_project(project).libraries("tiny")
    first = library.read_bytes()
    edit(file, "The Thing", "Another Thing")

    assert hash_sources(read_project(file, project)) != before
    (library,) = stage_project(project).libraries("tiny")
    assert b"Another Thing" in library.read_bytes()
    assert b"Another Thing" not in first


@pytest.mark.builds
@ON_LINUX
def test_cmake_alone_builds_with_what_loader_source_wrote(tmp_path, latebind):
    project, sources = write_thing_client(tmp_path / "tiny"), tmp_path / "made"
    ended = latebind("-C", project, "loader-source", sources)
    assert ended.stdout.split() == [str(sources / "latebind/thing.h"), str(sources / "thing.c")]
    cmake, *_ = require_programs("cmake", "ninja", "cc")
    folder = latebind("--cmake-dir").stdout.strip()
    options = [cmake, "-S", project / "native", "-B", tmp_path / "out", "-G", "Ninja", f"-Dlatebind_DIR={folder}"]
    strict = "-DCMAKE_C_FLAGS=-std=c99 -Wall -Wextra -Wpedantic -Wvla -Werror"
    run_checked(*options, f"-DLATEBIND_DESCRIBED={sources}", strict)
    run_checked(cmake, "--build", tmp_path / "out")
    assert ctypes.CDLL(str(tmp_path / "out/libtiny.so")).tiny_open


def test_a_runtime_that_nobody_described_is_refused_with_what_to_do(tmp_path):
    cmake = (write_thing_client(tmp_path / "tiny") / "native/CMakeLists.txt").read_text("utf-8")
    project = write_thing_client(tmp_path / "tiny", cmakelists=cmake.replace("tiny thing)", "tiny thong)"))
    with pytest.raises(BuildError) as caught:
        stage_project(project)
    assert '"thong" is not a runtime that latebind knows. Known:' in " ".join(caught.value.message.split())
    assert "[runtime.describe]" in caught.value.message


def test_a_project_of_presets_needs_no_source(tiny, latebind, tmp_path):
    assert_refused(latebind("-C", tiny, "loader-source", tmp_path / "made"), "no runtime is described here")
    assert not (tmp_path / "made").exists()


def test_unchanged_files_keep_their_time(tmp_path):
    config = load(write_thing_client(tmp_path / "tiny") / "latebind.toml")
    sources = write_sources(config, tmp_path / "made")
    before = [path.stat().st_mtime_ns for path in sources]
    assert write_sources(config, tmp_path / "made") == sources
    assert [path.stat().st_mtime_ns for path in sources] == before


@pytest.mark.parametrize(
    ("chosen", "names"),
    [((), ["_runtime.py"]), (("litert", "openvino"), ["_litert_runtime.py", "_openvino_runtime.py"])],
)
def test_a_python_package_gets_the_module_that_finds_its_runtime(latebind, tmp_path, chosen, names):
    project = write_thing_client(tmp_path / "tiny")
    options = [word for name in chosen for word in ("--runtime", name)]
    assert_success(latebind("-C", project, "loader-source", "--python", *options, tmp_path / "made"))
    texts = {path.name: path.read_text("utf-8") for path in (tmp_path / "made").iterdir()}
    assert sorted(texts) == names
    for text in texts.values():
        module = {"__name__": "runtime"}
        exec(text, module)  # noqa: S102  # its text is ours
        assert module["DISTRIBUTIONS"]


@pytest.mark.builds
@pytest.mark.parametrize(("system", "advised"), [("linux", "apt-get"), ("windows", "sounddevice")])
def test_a_variant_that_a_system_lacks_is_not_advised_there(tmp_path, system, advised):
    """PyPI's sounddevice has no PortAudio for Linux."""
    (tmp_path / "p.c").write_text(runtime_header(libraries()["portaudio"], "19.5", "a test"))
    zig_cc = [sys.executable, "-m", "ziglang", "cc", "-target", f"x86_64-{system}-gnu", f"-I{cmake_dir() / 'include'}"]
    text = run_checked(*zig_cc, "-E", "-P", tmp_path / "p.c")
    assert [word for word in ("apt-get", "sounddevice") if word in text] == [advised]
