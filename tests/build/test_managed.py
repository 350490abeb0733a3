from __future__ import annotations

import shutil

import pytest
from latebind.build.managed import build_managed
from latebind.errors import BuildError, NotRun

from tests.dotnet_support import ROOT, dotnet_environment

BINDING = ROOT / "latenn" / "dotnet" / "Latenn"


def build(project, root, environment=None):
    return build_managed(
        project,
        root / "out",
        version="0.1.0",
        environment=dotnet_environment() if environment is None else environment,
        home=root / "home",
    )


def content(built):
    return {file.name: file.read_bytes() for file in (built.assembly, built.documentation, built.symbols)}


def test_two_builds_in_different_folders_give_equal_bytes_and_name_no_folder(tmp_path, monkeypatch):
    copy = tmp_path / "else where" / "Binding"
    shutil.copytree(BINDING, copy)

    here = content(build(BINDING, tmp_path / "a"))
    monkeypatch.setenv("TMPDIR", str(copy))
    there = content(build(copy, tmp_path / "b é"))

    assert here == there
    assert set(here) == {"Latenn.dll", "Latenn.xml", "Latenn.pdb"}
    for data in here.values():
        assert str(ROOT).encode() not in data
        assert str(tmp_path).encode() not in data


def test_nothing_is_written_into_the_source_folder(tmp_path):
    before = sorted(path.relative_to(BINDING) for path in BINDING.rglob("*"))

    built = build(BINDING, tmp_path)

    assert built.framework == "netstandard2.0"
    assert sorted(path.relative_to(BINDING) for path in BINDING.rglob("*")) == before
    assert not any(path.name.startswith(".managed-") for path in tmp_path.iterdir())


def test_a_compile_error_is_told_and_the_earlier_result_stays(tmp_path):
    copy = tmp_path / "source"
    shutil.copytree(BINDING, copy)
    earlier = content(build(copy, tmp_path))
    (copy / "Broken.cs").write_text("class {", encoding="utf-8")

    with pytest.raises(BuildError, match=r"does not compile[\s\S]*Broken.cs"):
        build(copy, tmp_path)

    assert {file.name: file.read_bytes() for file in (tmp_path / "out").iterdir()} == earlier


def test_without_an_sdk_it_is_not_run_with_a_reason(tmp_path):
    with pytest.raises(NotRun) as caught:
        build(BINDING, tmp_path, environment={"PATH": str(tmp_path)})

    assert caught.value.reason == "no-dotnet"
    assert "Install a .NET SDK" in str(caught.value)


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({}, "no .csproj"),
        ({"a.csproj": "<Project/>", "b.csproj": "<Project/>"}, "2 .csproj files"),
        ({"a.csproj": "<Project"}, "not readable as XML"),
        ({"a.csproj": "<Project/>"}, "no single <TargetFramework>"),
        ({"a.csproj": '<!DOCTYPE a [<!ENTITY b "c">]><Project>&b;</Project>'}, "not readable as XML"),
    ],
)
def test_a_folder_that_is_no_managed_project_is_refused(tmp_path, files, says):
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")

    with pytest.raises(BuildError, match=says):
        build(tmp_path, tmp_path, environment={"PATH": ""})
