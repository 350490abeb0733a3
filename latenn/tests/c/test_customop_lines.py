"""latenn's operator cuts its lists at their line ends, and refuses what a list of names or folders never has."""

import sys

import pytest
from c.building import HERE

from tests.support.building import ROOT, needed_compiler
from tests.support.programs import run_checked

SOURCE = ROOT / "latenn" / "native" / "src"


@pytest.mark.skipif(sys.platform != "linux", reason="not run: it is built with the sanitizers of Linux")
def test_lists_are_cut_at_line_ends_and_one_with_a_nul_is_refused(tmp_path):
    folders = [f"-I{SOURCE / 'customop'}", f"-I{SOURCE / 'core'}", f"-I{SOURCE.parent / 'include'}"]
    folders += [f"-I{ROOT / 'loader' / 'include'}", "-DLATENN_STATIC", '-DLATENN_VERSION_TEXT="9.8.7"']
    files = [HERE / "split.c", SOURCE / "customop" / "settings.c"]
    checks = ["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    run_checked(needed_compiler(), "-std=c11", *checks, *folders, *files, "-o", tmp_path / "split")
    assert run_checked(tmp_path / "split") == "\n[one]\n[one][two][three]\nrefused\nrefused\nrefused\n"
