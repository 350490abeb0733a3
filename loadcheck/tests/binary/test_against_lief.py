"""The readers of all three formats compared with LIEF, on libraries that are compiled here and damaged at random."""

import contextlib
import io
import struct

import lief
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corpus.cases.windows import DELAYED, FORWARD, F
from corpus.packages import GOOD, MAC_ARM, MAC_INTEL, RUNTIME, USER, WINDOWS_ARM, change_load_command, universal
from loadcheck.binary import read_image, read_images
from loadcheck.errors import InputError

ARCHS = {lief.MachO.Header.CPU_TYPE.ARM64: "aarch64", lief.MachO.Header.CPU_TYPE.X86_64: "x86_64"}
COMMAND = lief.MachO.LoadCommand.TYPE
KINDS = {
    COMMAND.LOAD_WEAK_DYLIB: "weak",
    COMMAND.REEXPORT_DYLIB: "reexport",
    COMMAND.LAZY_LOAD_DYLIB: "delay",
    COMMAND.LOAD_UPWARD_DYLIB: "upward",
}
MIXED = (
    '__attribute__((visibility("hidden"))) int latenn_inner(void) { return 3; }\n'
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
        "imports": sorted({(symbol.name, symbol.library) for symbol in image.imports}),
        "exports": sorted({(symbol.name, symbol.version) for symbol in image.exports}),
        "search paths": [*image.rpath, *image.runpath],
        "min os": image.min_os,
        "signed": image.is_signed,
        "kinds": dict(image.link_kinds),
    }


