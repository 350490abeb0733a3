"""Byte-code of one environment for the others of an emulated machine, with environments that this Python compiles."""

import compileall
import sys
from pathlib import Path

import pytest

from latebind.verify.cases.installers import Installer
from latebind.verify.cases.machine import Machine
from latebind.verify.run.bytecode import give_byte_code, keep_byte_code
from latebind.verify.run.supply import Environment

VERSION = ".".join(map(str, sys.version_info[:3]))
COMMAND = ("emulator",)


def make_environment(root, command=COMMAND, versions=(("numpy", "2.0"), ("our_own", "0.1"))):
    machine = Machine(rid="linux-arm64", title="x", command=command, python=Path("/python"), python_version=VERSION)
    for name, version in versions:
        package, metadata = root / name, root / f"{name}-{version}.dist-info"
        for folder in (package, metadata):
            folder.mkdir(parents=True)
        (package / "__init__.py").write_text(f"version = '{version}'\n")
        (metadata / "RECORD").write_text(f"{name}/__init__.py,,\n../../bin/{name}.py,,\n{metadata.name}/RECORD,,\n")
    return Environment(installer=Installer(Path("uv"), root), machine=machine, root=root, packages=root)


def list_compiled(environment):
    return sorted(path.relative_to(environment.site).parts[0] for path in environment.site.rglob("*.pyc"))


@pytest.fixture
def kept(tmp_path):
    """The folder that has the byte-code of an environment."""
    environment = make_environment(tmp_path / "first")
    compileall.compile_dir(environment.site, quiet=1)
    keep_byte_code(environment, tmp_path / "shared", ours=["our-own"])
    return tmp_path / "shared"


def test_the_next_environment_has_byte_code_of_all_but_the_projects_own_packages(tmp_path, kept):
    environment = make_environment(tmp_path / "second")
    give_byte_code(environment, kept, ours=["our-own"])
    assert list_compiled(environment) == ["numpy"]


@pytest.mark.parametrize(
    "other", [{"versions": (("numpy", "2.1"),)}, {"command": ()}], ids=["another version", "this machine"]
)
def test_other_environments_stay_as_they_are(tmp_path, kept, other):
    environment = make_environment(tmp_path / "second", **other)
    give_byte_code(environment, kept)
    assert list_compiled(environment) == []


def test_byte_code_that_an_environment_lacks_is_not_kept(tmp_path):
    keep_byte_code(make_environment(tmp_path / "first"), tmp_path / "shared")
    assert not (tmp_path / "shared").exists()
