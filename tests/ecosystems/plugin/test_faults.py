"""Faults in what is generated for an execution provider: the audit reads its module and assembly, and names each.

tests/checks/cases/providers.py has those of any packages, tests/examples those that only running shows.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from latebind.checks.policy import project_policy
from latebind.config.file import load
from loadcheck.api import audit_paths
from tests.support.broken.packages import Packages, swap
from tests.support.client import pack_project
from tests.support.epclient import write_ep
from tests.support.needs import dotnet_environment

MODULE = "onnxruntime_ep_tiny_npu"
INIT, LIBRARY = f"{MODULE}/__init__.py", f"{MODULE}/libtiny_ep.so"


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    """The packages as they were made."""
    with pytest.MonkeyPatch.context() as patch:
        for key, value in dotnet_environment().items():
            patch.setenv(key, value)
        folder = write_ep(tmp_path_factory.mktemp("faults"))
        pack_project(folder)
    return folder


def codes(project, folder):
    """The checks that find something."""
    config = load(project / "latebind.toml")
    paths = [path for path in sorted(folder.iterdir()) if path.suffix in (".whl", ".nupkg")]
    report = audit_paths(paths, project_policy(config))
    return {finding.code for finding in report.findings}


FAULTS = [
    (".whl", "LB804", "another name", lambda files: files.update({f"{LIBRARY}.1": files.pop(LIBRARY)})),
    (".whl", "LB805", "another provider", lambda files: swap(files, INIT, '"TinyExec', '"OtherExec')),
    (".whl", "LB803", "no function for the path", lambda files: swap(files, INIT, "def get_library_path", "def path")),
    (".nupkg", "LB803", "no assembly", lambda files: [files.pop(name) for name in [*files] if name.startswith("lib/")]),
]


def test_nothing_but_the_missing_link_is_found_in_the_packages_as_they_were_made(dist):
    """The project has no repository and no README."""
    assert codes(dist, dist / "dist") == {"LB509"}


@pytest.mark.parametrize(("kind", "code", "title", "change"), FAULTS, ids=[fault[2] for fault in FAULTS])
def test_a_fault_of_a_package_is_named(dist, tmp_path, kind, code, title, change):
    folder = Path(shutil.copytree(dist / "dist", tmp_path / "dist"))
    (path,) = folder.glob(f"*{kind}")
    Packages(folder=folder, scratch=tmp_path).edit(path, change)
    assert code in codes(dist, folder)
