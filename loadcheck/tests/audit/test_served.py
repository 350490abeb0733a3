"""Which Pythons a wheel is installed for, and which its modules are for."""

from pathlib import Path

import pytest

from loadcheck.ecosystems.wheel.checks.served import find_missing, format_minors, list_served, list_versioned_twins
from loadcheck.readers.contents import Contents, File, WheelName


def contents(*names, limits=""):
    files = [File(name=name, size=1, format="elf") for name in (*names, "a-1.dist-info/METADATA")]
    text = f"Metadata-Version: 2.4\nRequires-Python: {limits}\n".encode()
    return Contents(path=Path("a.whl"), kind="wheel", files=tuple(files), texts={"a-1.dist-info/METADATA": text})


def name(pythons, abis):
    return WheelName(project="a", version="1", pythons=pythons, abis=abis, platforms=("win_amd64",))


@pytest.mark.parametrize(
    ("pythons", "abis", "limits", "served", "missing"),
    [
        (("py3",), ("none",), "", [11], [12, 13, 14, 15]),
        (("py3",), ("none",), ">=3.8", [11], [10, 12, 13, 14, 15]),
        (("py3",), ("none",), ">=3.6,<3.14", [6, 7, 8, 9, 10, 11, 12, 13], []),
        (("py3",), ("none",), ">=3.6,!=3.7.*,<3.9", [6, 8], []),
        (("py2", "py3"), ("none",), "<3.12", [10], [11]),
        (("py3",), ("none",), "<=3.12", [10, 11], [12]),
        (("cp312",), ("none",), "", [11], [12]),
        (("cp311", "cp312"), ("none",), "", [11, 12], []),
        (("cp313",), ("abi3",), "", [13], [14, 15]),
        (("cp313",), ("abi3",), "not a specifier", [13], [14, 15]),
        (("py3",), ("none",), "<3", [9], []),
    ],
)  # fmt: skip
def test_those_that_install_it_are_compared_with_those_that_are_served(pythons, abis, limits, served, missing):
    made_for = contents(limits=limits)
    expected = missing if limits or pythons != ("py3",) else [10, *missing]
    assert find_missing(made_for, name(pythons, abis), served) == expected


def test_a_module_serves_the_pythons_of_its_files():
    package = contents(
        "a/m.cpython-36m-x.so", "a/m.cp310-win_amd64.pyd", "a/m.cpython-313t-x.so", "b/m.so", "c/m.abi3.so"
    )
    assert [list_served(package, file) for file in package.files[:5]] == [[6, 10]] * 3 + [None, None]


def test_libraries_for_one_python_each_are_told_by_their_names():
    package = contents(
        "a/s_3.9.so", "a/s_3.10.so", "b/s_3.9.so", "c/lib39.so", "d/x-3.1.2.so", "d/x-3.2.2.so", "e/s.so"
    )
    twins = [list_versioned_twins(package, file) for file in package.files[:7]]
    assert twins == [[9, 10], [9, 10], None, None, None, None, None]


def test_versions_are_named_in_runs():
    assert format_minors([14]) == "CPython 3.14"
    assert format_minors([12, 10]) == "CPython 3.10 and 3.12"
    assert format_minors([15, 9, 11, 12, 13]) == "CPython 3.9, 3.11 to 3.13 and 3.15"
