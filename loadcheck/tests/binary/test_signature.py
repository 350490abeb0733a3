"""Hashes in code signatures, made here by the layout of Apple's cs_blobs.h."""

import hashlib
import struct

import pytest

from loadcheck.binary.signature import read_signed_pages

CODE = bytes(range(256)) * 40  # 2 pages and a half
HASHES = {1: hashlib.sha1, 2: hashlib.sha256, 3: hashlib.sha256, 4: hashlib.sha384}
SIZES = {1: 20, 2: 32, 3: 20, 4: 48}
SHA1, SHA256, TRUNCATED, SHA384 = HASHES


def directory(code: bytes, kind: int = SHA256, page: int = 12, version: int = 0x20001, more: bytes = b"") -> bytes:
    pages = [code[start : start + (1 << page)] for start in range(0, len(code), 1 << page)]
    hashes = b"".join(HASHES[kind](each).digest()[: SIZES[kind]] for each in pages)
    head = 44 + len(more)
    counts = (0xFADE0C02, head + len(hashes), version, 2, head, 0, 0, len(pages), len(code))
    return struct.pack(">9I4BI", *counts, SIZES[kind], kind, 0, page, 0) + more + hashes


def signed(code: bytes, *directories: bytes) -> tuple[bytes, int, int]:
    """The code and its signature, and where that is."""
    place, index, blobs = 12 + 8 * len(directories), b"", b""
    for number, blob in enumerate(directories):
        slot = 0x1000 + number - 1 if number else 0
        index += struct.pack(">2I", slot, place + len(blobs))
        blobs += blob
    whole = struct.pack(">3I", 0xFADE0CC0, place + len(blobs), len(directories)) + index + blobs
    return code + whole, len(code), len(whole)


def changed(code: bytes, *places: int) -> bytes:
    return bytes(byte ^ 1 if place in places else byte for place, byte in enumerate(code))


@pytest.mark.parametrize("kind", HASHES)
@pytest.mark.parametrize("page", [12, 14])
def test_a_signature_fits_the_code_that_was_signed(kind, page):
    pages = read_signed_pages(*signed(CODE, directory(CODE, kind, page)))

    assert pages is not None
    assert (pages.total, pages.changed, pages.places) == (3 if page == 12 else 1, 0, ())


@pytest.mark.parametrize("kind", HASHES)
def test_each_changed_page_is_found(kind):
    pages = read_signed_pages(*signed(changed(CODE, 1, 4096, len(CODE) - 1), directory(CODE, kind)))

    assert pages is not None
    assert (pages.total, pages.changed, pages.places) == (3, 3, (0, 4096, 8192))


def test_the_strongest_hashes_count():
    """codesign also writes SHA-1 for old systems, which newer ones ignore."""
    bad = changed(CODE, 5000)
    both = (directory(bad, SHA1), directory(CODE, SHA256))

    assert read_signed_pages(*signed(CODE, *both)).changed == 0
    assert read_signed_pages(*signed(bad, *both)).changed == 1
    assert read_signed_pages(*signed(bad, *both, *both)).changed == 1


def test_a_long_file_has_its_limit_in_another_field():
    blob = directory(CODE, version=0x20300, more=struct.pack(">3IQ", 0, 0, 0, len(CODE)))

    assert read_signed_pages(*signed(CODE, blob)).changed == 0
    assert read_signed_pages(*signed(changed(CODE, 0), blob)).changed == 1


@pytest.mark.parametrize(
    "blob",
    [
        directory(CODE)[:40],
        directory(CODE)[:60],
        directory(CODE, page=13),
        directory(CODE, version=0x20100, more=struct.pack(">I", 80)),
        b"\0" * 100,
        directory(CODE)[:28] + struct.pack(">I", 2) + directory(CODE)[32:],
        directory(CODE)[:32] + struct.pack(">I", 0xFFFFFFFF) + directory(CODE)[36:],
        directory(CODE)[:37] + b"\7" + directory(CODE)[38:],
    ],
    ids=["cut off", "hashes cut off", "page size", "scattered", "zeros", "few hashes", "long limit", "unknown hash"],
)
def test_what_is_not_understood_is_not_judged(blob):
    assert read_signed_pages(*signed(CODE, blob)) is None


def test_a_signature_outside_the_file_is_not_judged():
    data, start, size = signed(CODE, directory(CODE))

    assert read_signed_pages(data, len(data), size) is None
    assert read_signed_pages(data, len(data) + 100, size) is None
    assert read_signed_pages(data[: start + 8], start, size) is None
    assert read_signed_pages(data, 0, size) is None
    assert read_signed_pages(data, start, size).changed == 0
