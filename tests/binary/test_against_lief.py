"""The reader of Mach-O files compared with LIEF, on libraries that are compiled here."""

import io
import struct

import lief
import pytest
from latebind.binary import read_images

from tests.audit.corpus import MAC_ARM, MAC_INTEL, RUNTIME, USER, relinked, universal

ARCHS = {lief.MachO.Header.CPU_TYPE.ARM64: "aarch64", lief.MachO.Header.CPU_TYPE.X86_64: "x86_64"}
COMMAND = lief.MachO.LoadCommand.TYPE
KINDS = {
    COMMAND.LOAD_WEAK_DYLIB: "weak",
    COMMAND.REEXPORT_DYLIB: "reexport",
    COMMAND.LAZY_LOAD_DYLIB: "delay",
    COMMAND.LOAD_UPWARD_DYLIB: "upward",
}
MIXED = (
    "int latenn_f(void) { return 1; }\nint latenn_counter = 3;\nstatic int hidden;\nint *latenn_hidden(void) "
    "{ return &hidden; }\n__attribute__((weak)) int latenn_weak(void) { return 2; }\n"
)
OPTIONAL = "extern int odd(void) __attribute__((weak_import));\nint latenn_f(void) { return odd ? odd() : 0; }\n"


def facts_of(image):
    """What Image says: plain values and sorted lists, so that a difference can be shown."""
    return {
        "arch": image.arch,
        "own name": image.soname,
        "needed": list(image.needed),
        "imports": sorted({(row.name, row.library) for row in image.imports}),
        "exports": sorted({(row.name, row.version) for row in image.exports}),
        "search paths": [*image.rpath, *image.runpath],
        "min os": image.min_os,
        "signed": image.is_signed,
        "kinds": dict(image.link_kinds),
    }


def facts_of_lief(binary):
    """What LIEF reads, in the form of facts_of()."""
    needed = [row for row in binary.libraries if row.command != COMMAND.ID_DYLIB]
    names = [str(row.name) for row in needed]

    def library(symbol):
        ordinal = symbol.library_ordinal
        return names[ordinal - 1] if 0 < ordinal <= len(names) else ""

    undefined = [row for row in binary.symbols if row.raw_type & 0xEF == 1]  # external, without a section
    minimum = binary.build_version.minos[:2]
    return {
        "arch": ARCHS[binary.header.cpu_type],
        "own name": next((str(row.name) for row in binary.libraries if row.command == COMMAND.ID_DYLIB), ""),
        "needed": names,
        "imports": sorted({(str(row.name).removeprefix("_"), library(row)) for row in undefined}),
        "exports": sorted((str(row.symbol.name).removeprefix("_"), "") for row in binary.dyld_info.exports),
        "search paths": [str(row.path) for row in binary.rpaths],
        "min os": ".".join(map(str, minimum)),
        "signed": binary.has_code_signature,
        "kinds": {str(row.name): KINDS[row.command] for row in needed if row.command in KINDS},
    }


def libraries(bench, target):
    """Libraries that differ in what the reader reads."""
    compile_ = bench.compiler.dylib
    runtime = compile_(RUNTIME, name="libonnxruntime.1.dylib", target=target)
    user = compile_(USER, runtime, "-Wl,-rpath,@loader_path", "-Wl,-rpath,/a", target=target).read_bytes()
    yield "plain", bench.dylib(target)
    yield "functions and data", compile_(MIXED, target=target).read_bytes()
    yield "not stripped", compile_(MIXED, "-g", target=target).read_bytes()
    yield "linked", user
    for number in (0x80000018, 0x8000001F, 0x80000023, 0x20):
        yield f"linked by {number:#x}", relinked(user, "libonnxruntime", number)
    yield "undefined", compile_(USER, "-Wl,-undefined,dynamic_lookup", target=target).read_bytes()
    yield "install name", compile_(MIXED, "-Wl,-install_name,/opt/libx.dylib", target=target).read_bytes()
    yield "newer macOS", compile_(MIXED, target=target.replace("11.0", "13.3")).read_bytes()
    odd = compile_("int odd(void) { return 1; }\n", name="libodd.dylib", target=target)
    yield "weak import", compile_(OPTIONAL, odd, target=target).read_bytes()


def differences(data):
    """The facts in which the two readers differ, over all slices."""
    images = read_images(data, "x")
    slices = lief.MachO.parse(io.BytesIO(data))
    assert len(images) == slices.size
    pairs = [(facts_of(image), facts_of_lief(slices.at(index))) for index, image in enumerate(images)]
    return [(name, ours[name], theirs[name]) for ours, theirs in pairs for name in ours if ours[name] != theirs[name]]


@pytest.mark.parametrize("target", [MAC_ARM, MAC_INTEL])
def test_both_readers_find_the_same_in_each_library(bench, target):
    found = {what: differences(data) for what, data in libraries(bench, target)}
    assert len(found) == 12
    assert {what: rows for what, rows in found.items() if rows} == {}


def test_both_readers_find_the_same_in_a_universal_library(bench):
    assert differences(universal(bench.dylib(MAC_INTEL), bench.dylib())) == []


def test_a_reader_that_misreads_would_be_noticed(bench):
    """The readers use different tables for exports, so an empty trie makes them differ."""
    data = bytearray(bench.dylib())
    place = data.index(struct.pack("<I", 0x80000022)) + 40
    struct.pack_into("<II", data, place, 0, 0)
    assert [name for name, _, _ in differences(bytes(data))] == ["exports"]
