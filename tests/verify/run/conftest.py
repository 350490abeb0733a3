"""What test cases share."""

from __future__ import annotations

import pytest

from latebind.config.file import load
from latebind.verify.run.installers import installer
from latebind.verify.run.shared import Shared
from tests.support.client import CONFIG, write_client


@pytest.fixture
def shared(tmp_path):
    write_client(tmp_path, latebind=CONFIG + '\n[verify]\nreference = "reference.py"\n')
    (home := tmp_path / "home").mkdir()
    verify = load(tmp_path / "latebind.toml").document.verify
    return Shared(root=tmp_path, verify=verify, folder=tmp_path / "supply", installer=installer(home))
