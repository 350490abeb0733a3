"""The packages that our writer makes, consumed by a real SDK: restored from a feed, built, published, run."""

from __future__ import annotations

import sys
import zipfile
from types import SimpleNamespace

import pytest

from latebind.compilers import dotnet
from latebind.ecosystems.nuget.dotnet_project import build_consumer, run_built, share_build
from latebind.ecosystems.nuget.layouts import find_layout
from latebind.ecosystems.nuget.nuspec import Nuspec, render_nuspec
from latebind.ecosystems.nuget.opc import write_nupkg
from latebind.ecosystems.nuget.runtime_package import add_runtime, assemble_runtime_nupkg
from latebind.errors import InputError, ToolError
from latebind.system.archive import Entry
from latebind.tables.presets import preset
from latebind.verify.run.shared import Shared
from tests.support.dotnet_support import RID, consumer, make_config, run_smoke, without
from tests.support.running import not_run

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="not run: the runtime's library is taken from a Linux wheel"),
]


def make_shared(folder):
    return Shared(root=folder, verify=make_config(folder).document.verify, folder=folder / "supply", installer=None)


@pytest.mark.builds
def test_the_packages_restore_and_their_libraries_answer(tmp_path, packages, runtime):
    ended = run_smoke(consumer(packages, runtime), tmp_path / "w", log=tmp_path / "log")

    document = ended.document
    assert (ended.status, document.passed) == (0, ["42", "43"]), ended.output
    assert ended.made.framework == dotnet.own_framework(ended.made.sdk)
    assert document.report.version == runtime[0]
    assert all(path.startswith(str(tmp_path)) for path in document.libraries), document.libraries
    names = {path.rpartition("/")[2] for path in document.libraries}
    assert names == {"libdemo_core.so", "libdemo_extra.so", "libonnxruntime.so"}


@pytest.mark.builds
def test_a_package_without_its_native_file_ends_in_the_consumers_error(tmp_path, packages, runtime):
    broken = without(packages[1], "libdemo_extra", tmp_path / "broken")

    ended = run_smoke(consumer([packages[0], broken], runtime), tmp_path / "w")

    assert (ended.status, "demo_extra" in ended.document.error.message) == (3, True)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["dotnet-build", "dotnet-publish", "dotnet-transitive"])
def test_a_folder_may_have_any_name(tmp_path, packages, runtime, name):
    folder = tmp_path / "a, b 実行時"

    ended = run_smoke(consumer(packages, runtime, layout=find_layout(name)), folder)

    assert ended.status == 0


@pytest.mark.builds
def test_what_is_built_alike_is_built_once_and_computes_in_each_folder(tmp_path, packages, runtime):
    shared = make_shared(tmp_path)
    ended = {}
    for name in ("a", "b"):
        made_for, work = consumer(packages, runtime), tmp_path / name
        work.mkdir()
        built = share_build(shared, made_for, work, log=tmp_path / "logs" / f"{name}.log")
        ended[name] = run_built(made_for, built, work, work)

    assert [run.status for run in ended.values()] == [0, 0]
    assert len(list(tmp_path.glob("supply/shared/*/out"))) == 1
    assert (tmp_path / "logs/a.log").read_text("utf-8") == (tmp_path / "logs/b.log").read_text("utf-8") != ""
    for name, run in ended.items():
        assert all(path.startswith(str(tmp_path / name)) for path in run.result.libraries)


@pytest.mark.slow
def test_what_differs_in_a_package_or_a_property_is_built_on_its_own(tmp_path, packages, runtime):
    shared = make_shared(tmp_path)
    broken = without(packages[1], "libdemo_extra", tmp_path / "broken")
    for number, made_for in enumerate([
        consumer(packages, runtime),
        consumer([packages[0], broken], runtime),
        consumer(packages, runtime, properties={"WithoutPackage": "Demo.Extra"}),
    ]):  # fmt: skip
        share_build(shared, made_for, tmp_path / str(number), log=tmp_path / "log")

    assert len(list(tmp_path.glob("supply/shared/*/out"))) == 3
    assert list((tmp_path / "0/out").rglob("libdemo_extra*"))
    assert not list((tmp_path / "1/out").rglob("libdemo_extra*"))


