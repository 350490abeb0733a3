"""The native build: equal inputs do nothing, changed ones rebuild, different folders give equal bytes."""

import shutil

import pytest
from latebind.build.native import hash_sources, hash_tree, stage_target
from latebind.build.stage import open_stage
from latebind.build.toolchain import find_zig, missing_requirements, toolchain
from latebind.configfile import load
from latebind.errors import BuildError, NotRun
from latebind.targets import host_rid, target

from tests.client import CMAKE, CONFIG, SOURCE, write_client

HERE = target("linux-x64")


def stage(folder, workdir=None):
    return stage_target(load(folder / "latebind.toml"), HERE, workdir or folder)


def library(staged):
    (found,) = staged.libraries("tiny")
    return found


def test_a_second_build_with_nothing_changed_does_nothing(tiny):
    first = stage(tiny)
    before = library(first).stat().st_mtime_ns, (tiny / "build" / "linux-x64.log").stat().st_mtime_ns
    second = stage(tiny)
    after = library(second).stat().st_mtime_ns, (tiny / "build" / "linux-x64.log").stat().st_mtime_ns
    assert (first.manifest, before) == (second.manifest, after)


def test_what_changes_the_library_changes_the_key(tiny):
    keys = {stage(tiny).manifest.key}
    (tiny / "native" / "tiny.c").write_text(SOURCE.replace("a + b", "b + a"), encoding="utf-8")
    keys.add(stage(tiny).manifest.key)
    write_client(tiny, latebind=CONFIG.replace("1.2.3", "1.2.4"))
    keys.add(stage(tiny).manifest.key)
    write_client(tiny, latebind=CONFIG.replace("2.28", "2.31"))
    staged = stage(tiny)
    keys.add(staged.manifest.key)
    assert len(keys) == 4
    assert staged.manifest.floor == "2.31"


def test_a_file_that_was_tampered_with_is_built_again(tiny):
    first = stage(tiny)
    data = library(first).read_bytes()
    library(first).write_bytes(data + b"\0")
    assert open_stage(first.root) is None
    assert library(stage(tiny)).read_bytes() == data


def test_two_folders_give_equal_bytes(tmp_path):
    one = stage(write_client(tmp_path / "one"))
    two = stage(write_client(tmp_path / "deeper" / "and with a space" / "two"))
    assert one.manifest == two.manifest


def test_a_build_tree_that_moved_is_made_afresh(tiny, tmp_path):
    stage(tiny)
    moved = tmp_path / "moved"
    shutil.move(tiny, moved)
    shutil.rmtree(moved / "stage")
    assert library(stage(moved)).is_file()


def test_the_hosts_compiler_builds_too(tiny):
    write_client(tiny, latebind=CONFIG + '\n[targets.linux-x64]\ntoolchain = "host"\n')
    try:
        toolchain("host", HERE)
    except NotRun as error:
        pytest.skip(f"not run: {error}")
    assert stage(tiny).manifest.toolchain.startswith("host ")


def test_a_component_without_a_library_is_refused_before_it_takes_the_stage(tiny):
    first = stage(tiny).manifest
    write_client(tiny, cmakelists=CMAKE.replace("COMPONENT tiny", "COMPONENT other"))
    with pytest.raises(BuildError, match="component tiny installed no shared library"):
        stage(tiny)
    assert open_stage(tiny / "stage" / "linux-x64").manifest == first


def test_the_host_toolchain_builds_for_the_host_only():
    assert host_rid() != "osx-arm64"
    other = HERE.__class__(**{**{name: getattr(HERE, name) for name in HERE.__slots__}, "rid": "osx-arm64"})
    with pytest.raises(NotRun, match=r"builds for .*, not for osx-arm64") as caught:
        toolchain("host", other)
    assert caught.value.reason == "no-compiler"


def test_requirements_are_asked_for_only_where_they_are_missing(monkeypatch, tmp_path):
    assert find_zig() is not None
    assert missing_requirements("zig") == []
    monkeypatch.setattr("latebind.build.toolchain.find_zig", lambda: None)
    monkeypatch.setattr("latebind.build.toolchain.program", lambda _: None)
    assert missing_requirements("host") == ["cmake>=3.25", "ninja>=1.10"]
    assert missing_requirements("zig")[2].startswith("ziglang==")


def test_the_source_hash_knows_names_and_contents_and_not_places(tmp_path):
    one, two = write_client(tmp_path / "a"), write_client(tmp_path / "b")
    assert hash_sources(load(one / "latebind.toml")) == hash_sources(load(two / "latebind.toml"))
    (two / "native" / "tiny.c").rename(two / "native" / "other.c")
    assert hash_tree(one / "native") != hash_tree(two / "native")
