"""docs/howto/nuget.md, followed as it is written, with a feed in the place of nuget.org."""

import os
import re
import shlex
import zipfile

import pytest

from latebind.compilers.dotnet import find
from latebind.ecosystems.nuget.runtime_package import assemble_runtime_nupkg
from latebind.tables.presets import preset
from tests.conftest import ROOT
from tests.ecosystems.nuget.test_managed import reference_assembly, write_package
from tests.loader.test_stub import library
from tests.support.client import edit
from tests.support.dotnet_support import RID
from tests.support.emulated import ORT_VERSIONS
from tests.support.needs import dotnet_environment
from tests.support.running import CLI, run_checked, run_program

pytestmark = [pytest.mark.slow, pytest.mark.builds]

PAGE = (ROOT / "docs/howto/nuget.md").read_text("utf-8")
FILES = dict(re.findall(r"`([\w./]+\.(?:cs|csproj))`:\n\n```\w+\n(.*?)```", PAGE, re.DOTALL))
"""The files that the page shows, by the place that it gives them."""
APPLICATION = FILES.pop("../app/Program.cs")
COMMANDS = [line[2:] for line in PAGE.splitlines() if line.startswith("$ ")]
CONFIG = '<configuration><packageSources><clear/><add key="feed" value="{}"/></packageSources></configuration>'


def write_project(project, feed):
    """A new project with the page's files, which fetches what it needs from the feed."""
    run_checked(*CLI, "new", project.name, cwd=project.parent)
    for name, text in FILES.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text, encoding="utf-8")
    (project / "NuGet.config").write_text(CONFIG.format(feed), encoding="utf-8")


def write_configuration(file):
    """Put the lines of the page in the place of those with their keys."""
    text = file.read_text("utf-8")
    for line in re.search(r"```toml\n(.*?)```", PAGE, re.DOTALL)[1].splitlines():
        if " = " in line:
            text, count = re.subn(rf"(?m)^{line.partition(' = ')[0]} = .*$", line, text)
            assert count == 1, line
    file.write_text(text, encoding="utf-8")


@pytest.fixture
def feed(tmp_path):
    """What the commands fetch: the reference assembly of .NET Standard, and ONNX Runtime."""
    folder, version = tmp_path / "feed", ORT_VERSIONS[-1]
    names = {"lib/netstandard2.0/netstandard.dll": reference_assembly()}
    write_package(folder, "NETStandard.Library", "2.0.3", names)
    assemble_runtime_nupkg(library(version), version, folder, rid=RID, runtime=preset("onnxruntime"))
    return folder


def test_an_application_runs_a_model_with_the_package(tmp_path, feed):
    home, project = tmp_path / "home", tmp_path / "demo"
    (home / ".nuget/NuGet").mkdir(parents=True)
    (home / ".nuget/NuGet/NuGet.Config").write_text(CONFIG.format(feed), encoding="utf-8")
    write_project(project, feed)
    write_configuration(project / "latebind.toml")
    sdk = dotnet_environment()
    sdk = {**sdk, "PATH": f"{find(sdk).parent}{os.pathsep}{sdk['PATH']}"}
    environment = {**sdk, "HOME": str(home), "DOTNET_CLI_HOME": str(home), "NUGET_PACKAGES": str(home / "packages")}
    pack, audit, *commands = (shlex.split(line) for line in COMMANDS)
    for command in (pack, audit):
        assert command[0] == "latebind"
        run_checked(*CLI, *command[1:], cwd=project, env=sdk, timeout=600)
    with zipfile.ZipFile(project / "dist/Demo.0.1.0.nupkg") as archive:
        rids = {name.split("/")[1] for name in archive.namelist() if re.match(r"runtimes/.*demo", name)}
    assert len(rids) == 6
    assert (project / "dist/Demo.0.1.0.snupkg").is_file()
    said = []
    for command in commands:
        words = [word.replace("$PWD", str(project)) for word in command]
        run_checked(*words, cwd=project, env=environment, timeout=300)
        (tmp_path / "app/Program.cs").write_text(APPLICATION, encoding="utf-8")
        if words[1] == "add":
            ended = run_program("dotnet", "run", "--project", "../app", cwd=project, env=environment, timeout=300)
            said.append(ended.stdout + ended.stderr)
    [advice] = re.findall(r"Get it with: (.*?) \(or", said[0])
    assert shlex.split(advice) == [word for word in commands[-1] if word != "../app"]
    assert said[1].splitlines()[-1] == "2 4 6"


def test_what_comes_with_a_package_need_not_depend_on_the_runtime(tmp_path, feed):
    project, environment = tmp_path / "demo", dotnet_environment()
    write_project(project, feed)
    split = 'id = "Demo", managed = "dotnet/Demo", split = true,'
    edit(project / "latebind.toml", 'id = "Demo",', split)
    for command in (("pack", "--target", "linux-x64"), ("audit",)):
        run_checked(*CLI, *command, cwd=project, env=environment, timeout=600)
    assert {path.name for path in (project / "dist").glob("*nupkg")} == {
        "Demo.0.1.0.nupkg", "Demo.0.1.0.snupkg", "Demo.runtime.linux-x64.0.1.0.nupkg"
    }  # fmt: skip


def test_an_assembly_with_the_name_of_the_library_is_refused_and_the_property_that_is_named_helps(tmp_path, feed):
    project = tmp_path / "demo"
    write_project(project, feed)
    edit(project / "latebind.toml", 'id = "Demo",', 'id = "Demo", managed = "dotnet/Demo",')
    file, line = project / "dotnet/Demo/Demo.csproj", "    <AssemblyName>Demo.Managed</AssemblyName>\n"
    edit(file, line, "")
    options = {"cwd": project, "env": dotnet_environment(), "timeout": 600}
    refused = run_program(*CLI, "pack", "--target", "win-x64", **options)
    assert "runtimes/win-x64/native/demo.dll would overwrite each other" in refused.stderr
    [name] = re.findall(r"or the assembly: (\w+) in the \.csproj\.", refused.stderr)
    edit(file, "  <PropertyGroup>\n", f"  <PropertyGroup>\n    <{name}>Demo.Managed</{name}>\n")
    run_checked(*CLI, "pack", "--target", "win-x64", **options)
