"""Indirect symbols of libraries that zig links for macOS, as LIEF reads them."""

from __future__ import annotations

import struct
from pathlib import Path

import lief
import pytest

from corpus.packages import MAC_ARM, MAC_INTEL, toolchain
from corpus.processes import run_checked
from latebind.backend.indirect import complete_indirect_symbols
from loadcheck.facts import read_image

USER = """
#include <stdlib.h>
int other(int number);
__attribute__((visibility("default"))) void *tiny_make(int (**function)(int)) {
  *function = other;
  return malloc(7);
}
"""
OTHER = "int other(int number) { return number + 1; }\n"
EXPORTED = '__attribute__((visibility("default")))'
COMPARES = f"""
int other(int number);
{EXPORTED} int tiny_is(int (*function)(int)) {{ return function == other; }}
"""
TWO = f"""
int other(int number), under(int number);
{EXPORTED} void tiny_make(int (**function)(int)) {{ function[0] = other; function[1] = under; }}
"""
INDIRECT_SYMBOL_LOCAL = 0x80000000
LC_SOURCE_VERSION = 0x2A


@pytest.fixture(scope="module")
def library(tmp_path_factory) -> bytes:
    """A library with a pointer to one of its own private functions, as zig links it."""
    return link(tmp_path_factory.mktemp("indirect"), USER, OTHER)


def link(folder: Path, user: str, other: str, target: str = MAC_ARM) -> bytes:
    """A library of two sources, as zig links it."""
    (folder / "user.c").write_text(user)
    (folder / "other.c").write_text(other)
    options = ("-shared", "-fPIC", "-fvisibility=hidden", "-O1", "-s", "-Wl,-x", "-fno-sanitize=all")
    sources = (folder / "user.c", folder / "other.c")
    run_checked(*toolchain(), "cc", "-target", target, *options, *sources, "-o", folder / "libtiny.dylib")
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

    assert completed != library, "zig writes the whole table now: latebind.backend.indirect can go"
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


def test_pointers_to_exported_functions_keep_their_entries(tmp_path):
    """The table of a library without others is complete, so its id stays, too."""
    whole = link(tmp_path, USER, f"{EXPORTED} {OTHER}")

    assert list_names(whole)["__got"] == ["_other", "dyld_stub_binder"]
    assert complete_indirect_symbols(whole) is whole


def test_a_pointer_to_an_exported_function_is_told_from_one_to_a_private_one(tmp_path):
    under = f"{EXPORTED} {OTHER.replace('other', 'under')}"

    completed = complete_indirect_symbols(link(tmp_path, TWO, OTHER + under))

    assert list_names(completed) == {"__got": ["LOCAL", "_under", "dyld_stub_binder"]}
    assert complete_indirect_symbols(completed) is completed


def test_a_library_without_a_signature_is_completed(tmp_path):
    """Such as zig's for x86-64, and its id follows from the whole file."""
    library = link(tmp_path, COMPARES, OTHER, MAC_INTEL)

    completed = complete_indirect_symbols(library)

    assert list_names(completed) == {"__got": ["LOCAL", "dyld_stub_binder"]}
    images = [read_image(data, "libtiny.dylib") for data in (library, completed)]
    assert not images[1].is_signed
    assert images[0].build_id != images[1].build_id


def test_a_library_without_an_id_is_completed(library):
    other = bytearray(library)
    struct.pack_into("<I", other, parse(library).uuid.command_offset, LC_SOURCE_VERSION)

    completed = complete_indirect_symbols(bytes(other))

    assert len(completed) == len(library)
    assert list_names(completed) == list_names(complete_indirect_symbols(library))


@pytest.mark.parametrize("entry", [(0, 0), (0, 10**6), (1, 6), (1, 10**6)])
def test_a_table_without_sense_stays_as_it_is(library, entry):
    """The stub of malloc() is for one symbol and its pointer for another, or one of them is for none of six."""
    other = bytearray(library)
    index, symbol = entry
    struct.pack_into("<I", other, table(library).start + 4 * index, symbol)

    assert complete_indirect_symbols(bytes(other)) == bytes(other)


def test_a_pointer_without_address_is_not_to_a_private_function(tmp_path):
    """Its entry is for none of the four symbols."""
    other = bytearray(link(tmp_path, COMPARES, OTHER))
    struct.pack_into("<I", other, table(other).start, 4)

    assert complete_indirect_symbols(bytes(other)) == bytes(other)


def test_a_32_bit_file_stays_as_it_is():
    """With pointers of four bytes, of which the first is for a symbol of the file."""
    head = struct.pack("<7I", 0xFEEDFACE, 12, 9, 6, 3, 228, 0)
    segment = struct.pack("<2I16s8I", 1, 124, b"__DATA", 0, 8, 256, 8, 3, 3, 1, 0)
    section = struct.pack("<16s16s9I", b"__got", b"__DATA", 0, 8, 256, 2, 0, 0, 6, 0, 0)
    tables = struct.pack("<6I", 2, 24, 272, 2, 304, 0) + struct.pack("<20I", 11, 80, *[0] * 12, 264, 2, *[0] * 4)
    data = head + segment + section + tables + struct.pack("<4I", 0x1000, 0, 0, 1) + bytes(48)

    assert complete_indirect_symbols(data) == data


def test_damaged_files_and_others_stay_as_they_are(library):
    assert complete_indirect_symbols(b"\x7fELF") == b"\x7fELF"
    for size in range(0, len(library), 211):
        assert complete_indirect_symbols(library[:size]) == library[:size]
