"""latenn's operator opens files in its graph's folder only, also when memory is short while it looks."""

import sys

import pytest
from c.building import HERE
from c.test_latenn import INVALID_ARGUMENT, OUT_OF_MEMORY

from tests.support.building import ROOT, needed_compiler
from tests.support.programs import run_checked

SOURCE = ROOT / "latenn" / "native" / "src"
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="not run: the faults need --wrap of the linker")


@pytest.fixture(scope="module")
def place_program(tmp_path_factory):
    program = tmp_path_factory.mktemp("place") / "place"
    folders = [f"-I{SOURCE / 'customop'}", f"-I{SOURCE / 'core'}", f"-I{SOURCE.parent / 'include'}"]
    folders += [f"-I{ROOT / 'loader' / 'include'}", "-DLATENN_STATIC", '-DLATENN_VERSION_TEXT="9.8.7"']
    files = [HERE / "place.c", SOURCE / "customop" / "place.c"]
    run_checked(needed_compiler(), "-std=c11", *folders, *files, "-Wl,--wrap=realpath,--wrap=malloc", "-o", program)
    return program


@pytest.mark.parametrize(
    ("path", "failing", "code"),
    [
        ("inside", "none", 0),
        ("absent", "none", 0),
        ("link", "none", INVALID_ARGUMENT),
        ("link", "realpath", OUT_OF_MEMORY),
        ("link", "malloc", OUT_OF_MEMORY),
        ("inside", "malloc", OUT_OF_MEMORY),
    ],
)
def test_a_link_that_cannot_be_followed_for_lack_of_memory_is_refused(place_program, tmp_path, path, failing, code):
    folder = tmp_path / "graph"
    folder.mkdir()
    (folder / "inside").touch()
    (tmp_path / "outside").touch()
    (folder / "link").symlink_to(tmp_path / "outside")
    assert run_checked(place_program, folder, path, failing) == str(code)
