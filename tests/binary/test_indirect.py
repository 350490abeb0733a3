"""Indirect symbols of libraries that zig links for macOS, as LIEF reads them."""

from __future__ import annotations

import struct

import lief
import pytest
from latebind.binary import read_image
from latebind.binary.indirect import complete_indirect_symbols
from latebind.build.native import stage_target
from latebind.config.file import load
from latebind.tables.targets import target

from tests.client import CONFIG, write_client
from tests.native.test_functions_stub import compile_c

USER = """
#include <stdlib.h>
int other(int number);
__attribute__((visibility("default"))) void *tiny_make(int (**function)(int)) {
  *function = other;
  return malloc(7);
}
"""
OTHER = "int other(int number) { return number + 1; }\n"
INDIRECT_SYMBOL_LOCAL = 0x80000000


@pytest.fixture(scope="module")
def library(tmp_path_factory) -> bytes:
    """A library with a pointer to one of its own private functions, as zig links it."""
    folder = tmp_path_factory.mktemp("indirect")
    (folder / "user.c").write_text(USER)
    (folder / "other.c").write_text(OTHER)
    options = ("-shared", "-fPIC", "-fvisibility=hidden", "-O1", "-Wl,-x", "-fno-sanitize=all")
    compile_c("osx-arm64", *options, folder / "user.c", folder / "other.c", "-o", folder / "libtiny.dylib")
    return (folder / "libtiny.dylib").read_bytes()


def parse(data: bytes) -> lief.MachO.Binary:
    return lief.MachO.parse(list(data)).at(0)


def table(data: bytes) -> slice:
    """Where the file has the table."""
    symbols = parse(data).dynamic_symbol_command
    place = symbols.indirect_symbol_offset
    return slice(place, place + 4 * symbols.nb_indirect_symbols)


def list_names(data: bytes) -> dict[str, list[str]]:
    """The symbols by section; "LOCAL" for one of the file itself."""
    binary = parse(data)
    symbols = list(binary.symbols)
    entries = [entry for (entry,) in struct.iter_unpack("<I", data[table(data)])]
    names = ["LOCAL" if entry == INDIRECT_SYMBOL_LOCAL else symbols[entry].name for entry in entries]
    width = {"__stubs": 12, "__got": 8, "__la_symbol_ptr": 8}
    return {
        section.name: names[section.reserved1 : section.reserved1 + section.size // width[section.name]]
        for section in binary.sections
        if section.name in width
    }


def test_the_entry_that_zig_leaves_out_is_written(library):
    completed = complete_indirect_symbols(library)

    assert completed != library, "zig writes the whole table now: latebind.binary.indirect can go"
    assert list_names(completed) == {
        "__stubs": ["_malloc"],
        "__got": ["LOCAL", "dyld_stub_binder"],
        "__la_symbol_ptr": ["_malloc"],
    }
    assert complete_indirect_symbols(completed) == completed


def test_what_was_in_memory_leaves_no_trace(library):
    """In the last entry, the id and the hashes of pages."""
    last = table(library).stop
    other = bytearray(library)
    other[last - 4 : last] = b"nano"
    other[parse(library).uuid.command_offset + 8] ^= 1

    assert complete_indirect_symbols(bytes(other)) == complete_indirect_symbols(library)


def test_the_signature_has_the_hashes_of_the_completed_pages(library):
    image = read_image(complete_indirect_symbols(library), "libtiny.dylib")

    assert image.is_signed
    assert image.signed_pages.total > 0
    assert image.signed_pages.changed == 0
    assert image.build_id != read_image(library, "libtiny.dylib").build_id


@pytest.mark.parametrize("entry", [0, 10**6])
def test_a_table_without_sense_stays_as_it_is(library, entry):
    """The stub of malloc() is for one symbol and its pointer for another, or for none."""
    other = bytearray(library)
    start = table(library).start
    other[start : start + 4] = struct.pack("<I", entry)

    assert complete_indirect_symbols(bytes(other)) == bytes(other)


def test_damaged_files_and_others_stay_as_they_are(library):
    assert complete_indirect_symbols(b"\x7fELF") == b"\x7fELF"
    for size in range(0, len(library), 211):
        assert complete_indirect_symbols(library[:size]) == library[:size]


@pytest.mark.slow
def test_the_libraries_of_a_stage_are_complete(tmp_path):
    write_client(
        tmp_path,
        latebind=CONFIG.replace("linux-x64", "osx-arm64"),
        cmakelists="cmake_minimum_required(VERSION 3.20)\nproject(tiny LANGUAGES C)\n"
        "add_library(tiny SHARED user.c other.c)\nset_target_properties(tiny PROPERTIES C_VISIBILITY_PRESET hidden)\n"
        "install(TARGETS tiny LIBRARY DESTINATION lib COMPONENT tiny)\n",
    )
    (tmp_path / "native/user.c").write_text(USER.replace("tiny_make", "tiny_add"))
    (tmp_path / "native/other.c").write_text(OTHER)

    (staged,) = stage_target(load(tmp_path / "latebind.toml"), target("osx-arm64"), tmp_path).libraries("tiny")

    assert "LOCAL" in list_names(staged.read_bytes())["__got"]
