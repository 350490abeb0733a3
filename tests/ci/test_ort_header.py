"""The official headers from a tag of a repository: the right files, and a reason where it has no such tag."""

import shutil

import ort_header
import pytest

from tests.programs import run_checked


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository with one tag in the place of ONNX Runtime's."""
    folder = tmp_path / "repository"
    for name in ("include/onnxruntime/core/session/onnxruntime_c_api.h", "include/onnxruntime/core/other/far.h"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("/* a header */\n")
    author = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    for arguments in (("init", "-q"), ("add", "."), (*author, "commit", "-qm", "one"), ("tag", "v1.19.2")):
        run_checked(shutil.which("git"), "-C", folder, *arguments)
    monkeypatch.setattr(ort_header, "REPOSITORY", folder.as_uri())


def test_a_tag_gives_its_headers_in_one_folder(repository, tmp_path, monkeypatch):
    monkeypatch.delitem(ort_header.SHA256, "1.19")
    header = ort_header.fetch(tmp_path / "made", "1.19")
    assert [path.name for path in header.parent.iterdir()] == ["onnxruntime_c_api.h"]


def test_a_header_that_is_not_the_pinned_one_is_refused(repository, tmp_path):
    with pytest.raises(ort_header.NotAvailableError, match="not the pinned"):
        ort_header.fetch(tmp_path / "made", "1.19")


def test_a_tag_that_is_not_there_is_named_and_nothing_stays(repository, tmp_path, monkeypatch):
    monkeypatch.setitem(ort_header.SOURCES, "1.19", (ort_header.Tag("v1.19.9"),))
    with pytest.raises(ort_header.NotAvailableError, match=r"remote branch v1\.19\.9"):
        ort_header.fetch(tmp_path / "made", "1.19")
    assert list((tmp_path / "made").iterdir()) == []
