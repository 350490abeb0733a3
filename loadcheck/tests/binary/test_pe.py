import struct

import pytest
from tests.audit.cases.windows import DELAYED, FORWARD, F
from tests.audit.corpus import WINDOWS, WINDOWS_ARM

from loadcheck.binary import Export, Import, read_image
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
    assert (library.aslr, library.is_nx, library.is_signed, library.pdb, library.needed) == (
        "full",
        True,
        False,
        "",
        (),
    )
    assert library.is_static


def test_delayed_imports(bench):
    flags = (runtime_library(bench), "-delayload:onnxruntime.dll")
    library = image(bench.compiler.dll(DELAYED, *flags, exports=["latenn_bind"]))
    assert library.imports == (Import(name="OrtGetApiBase", library="onnxruntime.dll", kind="delay"),)
    assert (library.needed, library.link_kinds) == (("onnxruntime.dll",), {"onnxruntime.dll": "delay"})


def test_forwarded_exports(bench):
    library = image(bench.compiler.dll(f"{FORWARD}{F}", runtime_library(bench), exports=["latenn_f"]))
    assert Export(name="OrtGetApiBase", kind="func", forward="onnxruntime.OrtGetApiBase") in library.exports


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
