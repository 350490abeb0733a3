"""The table of targets: names that every registry knows, and triples that zig really compiles for."""

import re

import pytest

from latebind.tables.targets import target, targets, wheel_tag
from loadcheck.tables.rids import PLATFORMS
from tests.conftest import ROOT
from tests.support.client import stage_project, write_portable
from tests.support.needs import zig
from tests.support.running import run_checked

SIX = ["linux-x64", "linux-arm64", "osx-x64", "osx-arm64", "win-x64", "win-arm64"]
PORTABLE_RID = re.compile(r"(linux|linux-musl|osx|win)-(x64|arm64|arm|riscv64)")  # no distribution, no version
WHEEL_TAG = {
    "glibc": re.compile(r"manylinux_2_\d+_(x86_64|aarch64|armv7l|riscv64)"),
    "musl": re.compile(r"musllinux_1_\d+_(x86_64|aarch64)"),
    "darwin": re.compile(r"macosx_1\d_\d+_(x86_64|arm64)"),
    "ucrt": re.compile(r"win_(amd64|arm64)"),
}
ARCH_IN_TAG = {
    "x86_64": ("x86_64", "amd64"), "aarch64": ("aarch64", "arm64"), "armv7l": "armv7l", "riscv64": "riscv64"
}  # fmt: skip
ARCH_IN_RID = {"x86_64": "x64", "aarch64": "arm64", "armv7l": "arm", "riscv64": "riscv64"}
UNHOSTED = ("linux-arm", "linux-riscv64")
SYSTEM_IN_RID = {"linux": "linux", "macos": "osx", "windows": "win"}
FILE = {"linux": "libtiny.so", "macos": "libtiny.dylib", "windows": "tiny.dll"}
MAGIC = {"linux": b"\x7fELF", "macos": b"\xcf\xfa\xed\xfe", "windows": b"MZ"}


def test_loadcheck_knows_each_target():
    assert PLATFORMS.keys() == targets().keys()


def test_the_six_desktop_targets_are_there():
    assert [rid for rid in targets() if rid in SIX] == SIX


HEADS = {"linux": "elf_head.c", "macos": "macho_head.c", "windows": "pe_head.c"}


@pytest.mark.parametrize("rid", targets())
def test_a_processor_is_called_as_the_loader_calls_it(rid):
    text = (ROOT / "loader/src" / HEADS[target(rid).system]).read_text("utf-8")
    assert f'"{target(rid).processor}"' in text


@pytest.mark.parametrize("rid", targets())
def test_a_rid_is_portable_and_says_what_the_row_says(rid):
    properties = target(rid)
    assert PORTABLE_RID.fullmatch(rid)
    assert rid.startswith(SYSTEM_IN_RID[properties.system])
    assert rid.endswith(ARCH_IN_RID[properties.arch])


@pytest.mark.parametrize("rid", targets())
def test_a_wheel_tag_is_one_that_installers_know(rid):
    properties = target(rid)
    tag = wheel_tag(properties, properties.floor)
    assert WHEEL_TAG[properties.libc].fullmatch(tag)
    assert tag.endswith(ARCH_IN_TAG[properties.arch])


@pytest.mark.parametrize("rid", [rid for rid in targets() if rid not in UNHOSTED])
def test_a_runner_is_of_the_targets_system(rid):
    properties = target(rid)
    assert properties.runner.startswith(
        {"linux": "ubuntu-", "macos": "macos-", "windows": "windows-"}[properties.system]
    )
    assert "latest" not in properties.runner  # what moves by itself breaks a release by itself


@pytest.mark.slow
@pytest.mark.parametrize("rid", targets())
def test_zig_compiles_for_every_triple(rid, tmp_path):
    properties = target(rid)
    (tmp_path / "one.c").write_text("int one(void) { return 1; }\n")
    run_checked(*zig(rid), "-shared", "-o", "one.bin", "one.c", cwd=tmp_path, timeout=300)
    assert (tmp_path / "one.bin").read_bytes().startswith(MAGIC[properties.system])


@pytest.mark.slow
@pytest.mark.parametrize("rid", [*SIX, *UNHOSTED])
def test_a_cmake_project_that_names_no_platform_builds_for_every_target(rid, tmp_path):
    properties = target(rid)
    write_portable(tmp_path, [rid])
    staged = stage_project(tmp_path, rid)
    (library,) = staged.libraries("tiny")
    assert library.name == FILE[properties.system]
    assert library.read_bytes().startswith(MAGIC[properties.system])
