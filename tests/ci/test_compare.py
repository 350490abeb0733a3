"""Native wheels next to cross-built ones."""

import shutil
import zipfile

import pytest

from ci import compare
from tests.support.client import pack_project, write_client

pytestmark = pytest.mark.builds


@pytest.fixture
def wheels(tmp_path):
    root = write_client(tmp_path / "tiny")
    pack_project(root)
    (wheel,) = (root / "dist").glob("*.whl")
    (tmp_path / "native").mkdir()
    return shutil.copy(wheel, tmp_path / "native"), tmp_path / "native", root / "dist"


def test_the_same_wheel_is_alike(wheels, capsys):
    assert compare.main([str(wheels[1]), str(wheels[2])]) == 0
    assert "1 wheels compared, 0 differences" in capsys.readouterr().out


def test_another_export_is_named(wheels, capsys):
    wheel, native, cross = wheels
    with zipfile.ZipFile(wheel) as archive:
        members = [(info, archive.read(info)) for info in archive.infolist()]
    with zipfile.ZipFile(wheel, "w") as archive:
        for info, data in members:
            archive.writestr(info, data.replace(b"tiny_add", b"tiny_odd") if info.filename.endswith(".so") else data)
    assert compare.main([str(native), str(cross)]) == 1
    assert "does not export the same: tiny_add, tiny_odd" in capsys.readouterr().out


def test_nothing_to_compare_is_no_success(wheels, tmp_path):
    (tmp_path / "empty").mkdir()
    assert compare.main([str(tmp_path / "empty"), str(wheels[2])]) == 2
    assert compare.main([]) == 2
