"""The headers of a runtime are found in packages, source trees and folders, and nothing else is taken."""

import io
import tarfile
import zipfile

import msgspec
import pytest

from latebind.errors import InputError, LatebindError
from latebind.headers.files import extract_headers
from latebind.headers.record import read_recorded, write_headers
from latebind.tables.presets import preset
from tests.client import write_files

ORT = preset("onnxruntime")
C_API = "#pragma once\n#define ORT_API_VERSION 21\n"
FLAT = {"onnxruntime_c_api.h": C_API, "onnxruntime_cxx_api.h": "// C++\n", "cpu_provider_factory.h": "// CPU\n"}
SESSION, CPU = "include/onnxruntime/core/session", "include/onnxruntime/core/providers/cpu"
TREE = {
    **{f"{CPU if 'cpu' in name else SESSION}/{name}": text for name, text in FLAT.items()},
    f"{SESSION}/environment.h": "// internal\n",
    "onnxruntime/core/graph/onnxruntime_internal.h": "// internal\n",
}


def write_zip(path, files):
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def write_tgz(path, files):
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text.encode()))
    return path


def places(folder):
    nupkg = {f"build/native/include/{name}": text for name, text in FLAT.items()}
    installed = {**FLAT, "stdio.h": "// the system's\n", "onnxruntime/other/onnxruntime_more.h": "// deeper\n"}
    yield write_zip(folder / "a.nupkg", {**nupkg, "build/native/a.props": "<Project/>"})
    yield write_tgz(folder / "a.tgz", {f"onnxruntime-linux-x64-1.21.0/include/{name}": t for name, t in FLAT.items()})
    yield write_tgz(folder / "a.tar.gz", {f"onnxruntime-1.21.0/{name}": text for name, text in TREE.items()})
    yield write_files(folder / "tree", TREE)
    yield write_files(folder / "include", installed)


def test_packages_archives_trees_and_folders_have_them(tmp_path):
    for place in places(tmp_path):
        headers = extract_headers(ORT, place)
        assert (headers.version, headers.source) == ("1.21", str(place))
        assert headers.files == {name: text.encode() for name, text in FLAT.items()}


def test_an_interface_below_the_folder_keeps_its_names(tmp_path):
    files = {"openvino/c/openvino.h": "//\n", "openvino/c/gpu/gpu.h": "//\n", "openvino/core/any.hpp": "// C++\n"}
    write_files(tmp_path / "openvino" / "include", files)
    headers = extract_headers(preset("openvino"), tmp_path)
    assert (headers.version, list(headers.files)) == ("", ["openvino/c/gpu/gpu.h", "openvino/c/openvino.h"])


def test_where_they_are_not_or_not_one_it_says_so(tmp_path):
    with pytest.raises(InputError, match="there is no such file or folder") as caught:
        extract_headers(ORT, tmp_path / "nowhere")
    assert "a NuGet package, a wheel or a source archive" in caught.value.advice
    with pytest.raises(InputError, match=r"contains no onnxruntime_c_api\.h"):
        extract_headers(ORT, write_zip(tmp_path / "a.whl", {"demo/demo.h": ""}))
    (tmp_path / "b.zip").write_bytes(b"PK")
    with pytest.raises(InputError, match="not a readable zip archive"):
        extract_headers(ORT, tmp_path / "b.zip")
    write_files(tmp_path / "two", {"a/onnxruntime_c_api.h": C_API, "b/onnxruntime_c_api.h": C_API})
    assert extract_headers(ORT, tmp_path / "two").version == "1.21"
    write_files(tmp_path / "two", {"b/onnxruntime_c_api.h": "// another\n"})
    with pytest.raises(InputError, match=r"several folders have different onnxruntime_c_api\.h: a/, b/"):
        extract_headers(ORT, tmp_path / "two")


def test_links_are_left_out(tmp_path):
    secret = write_files(tmp_path / "elsewhere", {"secret.h": "secret"}) / "secret.h"
    folder = write_files(tmp_path / "include", FLAT)
    (folder / "onnxruntime_linked.h").symlink_to(secret)
    assert "onnxruntime_linked.h" not in extract_headers(ORT, folder).files


def test_a_record_holds_as_long_as_the_files_do(tmp_path):
    headers = extract_headers(ORT, write_files(tmp_path / "include", FLAT))
    write_files(tmp_path / "out", {"own.h": "mine"})
    write_headers(headers, "onnxruntime", tmp_path / "out")
    assert read_recorded(tmp_path / "out", "onnxruntime") == headers
    assert (tmp_path / "out" / "own.h").read_text() == "mine"
    (tmp_path / "out" / "onnxruntime_c_api.h").write_text("changed")
    assert read_recorded(tmp_path / "out", "onnxruntime") is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"runtime": "onnxruntime", "sha256": {"../../x": 3}}'])
def test_a_damaged_record_counts_as_none(tmp_path, text):
    (tmp_path / "onnxruntime-headers.json").write_text(text)
    assert read_recorded(tmp_path, "onnxruntime") is None


def test_a_runtime_whose_headers_are_not_known_is_named(tmp_path):
    with pytest.raises(LatebindError, match="the headers of ONNX Runtime are not known"):
        extract_headers(msgspec.structs.replace(ORT, stub=None), tmp_path)


@pytest.mark.parametrize("write", [write_zip, write_tgz])
def test_a_header_of_many_megabytes_is_not_read(tmp_path, write):
    name = "a.nupkg" if write is write_zip else "a.tgz"
    place = write(tmp_path / name, {**FLAT, "onnxruntime_huge.h": " " * (9 << 20)})
    with pytest.raises(InputError, match=r"9.4 MB exceed the limit of 8.4 MB"):
        extract_headers(ORT, place)
