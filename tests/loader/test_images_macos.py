"""images_macos.c where there is no Mac: on Linux, with a stand-in for dyld whose images vanish after they were listed.

On a Mac other threads load and unload at any moment. That it compiles for macOS is shown by test_targets_native.py.
"""

import sys

import pytest

from tests.support.building import LOADER_TESTS as HERE
from tests.support.building import ROOT, needed_compiler
from tests.support.running import run_checked, run_program

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="not run: the stand-in is made of Linux's own calls")


@pytest.fixture(scope="module")
def dyld(tmp_path_factory):
    compiler = needed_compiler()
    program = tmp_path_factory.mktemp("dyld") / "dyld"
    folders = [f"-I{HERE / 'dyld'}", f"-I{ROOT / 'loader/src'}", f"-I{ROOT / 'loader/include'}"]
    sources = [HERE / "dyld/dyld.c", *(ROOT / "loader/src" / f"{name}.c" for name in ("images_macos", "memory"))]
    flags = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-g", "-DRTLD_FIRST=0", "-D_GNU_SOURCE", *folders]
    run_checked(compiler, *flags, *sources, "-o", program, "-ldl")
    return program


def test_images_that_are_unloaded_meanwhile_are_passed_over(dyld, plain):
    path = plain.stand_in("good")
    done = run_program(dyld, path, "OrtGetApiBase")
    assert (done.returncode, done.stdout) == (0, f"{path} 1 1\n")


def test_a_library_that_only_hands_on_the_symbol_is_none(dyld, plain):
    done = run_program(dyld, plain.stand_in("wrapper"), "OrtGetApiBase")
    assert (done.returncode, done.stdout) == (0, f"{plain.stand_in('good')} 1 1\n")
