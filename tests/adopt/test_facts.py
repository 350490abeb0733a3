"""What `latebind init` takes over from a project's own files."""

from __future__ import annotations

import pytest

from latebind.adopt.facts import facts
from latebind.adopt.find import Found

MIT = "Permission is hereby granted, free of charge, to any person\n"


@pytest.mark.parametrize(("stated", "expected"), [("Apache-2.0", "Apache-2.0"), ("MIT License", "MIT")])
def test_a_license_that_spdx_does_not_have_is_read_from_its_file(tmp_path, stated, expected):
    """`latebind plan` refuses such a text, so it must not get into latebind.toml."""
    (tmp_path / "pyproject.toml").write_text(f'[project]\nname = "voice"\nlicense = "{stated}"\n', encoding="utf-8")
    (tmp_path / "LICENSE").write_text(MIT, encoding="utf-8")

    assert facts(Found(root=tmp_path, top=tmp_path, source=tmp_path, files={})).licence == expected


@pytest.mark.parametrize(
    ("files", "licence", "file", "note"),
    [
        ({"LICENSE": "All files are under the MIT License (see COPYING)", "COPYING": MIT}, "MIT", "COPYING", ""),
        ({"COPYING": "GNU GENERAL PUBLIC LICENSE\nVersion 3"}, "", "COPYING", "the license in COPYING was not"),
        ({}, "", "", "no license was found"),
    ],
)
def test_a_license_file_that_is_recognized_comes_first(tmp_path, files, licence, file, note):
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    gathered = facts(Found(root=tmp_path, top=tmp_path, source=tmp_path, files={}, version="1.0"))
    assert (gathered.licence, gathered.licence_file) == (licence, file)
    assert note in "".join(gathered.notes)
    assert bool(gathered.notes) == bool(note)
