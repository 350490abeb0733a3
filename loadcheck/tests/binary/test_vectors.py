import shutil

import pytest
from tests.audit.cases.instructions import ASKS, INIT, KERNEL, SOURCE
from tests.processes import run_checked

from loadcheck.binary import read_image

DISPATCHING = SOURCE.replace("void latenn_f", '__attribute__((target_clones("avx2", "default"))) void latenn_f')
CHOOSING = 'int latenn_asks(void) { __builtin_cpu_init(); return __builtin_cpu_supports("avx2"); }\n'


@pytest.fixture
def compile_by_gcc(tmp_path):
    gcc = shutil.which("gcc")
    if gcc is None:
        pytest.skip("not run: there is no GCC here: apt-get install gcc")

    def make(source, *flags):
        (tmp_path / "x.c").write_text(source)
        run_checked(gcc, "-shared", "-fPIC", "-O2", *flags, tmp_path / "x.c", "-o", tmp_path / "x.so")
        return read_image((tmp_path / "x.so").read_bytes(), "x.so").vector_code

    return make


@pytest.mark.parametrize("flag", ["-mavx", "-mavx2", "-march=x86-64-v3", "-march=skylake-avx512"])
def test_code_that_gcc_compiled_for_newer_processors_as_a_whole(compile_by_gcc, flag):
    code = compile_by_gcc(SOURCE, flag)
    assert (code.share, code.chooses, code.at_load) == (100, False, "")


@pytest.mark.parametrize("source", [SOURCE, DISPATCHING, SOURCE + KERNEL + CHOOSING], ids=["plain", "clones", "asks"])
def test_code_for_every_processor(compile_by_gcc, source):
    assert compile_by_gcc(source) is None


def test_kernels_alone_are_chosen_by_a_library_that_asks(compile_by_gcc):
    code = compile_by_gcc(KERNEL + CHOOSING)
    assert (code.chooses, code.at_load, code.wide) == (True, "", 0)


@pytest.mark.parametrize("flag", ["-Wl,-z,pack-relative-relocs", "-Wl,-z,nopack-relative-relocs"])
def test_constructors_are_found_with_either_kind_of_relocation(compile_by_gcc, flag):
    start = INIT.replace("void *PyInit", "__attribute__((constructor)) static void *start")
    assert "in .init_array" in compile_by_gcc(SOURCE + ASKS + start, "-mavx2", flag).at_load


def test_file_without_section_headers_gives_the_same(compile_by_gcc, tmp_path):
    code = compile_by_gcc(SOURCE + INIT, "-mavx2")
    data = bytearray((tmp_path / "x.so").read_bytes())
    data[40:48] = bytes(8)  # e_shoff
    data[60:64] = bytes(4)  # e_shnum, e_shstrndx

    assert read_image(bytes(data), "x.so").vector_code.at_load == code.at_load == "PyInit__fast"
