"""Which strings of a binary count as paths of a build machine, and which markers are sought in it."""

import pytest

from loadcheck.readers.strings import Sought, find_strings

BUILT = "/home/ci/latenn/src/core.c"


def find_paths(text, format_="elf"):
    return find_strings(f"\0{text}\0".encode(), format_, Sought())[1]


@pytest.mark.parametrize(
    ("text", "format_"),
    [
        (BUILT, "elf"),
        (f"file {BUILT}, line 3", "elf"),
        ("/home/ci/latenn/notes", "elf"),
        ("in /tmp/tiny/core.c", "elf"),
        ("in /tmp/pip-build-env/lib", "macho"),
        ("in /tmp/tiny/core.h", "elf"),
        (r"C:\Users\ci\latenn\core.c", "pe"),
    ],
)
def test_a_path_of_a_build_machine_is_found(text, format_):
    assert len(find_paths(text, format_)) == 1


@pytest.mark.parametrize(
    ("text", "format_"),
    [
        (f"https://example.com{BUILT}", "elf"),
        (f"..{BUILT}", "elf"),
        (f"${{ROOT}}{BUILT}", "elf"),
        (f"*{BUILT}", "elf"),
        (f"/{BUILT}", "elf"),
        ("in the folder /root/.cache/tiny/core.c", "elf"),
        ("in /tmp/.X11-unix/build/x", "elf"),
        ("in /tmp/perf-build/1.so", "elf"),
        ("for example '/home/user/models/model.onnx'", "elf"),
        ("in /tmp/new_folder/local_fs.dat", "elf"),
        ("/home/ci/%s/core.c", "elf"),
        ("/home/ci", "elf"),
        ("/home/ci/", "elf"),
        ("/home/", "elf"),
        (r"C:\Users\ci", "pe"),
        (BUILT, "pe"),
        (r"C:\Users\ci\latenn\core.c", "elf"),
    ],
)
def test_other_strings_are_not_paths_of_a_build_machine(text, format_):
    assert find_paths(text, format_) == ()


def test_the_first_five_paths_are_shown():
    paths = [f"/home/ci/latenn/{number}.c" for number in range(7)]
    assert find_paths("\0".join(paths)) == tuple(paths[:5])


def test_a_path_at_the_start_of_a_file_is_found():
    assert find_strings(BUILT.encode(), "elf", Sought())[1] == (BUILT,)


@pytest.mark.parametrize(("format_", "expected"), [("pe", (".?AVTiny@@", "tiny")), ("elf", ("tiny",))])
def test_names_of_types_by_visual_cpp_are_sought_in_windows_files_alone(format_, expected):
    data = f"tiny .?AVTiny@@ {BUILT} other".encode()
    sought = Sought(markers=(".?AVTiny@@", "missing", "tiny"), paths=False)
    assert find_strings(data, format_, sought) == (expected, ())
