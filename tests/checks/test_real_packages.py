"""Packages that others made, as they are installed in the test environment."""

import importlib.metadata

import pytest

from loadcheck.api import audit_here


@pytest.fixture(scope="module")
def capi():
    try:
        files = importlib.metadata.files("onnxruntime") or []
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("not run: onnxruntime is not installed: pip install onnxruntime")
    return {file.name: file.locate() for file in files if ".so" in file.name}


def codes(path):
    return {finding.code: finding for finding in audit_here([path]).findings}


def test_the_shared_runtime_is_told_by_its_soname_and_entry_symbol(capi, tmp_path):
    path = next(path for name, path in capi.items() if name.startswith("libonnxruntime.so.1"))
    renamed = tmp_path / "libspeech.so"
    renamed.write_bytes(path.read_bytes())

    by_code = codes(renamed)

    assert set(by_code["LB104"].evidence) == {"SONAME libonnxruntime.so.1", "exports OrtGetApiBase"}
    assert "LB105" not in by_code
    assert "LB106" not in by_code
    assert "LB107" not in by_code


def test_the_static_runtime_is_told_by_its_own_text(capi):
    path = next(path for name, path in capi.items() if name.startswith("onnxruntime_pybind11_state"))

    by_code = codes(path)

    assert len(by_code["LB105"].evidence) == 2
    assert "LB104" not in by_code
    assert "LB106" not in by_code, "what Python provides is not missing"


def test_the_bridge_library_of_the_runtime_is_no_copy_of_it(capi, tmp_path):
    path = next(path for name, path in capi.items() if "providers_shared" in name)
    renamed = tmp_path / "libbridge.so"
    renamed.write_bytes(path.read_bytes())
    assert "LB105" not in codes(renamed)
