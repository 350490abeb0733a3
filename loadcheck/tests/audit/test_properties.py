import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from corpus.packages import nuspec as good_nuspec
from loadcheck.archive import ZipReader
from loadcheck.binary import is_managed, sniff
from loadcheck.errors import InputError
from loadcheck.readers.opc import nuspec, parse
from loadcheck.readers.record import read_headers, read_metadata, read_record

LIBERAL = settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


def mutate(data: bytes, changes: list[tuple[float, int]], cut: float) -> bytes:
    """The data with some bytes changed and its end cut off."""
    out = bytearray(data)
    for where, value in changes:
        out[int(where * (len(out) - 1))] = value
    return bytes(out[: max(int(len(out) * cut), 1)])


CHANGES = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), max_size=12)
CUTS = st.one_of(st.just(1.0), st.floats(0.01, 1))


def small_zip() -> bytes:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("latenn/a.py", b"print('a')\n" * 20)
        archive.writestr("latenn-1.0.dist-info/RECORD", b"latenn/a.py,sha256=x,1\n")
        archive.writestr("latenn-1.0.dist-info/METADATA", b"Metadata-Version: 2.1\nName: latenn\n")
    return buffer.getvalue()


ZIP = small_zip()


@LIBERAL
@given(
    unit=st.binary(min_size=1, max_size=40),
    times=st.integers(0, 200_000),
    end=st.binary(max_size=2000),
    level=st.integers(0, 9),
)
def test_members_of_any_size_and_level_are_read_as_they_were_written(tmp_path: Path, unit, times, end, level):
    data = unit * (times // len(unit)) + end
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as archive:
        archive.writestr("a", data)
    with ZipReader(path) as archive:
        assert archive.read("a") == data


@LIBERAL
@given(changes=CHANGES, cut=CUTS)
@example(changes=[(0.9921875, 1)], cut=1.0)
@example(changes=[(0.982421875, 0)], cut=1.0)
def test_a_mutated_zip_is_read_or_refused(tmp_path: Path, changes, cut):
    path = tmp_path / "x.zip"
    path.write_bytes(mutate(ZIP, changes, cut))
    try:
        with ZipReader(path) as archive:
            for member in archive.members:
                assert not member.name.startswith("/")
                assert ".." not in member.name.split("/")
                try:
                    data = archive.read(member.name)
                except InputError as error:
                    assert error.where  # noqa: PT017  # the message is what a user sees
                else:  # what zipfile refuses is refused, since pip reads wheels with it
                    assert len(data) == member.size
                    assert zipfile.ZipFile(path).read(member.name) == data
    except InputError as error:
        assert str(path) in str(error)  # noqa: PT017


@LIBERAL
@given(data=st.binary(max_size=200))
def test_any_bytes_have_a_format_or_none(data):
    assert sniff(data) in (None, "elf", "macho", "pe")
    assert is_managed(data) in (True, False)


@LIBERAL
@given(data=st.one_of(st.binary(max_size=200), st.text(max_size=100).map(str.encode)))
@pytest.mark.parametrize("read", [read_record, read_headers, read_metadata, parse])
def test_any_bytes_are_metadata_or_refused(read, data):
    try:
        read(data, "inner")
    except InputError as error:
        assert error.where == "inner"  # noqa: PT017


def test_metadata_of_several_parts_has_no_description():
    parts = b"Name: a\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nx\n--b--\n"
    try:
        fields = read_metadata(parts, "METADATA")
    except InputError as error:
        assert "several parts" in error.message  # noqa: PT017
    else:
        assert (fields["name"], fields["description"]) == (("a",), ())


def test_metadata_keeps_what_is_there_twice_and_lists():
    fields = read_metadata(b"Name: a\nName: b\nRequires-Dist: x\nRequires-Dist: y\n\nreadme", "METADATA")
    assert (fields["name"], fields["requires_dist"]) == (("a", "b"), ("x", "y"))
    assert fields["description"] == ("readme",)


@LIBERAL
@given(changes=CHANGES, cut=CUTS)
def test_a_mutated_nuspec_is_read_or_refused(changes, cut):
    data = mutate(good_nuspec("Latenn", "1.0.0", "<dependencies/>").encode(), changes, cut)
    try:
        spec = nuspec(data, "Latenn.nuspec")
    except InputError as error:
        assert error.where == "Latenn.nuspec"  # noqa: PT017
    else:
        assert isinstance(spec.fields, dict)
