"""What latenn's npm packages need of each other."""

import json
import tarfile

import pytest

pytestmark = pytest.mark.slow


def read_manifest(package):
    with tarfile.open(package) as tar:
        return json.load(tar.extractfile("package/package.json"))


def test_the_peer_of_a_backend_is_the_core_of_its_minor_version(latenn_here):
    core, backend = (read_manifest(latenn_here / f"latenn-{name}-0.1.0.tgz") for name in ("core", "onnxruntime"))
    major, minor, _ = core["version"].split("-")[0].split(".")
    assert "dependencies" not in backend
    assert backend["peerDependencies"]["@latenn/core"] in (f"~{major}.{minor}.0", core["version"])
    assert "@latenn/core" not in backend["peerDependenciesMeta"]
