"""A package of another container is one row of `FORMATS`."""

import io
import shutil
import subprocess
import tarfile

import pytest

from loadcheck import formats
from loadcheck.audit import audit_here
from loadcheck.containers import Raw, Source
from loadcheck.errors import InputError

AR = shutil.which("ar")
MEMBER = 60
"""The bytes of the header of a member of an `ar` archive, in which the size is a decimal number."""


class Deb(Source):
    """A Debian package: an `ar` archive with a tar archive in it."""

    def files(self):
        """The files that dpkg installs."""
        data = self._path.read_bytes()
        if not data.startswith(b"!<arch>\n"):
            raise InputError("is no ar archive", where=str(self._path))
        position = 8
        while position < len(data):
            header, start = data[position : position + MEMBER], position + MEMBER
            size = int(header[48:58])
            if header.startswith(b"data.tar"):
                with tarfile.open(fileobj=io.BytesIO(data[start : start + size])) as archive:
                    for member in filter(tarfile.TarInfo.isfile, archive):
                        content = archive.extractfile(member).read()
                        yield Raw(
                            name=member.name.removeprefix("./"),
                            size=member.size,
                            mode=member.mode,
                            blocks=lambda content=content: iter([content]),
                        )
            position = start + size + size % 2


@pytest.fixture
def debian(monkeypatch):
    row = formats.PackageFormat(suffix=".deb", kind="symbols", audited_as="archive", container=Deb)
    monkeypatch.setattr(formats, "_LONGEST_FIRST", [row, *formats._LONGEST_FIRST])


@pytest.mark.skipif(AR is None, reason="not run: there is no ar, which packs Debian packages")
def test_a_debian_package_is_a_row_of_the_table(bench, debian, tmp_path):
    (tmp_path / "libodd.so").write_bytes(bench.good()[: len(bench.good()) // 3])
    with tarfile.open(tmp_path / "data.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "libodd.so", "./usr/lib/libodd.so")
    subprocess.run([AR, "rc", "odd.deb", "data.tar.gz"], check=True, cwd=tmp_path)
    rows = audit_here([tmp_path / "odd.deb"]).findings
    assert ("LB604", "odd.deb!usr/lib/libodd.so") in {(row.code, row.subject) for row in rows}


def test_what_its_container_cannot_read_is_named(debian, tmp_path):
    (tmp_path / "odd.deb").write_bytes(b"PK\3\4")
    (finding,) = audit_here([tmp_path / "odd.deb"]).findings
    assert "is no ar archive" in finding.message
