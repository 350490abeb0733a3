import struct

import pytest

from corpus.packages import MAC_ARM, MAC_INTEL, USER, commands, universal
from loadcheck.binary import Export, read_image, read_images
from loadcheck.errors import InputError

BOTH = "int latenn_f(void) { return 1; }\nint latenn_counter = 3;\n"


def image(data):
    (library,) = read_images(data, "liblatenn.dylib")
    return library


def command(data, number):
    """Where the load command of that number lies."""
    return next(offset for offset, kind, _ in commands(data) if kind == number)


@pytest.mark.parametrize(("target", "arch", "signed"), [(MAC_ARM, "aarch64", True), (MAC_INTEL, "x86_64", False)])
def test_identity_of_a_library(bench, target, arch, signed):
    library = image(bench.dylib(target))

    assert (library.format, library.file_type, library.arch, library.slice) == ("macho", "shared", arch, "")
    assert library.soname == "@rpath/liblatenn.dylib"
    assert library.needed == ("/usr/lib/libSystem.B.dylib",)
    assert (library.platform, library.min_os, library.is_signed) == ("macos", "11.0", signed)
    assert library.open_imports == ()


def test_a_symbol_that_any_image_may_supply_is_open(bench):
    library = image(bench.compiler.dylib(USER, "-Wl,-undefined,dynamic_lookup").read_bytes())
    assert [symbol.name for symbol in library.open_imports] == ["OrtGetApiBase"]


def test_exports_are_functions_or_data(bench):
    library = image(bench.compiler.dylib(BOTH).read_bytes())
    assert Export(name="latenn_f", kind="func") in library.exports
    assert Export(name="latenn_counter", kind="data") in library.exports


def test_without_a_trie_the_symbol_table_tells_the_exports(bench):
    data = bytearray(bench.compiler.dylib(BOTH).read_bytes())
    struct.pack_into("<II", data, command(data, 0x80000022) + 40, 0, 0)
    assert {"latenn_f", "latenn_counter"} <= {export.name for export in image(bytes(data)).exports}


def test_each_slice_of_a_universal_file_is_an_image(bench):
    slices = read_images(universal(bench.dylib(MAC_INTEL), bench.dylib()), "x")
    assert [(part.slice, part.arch) for part in slices] == [("x86_64", "x86_64"), ("arm64", "aarch64")]


def test_a_universal_file_has_slices_that_do_not_overlap(bench):
    data = bytearray(universal(bench.dylib(MAC_INTEL), bench.dylib()))
    data[28 + 8 : 28 + 12] = data[8 + 8 : 8 + 12]
    with pytest.raises(InputError, match="two slices overlap"):
        read_images(bytes(data), "x")
    with pytest.raises(InputError, match="without a slice"):
        read_images(bytes.fromhex("cafebabe") + bytes(60), "x")


@pytest.mark.parametrize("length", [5, 20, 40, 400, 2000, 20000])
def test_a_cut_off_library_is_refused(bench, length):
    with pytest.raises(InputError, match="liblatenn"):
        read_images(bench.dylib()[:length], "liblatenn.dylib")


@pytest.mark.parametrize("length", [8, 20, 40, 40000])
def test_a_cut_off_universal_file_is_refused(bench, length):
    with pytest.raises(InputError, match="liblatenn"):
        read_images(universal(bench.dylib(MAC_INTEL), bench.dylib())[:length], "liblatenn.dylib")


@pytest.mark.parametrize(
    ("number", "offset", "value", "what"),
    [
        (0x19, 4, 0, "length 0"),
        (0xD, 8, 9999, "outside the command"),
        (0x2, 8, 1 << 30, "symbol table"),
        (0x2, 12, 1 << 28, "symbol table"),
        (0x2, 16, 1 << 30, "string table"),
        (0xB, 28, 1 << 20, "group of symbols"),
        (0x80000022, 40, 1 << 30, "export trie"),
    ],
)
def test_tables_that_lie_are_refused(bench, number, offset, value, what):
    data = bytearray(bench.dylib())
    struct.pack_into("<I", data, command(data, number) + offset, value)
    with pytest.raises(InputError, match=what):
        read_image(bytes(data), "x")


@pytest.mark.parametrize(
    ("trie", "what"),
    [
        (b"\x00\x01a\x00\x00", "loop"),  # a branch back to the root
        (b"\x00\x01a", "is not terminated"),
        (b"\x80" * 12, "too long"),
        (b"\x00\x01a\x00\x7f", "cannot be read"),
    ],
)
def test_a_trie_without_end_is_refused(bench, trie, what):
    data = bytearray(bench.dylib())
    offset = command(data, 0x80000022) + 40
    struct.pack_into("<II", data, offset, len(data), len(trie))
    with pytest.raises(InputError, match=what):
        read_image(bytes(data) + trie, "x")
