"""The commands of docs/release.md in a new project, with every distribution that exists for its target."""

import json

import pytest

from latebind.backend.targets import host_rid
from latebind.tables.presets import preset
from tests.support.client import edit
from tests.support.running import assert_success, run_checked
from tests.verify.release_index import serve, unpack_runtime, write_index, write_runtime_wheel

pytestmark = pytest.mark.slow


@pytest.fixture
def index(tmp_path):
    """The address of an index with the distributions of ONNX Runtime for this machine."""
    root = tmp_path / "index"
    unpacked, supply = unpack_runtime(root / "unpacked"), preset("onnxruntime").python
    names = [name for extra, name in supply.extras.items() if supply.is_supplied(extra, host_rid())]
    wheels = [write_runtime_wheel(unpacked, root / "wheels", "1.31.1")]
    wheels += [write_runtime_wheel(unpacked, root / "wheels", "1.32.0", name=name.replace("-", "_")) for name in names]
    write_index(root, "now", wheels)
    with serve(root) as address:
        yield f"{address}/now/simple"


@pytest.fixture
def project(latebind, tmp_path):
    assert_success(latebind("-C", tmp_path, "new", "demo"))
    root = tmp_path / "demo"
    edit(root / "latebind.toml", '["linux-x64", "linux-arm64", "osx-arm64", "win-x64"]', f'["{host_rid()}"]')
    edit(root / "latebind.toml", 'minimum = "1.19"', 'minimum = "1.31"')
    with (root / "latebind.toml").open("a", encoding="utf-8") as file:
        file.write('\n[release]\nunverified = { sdist = "the index of this test has no build tools" }\n')
    for arguments in (
        ["init", "-q"],
        ["add", "-A"],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "One"],
    ):
        run_checked("git", *arguments, cwd=root)
    return root


def test_a_new_project_is_released_by_the_documented_commands(latebind, project, index, tmp_path):
    environment = {"UV_DEFAULT_INDEX": index, "UV_CACHE_DIR": str(tmp_path / "cache")}
    assert_success(latebind("-C", project, "pack", "--target", "all"))
    assert_success(latebind("-C", project, "verify", "--all", env=environment))
    cases = json.loads((project / "reports" / "verify.json").read_text("utf-8"))["cases"]
    others = {(case["kind"], case["outcome"], case["reason"]) for case in cases if case["outcome"] != "passed"}
    assert others == {("sdist", "not run", "no-distribution")}, "the index has no build tools"
    supply = preset("onnxruntime").python
    tried = {case["runtime"] for case in cases if case["kind"] == "wheel" and case["scenario"] == "works"}
    assert tried == {name for extra, name in supply.extras.items() if supply.is_supplied(extra, host_rid())}
    assert_success(latebind("-C", project, "release", "--output", tmp_path / "out"))
    assert "publishable" in assert_success(latebind("release", "--check", tmp_path / "out", "--publishable"))
