"""The section .note.dlopen names the runtimes that an ELF library opens (uapi-group.org, "ELF dlopen Metadata")."""

import json
import struct

import pytest

from latebind.backend.targets import target
from latebind.config.project import read_project
from latebind.native.builds import stage_target
from tests.support.client import BOUND, copy_client
from tests.support.needs import zig
from tests.support.running import assert_success, run_checked

pytestmark = pytest.mark.builds

NAMES = ["onnxruntime", "openvino", "litert"]
CMAKE = """\
cmake_minimum_required(VERSION 3.20)
project(tiny C)
find_package(latebind CONFIG REQUIRED)
add_library(tiny SHARED tiny.c)
{link}
latebind_exports(tiny "tiny_*")
latebind_hardening(tiny)
install(TARGETS tiny LIBRARY DESTINATION lib COMPONENT tiny)
"""


def read_notes(data):
    """The JSON of each note, found by its head: sizes of owner and text, type, owner."""
    found, start = [], 0
    while (start := data.find(b"\x0a\x0c\x7c\x40FDO\0", start + 1)) >= 0:
        owner, size = struct.unpack_from("<II", data, start - 8)
        assert owner == len(b"FDO\0")
        found += json.loads(data[start + 8 : start + 8 + size].rstrip(b"\0"))
    return sorted(found, key=lambda entry: entry["feature"])


@pytest.fixture(scope="module")
def single(latebind, tmp_path_factory):
    folder = tmp_path_factory.mktemp("single")
    presets = [word for name in NAMES for word in ("--runtime", name)]
    assert_success(latebind("loader-source", "--single", *presets, folder))
    return folder


@pytest.mark.parametrize("rid", ["linux-x64", "linux-arm64", "linux-musl-x64", "osx-arm64", "win-x64"])
def test_each_elf_library_names_its_runtimes_and_others_have_no_note(single, tmp_path, rid):
    """As released libraries are linked: without what nobody calls, and without symbols."""
    words = ["-fPIC", "-ffunction-sections", "-fdata-sections", "-I", single]
    words += ["-shared", "-Wl,--gc-sections"] if rid.startswith("linux") else ["-c"]
    run_checked(*zig(rid), *words, single / "latebind.c", "-o", tmp_path / "library")
    notes = read_notes((tmp_path / "library").read_bytes())
    if not rid.startswith("linux"):
        assert notes == []
        return
    assert [note["feature"] for note in notes] == sorted(NAMES)
    assert notes[1] == {
        "feature": "onnxruntime",
        "description": "ONNX Runtime",
        "priority": "recommended",
        "soname": ["libonnxruntime.so.1", "libonnxruntime.so"],
    }


@pytest.mark.parametrize(
    ("link", "drop_in"),
    [
        ("latebind_add_runtime(tiny onnxruntime)", ""),
        ("target_link_libraries(tiny PRIVATE onnxruntime)", "drop_in = true\n"),
    ],
)
def test_the_priority_comes_from_the_configuration(tmp_path, link, drop_in):
    source = (
        "const void* OrtGetApiBase(void);\nint tiny_add(void) { return OrtGetApiBase() != 0; }\n" if drop_in else None
    )
    config = BOUND + f'priority = "required"\n{drop_in}'
    folder = copy_client("tiny", tmp_path / "tiny", latebind=config, cmakelists=CMAKE.format(link=link))
    if source:
        (folder / "native" / "tiny.c").write_text(source, encoding="utf-8")
    (library,) = stage_target(read_project(folder / "latebind.toml", folder), target("linux-x64")).libraries("tiny")
    assert [note["priority"] for note in read_notes(library.read_bytes())] == ["required"]
