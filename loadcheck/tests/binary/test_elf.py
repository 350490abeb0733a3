import shutil

import pytest

from corpus.packages import GLIBC, GOOD, USER
from corpus.processes import run_checked
from loadcheck.binary import Export, Import, read_image, sniff
from loadcheck.errors import InputError


def image(path):
    library = read_image(path.read_bytes(), path.name)
    assert library is not None
    return library


def test_identity_of_a_library(bench):
    library = image(bench.compiler.library(GOOD, "-Wl,-soname,liblatenn.so", "-Wl,--build-id=0x00ff00aa"))

    assert (library.format, library.file_type, library.arch, library.soname) == (
        "elf",
        "shared",
        "x86_64",
        "liblatenn.so",
    )
    assert library.needed == ("libc.so.6",)
    assert library.version_needs == {"libc.so.6": ("GLIBC_2.2.5",)}
    assert library.libc == "glibc"
    assert library.build_id == "00ff00aa"
    assert library.is_bound_at_once
    assert [library.exec_stack, library.text_relocations, library.has_debug_info] == [False] * 3


def test_imports_name_symbol_version_library_and_kind(bench):
    library = image(bench.compiler.library(USER, bench.runtime()))
    assert (
        Import(name="OrtGetApiBase", version="VERS_1.19.2", library="libonnxruntime.so.1", kind="normal")
        in library.imports
    )


def test_weak_imports(bench):
    source = "__attribute__((weak)) extern int maybe(void);\nint f(void) { return maybe ? maybe() : 0; }\n"
    assert Import(name="maybe", kind="weak") in image(bench.compiler.library(source)).imports


def test_exports_name_kind_and_version(bench):
    library = image(bench.runtime())
    assert library.exports == (Export(name="OrtGetApiBase", kind="func", version="VERS_1.19.2"),)

    source = "int latenn_data = 1;\n__attribute__((weak)) int latenn_weak(void) { return 1; }\n"
    library = image(bench.compiler.library(source))
    assert set(library.exports) == {
        Export(name="latenn_data", kind="data"),
        Export(name="latenn_weak", kind="func", is_weak=True),
    }


@pytest.mark.parametrize("style", ["gnu", "sysv"])
@pytest.mark.parametrize("target", [GLIBC, "x86-linux-gnu.2.28"])
def test_a_library_with_one_hash_table_and_no_section_headers_has_the_same_symbols(bench, target, style):
    source = f"extern int odd(void);\n{GOOD}int latenn_f(void) {{ return odd(); }}\n"
    whole = bench.compiler.library(source, f"-Wl,--hash-style={style}", "-Wl,-z,undefs", target=target)
    data = bytearray(whole.read_bytes())
    for start, end in ((40, 48), (60, 64)) if data[4] == 2 else ((32, 36), (48, 52)):  # e_shoff; e_shnum, e_shstrndx
        data[start:end] = bytes(end - start)

    bare = read_image(bytes(data), "x.so")

    assert bare.exports == image(whole).exports != ()
    assert bare.imports == image(whole).imports
    assert "odd" in {symbol.name for symbol in bare.imports}


def test_rpath_and_runpath_are_kept_apart(bench):
    source = "int f(void) { return 1; }\n"
    flags = ("-Wl,-rpath,/a:$ORIGIN",)
    assert image(bench.compiler.library(source, *flags)).runpath == ("/a", "$ORIGIN")
    old = image(bench.compiler.library(source, *flags, "-Wl,--disable-new-dtags"))
    assert (old.rpath, old.runpath) == (("/a", "$ORIGIN"), ())


def test_a_program_has_an_interpreter(bench):
    program = image(bench.compiler.program("int main(void) { return 0; }\n"))
    assert program.interpreter.startswith("/lib64/ld-linux")


@pytest.mark.parametrize("length", [4, 20, 63, 64, 200, 400])
def test_a_cut_off_library_is_refused(bench, length):
    with pytest.raises(InputError, match=r"liblatenn\.so"):
        read_image(bench.good()[:length], "liblatenn.so")


def test_other_files_are_no_images():
    assert read_image(b"", "x") is None
    assert read_image(b"PK\3\4", "x") is None
    assert read_image(b"MZ" + bytes(100), "x") is None


def test_java_classes_are_not_mach_o():
    assert sniff(bytes.fromhex("cafebabe00000034")) is None
    assert sniff(bytes.fromhex("cafebabe 00000034 0010 0a")) is None
    assert sniff(bytes.fromhex("cafebabe 00000034 01000007")) == "macho"
    assert sniff(bytes.fromhex("cafebabe00000002")) == "macho"


def test_assembler_symbols_without_a_type_are_told_by_their_place(bench):
    text = '.section .note.GNU-stack,"",@progbits\n.text\n.globl code\ncode: ret\n.data\n.globl room\nroom: .quad 0\n'
    library = image(bench.compiler.link_object(bench.compiler.thing(text, file="x.s")))
    assert {export.name: export.kind for export in library.exports} == {"code": "func", "room": "data"}


def test_debug_symbols_that_were_split_off_are_not_a_cut_off_library(bench, tmp_path):
    library = bench.compiler.library(GOOD + "int x[5000] = {1};\n", "-g")
    objcopy = shutil.which("objcopy")
    if objcopy is None:
        pytest.skip("not run: there is no objcopy here: apt-get install binutils")
    run_checked(objcopy, "--only-keep-debug", library, tmp_path / "x.debug")

    image = read_image((tmp_path / "x.debug").read_bytes(), "x.debug")

    assert image.file_type == "object"


def test_level_that_the_linker_wrote_into_the_notes(bench, tmp_path):
    linker = shutil.which("ld.bfd")
    if linker is None:
        pytest.skip("not run: there is no linker of GNU here: apt-get install binutils")
    thing = bench.compiler.thing(GOOD)
    levels = {}
    for level in ("x86-64-v2", "x86-64-v3", "x86-64-v4"):
        run_checked(linker, "-shared", "-z", level, thing, "-o", tmp_path / level)
        levels[level] = image(tmp_path / level).isa

    assert levels == {level: level for level in levels}
    assert image(bench.compiler.library(GOOD)).isa == ""
