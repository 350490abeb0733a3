"""Packages of an execution provider: what is in them, and what is refused."""

import hashlib
import json
import shutil
import signal
import subprocess
import sys

import pytest

from latebind.config.file import load
from latebind.errors import BuildError
from latebind.pack.planned import plan_packages
from loadcheck.api import Policy, audit_paths
from tests.native.test_bill import FORMATS
from tests.support.client import hashes, members, pack_project, write_files
from tests.support.epclient import CMAKE, CONFIG, SOURCE, write_ep
from tests.support.needs import dotnet_environment
from tests.support.running import assert_refused, run_checked

pytestmark = pytest.mark.slow

WHEEL = "onnxruntime_ep_tiny_npu-1.2.0rc1-py3-none-manylinux_2_28_x86_64.whl"
STATIC = """\
#define API extern "C" __attribute__((visibility("default")))
struct Cache { volatile int size = 1; ~Cache() { size = 0; } };
API int CreateEpFactories() { static Cache cache; return cache.size; }
API int ReleaseEpFactory() { return 0; }
"""
SECOND = """\
add_library(more SHARED {})
target_compile_definitions(more PRIVATE LATEBIND_EP_NAME="" LATEBIND_EP_VERSION="" LATEBIND_EP_EXCEPT="")
install(TARGETS more COMPONENT tiny)
"""


def test_the_wheel_has_a_module_with_the_helpers_and_requires_nothing(tmp_path):
    folder = write_ep(tmp_path / "tiny")
    result = pack_project(folder)

    assert WHEEL in {entry.file for entry in plan_packages(load(folder / "latebind.toml"), ["linux-x64"]).files}
    shutil.unpack_archive(folder / "dist" / WHEEL, tmp_path / "site", "zip")
    files, info = members(folder / "dist" / WHEEL), "onnxruntime_ep_tiny_npu-1.2.0rc1.dist-info"
    metadata = files[f"{info}/METADATA"].decode()
    assert {"onnxruntime_ep_tiny_npu/py.typed", f"{info}/licenses/LICENSE", f"{info}/RECORD"} <= files.keys()
    assert "Requires-Dist" not in metadata
    assert "Supported ONNX Runtime: 1.23.1 or newer, but not 1.25." in metadata
    code = (
        "import ctypes, onnxruntime_ep_tiny_npu as ep; create = ctypes.CDLL(ep.get_library_path()).CreateEpFactories; "
        "create.restype = ctypes.c_char_p; print(ep.get_ep_names(), ep.get_ep_name(), create().decode())"
    )
    printed = run_checked(sys.executable, "-c", code, cwd=tmp_path / "site")
    assert printed == "['TinyExecutionProvider'] TinyExecutionProvider TinyExecutionProvider 1.2.0-rc.1 1.23.0,1.25\n"
    assert hashes(pack_project(write_ep(tmp_path / "again"))) == hashes(result)


@pytest.mark.parametrize("way", ["latebind_ep", "by default", "LATEBIND_ALLOW_UNLOADING"])
def test_a_process_outlives_a_provider_in_cpp_that_is_unloaded(tmp_path, way):
    stays_loaded = way != "LATEBIND_ALLOW_UNLOADING"
    cmake = CMAKE.replace("tiny C", "tiny CXX").replace("tiny_ep.c", "tiny.cc")
    cmake = cmake if way == "latebind_ep" else cmake.replace("latebind_ep(tiny_ep tiny)", "")
    folder = write_ep(tmp_path / "tiny", cmake=cmake)
    (folder / "native/tiny.cc").write_text(STATIC)
    if not stays_loaded:
        with (folder / "latebind.toml").open("a", encoding="utf-8") as file:
            file.write("[native]\ndefine = { LATEBIND_ALLOW_UNLOADING = true }\n")
    pack_project(folder)
    shutil.unpack_archive(folder / "dist" / WHEEL, tmp_path / "site", "zip")
    library = str(tmp_path / "site/onnxruntime_ep_tiny_npu/libtiny_ep.so")
    code = f"import ctypes, _ctypes; ep = ctypes.CDLL({library!r}); ep.CreateEpFactories(); _ctypes.dlclose(ep._handle)"
    ended = subprocess.run([sys.executable, "-c", code], check=False)
    assert ended.returncode == (0 if stays_loaded else -signal.SIGSEGV)
    codes = {finding.code for finding in audit_paths([folder / "dist"], Policy()).findings}
    assert ("LB809" in codes) is not stays_loaded


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"source": SOURCE.replace("ReleaseEpFactory", "Release")}, "symbol 'ReleaseEpFactory' failed"),
        ({"cmake": CMAKE + SECOND.format("tiny_ep.c")}, "more than one library of component tiny exports CreateEpFac"),
        ({"cmake": CMAKE + SECOND.format("more.c")}, "libmore.so, which is neither libtiny_ep.so nor a companion"),
        ({"cmake": CMAKE.replace("tiny_ep tiny", "tiny_ep other")}, '"other" has no `ep` table in latebind.toml'),
    ],
    ids=["missing export", "two libraries", "a stray library", "another name"],
)
def test_a_component_that_is_not_an_execution_provider_is_refused(tmp_path, changed, message):
    folder = write_ep(tmp_path / "tiny", **changed)
    (folder / "native/more.c").write_text("int more;\n")
    with pytest.raises(BuildError) as caught:
        pack_project(folder)
    assert message in str(caught.value)


