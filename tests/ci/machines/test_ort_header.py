"""The official headers for tests: of a release where `latebind headers` finds it, and a reason where it does not."""

import pytest

from ci.machines import ort_header
from latebind.headers import Headers, write_headers


@pytest.fixture
def release(tmp_path, monkeypatch):
    """1.21.0 in the user's cache, from nowhere else."""
    monkeypatch.setenv("LATEBIND_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(ort_header.SOURCES, "1.21", (ort_header.Release("1.21.0"),))
    kept = Headers("1.21.0", "a test", {"onnxruntime_c_api.h": b"/* a header */\n"})
    write_headers(kept, "onnxruntime", tmp_path / "cache" / "headers" / "onnxruntime-1.21.0")


def test_a_release_gives_its_headers_in_one_folder(release, tmp_path, monkeypatch):
    monkeypatch.delitem(ort_header.SHA256, "1.21")
    header = ort_header.fetch(tmp_path / "made", "1.21")
    assert header.read_text() == "/* a header */\n"


def test_a_header_that_is_not_the_pinned_one_is_refused(release, tmp_path):
    with pytest.raises(ort_header.NotAvailableError, match="is not what was pinned"):
        ort_header.fetch(tmp_path / "made", "1.21")


def test_a_release_that_is_nowhere_is_named_and_nothing_stays(release, tmp_path, monkeypatch):
    monkeypatch.setitem(ort_header.SOURCES, "1.21", (ort_header.Release("1.21.9"),))
    with pytest.raises(ort_header.NotAvailableError, match=r"no headers of ONNX Runtime 1\.21\.9"):
        ort_header.fetch(tmp_path / "made", "1.21")
    assert [path.name for path in (tmp_path / "made").iterdir()] == [".1.21.lock"]
