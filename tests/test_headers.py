"""The headers of a runtime are found in packages, source trees and folders, by git, pkg-config and package index.

Each place that fails says why, and pins hold.
"""

import io
import json
import shutil
import tarfile
import zipfile

import msgspec
import pytest

from latebind.errors import INPUT_ERRORS, InputError, LatebindError
from latebind.headers import extract_headers, get_headers, read_recorded, write_headers
from latebind.tables.presets import preset
from tests.support.client import write_files
from tests.support.needs import official_header, require_programs
from tests.support.running import assert_refused, assert_success, run_checked

ORT = preset("onnxruntime")
C_API = "#pragma once\n#define ORT_API_VERSION 21\n"
FLAT = {"onnxruntime_c_api.h": C_API, "onnxruntime_cxx_api.h": "// C++\n", "cpu_provider_factory.h": "// CPU\n"}
SESSION, CPU = "include/onnxruntime/core/session", "include/onnxruntime/core/providers/cpu"
TREE = {
    **{f"{CPU if 'cpu' in name else SESSION}/{name}": text for name, text in FLAT.items()},
    f"{SESSION}/environment.h": "// internal\n",
    "onnxruntime/core/graph/onnxruntime_internal.h": "// internal\n",
}
AUTHOR = ("-c", "user.name=a", "-c", "user.email=a@b.c")


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
    with pytest.raises(INPUT_ERRORS, match="not a readable zip archive"):
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
    with pytest.raises(INPUT_ERRORS, match=r"9.4 MB exceed the limit of 8.4 MB"):
        extract_headers(ORT, place)


@pytest.fixture(autouse=True)
def user(tmp_path, monkeypatch):
    """A user without caches, NuGet packages and system packages, who reaches no repository."""
    monkeypatch.setenv("LATEBIND_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NUGET_PACKAGES", str(tmp_path / "nuget"))
    monkeypatch.setenv("PKG_CONFIG_LIBDIR", str(tmp_path / "pc"))
    redirect(monkeypatch, tmp_path / "repository")


def redirect(monkeypatch, repository):
    """Let git take a folder for ONNX Runtime's repository."""
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", f"url.{repository.as_uri()}.insteadOf")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", ORT.headers.repository)


def make_repository(folder, *tags):
    """A repository with the headers at each tag."""
    (git,) = require_programs("git")
    folder.mkdir()
    run_checked(git, "-C", folder, "init", "-q")
    for tag in tags:
        write_files(folder, {**TREE, "include/onnxruntime/core/session/onnxruntime_of.h": f"// {tag}\n"})
        run_checked(git, "-C", folder, "add", ".")
        run_checked(git, "-C", folder, *AUTHOR, "commit", "-qm", tag)
        run_checked(git, "-C", folder, "tag", tag)
    return folder


def test_the_newest_patch_of_the_repository_is_taken_and_kept(tmp_path):
    repository = make_repository(tmp_path / "repository", "v1.21.2", "v1.21.10", "v1.21.11-rc1", "v1.2.0", "other")
    headers = get_headers(ORT, "1.21")
    assert (headers.version, headers.files["onnxruntime_of.h"]) == ("1.21.10", b"// v1.21.10\n")
    assert headers.source == f"{ORT.headers.repository}, tag v1.21.10"
    assert "environment.h" not in headers.files
    shutil.rmtree(repository)
    assert get_headers(ORT, "1.21") == headers
    kept = tmp_path / "cache" / "headers" / "onnxruntime-1.21" / "onnxruntime_c_api.h"
    kept.write_text("damaged")
    with pytest.raises(LatebindError, match="no headers of"):
        get_headers(ORT, "1.21")


def test_without_a_place_that_has_them_each_says_why(tmp_path):
    with pytest.raises(LatebindError) as refused:
        get_headers(ORT, "1.20")
    lines = refused.value.message.splitlines()
    assert lines[:2] == [
        "no headers of ONNX Runtime 1.20 were found",
        "  NuGet: the package cache does not have ONNX Runtime 1.20",
    ]
    assert lines[3] == "  the wheel: contains no headers"
    assert "repository" in lines[4]
    assert "the NuGet package Microsoft.ML.OnnxRuntime 1.20.*, or the sources of" in refused.value.advice
    assert " at tag v1.20.* on" in refused.value.advice
    make_repository(tmp_path / "repository", "v1.21.2")
    with pytest.raises(LatebindError, match=r"no tag of 1\.20 in"):
        get_headers(ORT, "1.20")


def test_packages_that_nuget_restored_are_used(tmp_path):
    for version in ("1.21.1", "1.21.0-rc1", "1.20.0"):
        folder = tmp_path / "nuget" / "microsoft.ml.onnxruntime" / version / "build" / "native" / "include"
        write_files(folder, FLAT)
    headers = get_headers(ORT, "1.21")
    assert (headers.version, headers.source) == ("1.21.1", "NuGet package microsoft.ml.onnxruntime 1.21.1")


