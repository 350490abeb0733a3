"""Fixtures that the tests of several ecosystems need."""

from __future__ import annotations

import json
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.client import copy_packed, pack_project


@contextmanager
def make_open_folder():
    """A folder that every user may enter, which pytest's own are not."""
    with tempfile.TemporaryDirectory(prefix="latebind-test-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def verify_one(latebind, folder, *more, env=None, case):
    """The outcome of the one test case, and its reason and summary."""
    latebind("-C", folder, "verify", "--target", "linux-x64", "-k", f"*/{case}", *more, env=env)
    (row,) = json.loads((folder / "reports" / "verify.json").read_text("utf-8"))["cases"]
    if row.get("reason") == "no-index":
        pytest.skip("not run: the npm registry cannot be reached")
    return row["outcome"], f"{row.get('reason', '')} {row.get('summary', '')}"


@pytest.fixture(scope="module")
def packed(request, tmp_path_factory):
    """The project of the module's write_project(), packed once."""
    folder = request.module.write_project(tmp_path_factory.mktemp("packed") / "tiny")
    pack_project(folder)
    return folder


@pytest.fixture
def project(request, tmp_path, packed):
    """A fresh copy of the project that is packed already: `verify` makes only what a test changes."""
    folder = request.module.write_project(tmp_path / "tiny")
    copy_packed(packed, folder)
    return folder


@pytest.fixture
def top():
    with make_open_folder() as folder:
        yield folder
