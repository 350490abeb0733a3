"""The build backend's own readers say what loadcheck's say."""

import posixpath
import subprocess

import pytest

from latebind.backend.binaries import sonames
from latebind.backend.kinds import abi_tags, fits, floor_of
from latebind.backend.zig import find_zig
from loadcheck import facts

LINUX = ["-Wl,-soname,libtiny.so.1"]
MAC = ["-install_name", "@rpath/libtiny.1.dylib"]
LIBRARIES = {
    "x86_64-linux-gnu": LINUX,
    "x86-linux-gnu": LINUX,
    "s390x-linux-gnu": LINUX,
    "aarch64-linux-musl": [],
    "aarch64-macos": MAC,
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    folder = tmp_path_factory.mktemp("libraries")
    (folder / "tiny.c").write_text("int tiny(void) { return 1; }\n")
    for target, options in LIBRARIES.items():
        command = [
            find_zig(),
            "cc",
            "-target",
            target,
            "-shared",
            "-nostdlib",
            *options,
            folder / "tiny.c",
            "-o",
            folder / target,
        ]
        subprocess.run(command, check=True, timeout=300)
    return {target: (folder / target).read_bytes() for target in LIBRARIES}


@pytest.mark.builds
def test_the_names_of_libraries_are_those_that_loadcheck_reads(libraries):
    for target, data in libraries.items():
        named = {posixpath.basename(image.soname) for image in facts.read_images(data, target)}
        assert sonames(data) == named - {""}, target
    assert sonames(libraries["s390x-linux-gnu"]) == {"libtiny.so.1"}
    assert sonames(libraries["aarch64-macos"]) == {"libtiny.1.dylib"}


@pytest.mark.builds
def test_a_damaged_library_has_no_name(libraries):
    for target in ("x86_64-linux-gnu", "aarch64-macos"):
        assert [sonames(libraries[target][:end]) for end in (0, 3, 20, 70)] == [set()] * 4
    assert [sonames(data) for data in (b"\x7fELF" + bytes(64), b"MZ" + bytes(64))] == [set(), set()]


MODULES = (
    *("m.cpython-310-x86_64-linux-gnu.so", "m.cpython-313t-darwin.so", "m.abi3.so", "m.abi3t.so", "m.so", "libm.so.1"),
    *("m.cp310-win_amd64.pyd", "m.cp313t-win_arm64.pyd", "m.pyd", "m.abi3-x86_64-linux-musl.so"),
)


@pytest.mark.parametrize("kind", ["py3-none", "cp310-abi3", "cp310-cp310", "cp313-cp313t", "cpython"])
def test_modules_are_for_the_cpythons_that_loadcheck_reads_in_their_names(kind):
    tag = abi_tags(kind)
    for module in MODULES:
        abi = facts.module_abi(module)
        expected = "-cp" not in tag or not abi or abi in ("abi3", "abi3t", tag.partition("-")[2])
        assert fits(kind, module) is expected, module


def test_the_oldest_cpython_of_a_kind_is_the_one_that_loadcheck_reads():
    kinds = ("py3-none", "cpython", "cp310-abi3", "cp315-abi3.abi3t", "cp310-cp310")
    assert [floor_of(kind) for kind in kinds] == [facts.floor_of(kind) for kind in kinds]
    assert floor_of("cp310-abi3") == (3, 10)
