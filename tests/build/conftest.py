"""What more than one module of these tests makes once."""

import pytest

from tests.client import built_wheel
from tests.conftest import ROOT


@pytest.fixture(scope="session")
def links(tmp_path_factory):
    """A folder with the wheel of latebind-build, which is on no index."""
    folder = tmp_path_factory.mktemp("links")
    built_wheel(ROOT / "packaging/build_plugin", folder)
    return folder
