"""Which markers are sought in a binary."""

import pytest

from loadcheck.binary import list_text_ranges
from loadcheck.binary.elffile import ElfFile
from loadcheck.readers.strings import find_markers


@pytest.mark.parametrize(("format_", "expected"), [("pe", (".?AVTiny@@", "tiny")), ("elf", ("tiny",))])
def test_names_of_types_by_visual_cpp_are_sought_in_windows_files_alone(format_, expected):
    assert find_markers(b"tiny .?AVTiny@@ other", format_, (".?AVTiny@@", "missing", "tiny")) == expected


def test_markers_are_not_sought_in_instructions(bench):
    code = 'const char *lb_text(void) { return "a text among the data"; }'
    path = bench.compiler.library(code)
    data = path.read_bytes()
    ranges = list_text_ranges(data)
    searched = b"".join(data[start:end] for start, end in ranges)
    (text,) = (section for section in ElfFile(data).sections if section.name == b".text")
    assert 0 < len(searched) <= len(data) - text.size
    assert find_markers(data, "elf", ("a text among the data", "no text")) == ("a text among the data",)


@pytest.mark.parametrize("cut", [30, 64, 200, -20])
def test_a_file_whose_sections_are_unknown_is_searched_as_a_whole(bench, cut):
    data = bench.good()[:cut]
    assert list_text_ranges(data) == [(0, len(data))]


@pytest.mark.parametrize("place", [1 << 40, (1 << 64) - 1])
def test_a_section_that_is_said_to_be_outside_of_the_file_ends_with_it(bench, place):
    data = bytearray(bench.good())
    file = ElfFile(bytes(data))
    table, entry = file.unpack("Q", 40)[0], file.unpack("H", 58)[0]
    index = next(number for number, section in enumerate(file.sections) if section.name == b".text")
    where = table + entry * index + 24  # its offset in the file
    data[where : where + 8] = place.to_bytes(8, "little")
    assert all(0 <= start < end <= len(data) for start, end in list_text_ranges(bytes(data)))
    assert find_markers(bytes(data), "elf", ("no such text",)) == ()


def test_a_file_of_another_format_is_searched_as_a_whole(bench):
    assert list_text_ranges(bench.dll()) == [(0, len(bench.dll()))]
