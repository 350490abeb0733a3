"""A release contains only packages for which a test case passed, and those with a reason."""

import json
import shutil
from dataclasses import replace

import pytest

from latebind.config.project import read_project
from latebind.release.make import GateError, make_release
from latebind.verify.report.gate import list_package_files
from tests.release.conftest import write_passed_report
from tests.support.client import pack_project


def test_kinds_and_targets_are_read_from_the_files(release_inputs):
    read = {package.name: (package.kind, package.targets) for package in list_package_files(release_inputs.dist)}
    both = ("linux-x64", "linux-arm64")
    assert read["Tiny.1.2.3.nupkg"] == ("nupkg", both)
    assert read["acme-tiny-1.2.3.tgz"] == ("npm", ())
    assert {targets for kind, targets in read.values() if kind in ("wheel", "sdk")} == {both[:1], both[1:]}


@pytest.mark.builds
def test_a_release_with_an_unverified_package_is_not_made(release_inputs, tmp_path):
    config = release_inputs.project.config
    root = tmp_path / "tiny"
    shutil.copytree(config.root, root)
    text = (root / "latebind.toml").read_text("utf-8")
    (root / "latebind.toml").write_text(text.partition("[release]")[0], encoding="utf-8")
    silent = read_project(root / "latebind.toml", root)
    pack_project(root)
    write_passed_report(silent.config, root)
    sources = replace(
        release_inputs,
        dist=root / "dist",
        report=root / "reports/verify.json",
        project=silent,
    )
    with pytest.raises(GateError, match=r"Tiny\.1\.2\.3\.nupkg: not verified: no test case of nupkg/linux-x64 passed"):
        make_release(sources, tmp_path / "out", dry_run=False)
    assert not (tmp_path / "out").exists()
    make_release(sources, tmp_path / "out", dry_run=True)
    assert not json.loads((tmp_path / "out/manifest.json").read_bytes())["publishable"]


@pytest.mark.builds
def test_the_gate_command_reads_the_packages(latebind, release_inputs, tmp_path):
    config = release_inputs.project.config
    root = shutil.copytree(config.root, tmp_path / "tiny")
    assert latebind("-C", root, "gate").returncode == 0
    text = (root / "latebind.toml").read_text("utf-8")
    (root / "latebind.toml").write_text(text.partition("[release]")[0], encoding="utf-8")
    done = latebind("-C", root, "gate")
    assert done.returncode == 1
    assert "not verified: no test case of sdk/linux-arm64 passed" in done.stdout
