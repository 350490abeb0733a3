"""Zips of other systems, written again."""

import zipfile

from latebind.backend.wheelfile import name_unix


def test_a_zip_made_on_windows_becomes_the_one_that_linux_makes(tmp_path):
    paths = {0: tmp_path / "windows.zip", 3: tmp_path / "linux.zip"}
    for system, path in paths.items():
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            for name in ("b", "a/ä"):
                info = zipfile.ZipInfo(name)
                info.create_system, info.compress_type, info.external_attr = system, zipfile.ZIP_DEFLATED, 0o644 << 16
                file.writestr(info, name.encode() * 100)
    expected = paths[3].read_bytes()
    assert paths[0].read_bytes() != expected
    for path in paths.values():
        name_unix(path)
        assert path.read_bytes() == expected
