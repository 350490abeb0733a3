"""Which markers are sought in a binary."""

import pytest

from loadcheck.readers.strings import find_markers


@pytest.mark.parametrize(("format_", "expected"), [("pe", (".?AVTiny@@", "tiny")), ("elf", ("tiny",))])
def test_names_of_types_by_visual_cpp_are_sought_in_windows_files_alone(format_, expected):
    assert find_markers(b"tiny .?AVTiny@@ other", format_, (".?AVTiny@@", "missing", "tiny")) == expected
