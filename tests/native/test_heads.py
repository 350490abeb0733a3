"""What the loader reads of Mach-O and PE files before the system sees them: on real libraries that zig makes."""

import struct
import subprocess

import pytest
from latebind.build.toolchain import find_zig
from latebind.targets import target, zig_triple

BOUND, NOT_A_LIBRARY, WRONG_ARCHITECTURE = 0, 2, 3
SOURCE = "int one(void);\nint one(void) { return 1; }\n"


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """Compile a library or, with `kind` -c, an object file for a target; once for each."""
    zig = find_zig()
    if zig is None:
        pytest.skip("not run: the ziglang package is missing")
    folder = tmp_path_factory.mktemp("heads")
    made = {}

    def make(rid, kind="-shared"):
        if (rid, kind) not in made:
            row = target(rid)
            (folder / "one.c").write_text(SOURCE)
            path = folder / f"{rid}{kind}.bin"
            command = [zig, "cc", "-target", zig_triple(row, row.floor), "-O1", kind, "-o", path, "one.c"]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            made[rid, kind] = path.read_bytes()
        return made[rid, kind]

    return make


@pytest.fixture
def read(plain, tmp_path):
    """Give (outcome, words) of a reader for a file's bytes."""

    def ask(reader, data):
        path = tmp_path / "file"
        path.write_bytes(data)
        done = subprocess.run([plain.folder / "heads", reader, path], capture_output=True, text=True, check=True)
        if reader == "imports":
            return done.stdout.split()
        outcome, _, words = done.stdout.rstrip("\n").partition(" ")
        return int(outcome), words

    return ask


def fat(*slices, wide=False):
    """A fat file of (cpu, bytes)."""
    head = struct.pack(">II", 0xCAFEBABF if wide else 0xCAFEBABE, len(slices))
    at, body = 4096, b""
    for cpu, data in slices:
        entry = (cpu, 0, at + len(body), len(data), 12)
        head += struct.pack(">IIQQII", *entry, 0) if wide else struct.pack(">IIIII", *entry)
        body += data
    return head.ljust(at, b"\0") + body


X64, ARM64 = 0x01000007, 0x0100000C


def test_a_thin_library_of_this_processor_and_of_another(read, library):
    assert read("macho", library("osx-x64")) == (BOUND, "")
    assert read("macho", library("osx-arm64")) == (
        WRONG_ARCHITECTURE,
        "built for arm64, this process is x86_64",
    )


@pytest.mark.parametrize("wide", [False, True])
def test_a_fat_library_is_judged_by_this_processors_slice(read, library, wide):
    x64, arm64 = library("osx-x64"), library("osx-arm64")
    assert read("macho", fat((ARM64, arm64), (X64, x64), wide=wide)) == (BOUND, "")
    outcome, words = read("macho", fat((ARM64, arm64), (7, arm64), wide=wide))
    assert (outcome, words) == (WRONG_ARCHITECTURE, "built for arm64 and i386, this process is x86_64")
    outcome, words = read("macho", fat((X64, x64), wide=wide)[:-100])
    assert outcome == NOT_A_LIBRARY
    assert words.startswith("truncated: ")


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"\xca\xfe\xba\xbe\0\0\0\x02", "truncated: it ends within its list of slices, after 8 bytes"),
        (b"\xca\xfe\xba\xbe\xff\xff\xff\xff", "truncated: it ends within its list of slices"),
        (b"\xcf\xfa\xed\xfe", "truncated: it ends within its header, after 4 bytes"),
        (b"\x7fELF" + b"\0" * 100, "a Linux library"),
        (b"MZ" + b"\0" * 100, "a Windows library"),
        (b"", "the file is empty"),
        (b"\0" * 100, "not a library of this system (no Mach-O file)"),
    ],
)
def test_what_is_no_mach_o_library_is_told_by_its_kind(read, data, says):
    outcome, words = read("macho", data)
    assert outcome == NOT_A_LIBRARY
    assert words.startswith(says)


@pytest.mark.parametrize(("rid", "reader"), [("osx-x64", "macho"), ("win-x64", "pe")])
def test_every_truncation_is_seen(read, library, rid, reader):
    data = library(rid)
    for keep in (5, 40, 70, 300, 600, len(data) // 2):
        outcome, words = read(reader, data[:keep])
        assert outcome == NOT_A_LIBRARY, keep
        assert words.startswith("truncated"), keep


@pytest.mark.parametrize(("rid", "reader"), [("osx-x64", "macho"), ("win-x64", "pe")])
def test_damaged_heads_never_crash(read, library, rid, reader):
    data = library(rid)
    for at in range(0, 600, 7):
        for value in (0x00, 0xFF):
            read(reader, data[:at] + bytes([value]) * 4 + data[at + 4 :])


def test_an_object_file_is_no_library(read, library):
    outcome, words = read("macho", library("osx-x64", "-c"))
    assert (outcome, words) == (NOT_A_LIBRARY, "not a shared library: an object file")


def test_a_windows_library_of_this_processor_and_of_another(read, library):
    assert read("pe", library("win-x64")) == (BOUND, "")
    assert read("pe", library("win-arm64")) == (WRONG_ARCHITECTURE, "built for arm64, this process is x64")


def with_load_config(data, hybrid):
    """An arm64 DLL with a load configuration written over its code; `hybrid` gives it an ARM64X pointer."""
    data = bytearray(data)
    pe = struct.unpack_from("<I", data, 60)[0]
    sections = pe + 24 + struct.unpack_from("<H", data, pe + 20)[0]
    address, size, offset = struct.unpack_from("<III", data, sections + 12)
    assert size >= 0x140
    struct.pack_into("<I", data, offset, 0x140)
    struct.pack_into("<Q", data, offset + 0xC8, 0x180001000 if hybrid else 0)
    struct.pack_into("<II", data, pe + 24 + 112 + 8 * 10, address, 0x140)
    return bytes(data)


def test_an_arm64_file_that_holds_both_kinds_of_code_serves_an_emulated_process(read, library):
    data = library("win-arm64")
    assert read("pe", with_load_config(data, hybrid=True)) == (BOUND, "")
    assert read("pe", with_load_config(data, hybrid=False))[0] == WRONG_ARCHITECTURE


def test_what_is_no_dll_is_told(read, library):
    assert read("pe", b"MZ" + b"\0" * 200) == (NOT_A_LIBRARY, "not a library of this system (an MS-DOS program)")
    program = bytearray(library("win-x64"))
    pe = struct.unpack_from("<I", program, 60)[0]
    flags = struct.unpack_from("<H", program, pe + 22)[0]
    struct.pack_into("<H", program, pe + 22, flags & ~0x2000)
    assert read("pe", program) == (NOT_A_LIBRARY, "not a shared library: a program or an object file")


def test_imports_are_those_that_another_reader_sees(read, library, tmp_path):
    lief = pytest.importorskip("lief")
    data = library("win-x64")
    (tmp_path / "one.dll").write_bytes(data)
    binary = lief.parse(str(tmp_path / "one.dll"))  # kept: LIEF's lists do not outlive it
    expected = [imported.name for imported in binary.imports]
    assert "KERNEL32.dll" in expected
    assert read("imports", data) == expected
    assert read("imports", data[:300]) == []
