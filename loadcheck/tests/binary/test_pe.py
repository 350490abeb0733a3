import struct

import pytest

from corpus.cases.windows import DELAYED, FORWARD, F
from corpus.packages import WINDOWS, WINDOWS_ARM
from loadcheck.binary import Export, Import, read_image
from loadcheck.binary.pe import import_library
from loadcheck.engine.wording import links
from loadcheck.errors import InputError


def image(path):
    library = read_image(path.read_bytes(), path.name)
    assert library is not None
    return library


def runtime_library(bench):
    return bench.compiler.import_library(bench.windows_runtime())


@pytest.mark.parametrize(("target", "arch"), [(WINDOWS, "x86_64"), (WINDOWS_ARM, "aarch64")])
def test_identity_of_a_library(bench, target, arch):
    library = image(bench.compiler.dll(F, exports=["latenn_f"], target=target, name="latenn.dll"))

    assert (library.format, library.file_type, library.arch, library.soname) == ("pe", "shared", arch, "latenn.dll")
    assert library.exports == (Export(name="latenn_f", kind="func"),)
    assert library.needed == ()


def test_delayed_imports(bench):
    flags = (runtime_library(bench), "-delayload:onnxruntime.dll")
    library = image(bench.compiler.dll(DELAYED, *flags, exports=["latenn_bind"]))
    assert library.imports == (Import(name="OrtGetApiBase", library="onnxruntime.dll", kind="delay"),)
    assert (library.needed, library.link_kinds) == (("onnxruntime.dll",), {"onnxruntime.dll": "delay"})


def test_forwarded_exports(bench):
    library = image(bench.compiler.dll(f"{FORWARD}{F}", runtime_library(bench), exports=["latenn_f"]))
    assert Export(name="OrtGetApiBase", kind="func", forward="onnxruntime.OrtGetApiBase") in library.exports
    said = "export OrtGetApiBase is forwarded to onnxruntime.OrtGetApiBase"
    assert ("onnxruntime.dll", said) in list(links(library))


def test_exported_data(bench):
    library = image(bench.compiler.dll("int latenn_counter = 3;\n", exports=["latenn_counter,data"]))
    assert library.exports == (Export(name="latenn_counter", kind="data"),)


@pytest.mark.parametrize("length", [130, 200, 400, 1000])
def test_a_cut_off_library_is_refused(bench, length):
    with pytest.raises(InputError, match=r"latenn\.dll"):
        read_image(bench.dll()[:length], "latenn.dll")


def test_a_section_behind_the_end_is_refused(bench):
    data = bytearray(bench.dll())
    (start,) = struct.unpack_from("<I", data, 60)
    (size,) = struct.unpack_from("<H", data, start + 20)
    struct.pack_into("<I", data, start + 24 + size + 20, 1 << 30)
    with pytest.raises(InputError, match="cut off"):
        read_image(bytes(data), "latenn.dll")


def many_imports(rows: int, thunk: int, thunks: int) -> bytes:
    """A small DLL that imports one table of functions from one library, again and again."""
    name = b"A" * 60_000 + bytes(8)
    table = struct.pack("<Q", thunk) * thunks + bytes(8)
    places = [0x1000, 0x1000 + len(name)]
    row = struct.pack("<5I", places[1], 0, 0, places[0] + 59_990, places[1])
    body = name + table + row * rows + bytes(20)
    optional = struct.pack("<H22xQ38xH36xI", 0x20B, 0x180000000, 0x160, 16)
    directories = struct.pack("<II", 0, 0) + struct.pack("<II", places[1] + len(table), 20 * (rows + 1)) + bytes(112)
    size = len(optional) + len(directories)
    headers = b"MZ".ljust(60, b"\0") + struct.pack("<I", 64)
    headers += b"PE\0\0" + struct.pack("<HHIIIHH", 0x8664, 1, 0, 0, 0, size, 0x2022) + optional + directories
    section = struct.pack("<8sIIIIIIHHI", b".rdata", len(body), 0x1000, len(body), 512, 0, 0, 0, 0, 0x40000040)
    return (headers + section).ljust(512, b"\0") + body


@pytest.mark.parametrize("thunk", [0x1000, 1 << 63], ids=["names", "numbers"])
def test_tables_that_lead_to_gigabytes_are_refused(thunk):
    library = read_image(many_imports(2, thunk, 2), "small.dll")
    assert library is not None
    assert library.needed == ("A" * 10,)
    with pytest.raises(InputError, match="refer to more than 8 times the file"):
        read_image(many_imports(20_000, thunk, 60_000), "large.dll")


@pytest.mark.parametrize(("names", "libraries"), [(b"f\0x.dll\0", {"x.dll"}), (b"f", set())], ids=["whole", "damaged"])
def test_an_import_library_spells_its_processor_as_dlls_do(names, libraries):
    member = struct.pack("<HHHHIIHH", 0, 0xFFFF, 0, 0x14C, 0, 4, 0, 0) + names
    data = b"!<arch>\n" + b"f/".ljust(48) + str(len(member)).encode().ljust(10) + b"`\n" + member

    assert import_library(data) == ({"i686"}, libraries)
