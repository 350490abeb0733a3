"""A stage that `latebind pack` gives to an unpacked sdist is taken if it was built from the same sources."""

import shutil

import pytest

from latebind.backend.errors import BuildError
from latebind.backend.recipe import write_recipe
from latebind.backend.sdist import UnpackedSdist
from latebind.backend.stage import StageManifest, describe_files, write_manifest
from latebind.backend.targets import host_rid
from latebind.config.project import read_project
from latebind.ecosystems.wheel.wheelrecipe import wheel_recipe
from latebind.native.nativerecipe import hash_sources, native_recipe
from tests.support.client import write_client


@pytest.fixture
def unpacked(tmp_path, monkeypatch):
    """An unpacked sdist of the small project, and a stage that was built from its tree."""
    project = read_project(write_client(tmp_path / "tiny") / "latebind.toml", tmp_path / "tiny")
    root, stage = tmp_path / "sdist", tmp_path / "stage"
    shutil.copytree(project.config.native_source, root / "native")
    for name, data in write_recipe(
        native_recipe(project.config), wheel_recipe(project.config, "tiny", "tiny", "tiny"), {}
    ).items():
        (root / "_latebind").mkdir(exist_ok=True)
        (root / "_latebind" / name).write_bytes(data)
    (stage / "tiny").mkdir(parents=True)
    (stage / "tiny" / "libtiny.so").write_bytes(b"library")
    manifest = StageManifest(
        rid=host_rid(), key="", source_hash=hash_sources(project), toolchain="zig", floor="2.28",
        files=describe_files(stage),
    )  # fmt: skip
    write_manifest(stage, manifest)
    monkeypatch.setenv("LATEBIND_STAGE", str(stage))
    return root


def open_given(root, scratch):
    return UnpackedSdist(root).stage(host_rid(), "py3-none", scratch)


def test_the_stage_of_the_same_sources_is_taken(unpacked, tmp_path):
    assert [path.name for path in open_given(unpacked, tmp_path / "scratch").libraries("tiny")] == ["libtiny.so"]
    assert not (tmp_path / "scratch").exists()
    assert UnpackedSdist(unpacked).list_requirements(host_rid(), "wheel") == []


@pytest.mark.parametrize("changed", ["sdist/native/tiny.c", "stage/tiny/libtiny.so", "stage/manifest.json"])
def test_no_other_stage_is_taken(unpacked, tmp_path, changed):
    (tmp_path / changed).write_bytes((tmp_path / changed).read_bytes() + b" ")
    if changed.endswith("json"):  # spaces say nothing
        (tmp_path / changed).write_bytes(b"[]")
    with pytest.raises(BuildError, match="made from other sources"):
        open_given(unpacked, tmp_path / "scratch")
