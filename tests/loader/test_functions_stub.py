"""A program that is written for a linked C library links its stub: the same with the library, an error without it."""

import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from latebind.backend.targets import host_rid, target
from loadcheck.facts import read_image
from tests.support.building import LOADER_TESTS as HERE
from tests.support.building import ROOT, needed_compiler
from tests.support.needs import zig
from tests.support.running import assert_success, run_checked, run_program

SOURCES = HERE / "stub"
DESCRIBED = """\
name = "many"
title = "Many"
entry = "many_version"
version = "text"
minimum = "1.0"
built = "1.1"
files.linux = ["libmany.so"]
files.macos = ["libmany.dylib"]
files.windows = ["many.dll"]
advice = "apt-get install many"

[stub]
functions = ["many.h"]
failures = { many_status = 7, many_why = "message", "many_new*" = -1, many_new_stops = "abort" }
"""
NAMES = {"linux": ("libmany.so", ""), "macos": ("libmany.dylib", ""), "windows": ("many.dll", ".exe")}


def compile_c(rid, *arguments):
    run_checked(*zig(rid), "-std=c99", "-Wall", "-Werror", *arguments)


def build_program(latebind, folder, rid):
    """The program for a target, and the folders of the library in two versions."""
    for name in ("many.h", "many.c", "many_user.c"):
        shutil.copy(SOURCES / name, folder)
    (folder / "many.toml").write_text(DESCRIBED)
    ended = latebind("stub", folder / "many.toml", "--target", rid, "--output", folder)
    assert ended.returncode == 0, ended.stderr
    assert "not in the stub: 1 variable (many_number); include the header of variables" in ended.stderr
    library, suffix = NAMES[target(rid).system]
    for version, flags in (("1", ()), ("2", ("-DNEWER",))):
        (folder / version).mkdir()
        compile_c(rid, "-shared", "-fPIC", *flags, folder / "many.c", "-o", folder / version / library)
    program = folder / f"user{suffix}"
    links = [] if suffix or target(rid).system == "macos" else ["-ldl", "-pthread"]
    prefix = folder / rid
    compile_c(
        rid, f"-I{prefix / 'include'}", folder / "many_user.c", f"-L{prefix / 'lib'}", "-lmany", *links, "-o", program
    )
    return program


@pytest.fixture(scope="module")
def program(tmp_path_factory, latebind):
    return build_program(latebind, tmp_path_factory.mktemp("many"), host_rid())


def run(program, *arguments, **env):
    environment = {"PATH": os.environ["PATH"], **{key: str(value) for key, value in env.items()}}
    return run_program(program, *arguments, env=environment)


ABSENT = "Many was not found in"


def test_the_library_is_not_linked_and_all_calls_reach_it(program):
    assert not [name for name in read_image(program.read_bytes(), program.name).needed if "many" in name]
    done = run(program, "stops", MANY_LIB_PATH=program.parent / "2")
    assert (done.returncode, done.stdout) == (0, "status 0: fine\nwrong 0\nnew 0\navailable 1 1\n\n")


def test_without_the_library_each_function_gives_what_was_declared(program):
    status, new, available, sentence = assert_success(run(program)).splitlines()
    assert status == "status 7: Many is not available: LATEBIND_ON_MISSING=print", "callers copy such texts"
    assert (new, available) == ("new -1", "available 0 0")
    assert sentence.startswith(ABSENT)
    assert "Get it with: apt-get install many" in sentence
    stopped = run(program, "stops")
    assert stopped.returncode != 0
    assert stopped.stderr.startswith(f"many_new_stops was called. {ABSENT}")


def test_what_an_older_library_lacks_is_named_and_the_rest_works(program):
    done = run(program, "stops", MANY_LIB_PATH=program.parent / "1")
    says = "many_newer is not in this copy of Many; 1.0.1 is bound"
    assert done.stdout == f"status 0: fine\nwrong 0\nnew -1\navailable 1 0\n{says}\n"
    assert done.stderr == f"many_new_stops was called. {says.replace('many_newer', 'many_new_stops')}\n"
    assert done.returncode != 0


def test_what_was_bound_is_recorded_and_calls_still_arrive(program, tmp_path):
    done = run(program, MANY_LIB_PATH=program.parent / "2", LATEBIND_RECORD=tmp_path / "record")
    assert done.stdout.startswith("status 0: fine\nwrong 0\n")
    (report,) = [json.loads(line) for line in (tmp_path / "record").read_text("utf-8").splitlines()]
    assert (report["report"]["runtime"], report["report"]["version"]) == ("many", "1.1.0")