@pytest.mark.builds
def test_a_shared_build_that_fails_does_so_for_each_with_its_log(tmp_path, packages):
    shared = make_shared(tmp_path)
    for name in ("a", "b"):
        with pytest.raises(ToolError, match="NU1101"):
            share_build(shared, consumer(packages[:1]), tmp_path / name, log=tmp_path / f"{name}.log")
        assert (tmp_path / f"{name}.log").read_text("utf-8").count("--nologo") == 1


@pytest.mark.builds
def test_a_package_that_the_feed_does_not_have_is_an_error_with_nugets_words(tmp_path, packages):
    with pytest.raises(ToolError, match="NU1101"):
        build_consumer(consumer(packages[:1]), tmp_path / "w")


@pytest.mark.builds
def test_without_an_sdk_the_cell_is_not_run(tmp_path, packages):
    with not_run("no-dotnet"):
        build_consumer(consumer(packages, environment={"PATH": str(tmp_path)}), tmp_path / "w")


def test_the_assembled_runtime_has_the_official_layout_and_says_what_it_is(runtime):
    version, package = runtime

    with zipfile.ZipFile(package) as archive:
        assert "runtimes/linux-x64/native/libonnxruntime.so" in archive.namelist()
        nuspec = archive.read("Microsoft.ML.OnnxRuntime.nuspec").decode()
    assert f"<version>{version}</version>" in nuspec
    assert "assembled for tests from the library of its PyPI wheel" in nuspec


def test_a_runtime_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        assemble_runtime_nupkg(
            tmp_path / "libonnxruntime.so.1.22.0", "1.22.0", tmp_path, rid=RID, runtime=preset("onnxruntime")
        )


def test_a_consumer_in_c_gets_a_copy_of_the_runtime_at_its_place_in_the_nupkg(tmp_path):
    """Two links to one file would be one library to the system, and no second runtime in a process."""
    library = tmp_path / "libonnxruntime.so.1.22.0"
    library.write_bytes(b"\x7fELF")
    trial = SimpleNamespace(library=lambda *_: library, case=SimpleNamespace(target=RID))

    add_runtime(trial, SimpleNamespace(traits=preset("onnxruntime")), "1.22.0", tmp_path / "packages")

    placed = tmp_path / "packages" / "microsoft.ml.onnxruntime" / "runtimes" / RID / "native" / "libonnxruntime.so"
    assert (placed.read_bytes(), placed.samefile(library)) == (b"\x7fELF", False)


@pytest.mark.slow
def test_nuget_unpacks_odd_names_as_they_were(tmp_path):
    """A file name with a space, a plus and a letter outside ASCII comes out of restore as it went in."""
    nuspec = Nuspec(id="Odd", version="1.0.0", authors=("a",), description="d", frameworks=("netstandard2.0",))
    names = ["lib/netstandard2.0/_._", "content/a b+c é.txt", "noextension"]
    entries = [Entry(name=name, data=b"1") for name in names]
    write_nupkg(tmp_path / "feed" / "Odd.1.0.0.nupkg", nuspec, render_nuspec(nuspec), entries)
    project = tmp_path / "project"
    project.mkdir()
    (project / "User.csproj").write_text(
        '<Project Sdk="Microsoft.NET.Sdk">'
        "<PropertyGroup><TargetFramework>$(ConsumerFramework)</TargetFramework></PropertyGroup>"
        '<ItemGroup><PackageReference Include="Odd" Version="1.0.0" /></ItemGroup></Project>',
        encoding="utf-8",
    )
    (project / "A.cs").write_text("class A { }", encoding="utf-8")

    build_consumer(consumer([tmp_path / "feed" / "Odd.1.0.0.nupkg"], project=project), tmp_path / "w")

    unpacked = tmp_path / "w" / "home" / "packages" / "odd" / "1.0.0"
    assert all((unpacked / name).is_file() for name in names)
