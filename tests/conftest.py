"""Fixtures that more than one part of latebind's tests needs. support/plugin.py has those that latenn's need, too."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.machines import chromium
from tests.support.axe import install_axe
from tests.support.client import built_wheel, copy_packed, pack_project, write_client

ROOT = Path(__file__).resolve().parent.parent


def alive(pid):
    """Whether a process is there and no zombie."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text("ascii")
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


@pytest.fixture(scope="module")
def browser():
    """A headless Chromium."""
    program = chromium.chromium()
    if program is None:
        pytest.skip(
            "not run: there is no Chromium here: apt-get install --no-install-recommends chromium-headless-shell"
        )
    api = pytest.importorskip(
        "playwright.sync_api", reason="not run: playwright drives the browser: pip install playwright"
    )
    with api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def axe(kept_builds):
    """The script of axe-core, for find_violations()."""
    return install_axe(kept_builds)


@pytest.fixture
def tiny(tmp_path):
    """A fresh copy of the small project."""
    return write_client(tmp_path / "tiny")


@pytest.fixture(scope="session")
def links(tmp_path_factory):
    """A folder with the wheels of latebind and loadcheck, which are on no index."""
    folder = tmp_path_factory.mktemp("links")
    for source in (ROOT, ROOT / "loadcheck"):
        built_wheel(source, folder)
    return folder


@pytest.fixture(scope="session")
def read_assembly(tmp_path_factory):
    """Reads an assembly or its symbols; skips without a .NET SDK."""
    from tests.support.dotnet_reader import assembly_reader  # noqa: PLC0415  # few tests need what it imports

    return assembly_reader(tmp_path_factory.mktemp("reader"))


@pytest.fixture(scope="session")
def packed_once(tmp_path_factory):
    """The small project, packed once for all tests of a worker, which must not change it."""
    folder = write_client(tmp_path_factory.mktemp("once") / "tiny")
    pack_project(folder)
    return folder


@pytest.fixture
def packed_tiny(tiny, packed_once):
    """A fresh copy of the small project that is packed already: packing it makes nothing."""
    copy_packed(packed_once, tiny)
    return tiny
