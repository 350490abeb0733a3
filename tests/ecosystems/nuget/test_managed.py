from __future__ import annotations

import shutil

import defusedxml.ElementTree
import pytest
from latebind.ecosystems.nuget.managed import build_managed
from latebind.errors import BuildError

from tests.client import edit
from tests.dotnet_support import ROOT, dotnet_environment
from tests.programs import not_run

FRAMEWORKS = ["netstandard2.0", "netstandard2.1"]
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
    return {
        f"{variant.framework}/{file.name}": file.read_bytes()
        for variant in built
        for file in (variant.assembly, variant.documentation, variant.symbols)
    }


def members(documentation):
    return {member.get("name") for member in defusedxml.ElementTree.parse(documentation).iter("member")}


def test_two_builds_in_different_folders_give_equal_bytes_and_name_no_folder(tmp_path, monkeypatch):
    copy = tmp_path / "else where" / "Binding"
    shutil.copytree(BINDING, copy)

    here = content(build(BINDING, tmp_path / "a"))
    monkeypatch.setenv("TMPDIR", str(copy))
    elsewhere = content(build(copy, tmp_path / "b é"))

    assert here == elsewhere
    names = ("Latenn.dll", "Latenn.xml", "Latenn.pdb")
    assert set(here) == {f"{framework}/{name}" for framework in FRAMEWORKS for name in names}
    for data in here.values():
        assert str(ROOT).encode() not in data
        assert str(tmp_path).encode() not in data


def test_nothing_is_written_into_the_source_folder(tmp_path):
    before = sorted(path.relative_to(BINDING) for path in BINDING.rglob("*"))

    built = build(BINDING, tmp_path)

    assert [variant.framework for variant in built] == FRAMEWORKS
    assert sorted(path.relative_to(BINDING) for path in BINDING.rglob("*")) == before
    assert not any(path.name.startswith(".managed-") for path in tmp_path.iterdir())


def test_files_in_output_folders_below_the_project_are_not_compiled(tmp_path):
    project = tmp_path / "a (b)"
    shutil.copytree(BINDING, project)
    folders = [project / "build", project / "50% done; 2" / "dist"]
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / "Broken.cs").write_text("class {", encoding="utf-8")
    arguments = {"version": "0.1.0", "environment": dotnet_environment(), "home": tmp_path / "home"}

    built = build_managed(project, project / "build" / "managed", apart=folders, **arguments)

    assert content(built) == content(build(BINDING, tmp_path))
    with pytest.raises(BuildError, match=r"Broken\.cs"):
        build_managed(project, project / "build" / "managed", **arguments)


def test_a_compile_error_is_told_and_the_earlier_result_stays(tmp_path):
    copy = tmp_path / "source"
    shutil.copytree(BINDING, copy)
    earlier = content(build(copy, tmp_path))
    (copy / "Broken.cs").write_text("class {", encoding="utf-8")

    with pytest.raises(BuildError, match=r"does not compile[\s\S]*Broken.cs"):
        build(copy, tmp_path)

    files = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert {path.relative_to(tmp_path / "out").as_posix(): data for path, data in files.items()} == earlier


def test_the_newer_framework_offers_all_of_the_older_one_and_memory_beside(tmp_path):
    old, new = (members(variant.documentation) for variant in build(BINDING, tmp_path))

    assert old < new
    added = {name.partition("(")[0] for name in new - old}
    assert {"M:Latenn.Tensor.Create``1", "M:Latenn.Tensor.GetSpan``1", "T:Latenn.OutputViews"} <= added


def test_a_project_of_one_framework_makes_one_assembly(tmp_path):
    copy = tmp_path / "source"
    shutil.copytree(BINDING, copy)
    plural = "<TargetFrameworks>netstandard2.0;netstandard2.1</TargetFrameworks>"
    single = "<TargetFramework>netstandard2.1</TargetFramework>"
    edit(copy / "Latenn.csproj", plural, single)

    (built,) = build(copy, tmp_path)

    assert built.framework == "netstandard2.1"
    assert built.assembly == tmp_path / "out" / "netstandard2.1" / "Latenn.dll"


def test_without_an_sdk_it_is_not_run_with_a_reason(tmp_path):
    with not_run("no-dotnet") as caught:
        build(BINDING, tmp_path, environment={"PATH": str(tmp_path)})
    assert "Install a .NET SDK" in str(caught.value)


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({}, "no .csproj"),
        ({"a.csproj": "<Project/>", "b.csproj": "<Project/>"}, "2 .csproj files"),
        ({"a.csproj": "<Project"}, "not readable as XML"),
        ({"a.csproj": "<Project/>"}, "no plain <TargetFramework>"),
        ({"a.csproj": '<!DOCTYPE a [<!ENTITY b "c">]><Project>&b;</Project>'}, "not readable as XML"),
    ],
)
def test_a_folder_that_is_no_managed_project_is_refused(tmp_path, files, says):
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")

    with pytest.raises(BuildError, match=says):
        build(tmp_path, tmp_path, environment={"PATH": ""})
