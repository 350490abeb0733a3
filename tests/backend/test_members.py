"""The objects of a stub's functions, copied from one that the compiler wrote, as LIEF reads them."""

import json
import struct

import lief
import pytest

from latebind.backend.members import FAILURES, NAMES, Part, Row, write_members
from latebind.config.runtime import RuntimeUse
from latebind.native.amalgamation import part_source
from latebind.native.stublibrary import stub_source
from latebind.system.resources import folder as resource
from tests.support.needs import zig
from tests.support.running import run_checked

ROW = Row("thing_open", "NAN", -7, (2, 11, 300))
ROWS = "lb_in_litert_parts"
TARGETS = ("linux-x64", "linux-arm64", "linux-arm", "linux-riscv64")


@pytest.fixture(scope="module", params=TARGETS)
def part(request, tmp_path_factory):
    """The object of one function of LiteRT's stub."""
    folder = tmp_path_factory.mktemp("part")
    source, _ = stub_source(RuntimeUse(preset="litert", minimum="2.0", drop_in=True), folder)
    (folder / "part.c").write_text(part_source(resource("loader"), source))
    options = [
        "-std=c99",
        "-Wall",
        "-Wno-unused-const-variable",
        "-Werror",
        "-fPIC",
        "-fvisibility=hidden",
        "-g0",
        "-Os",
        "-DLATEBIND_PARTS",
    ]
    run_checked(*zig(request.param), *options, "-c", folder / "part.c", "-o", folder / "part.o")
    return folder / "part.o"


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


def test_there_is_a_file_for_each_function_in_order(part, tmp_path):
    rows = tmp_path / "rows.json"
    rows.write_text(json.dumps([["b", "ABORT", 0, [1, 0, 0]], ["a", "NUMBER", 4, [0, 0, 0]]]))
    write_members(part, rows, tmp_path / "made")

    listed = (tmp_path / "made" / NAMES).read_text().split("\n")
    assert listed == [f'"{tmp_path}/made/0.o"', f'"{tmp_path}/made/1.o"', ""]
    for number, name in enumerate("ba"):
        assert name in read((tmp_path / "made" / f"{number}.o").read_bytes())[1]


def test_another_file_is_refused(tmp_path):
    (tmp_path / "other.c").write_text("int other = 1;\n")
    run_checked(*zig("linux-x64"), "-c", tmp_path / "other.c", "-o", tmp_path / "other.o")

    with pytest.raises(ValueError, match=r"no section \.rodata\.late_name"):
        Part((tmp_path / "other.o").read_bytes())
    with pytest.raises(ValueError, match="no ELF file"):
        Part(b"MZ" + bytes(100))
