"""What the loader reads of Mach-O and PE files before the system sees them: on real libraries that zig makes."""

import struct
import subprocess

import lief
import pytest

from tests.loader import pe
from tests.support.building import ROOT
from tests.support.needs import zig
from tests.support.running import run_checked

BOUND, NOT_A_LIBRARY, WRONG_ARCHITECTURE = 0, 2, 3
SOURCE = "int one(void);\nint one(void) { return 1; }\n"


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """Compile a library or, with the word -c, an object file for a target; once for each."""
    folder = tmp_path_factory.mktemp("heads")
    built = {}

    def make(rid, *flags):
        kind = flags or ("-shared",)
        if "-c" not in kind and "-shared" not in kind:
            kind = ("-shared", *kind)
        if (rid, kind) not in built:
            (folder / "one.c").write_text(SOURCE)
            path = folder / f"{rid}-{len(built)}.bin"
            run_checked(*zig(rid), *kind, "-o", path, "one.c", cwd=folder)
            built[rid, kind] = path.read_bytes()
        return built[rid, kind]

    return make


def reader_of(program, tmp_path):
    """Give (outcome, words) of a reader for a file's bytes, or the lines that it lists."""

    def ask(reader, data):
        path = tmp_path / "file"
        path.write_bytes(data)
        command = [program, reader, path]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", check=True)
        if reader in {"imports", "run-paths"}:
            return done.stdout.splitlines()
        outcome, _, message = done.stdout.rstrip("\n").partition(" ")
        return int(outcome), message

    return ask


@pytest.fixture
def read(plain, tmp_path):
    return reader_of(plain.folder / "heads", tmp_path)


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
    outcome, message = read("macho", fat((ARM64, arm64), (7, arm64), wide=wide))
    assert (outcome, message) == (WRONG_ARCHITECTURE, "built for arm64 and i386, this process is x86_64")
    outcome, message = read("macho", fat((X64, x64), wide=wide)[:-100])
    assert outcome == NOT_A_LIBRARY
    assert message.startswith("truncated: ")


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
    outcome, message = read("macho", data)
    assert outcome == NOT_A_LIBRARY
    assert message.startswith(says)


