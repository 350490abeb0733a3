"""What npm's linters say of latenn's packages, and what the packages need of each other."""

import json

import pytest

from loadcheck.readers.package_json import MANIFEST
from tests.client import member
from tests.ecosystems.npm.test_clients import findings, tool

__all__ = ["tool"]
pytestmark = pytest.mark.slow


def test_the_packages_have_no_finding(tool, latenn_here):
    for path in sorted(latenn_here.glob("latenn-*.tgz")):
        if "linux" not in path.name:
            assert findings(tool, path) == []


def test_the_peer_of_a_backend_is_the_core_of_its_minor_version(latenn_here):
    core, backend = (json.loads(member(path, f"/{MANIFEST}")) for path in (
        next(path for path in latenn_here.glob(f"latenn-{name}-*.tgz") if "linux" not in path.name)
        for name in ("core", "onnxruntime")
    ))  # fmt: skip
    major, minor, _ = core["version"].split("-")[0].split(".")
    assert "dependencies" not in backend
    assert backend["peerDependencies"]["@latenn/core"] in (f"~{major}.{minor}.0", core["version"])
    assert "@latenn/core" not in backend["peerDependenciesMeta"]
