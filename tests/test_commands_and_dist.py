"""No command makes less of what another put into dist/ without reporting it."""

import shutil
import zipfile

import pytest

from latebind.backend.targets import host_rid
from latebind.pack.record import RECORD
from tests.support.client import edit, write_portable
from tests.support.running import assert_success

OTHER = "linux-arm64" if host_rid() != "linux-arm64" else "linux-x64"
SMOKE = """\
import argparse
import json
import pathlib

parser = argparse.ArgumentParser()
for name in ("--cases", "--out"):
    parser.add_argument(name)
pathlib.Path(parser.parse_args().out).write_text(json.dumps({"passed": ["one"], "libraries": []}))
"""


@pytest.fixture
def project(tmp_path, latebind):
    """A project for this machine and another target, packed for both."""
    root = write_portable(tmp_path / "tiny", [host_rid(), OTHER])
    (root / "latebind.toml").write_text(
        (root / "latebind.toml").read_text("utf-8") + '\n[verify]\npython = "verify/smoke.py"\n', encoding="utf-8"
    )
    (root / "verify").mkdir()
    (root / "verify" / "smoke.py").write_text(SMOKE, encoding="utf-8")
    assert_success(latebind("-C", root, "pack", "--target", "all"))
    return root


def files(root):
    return {path.name: path.read_bytes() for path in (root / "dist").iterdir()}


def nupkg_targets(root):
    (nupkg,) = (root / "dist").glob("*.nupkg")
    with zipfile.ZipFile(nupkg) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/_._")]  # which keep .NET from the others
        return {name.split("/")[1] for name in names if name.startswith("runtimes/")}


@pytest.mark.slow
def test_verify_keeps_the_packages_of_other_targets(latebind, project):
    before = files(project)
    verified = latebind("-C", project, "verify")
    assert_success(verified)
    assert files(project) == before
    assert "packing" not in verified.stderr

    edit(project / "native" / "tiny.c", "a) + b", "b) + a")
    assert_success(latebind("-C", project, "verify"))
    assert files(project).keys() == before.keys()
    assert all(files(project)[name] != before[name] for name in before)
    assert nupkg_targets(project) == {host_rid(), OTHER}


@pytest.mark.slow
def test_pack_reports_what_it_removes_and_audit_what_is_missing_or_old(latebind, project):
    edit(project / "native" / "tiny.c", "a) + b", "b) + a")
    old = latebind("-C", project, "audit")
    assert f"out of date in dist/: wheel tiny {host_rid()}, wheel tiny {OTHER}, sdist tiny, nupkg tiny" in old.stderr
    assert f"latebind pack --target {host_rid()},{OTHER}" in old.stderr

    other = set(files(project))
    reduced = latebind("-C", project, "pack")
    (removed,) = other - set(files(project))
    assert f"removed from dist/: {removed}\n" in reduced.stderr
    assert f"nupkg tiny no longer contains {OTHER}\n" in reduced.stderr
    assert "latebind pack --target all" in reduced.stderr
    missing = latebind("-C", project, "audit").stderr
    assert f"not in dist/: packages for {OTHER}\n  To pack all: latebind pack --target all" in missing
    assert "out of date" not in missing

    assert "removed" not in latebind("-C", project, "pack").stderr


@pytest.mark.slow
def test_the_order_of_targets_makes_no_package_out_of_date(latebind, project):
    before = files(project)

    swapped = latebind("-C", project, "pack", "--target", f"{OTHER},{host_rid()}")

    assert_success(swapped)
    assert "packing" not in swapped.stderr
    assert files(project) == before
    assert "out of date" not in latebind("-C", project, "audit").stderr


@pytest.mark.slow
def test_packages_that_were_packed_elsewhere_are_verified_as_they_are(latebind, project):
    (project / "dist" / RECORD).unlink()
    before = files(project)
    for folder in ("build", "stage"):
        shutil.rmtree(project / folder)

    verified = latebind("-C", project, "verify")

    assert_success(verified)
    assert "verifying the packages in dist/ as they are" in verified.stderr
    assert files(project) == before