def facts_of_lief(binary):
    """What LIEF reads, in the form of facts_of()."""
    needed = [load for load in binary.libraries if load.command != COMMAND.ID_DYLIB]
    names = [str(load.name) for load in needed]

    def library(symbol):
        ordinal = symbol.library_ordinal
        return names[ordinal - 1] if 0 < ordinal <= len(names) else ""

    undefined = [symbol for symbol in binary.symbols if symbol.raw_type & 0xEF == 1]  # external, without a section
    minimum = binary.build_version.minos[:2]
    return {
        "arch": ARCHS[binary.header.cpu_type],
        "own name": next((str(load.name) for load in binary.libraries if load.command == COMMAND.ID_DYLIB), ""),
        "needed": names,
        "imports": sorted({(str(symbol.name).removeprefix("_"), library(symbol)) for symbol in undefined}),
        "exports": sorted((str(export.symbol.name).removeprefix("_"), "") for export in binary.dyld_info.exports),
        "search paths": [str(rpath.path) for rpath in binary.rpaths],
        "min os": ".".join(map(str, minimum)),
        "signed": binary.has_code_signature,
        "kinds": {str(load.name): KINDS[load.command] for load in needed if load.command in KINDS},
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
        yield f"linked by {number:#x}", change_load_command(user, "libonnxruntime", number)
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
    mismatches = {what: differences(data) for what, data in libraries(bench, target)}
    assert len(mismatches) == 12
    assert {what: problems for what, problems in mismatches.items() if problems} == {}


def test_both_readers_find_the_same_in_a_universal_library(bench):
    assert differences(universal(bench.dylib(MAC_INTEL), bench.dylib())) == []


def test_a_reader_that_misreads_would_be_noticed(bench):
    """The readers use different tables for exports, so an empty trie makes them differ."""
    data = bytearray(bench.dylib())
    offset = data.index(struct.pack("<I", 0x80000022)) + 40
    struct.pack_into("<II", data, offset, 0, 0)
    assert [name for name, _, _ in differences(bytes(data))] == ["exports"]


def facts_of_elf(binary):
    """What LIEF reads of an ELF file, in the form of facts_of()."""
    owner = {
        requirement.other: str(library.name)
        for library in binary.symbols_version_requirement
        for requirement in library.get_auxiliary_symbols()
    }
    named = [symbol for symbol in binary.dynamic_symbols if symbol.name]
    path = next((str(entry.rpath) for entry in binary.dynamic_entries if hasattr(entry, "rpath")), "")
    later = next((str(entry.runpath) for entry in binary.dynamic_entries if hasattr(entry, "runpath")), "")

    def library(symbol):
        return owner.get(symbol.symbol_version.value, "") if symbol.symbol_version else ""

    def version(symbol):
        auxiliary = symbol.symbol_version.symbol_version_auxiliary if symbol.symbol_version else None
        return str(auxiliary.name) if auxiliary is not None else ""

    return {
        "arch": {lief.ELF.ARCH.X86_64: "x86_64", lief.ELF.ARCH.AARCH64: "aarch64"}[binary.header.machine_type],
        "own name": binary[lief.ELF.DynamicEntry.TAG.SONAME].name if SONAME in binary else "",
        "needed": [str(name) for name in binary.libraries],
        "imports": sorted({(str(symbol.name), library(symbol)) for symbol in named if not symbol.shndx}),
        "exports": sorted({(str(symbol.name), version(symbol)) for symbol in named if symbol.shndx}),
        "search paths": [folder for text in (path, later) if text for folder in text.split(":")],
        "signed": False,
        "kinds": {},
    }


SONAME = lief.ELF.DynamicEntry.TAG.SONAME
MACHINES = {lief.PE.Header.MACHINE_TYPES.AMD64: "x86_64", lief.PE.Header.MACHINE_TYPES.ARM64: "aarch64"}


def facts_of_pe(binary):
    """What LIEF reads of a PE file, in the form of facts_of()."""
    libraries = [*binary.imports, *binary.delay_imports]
    table = binary.get_export()
    entries = table.entries if table is not None else ()
    return {
        "arch": MACHINES[binary.header.machine],
        "own name": table.name if table is not None else "",
        "needed": list(dict.fromkeys(str(library.name) for library in libraries)),
        "imports": sorted(
            (f"#{entry.ordinal}" if entry.is_ordinal else str(entry.name), str(library.name))
            for library in libraries
            for entry in library.entries
        ),
        "exports": sorted((str(export.name) or f"#{export.ordinal}", "") for export in entries if export.function_rva),
        "search paths": [],
        "signed": bool(binary.signatures),
        "kinds": {str(delayed.name): "delay" for delayed in binary.delay_imports},
    }


def other_libraries(bench):
    """ELF and PE files that differ in what the readers read."""
    shared, dll, thing = bench.compiler.library, bench.compiler.dll, bench.compiler.import_library
    yield "elf", "plain", shared(GOOD, "-Wl,-soname,liblatenn.so").read_bytes()
    yield "elf", "needs the runtime", shared(USER, bench.runtime(), "-Wl,-rpath,/a:$ORIGIN").read_bytes()
    yield "elf", "search path of old", shared(USER, "-Wl,-rpath,/a", "-Wl,--disable-new-dtags").read_bytes()
    yield "elf", "defines a version", bench.runtime().read_bytes()
    yield "elf", "the System V hash table", shared(MIXED, "-Wl,--hash-style=sysv").read_bytes()
    yield "elf", "another processor", shared(MIXED, target="aarch64-linux-gnu.2.28").read_bytes()
    runtime = thing(bench.windows_runtime())
    yield "pe", "plain", dll(F, exports=["latenn_f"], name="latenn.dll").read_bytes()
    yield "pe", "another processor", dll(F, exports=["latenn_f"], target=WINDOWS_ARM).read_bytes()
    yield "pe", "imports", dll(USER, runtime, exports=["latenn_bind"]).read_bytes()
    delayed = dll(DELAYED, runtime, "-delayload:onnxruntime.dll", exports=["latenn_bind"])
    yield "pe", "imports late", delayed.read_bytes()
    yield "pe", "forwards", dll(f"{FORWARD}{F}", runtime, exports=["latenn_f"]).read_bytes()
    odd = dll("int odd(void) { return 1; }\n", exports=["odd,@7,noname"], name="odd.dll")
    yield "pe", "exports a number", odd.read_bytes()
    user = "extern int odd(void);\nint latenn_f(void) { return odd(); }\n"
    yield "pe", "imports a number", dll(user, thing(odd), exports=["latenn_f"]).read_bytes()


def test_both_readers_find_the_same_in_each_elf_and_pe_library(bench):
    wrong = []
    for form, what, data in other_libraries(bench):
        binary = lief.ELF.parse(io.BytesIO(data)) if form == "elf" else lief.PE.parse(io.BytesIO(data))
        theirs = facts_of_elf(binary) if form == "elf" else facts_of_pe(binary)
        ours = facts_of(read_image(data, "x"))
        assert any(theirs[name] for name in ("imports", "exports")), what
        wrong += [(what, name, ours[name], theirs[name]) for name in theirs if ours[name] != theirs[name]]
    assert wrong == []


def test_a_library_without_section_headers_has_the_same_symbols(bench):
    """Their number is then in a hash table, or follows from the relocations."""
    elf_files = [data for form, _, data in other_libraries(bench) if form == "elf"]
    assert len(elf_files) == 6
    for data in elf_files:
        bare = bytearray(data)
        bare[40:48], bare[60:64] = bytes(8), bytes(4)  # e_shoff; e_shnum and e_shstrndx
        image, other = read_image(data, "x"), read_image(bytes(bare), "x")
        assert (set(image.imports), set(image.exports)) == (set(other.imports), set(other.exports))
        assert facts_of(image) == facts_of(other)


@pytest.mark.parametrize("form", ["elf", "macho", "pe"])
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.lists(st.tuples(st.integers(0, 4095), st.integers(0, 255)), max_size=6), cut=st.floats(0, 1))
def test_a_damaged_library_is_read_or_refused(bench, form, changes, cut):
    data = bytearray({"elf": bench.good, "macho": bench.dylib, "pe": bench.dll}[form]())
    for offset, value in changes:
        data[offset % len(data)] = value
    for some in (data, data[: int(len(data) * cut)]):
        with contextlib.suppress(InputError):
            read_images(bytes(some), "x")