@pytest.mark.parametrize("form", FORMATS)
def test_companions_are_packed_next_to_the_library_and_are_in_the_sbom(tmp_path, form):
    install = "install(FILES model.bin DESTINATION share COMPONENT tiny)\n"
    config = CONFIG.replace("vendor =", 'companions = ["*.bin"], vendor =')
    config = config.replace("[project]", f'[project]\nsbom = "{form or "cyclonedx-1.6"}"')
    folder = write_ep(tmp_path / "tiny", cmake=CMAKE + install, config=config)
    (folder / "native" / "model.bin").write_bytes(b"weights")
    pack_project(folder)
    files = members(folder / "dist" / WHEEL)
    assert files["onnxruntime_ep_tiny_npu/model.bin"] == b"weights"
    (bill,) = (data.decode() for name, data in files.items() if "/sboms/" in name)
    assert hashlib.sha256(b"weights").hexdigest() in bill
    assert not FORMATS[form](json.loads(bill))


def test_the_nupkg_has_an_assembly_and_requires_nothing(tmp_path, monkeypatch):
    for key, value in dotnet_environment().items():
        monkeypatch.setenv(key, value)
    config = CONFIG.replace("vendor =", 'companions = ["*.bin"], vendor =')
    install = "install(FILES model.bin DESTINATION share COMPONENT tiny)\n"
    results = []
    for name in ("one", "two"):
        folder = write_ep(tmp_path / name, cmake=CMAKE + install, config=config)
        (folder / "native" / "model.bin").write_bytes(b"weights")
        results.append(hashes(pack_project(folder)))
    assert results[0] == results[1]
    planned = {entry.file for entry in plan_packages(load(folder / "latebind.toml"), ["linux-x64"]).files}
    assert planned == set(results[0])
    files = members(folder / "dist/Acme.ML.OnnxRuntime.EP.TinyNpu.1.2.0-rc.1.nupkg")
    nuspec = files["Acme.ML.OnnxRuntime.EP.TinyNpu.nuspec"].decode()
    assert "<dependency " not in nuspec
    assert "Supports ONNX Runtime 1.23.1 or newer, but not 1.25." in nuspec
    assert {"lib/netstandard2.0/Acme.ML.OnnxRuntime.EP.TinyNpu.dll", "runtimes/linux-x64/native/libtiny_ep.so",
            "runtimes/linux-x64/native/model.bin"} <= files.keys()  # fmt: skip


NEEDY = """\
extern "C" void *OrtGetApiBase(void);
static void *api = OrtGetApiBase();
extern "C" __attribute__((visibility("default"))) void *CreateEpFactories() { return api; }
extern "C" __attribute__((visibility("default"))) int ReleaseEpFactory() { return 0; }
"""


@pytest.mark.parametrize("rid", ["linux-x64", "win-x64", "osx-arm64"])
def test_cpp_headers_that_want_to_be_linked_get_a_hint_at_manual_init(latebind, tmp_path, rid):
    cmake = CMAKE.replace("tiny C", "tiny CXX").replace("tiny_ep.c", "tiny.cc")
    folder = write_files(write_ep(tmp_path, cmake=cmake), {"native/tiny.cc": NEEDY})
    assert_refused(
        latebind("-C", folder, "build", "--target", rid), "OrtGetApiBase", "ORT_API_MANUAL_INIT", "Ort::InitApi"
    )
