"""latebind's own wheel: complete, small, clean in its own audit; installed and editable, it finds its data."""

import shutil
import sys
import zipfile
from pathlib import Path

import msgspec
import pytest
from packaging.requirements import Requirement

import latebind as latebind_package
from latebind.ecosystems.wheel.buildsystem import ABI3_REQUIREMENT, BACKEND_REQUIREMENTS
from latebind.errors import LatebindError
from latebind.system import resources
from latebind.system.archive import unpack_tar
from latebind.verify.kit import write_own_wheels
from tests.conftest import ROOT
from tests.support.client import built_wheel, members
from tests.support.running import assert_success, run_checked

LARGEST = 1_275_000  # 210 kB are tables of names that the audit compares with
CODE = (
    "from latebind.system import resources as r; from latebind import __file__ as f;"
    "from latebind.templates import _environment as e;"
    "print(f); print(r.folder('templates')); print(r.cmake_dir()); print(len(e().list_templates()))"
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return built_wheel(ROOT, tmp_path_factory.mktemp("own"))


def test_it_stays_small(wheel):
    assert wheel.stat().st_size < LARGEST


def test_its_audit_finds_nothing(wheel, latebind):
    printed = assert_success(latebind("audit", "--profile", "all", wheel))
    assert printed == f"{wheel.name}: 0 errors, 0 warnings, 0 notes\n"


def test_what_an_sdist_requires_is_required_by_latebind_from_the_same_version_on():
    files = (ROOT / "pyproject.toml", ROOT / "loadcheck/pyproject.toml")
    ours = [need for file in files for need in msgspec.toml.decode(file.read_bytes())["project"]["dependencies"]]
    by_name = {need.name: need for need in map(Requirement, ours)}
    for need in map(Requirement, (*BACKEND_REQUIREMENTS, ABI3_REQUIREMENT)):
        assert set(by_name[need.name].specifier) <= set(need.specifier)
        assert need.marker == by_name[need.name].marker


def test_the_wheel_holds_the_package_the_templates_and_the_loader(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert "latebind/cli.py" in names
    for folder in ("templates", "loader"):
        sources = [path for path in (ROOT / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts]
        assert {f"latebind/_data/{path.relative_to(ROOT).as_posix()}" for path in sources} <= names
    assert {"latebind/backend/targets.toml", "latebind/tables/runtimes/onnxruntime.toml"} <= names


def test_an_sdist_of_a_checkout_without_the_generated_headers_has_them_and_needs_no_generator(tmp_path, wheel):
    tracked = run_checked("git", "ls-files", "-z", cwd=ROOT).split("\0")
    for name in filter(None, tracked):
        (tmp_path / "clone" / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_file():
            shutil.copy(ROOT / name, tmp_path / "clone" / name)
    assert not (tmp_path / "clone/loader/include/latebind/ort_api.h").exists()
    build = (sys.executable, "-m", "build", "--no-isolation", "--sdist", "-o", tmp_path, tmp_path / "clone")
    run_checked(*build)
    (sdist,) = tmp_path.glob("*.tar.gz")
    source = unpack_tar(sdist, tmp_path / "source")
    assert not (source / "ci/gen/loader_headers.py").exists()
    assert members(built_wheel(source, tmp_path / "again")) == members(wheel)


def test_a_kit_has_the_same_wheel(wheel, tmp_path):
    (tmp_path / "kit").mkdir()
    made, _ = write_own_wheels(tmp_path / "kit")
    ours, theirs = members(made), members(wheel)
    info = f"latebind-{latebind_package.__version__}.dist-info"
    assert {f"{info}/WHEEL", f"{info}/RECORD"} <= ours.keys()
    different = {name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name)}
    assert different <= {f"{info}/{name}" for name in ("WHEEL", "RECORD", "METADATA", "licenses/LICENSE")}
    for name in ("METADATA", "entry_points.txt"):
        assert sorted(ours[f"{info}/{name}"].split(b"\n\n")[0].split()) == sorted(
            theirs[f"{info}/{name}"].split(b"\n\n")[0].split()
        )


def places(python, *path):
    command = [str(python), "-c", CODE]
    env = {"PYTHONPATH": str(path[0])} if path else None
    return run_checked(*command, env=env, cwd="/").split("\n")


def test_an_installed_latebind_finds_its_own_data(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    code, templates, loader, count, _ = places(sys.executable, tmp_path)
    assert all(Path(path).is_relative_to(tmp_path) for path in (code, templates, loader))
    assert int(count) == sum(path.is_file() for path in (ROOT / "templates").rglob("*"))


def test_an_editable_latebind_finds_the_source_tree():
    code, templates, loader, _, _ = places(sys.executable)
    assert Path(code).is_relative_to(ROOT / "packaging")
    assert (Path(templates), Path(loader)) == (ROOT / "templates", ROOT / "loader")


def test_a_damaged_installation_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(resources, "_PACKAGE", tmp_path)
    monkeypatch.setattr(resources, "_SOURCE", tmp_path)
    with pytest.raises(LatebindError, match="the folder loader of latebind is missing"):
        resources.cmake_dir()