WIDE = """\
name = "wide"
title = "Wide"
entry = "wide_version"
version = "text"
minimum = "1.0"
built = "1.0"
files.linux = ["libwide.so"]
files.macos = ["libwide.dylib"]
files.windows = ["wide.dll"]
advice = "apt-get install wide"

[stub]
functions = ["libwide.so"]
"""


@pytest.fixture(scope="module")
def wide_program(tmp_path_factory, latebind):
    """The program on a library whose arguments are in registers of AVX."""
    cpuinfo = Path("/proc/cpuinfo")
    if not cpuinfo.exists() or " avx " not in cpuinfo.read_text("utf-8"):
        pytest.skip("not run: it needs Linux and a processor with AVX")
    folder, compiler = tmp_path_factory.mktemp("wide"), [needed_compiler(), "-O1"]
    (folder / "wide.toml").write_text(WIDE)
    run_checked(*compiler, "-shared", "-fPIC", SOURCES / "wide.c", "-o", folder / "libwide.so")
    ended = latebind("stub", folder / "wide.toml", "--source", "--output", folder)
    assert ended.returncode == 0, ended.stderr
    sources = [SOURCES / "wide_user.c", folder / "latebind_wide.c"]
    run_checked(*compiler, f"-I{folder}", *sources, "-o", folder / "user", "-ldl", "-pthread")
    return folder / "user"


@pytest.mark.parametrize("function", ["sum", "scale", "swap", "more"])
def test_vectors_reach_the_library_in_the_first_call(wide_program, function):
    assert run(wide_program, function, WIDE_LIB_PATH=wide_program.parent / "libwide.so").stdout == "right\n"


@pytest.mark.slow
def test_the_page_about_any_c_library_works_with_zlib(latebind, tmp_path):
    page = (ROOT / "docs" / "howto" / "stub.md").read_text("utf-8")
    (tmp_path / "zlib.toml").write_text(re.search(r"`zlib.toml`:\n\n```toml\n(.*?)```", page, re.DOTALL)[1])
    (tmp_path / "z.def").write_text(
        "LIBRARY zlib1\nEXPORTS\n  compress @3 ; a function\n  z_errmsg DATA\n  none_of_it\n"
    )
    command = ("stub", tmp_path / "zlib.toml", "--functions", tmp_path / "z.def", "--output", tmp_path)
    ended = latebind(*command)
    assert ended.returncode == 0, ended.stderr
    assert "(z_errmsg)" in ended.stderr
    calls = (
        'compressBound(100), zlibVersion(), lb_zlib_available(0), lb_zlib_available("none_of_it"), lb_zlib_message()'
    )
    (tmp_path / "user.c").write_text(
        '#include <stdio.h>\n#include "latebind/stub.h"\nLB_DECLARE_STUB(zlib);\nconst char* zlibVersion(void);\n'
        "unsigned long compressBound(unsigned long);\n"
        f'int main(void) {{ printf("%lu %s %d %d %s\\n", {calls}); return 0; }}\n'
    )
    prefix = tmp_path / host_rid()
    links = [f"-L{prefix / 'lib'}", "-lz", "-ldl", "-pthread", "-o", tmp_path / "user"]
    compile_c(host_rid(), f"-I{prefix / 'include'}", tmp_path / "user.c", *links)
    bound, version, *answers = run(tmp_path / "user").stdout.split()
    assert int(bound) > 100
    assert version.startswith("1.")
    assert answers[:3] == ["1", "0", "none_of_it"]
    absent = run(tmp_path / "user", ZLIB_LIB_PATH=tmp_path).stdout
    assert absent.startswith("0 zlib is not available: LATEBIND_ON_MISSING=print 0 0 zlib was not found at ")
    assert f" {tmp_path}, which ZLIB_LIB_PATH names" in absent


@pytest.mark.parametrize("rid", [pytest.param(name, marks=pytest.mark.slow) for name in ("osx-arm64", "osx-x64")])
def test_programs_for_macos_link_and_need_nothing_of_it(latebind, tmp_path, rid):
    if sys.platform == "darwin":
        pytest.skip("not run: it is for other systems")
    image = read_image(build_program(latebind, tmp_path, rid).read_bytes(), "user")
    assert not [name for name in image.needed if "many" in name]
    assert not [symbol for symbol in image.imports if symbol.name.startswith(("many", "_many", "lb_"))]
