"""The objects of a stub for Linux, copied from those that the compiler wrote, as LIEF and ar read them."""

import struct
import subprocess

import lief
import pytest

from latebind.backend.members import FAILURES, Object, Part, Row, add_members, describe_names, rename
from latebind.backend.stub import COMMON, PART
from latebind.config.runtime import RuntimeUse
from latebind.native.amalgamation import stub_sources
from latebind.native.stublibrary import stub_source
from latebind.system.resources import folder as resource
from tests.support.needs import zig
from tests.support.running import run_checked

ROW = Row("thing_open", "NAN", -7, (2, 11, 300))
ROWS = "lb_in_litert_parts"
TARGETS = ("linux-x64", "linux-arm64", "linux-arm", "linux-riscv64")


OPTIONS = ["-std=c99", "-Wall", "-Wno-unused-const-variable", "-Werror", "-fPIC", "-fvisibility=hidden", "-g0", "-Os"]


@pytest.fixture(scope="module", params=TARGETS)
def objects(request, tmp_path_factory):
    """A folder with the objects of LiteRT's stub: what all stubs have, and one function."""
    folder = tmp_path_factory.mktemp(f"{request.param}_")
    source, _ = stub_source(RuntimeUse(preset="litert", minimum="2.0", drop_in=True), folder)
    texts = stub_sources(resource("loader"), source)
    for name, options in ((COMMON, ()), (PART, ["-DLATEBIND_PARTS"])):
        (folder / name).write_text(texts[name])
        target = (folder / name).with_suffix(".o")
        run_checked(*zig(request.param), *OPTIONS, *options, "-c", folder / name, "-o", target)
    return folder


@pytest.fixture(scope="module")
def part(objects):
    """The object of one function of LiteRT's stub."""
    return objects / "part.o"


@pytest.fixture(scope="module")
def common(objects):
    """The object of what all stubs have."""
    return objects / "common.o"


def read(data):
    elf = lief.ELF.parse(list(data))
    return elf, {symbol.name: symbol for symbol in elf.symtab_symbols if symbol.name}


def contents(elf):
    """The bytes of each section that a copy does not change, by name."""
    changed = {"", ".symtab", ".strtab", ".rodata.late_name", ROWS}
    return {section.name: bytes(section.content) for section in elf.sections if section.name not in changed}


def test_a_copy_has_the_name_and_the_row_of_its_function_and_all_else_as_it_was(part):
    before, named = read(part.read_bytes())
    after, renamed = read(Part(part.read_bytes()).copy(ROW))

    function, template = renamed["thing_open"], named["late_function"]
    assert (function.value, function.shndx, function.type) == (template.value, template.shndx, template.type)
    assert function.binding == lief.ELF.Symbol.BINDING.WEAK
    assert function.visibility == lief.ELF.Symbol.VISIBILITY.HIDDEN
    assert renamed.keys() - {"thing_open"} == named.keys() - {"late_function"}
    assert bytes(after.get_section(".rodata.late_name").content) == b"thing_open\0"
    assert contents(after) == contents(before)

    row = bytes(after.get_section(ROWS).content)
    size = 8 if after.header.identity_class == lief.ELF.Header.CLASS.ELF64 else 4
    assert row[: 2 * size] == bytes(before.get_section(ROWS).content)[: 2 * size], "where the linker writes addresses"
    assert int.from_bytes(row[2 * size : 3 * size], "little", signed=True) == ROW.number
    assert struct.unpack_from("<4I", row, 3 * size) == (FAILURES.index(ROW.failure), *ROW.since)


def test_what_all_stubs_have_gets_the_names_of_one_and_is_otherwise_as_it_was(common):
    before, named = read(common.read_bytes())
    after, renamed = read(Object(common.read_bytes()).renamed(lambda name: rename(name, "thing", ["lb_read_text"])))

    own = {name for name in named if name.startswith("lb_")}
    assert {"lb_stub_bind", "lb_read_text", "lb_allocate"} <= own
    assert renamed.keys() == named.keys() - own | {
        "lb_thing_read_text" if name == "lb_read_text" else f"lb_in_thing_{name.removeprefix('lb_')}" for name in own
    }
    for name, symbol in named.items():
        copied = renamed[rename(name, "thing", ["lb_read_text"])]
        assert (copied.value, copied.size, copied.shndx) == (symbol.value, symbol.size, symbol.shndx), name
    assert contents(after) == contents(before)


def test_ar_and_a_linker_find_each_object_in_the_library(common, part, tmp_path):
    library, compiler = tmp_path / "libthing.a", zig(common.parent.name.split("_")[0])
    zig_program = compiler[0]
    (tmp_path / "first.c").write_text("int first(void) { return 1; }\n")
    run_checked(*compiler, "-fPIC", "-c", "first.c", "-o", "first.o", cwd=tmp_path)
    run_checked(zig_program, "ar", "rcs", library, tmp_path / "first.o")
    (tmp_path / "names.json").write_text(describe_names("thing", [], [ROW, Row("b", "ABORT", 0, (1, 0, 0))]))
    add_members(library, tmp_path / "names.json", common, part)
    run_checked(zig_program, "ranlib", "-D", library)

    listed = subprocess.run([zig_program, "ar", "t", library], capture_output=True, text=True, check=True).stdout
    assert listed.split() == ["first.o", "0.o", "1.o", "2.o"]
    link = [*compiler, "-g", "-shared", "-nostdlib", "-fPIC", library, "-o", "made.so"]
    for name in ("first", "lb_in_thing_allocate", "thing_open", "b"):
        run_checked(*link, f"-Wl,-u,{name}", cwd=tmp_path)
        assert name in read((tmp_path / "made.so").read_bytes())[1]


def test_another_file_is_refused(tmp_path):
    (tmp_path / "other.c").write_text("int other = 1;\n")
    run_checked(*zig("linux-x64"), "-c", tmp_path / "other.c", "-o", tmp_path / "other.o")

    with pytest.raises(ValueError, match=r"no section \.rodata\.late_name"):
        Part((tmp_path / "other.o").read_bytes())
    with pytest.raises(ValueError, match="no ELF file"):
        Part(b"MZ" + bytes(100))
