"""Archives inside packages: listed within limits, whatever their headers state."""

import gzip
import io
import tarfile

import pytest

from loadcheck.readers.nested import is_archive, native_members


def tar(*members):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        for name, size in members:
            info = tarfile.TarInfo(name)
            info.size = size
            archive.addfile(info, io.BytesIO(bytes(size)))
    return data.getvalue()


def claim(size):
    """A tar whose extended header states that size."""
    info = tarfile.TarInfo("x")
    info.type, info.size = tarfile.XHDTYPE, size
    return info.tobuf() + bytes(1024)


@pytest.mark.parametrize("data", [
    tar(("a.so", 1)) + b"cut off",
    gzip.compress(tar(("a.so", 1), ("zeros", 200 << 20), ("b.so", 1)), 1, mtime=0),
    tar(("a.so", 1), ("zeros", 100_000))[:20_000],
], ids=["damage", "bomb", "cut"])  # fmt: skip
def test_what_can_be_listed_is_listed(data):
    assert native_members(data) == ("a.so",)


@pytest.mark.parametrize(
    "data",
    [claim(1 << 40), b"PK\3\4", gzip.compress(b"no tar"), b"\x1f\x8b broken"],
    ids=["claim", "zip", "no tar", "broken"],
)
def test_a_hostile_archive_has_no_names_and_no_error(data):
    assert native_members(data) == ()


def test_a_compressed_file_is_an_archive_by_its_name():
    data = gzip.compress(tar(("a.so", 1)))
    assert is_archive("x/data.tar.gz", data)
    assert not is_archive("x/data.nii.gz", data)
    assert is_archive("x/data.bin", tar(("a.so", 1)))