def test_the_systems_package_is_used_if_it_is_of_that_version(tmp_path):
    require_programs("pkg-config")
    write_files(tmp_path / "include", FLAT)
    text = f"includedir={tmp_path}/include\nName: ort\nDescription: ort\nVersion: 1.21.3\n"
    write_files(tmp_path / "pc", {"libonnxruntime.pc": text})
    headers = get_headers(ORT, "1.21")
    assert (headers.version, headers.source) == ("1.21.3", f"libonnxruntime 1.21.3 in {tmp_path}/include")
    with pytest.raises(LatebindError, match=r"the system: has 1\.21\.3"):
        get_headers(ORT, "1.20")


def test_other_headers_than_those_that_are_known_are_refused(tmp_path):
    make_repository(tmp_path / "repository", "v1.21.0")
    with pytest.raises(LatebindError, match=r"onnxruntime_c_api\.h is not that of ONNX Runtime 1\.21\.0"):
        get_headers(ORT, "1.21.0")
    with pytest.raises(InputError, match=r"has the headers of 1\.21, not of 1\.19") as caught:
        get_headers(ORT, "1.19", write_zip(tmp_path / "a.nupkg", {"build/native/include/onnxruntime_c_api.h": C_API}))
    assert "latebind headers onnxruntime 1.21 " in caught.value.advice


@pytest.mark.slow
def test_the_official_ones_are_the_pinned_ones(tmp_path, kept_builds):
    include = official_header(kept_builds).parent
    headers = get_headers(ORT, "1.21.0", include)
    assert {"onnxruntime_c_api.h", "onnxruntime_cxx_api.h", "onnxruntime_cxx_inline.h"} <= set(headers.files)
    known = msgspec.structs.replace(ORT.headers, sha256={"1.21": ORT.headers.sha256["1.21.0"]})
    assert get_headers(msgspec.structs.replace(ORT, headers=known), "1.21.0", include) == headers


@pytest.mark.slow
def test_openvinos_wheel_holds_its_own(latebind, tmp_path):
    shown = assert_success(latebind("headers", "openvino", "2025.4", "--output", tmp_path / "out"))
    assert shown.startswith("OpenVINO 2025.4.")
    assert "from wheel openvino 2025.4." in shown
    assert (tmp_path / "out" / "openvino" / "c" / "openvino.h").is_file()


def test_those_of_a_wheel_may_be_in_several_folders_below_one(latebind, tmp_path):
    names = (
        "csrc/stable/library.h",
        "csrc/stable/c/shim.h",
        "csrc/inductor/aoti_torch/c/shim.h",
        "headeronly/version.h",
    )
    wheel = write_files(tmp_path / "wheel", {f"torch/include/torch/{name}": "" for name in (*names, "csrc/api/all.h")})
    printed = assert_success(latebind("headers", "torch", "2.13", "--output", tmp_path / "out", "--from", wheel))
    assert printed.startswith("PyTorch 2.13: 4 headers in ")
    assert all((tmp_path / "out/torch" / name).is_file() for name in names)


@pytest.mark.slow
def test_torchs_smallest_wheel_holds_those_of_the_stable_abi(latebind, tmp_path):
    shown = assert_success(latebind("headers", "torch", "2.10", "--output", tmp_path / "out"))
    assert shown.startswith("PyTorch 2.10.0: 68 headers in ")


def test_the_command_writes_headers_and_their_record(latebind, tmp_path):
    given = write_files(tmp_path / "include", FLAT)
    command = ("headers", "onnxruntime", "1.21", "--output", tmp_path / "out", "--from", given)
    said = f"ONNX Runtime 1.21: 3 headers in {tmp_path}/out, from {given}\n"
    assert assert_success(latebind(*command)) == said
    assert assert_success(latebind(*(word for word in command if word != "1.21"))) == said
    record = json.loads((tmp_path / "out" / "onnxruntime-headers.json").read_text())
    assert sorted(record["sha256"]) == sorted(FLAT)
    printed = json.loads(assert_success(latebind(*command, "--format", "json")))
    assert printed == {
        "runtime": "onnxruntime", "version": "1.21", "source": str(given), "files": sorted(FLAT),
    }  # fmt: skip


def test_the_command_refuses_what_it_does_not_know(latebind, tmp_path):
    out = ("--output", tmp_path / "out")
    assert_refused(latebind("headers", "onnxruntim", *out), "onnxruntim is not a known runtime")
    assert_refused(latebind("headers", "onnxruntime", "newest", *out), "'newest' is not a version")
    assert_refused(latebind("headers", "onnxruntime", "1.21", *out, "--from", tmp_path / "x"), "no such file or folder")
    assert not (tmp_path / "out").exists()
