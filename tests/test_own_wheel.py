"""latebind's own wheel is small, and stands before the audit that it provides."""

import subprocess
import sys
import zipfile
from pathlib import Path

import msgspec
import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent
LARGEST = 1_000_000


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("own")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT]
    subprocess.run(command, check=True, capture_output=True)
    (made,) = folder.glob("*.whl")
    return made


def test_it_is_smaller_than_a_megabyte(wheel):
    assert wheel.stat().st_size < LARGEST


def test_its_audit_finds_nothing(wheel, latebind):
    audited = latebind("audit", wheel)
    assert audited.returncode == 0, audited.stdout
    assert "1 subject: 0 errors, 0 warnings, 0 notes" in audited.stdout


def test_the_same_wheel_with_a_file_that_its_record_lacks_is_refused(wheel, latebind, tmp_path):
    changed = tmp_path / wheel.name
    changed.write_bytes(wheel.read_bytes())
    with zipfile.ZipFile(changed, "a") as archive:
        archive.writestr("latebind/more.py", "")
    audited = latebind("audit", changed)
    assert audited.returncode == 1
    assert "LB501" in audited.stdout


def test_the_plugin_needs_only_some_of_the_dependencies():
    ours, plugin = (
        msgspec.toml.decode((folder / "pyproject.toml").read_bytes())["project"]
        for folder in (ROOT, ROOT / "packaging" / "build_plugin")
    )
    assert set(plugin["dependencies"]) < set(ours["dependencies"])
    assert {"lief", "jinja2", "rich", "shtab"}.isdisjoint(Requirement(need).name for need in plugin["dependencies"])
