"""Libraries for macOS that others published: the emulated macOS maps and binds them, and reads what LLVM reads."""

import re
import zipfile
from pathlib import Path

import pytest

from ci.machines import llvm, pinned
from ci.machines.macos.dyld import Dyld
from ci.machines.macos.image import read_image
from ci.machines.macos.process import Process
from loadcheck.facts import read_images
from tests.support.emulated import cache
from tests.support.needs import available
from tests.support.running import run_checked

pytestmark = [pytest.mark.emulated, pytest.mark.slow]
LEAST = 45
EXPORT = re.compile(r"^0x([0-9A-F]+)\s+(?:\[[^]]*\]\s+)*(\S+)", re.MULTILINE)
BIND = re.compile(r"^(__\S+)\s+(__\S+)\s+0x([0-9A-Fa-f]+)\s+(.*\S)\s*$", re.MULTILINE)


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    """The libraries of all wheels, by folder of their wheel."""
    folder = tmp_path_factory.mktemp("published")
    try:
        wheels = pinned.wheels(Path(llvm.__file__).parent / "macos" / "wheels.toml")
    except SystemExit as reason:
        pytest.skip(f"not run: {reason}")
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder / wheel.stem)
    return sorted(path for path in folder.rglob("*.dylib") if path.is_file())


@pytest.fixture(scope="module")
def objdump():
    command = available(llvm.prepare_objdump, cache())
    return lambda path, *options: run_checked(*command, "--macho", *options, path)


def kind_of(path):
    return "arm64" if any(part.endswith("arm64") for part in path.parts) else "x86_64"


def read_binds(text):
    """The address and the symbol of each row that names one; rows of rebases don't."""
    rows = set()
    for _, _, address, rest in BIND.findall(text):
        words = rest.removesuffix("(weak import)").split()
        if "rebase" not in words:
            rows.add((int(address, 16), words[-1]))
    return rows


def test_exports_and_binds_are_those_that_llvm_reads(libraries, objdump):
    different = {}
    for path in libraries:
        contents = read_image(path, kind_of(path))
        exports = {(offset, name) for name, offset in contents.exports.items()}
        binds = {(bind.address, bind.name) for bind in contents.bindings if bind.name}
        theirs = {(int(address, 16), name) for address, name in EXPORT.findall(objdump(path, "--exports-trie"))}
        their_binds = read_binds(objdump(path, "--bind", "--lazy-bind", "--weak-bind", "--dyld-info"))
        if exports != theirs or binds != their_binds:
            different[path.name] = (sorted(exports ^ theirs)[:3], sorted(binds ^ their_binds)[:3])
        (image,) = read_images(path.read_bytes(), path.name)
        ours = {export.name for export in image.exports}
        assert ours == {name.removeprefix("_") for _, name in theirs}, path.name
    assert len(libraries) >= LEAST
    assert different == {}


def test_each_is_mapped_and_bound_with_all_that_it_needs(libraries):
    for path in libraries:
        process = Process(kind_of(path))
        dyld = Dyld(process)
        image = dyld.load(path)
        assert image.size > 0
        needed = zip(image.contents.libraries, image.dependencies, strict=True)
        own = [found for library, found in needed if not library.name.startswith(("/usr/lib/", "/System/"))]
        assert None not in own, path.name
