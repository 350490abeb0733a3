"""A program compiled with a runtime's oldest headers passes numbers that its newest library understands."""

import re

import pytest

from latebind.errors import LatebindError
from latebind.headers import get_headers
from latebind.tables.presets import presets

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_ENUM = re.compile(r"\benum\b\s*\w*\s*\{(.*?)\}", re.DOTALL)


def list_enumerators(files):
    """The number of each enumerator in C headers."""
    numbers = {}
    for text in files:
        for body in _ENUM.findall(_COMMENT.sub("", text.decode("utf-8"))):
            following = 0
            for name, given in re.findall(r"(\w+)\s*(?:=\s*([^,]+?)\s*)?(?:,|$)", body.strip()):
                number = given.removesuffix("U").strip("()")
                numbers[name] = following if not given else numbers[given] if given in numbers else int(number, 0)
                following = numbers[name] + 1
    return numbers


def list_renumbered(runtime, old, new):
    """The enumerators that have other numbers in the headers of another version."""
    try:
        before, after = (list_enumerators(get_headers(runtime, version).files.values()) for version in (old, new))
    except LatebindError as error:
        pytest.skip(f"not run: {runtime.name}'s headers cannot be had here: {error.message}")
    assert len(before) > 20
    return {name for name, number in before.items() if after.get(name, number) != number}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["litert", "onnxruntime", "openvino"])
def test_numbers_are_the_same_from_the_floor_on(name):
    runtime = presets()[name]
    assert list_renumbered(runtime, runtime.floor, runtime.built) == set()


@pytest.mark.slow
def test_before_the_floor_openvino_had_other_numbers():
    assert {"F32", "U8"} <= list_renumbered(presets()["openvino"], "2025.0", "2025.1")
