"""Pinned wheels are fetched by whichever pip there is."""

from __future__ import annotations

import importlib.util
import shutil
import sys

import pytest

from ci.machines import pinned
from tests.support.running import run_checked


def without_pip(monkeypatch):
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *more: None if name == "pip" else real(name, *more))


def test_pip_of_an_environment_that_has_none_is_the_one_that_uv_runs(monkeypatch):
    if not shutil.which("uv"):
        pytest.skip("not run: there is no uv on PATH: pip install uv")
    without_pip(monkeypatch)

    assert run_checked(*pinned.pip(), "--version").startswith("pip ")
    assert pinned.pip()[0] != sys.executable


def test_neither_pip_nor_uv_is_told(monkeypatch):
    without_pip(monkeypatch)
    monkeypatch.setenv("PATH", "")

    with pytest.raises(SystemExit, match=r"pip is needed to download wheels: .* has none, and there is no uv on PATH"):
        pinned.pip()
