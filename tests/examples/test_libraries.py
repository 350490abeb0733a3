"""Public C libraries are bound by descriptions of ten lines at most and no C."""

from pathlib import Path

import pytest

from tests.support.libraries import LIBRARIES, STUBS, build_program, find_copy, run_program


@pytest.mark.parametrize("key", sorted(path.stem for path in STUBS.glob("*.toml")))
def test_a_description_has_at_most_ten_lines(key):
    assert len((STUBS / f"{key}.toml").read_text("utf-8").splitlines()) <= 10


@pytest.mark.slow
@pytest.mark.parametrize("key", ["libusb", "zlib"])
def test_every_version_is_bound_and_an_absent_or_old_one_is_named(key, tmp_path):
    library = LIBRARIES[key]
    files = [file for copy in library.copies if (file := find_copy(copy, library.files))]
    if not files:
        pytest.skip("not run: the libraries are not to be had")
    program = build_program(key, files[0], tmp_path)
    strict = build_program(key, files[0], tmp_path / "strict", minimum=999)

    bound = {run_program(program, library.name, file).partition("|")[0] for file in files}

    assert len(bound) == len(files)
    assert "" not in bound
    assert f"{library.name} was not found at" in run_program(program, library.name, Path("/gone"))
    assert "is too old; version 999.0 or newer is needed" in run_program(strict, library.name, files[0])