@pytest.mark.slow
@pytest.mark.parametrize(("rid", "reader"), [("osx-x64", "macho"), ("win-x64", "pe")])
def test_every_truncation_is_seen(read, library, rid, reader):
    data = library(rid)
    for keep in (5, 40, 70, 300, 600, len(data) // 2):
        outcome, message = read(reader, data[:keep])
        assert outcome == NOT_A_LIBRARY, keep
        assert message.startswith("truncated"), keep


@pytest.mark.parametrize(("rid", "reader"), [("osx-x64", "macho"), ("win-x64", "pe")])
def test_damaged_heads_never_crash(read, library, rid, reader):
    data = library(rid)
    for at in range(0, 600, 7):
        for value in (0x00, 0xFF):
            read(reader, data[:at] + bytes([value]) * 4 + data[at + 4 :])


def test_an_object_file_is_no_library(read, library):
    outcome, message = read("macho", library("osx-x64", "-c"))
    assert (outcome, message) == (NOT_A_LIBRARY, "not a shared library: an object file")


@pytest.mark.slow
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
    data = library("win-x64")
    (tmp_path / "one.dll").write_bytes(data)
    binary = lief.parse(str(tmp_path / "one.dll"))  # kept: LIEF's lists do not outlive it
    expected = [imported.name for imported in binary.imports]
    assert "KERNEL32.dll" in expected
    assert read("imports", data) == expected
    assert read("imports", data[:300]) == []


# ---- what keeps a Windows library from loading ----


@pytest.fixture
def missing(plain, tmp_path):
    """Give (libraries that were opened, the one that is missing, who needs it) for libraries by name and imports."""

    def ask(libraries):
        for name, imports in libraries.items():
            (tmp_path / name).write_bytes(pe.library(imports))
        printed = run_checked(plain.folder / "heads", "missing", tmp_path / "a.dll", tmp_path, timeout=20)
        opened, name, needer = printed.rstrip("\n").split(" ")
        return int(opened), name, needer

    return ask


def test_libraries_that_import_each_other_are_each_opened_once(missing):
    names = [f"d{number}.dll" for number in range(16)]
    assert missing({"a.dll": names, **{name: [*names, "D3.DLL"] for name in names}}) == (16, "", "")


def test_the_missing_library_is_named_with_the_one_that_needs_it(missing):
    assert missing({"a.dll": ["b.dll", "gone.dll"], "b.dll": []}) == (2, "gone.dll", "")
    assert missing({"a.dll": ["b.dll"], "b.dll": ["c.dll", "B.DLL"], "c.dll": ["gone.dll"]}) == (3, "gone.dll", "c.dll")


def test_a_missing_library_is_found_however_deep_it_is(missing):
    chain = {f"d{number}.dll": [f"d{number + 1}.dll"] for number in range(40)}
    assert missing({"a.dll": ["d0.dll"], **chain}) == (41, "d40.dll", "d39.dll")


def test_an_import_that_is_a_path_is_not_looked_up(missing):
    assert missing({"a.dll": ["..\\x.dll", "C:\\x.dll", "//server/x.dll"]}) == (0, "", "")


# ---- run paths ----


def test_run_paths_are_those_that_the_linker_wrote(read, library):
    paths = ("@loader_path/../lib", "/opt/with space", "@executable_path/../Frameworks")
    flags = tuple(f"-Wl,-rpath,{path}" for path in paths)
    x64, arm64 = library("osx-x64", *flags), library("osx-arm64", "-Wl,-rpath,/other")
    assert read("run-paths", x64) == list(paths)
    assert read("run-paths", fat((ARM64, arm64), (X64, x64))) == list(paths)
    assert read("run-paths", library("osx-x64")) == []
    assert read("run-paths", fat((ARM64, arm64))) == []


def test_damaged_run_paths_never_crash(read, library):
    data = library("osx-x64", "-Wl,-rpath,/one")
    for at in range(0, 1300, 31):
        for value in (0x00, 0xFF):
            read("run-paths", data[:at] + bytes([value]) * 4 + data[at + 4 :])
    for keep in (0, 3, 8, 31, 40, 400):
        read("run-paths", data[:keep])


# ---- a build of 32 bits ----


@pytest.fixture(scope="module")
def heads32(tmp_path_factory):
    """The readers, built for a processor of 32 bits: it runs here where the kernel runs its programs."""
    program = tmp_path_factory.mktemp("heads32") / "heads"
    names = ("file_head", "macho_head", "macho_paths", "pe_head", "imports", "ld_cache", "memory", "names")
    sources = [ROOT / "tests/loader/heads.c", *(ROOT / "loader/src" / f"{name}.c" for name in names)]
    folders = [f"-I{ROOT / name}" for name in ("loader/src", "loader/include", "tests/support/native")]
    options = [
        "-target",
        "x86-linux-musl",
        "-static",
        "-O1",
        "-s",
        "-std=gnu99",
        "-Wall",
        "-Wextra",
        "-Werror",
        *folders,
    ]
    run_checked(zig()[0], "cc", *options, *sources, "-o", program)
    try:
        subprocess.run([program], check=False)
    except OSError as reason:
        pytest.skip(f"not run: no programs of 32 bits here: {reason}")
    return program


@pytest.fixture
def read32(heads32, tmp_path):
    return reader_of(heads32, tmp_path)


@pytest.mark.builds
def test_a_process_of_32_bits_takes_libraries_of_32_bits_and_no_others(read32, library):
    assert read32("pe", pe.library([], bits=32)) == (BOUND, "")
    assert read32("pe", library("win-x64")) == (WRONG_ARCHITECTURE, "built for x64, this process is x86")
    assert read32("pe", library("win-arm64")) == (WRONG_ARCHITECTURE, "built for arm64, this process is x86")
    outcome, message = read32("macho", library("osx-x64"))
    assert (outcome, message.startswith("built for x86_64")) == (WRONG_ARCHITECTURE, True)


def test_a_library_of_32_bits_is_not_for_a_process_of_64(read):
    assert read("pe", pe.library([], bits=32)) == (WRONG_ARCHITECTURE, "built for x86, this process is x64")
    assert read("imports", pe.library(["one.dll", "two.dll"], bits=32)) == ["one.dll", "two.dll"]


@pytest.mark.builds
def test_imports_of_32_bits_are_those_that_another_reader_sees(read32, tmp_path):
    for bits in (32, 64):
        data = pe.library(["one.dll", "two.dll"], bits=bits)
        (tmp_path / "one.dll").write_bytes(data)
        binary = lief.parse(str(tmp_path / "one.dll"))
        assert [imported.name for imported in binary.imports] == read32("imports", data)
