"""A plugin execution provider for tests: that of the example, compiled once for a machine's temporary folder."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.building import ROOT
from tests.support.needs import official_header, require_programs
from tests.support.programs import run_checked

if TYPE_CHECKING:
    from pathlib import Path

NAME = "TinyExecutionProvider"
MACROS = {
    "LATEBIND_EP_MINIMUM": "23",
    "LATEBIND_EP_EXCEPT": '""',
    "LATEBIND_EP_NAME": f'"{NAME}"',
    "LATEBIND_EP_VERSION": '"0.1.0"',
    "LATEBIND_EP_RANGE": '"1.23 or newer"',
}


def tiny_ep(folder: Path) -> Path:
    """The library of examples/ep-tiny, below `folder`. Skips where there is no compiler or no header."""
    library = folder / "libtiny_ep.so"
    if library.exists():
        return library
    if sys.platform != "linux":
        pytest.skip("not run: this is not Linux")
    (compiler,) = require_programs("cc")
    header = official_header(folder, "newest")
    options = [f"-D{name}={value}" for name, value in MACROS.items()]
    folders = [f"-I{folder}" for folder in (header.parent, ROOT / "loader/include")]
    source = ROOT / "examples/ep-tiny/native/tiny_ep.c"
    aside = library.with_suffix(f".{id(library)}")
    run_checked(compiler, "-shared", "-fPIC", "-std=c11", *options, *folders, source, "-o", aside)
    return aside.replace(library)
