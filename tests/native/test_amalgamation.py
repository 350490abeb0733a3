"""The loader as one C file: compiled for each target, bound to a real runtime from C++, with described runtimes."""

import importlib.metadata
import re
import subprocess
import sys

import pytest

import latebind as package
from latebind.backend.toolchain import require
from loadcheck.facts import read_image
from tests.conftest import ROOT
from tests.support.needs import require_programs, runtime_folder, zig
from tests.support.running import assert_refused, assert_success
from tests.support.thingclient import DESCRIBED, SOURCE, build_thing, write_thing_client

STRICT = ["-O1", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fPIC"]
FLOOR = "2.28" if sys.platform == "linux" else ""
"""As new projects have it: zig has the C++ library for that."""
OTHERS = ("linux-arm64", "osx-x64", "osx-arm64", "win-x64", "win-arm64")


def run(*command, **options):
    done = subprocess.run(
        [str(argument) for argument in command], capture_output=True, text=True, check=False, **options
    )
    assert done.returncode in (0, 1), done.stderr
    return done


def assert_compiles(*command):
    done = run(*command)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.fixture(scope="module")
def single(latebind, tmp_path_factory):
    """The folder of the files, with every preset."""
    folder = tmp_path_factory.mktemp("single")
    presets = [argument for name in ("onnxruntime", "openvino", "litert") for argument in ("--runtime", name)]
    printed = latebind("loader-source", "--single", *presets, folder)
    assert printed.stdout.split() == [str(folder / f"latebind.{kind}") for kind in ("c", "h", "hpp")], printed.stderr
    return folder


@pytest.mark.parametrize("rid", ["linux-x64", *(pytest.param(rid, marks=pytest.mark.slow) for rid in OTHERS)])
def test_it_compiles_for_every_target_without_a_warning(single, tmp_path, rid):
    assert_compiles(*zig(rid), "-std=c99", *STRICT, "-c", single / "latebind.c", "-o", tmp_path / "latebind.o")


PRESETS = ("onnxruntime", "openvino", "nvrtc", "mpi", "torch")


@pytest.mark.parametrize("name", PRESETS)
def test_the_stub_compiles_with_the_headers_of_musl_alone(latebind, tmp_path, name):
    """Alpine has those of Linux (linux/magic.h) in a package of their own, which compiles no less."""
    (compiler,) = require_programs("musl-gcc")
    assert_success(latebind("stub", name, "--source", "--output", tmp_path))
    source = tmp_path / f"latebind_{name}.c"
    assert_compiles(compiler, "-std=c99", *STRICT, "-c", source, "-o", tmp_path / "stub.o")


def test_each_header_that_may_be_absent_is_needed_by_none(single, tmp_path):
    """In the one file, a header that a system lacks is left out: each of those that Linux reads is there on musl."""
    (compiler,) = require_programs("musl-gcc")
    text = (single / "latebind.c").read_text("utf-8")
    optional = set(re.findall(r"__has_include\((<[^>]+>)\)", text))
    read = run(compiler, "-H", "-E", "-o", tmp_path / "text", single / "latebind.c").stderr
    missing = {name for name in optional if f"/{name[1:-1]}\n" not in read}
    others = {"<config.h>", "<crt_externs.h>", "<mach-o/dyld.h>", "<mach/mach.h>", "<sys/acl.h>", "<windows.h>"}
    assert missing == others & optional


def test_it_has_its_version_and_licence(single):
    licence = (ROOT / "LICENSE").read_text("utf-8").splitlines()[0]
    assert all(licence in (single / name).read_text("utf-8") for name in ("latebind.c", "latebind.h"))
    assert f'#define LATEBIND_VERSION "{package.__version__}"' in (single / "latebind.h").read_text("utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("compiler", ["system", "zig"])
def test_a_cpp_program_binds_onnx_runtime_and_catches_why_it_cannot(single, tmp_path, compiler):
    """The program is that of the loader's page."""
    page = (ROOT / "loader" / "README.md").read_text("utf-8")
    program = page.partition("`which_runtime.cpp`:\n\n```cpp\n")[2].partition("```")[0]
    (tmp_path / "program.cpp").write_text(program)
    if compiler == "system":
        cc, cxx = ([name] for name in require_programs("cc", "c++"))
    else:
        cc, cxx = (zig(tool=tool, floor=FLOOR) for tool in ("cc", "c++"))
    assert_compiles(*cc, "-std=c99", *STRICT, "-c", single / "latebind.c", "-o", tmp_path / "latebind.o")
    options = [
        "-std=c++11",
        *STRICT,
        "-I",
        single,
        tmp_path / "program.cpp",
        tmp_path / "latebind.o",
        "-ldl",
        "-pthread",
    ]
    assert_compiles(*cxx, *options, "-o", tmp_path / "program")
    version = importlib.metadata.version("onnxruntime")

    bound, absent = (run(tmp_path / "program", *arguments, env={}) for arguments in ((runtime_folder(),), ()))

    assert bound.stdout.startswith(f"ONNX Runtime {version} is bound from "), bound.stdout
    assert absent.returncode == 1
    assert re.match(r"ONNX Runtime was not found in .*version 1\.19 or newer is needed", absent.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("standard", ["c++11", "c++20"])
def test_the_wrapper_works_without_exceptions_and_leaks_nothing(single, tmp_path, standard):
    cc, cxx = require_programs("cc", "c++")
    (tmp_path / "program.cpp").write_text(QUIET)
    watch = ["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    assert_compiles(cc, "-std=c99", *STRICT, *watch, "-c", single / "latebind.c", "-o", tmp_path / "latebind.o")
    flags = [f"-std={standard}", "-fno-exceptions", *STRICT, *watch, "-I", single, tmp_path / "program.cpp"]
    assert_compiles(cxx, *flags, tmp_path / "latebind.o", "-ldl", "-pthread", "-o", tmp_path / "program")
    done = run(tmp_path / "program", env={})
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("not-found 0 0 1 1 ONNX Runtime was not found at /nowhere")


QUIET = """
#include <cstdio>
#include "latebind.hpp"

static latebind::binding ort(lb_onnxruntime);

int main() {
  latebind::options options;
  options.path = "/nowhere";
  latebind::report why;
  const lb_outcome outcome = ort.bind(why, options);
  latebind::report moved = std::move(why);
  why = latebind::report();
  const bool none = !ort.entry<const void*()>() && !ort.symbol<void()>("OrtGetApiBase");
  std::printf("%s %d %u %d %d %s\\n", lb_outcome_name(outcome), ort ? 1 : 0, ort.version().major,
              none, std::strlen(moved.json()) > 2, moved->message);
}
"""


def test_as_an_installed_library_it_is_found_by_pkg_config(tmp_path):
    """The program is that of the loader's page."""
    compiler, tool = require_programs("cc", "pkg-config")
    cmake, tree, prefix = require("cmake"), tmp_path / "tree", tmp_path / "prefix"
    options = ["-S", ROOT / "loader" / "library", "-B", tree, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"]
    run(cmake, *options, f"-DCMAKE_MAKE_PROGRAM={require('ninja')}")
    run(cmake, "--build", tree)
    run(cmake, "--install", tree, "--prefix", prefix)
    environment = {"PKG_CONFIG_PATH": prefix / "lib" / "pkgconfig"}
    assert run(tool, "--modversion", "latebind", env=environment).stdout == f"{package.__version__}\n"
    flags = run(tool, "--cflags", "--libs", "latebind", env=environment).stdout.split()
    page = (ROOT / "loader" / "README.md").read_text("utf-8")
    (tmp_path / "program.c").write_text(page.partition("`which_runtime.c`:\n\n```c\n")[2].partition("```")[0])

    assert_compiles(compiler, "-std=c99", *STRICT, tmp_path / "program.c", *flags, "-o", tmp_path / "program")

    assert "API version " in run(tmp_path / "program", runtime_folder(), env={}).stdout


def test_a_described_runtime_and_its_minimum_are_part_of_it(latebind, tmp_path):
    project = write_thing_client(tmp_path / "tiny", DESCRIBED)
    assert_success(latebind("-C", project, "loader-source", "--single", tmp_path))
    (tmp_path / "tiny.c").write_text(SOURCE.replace("latebind/thing.h", "latebind.h") + MAIN)
    old = build_thing(tmp_path / "old", "text", (2, 0, 9)).parent
    assert_compiles(
        "cc", "-std=c99", *STRICT, tmp_path / "tiny.c", tmp_path / "latebind.c", "-ldl", "-o", tmp_path / "tiny.so"
    )
    exported = {export.name for export in read_image((tmp_path / "tiny.so").read_bytes(), "tiny").exports}
    assert not [name for name in exported if name.startswith("lb_")]
    assert "The Thing 2.0.9" in run(tmp_path / "tiny.so", old).stdout
    assert (
        "The Thing 2.3.4" in run(tmp_path / "tiny.so", build_thing(tmp_path / "new", "text", (2, 3, 4)).parent).stdout
    )


MAIN = """
int main(int count, char** words)
{
  char text[4000];
  const int outcome = tiny_open(count > 1 ? words[1] : "", text, sizeof text);
  puts(text);
  return outcome != 0;
}
"""


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--runtime", "onnxruntime"], "--runtime is for --single"),
        (["--single", "--runtime", "onnxruntme"], "onnxruntme is not a known runtime"),
        (["--single"], "no latebind.toml"),
    ],
)
def test_what_cannot_be_written_is_refused(latebind, tmp_path, arguments, says):
    assert_refused(latebind("-C", tmp_path, "loader-source", *arguments, tmp_path / "out"), says)
    assert not (tmp_path / "out").exists()
