"""A console project on latenn's packages, as the SDK of this machine builds it."""

from __future__ import annotations

import os
import shutil
import zipfile

import pytest

from tests.support.needs import dotnet_environment
from tests.support.programs import run_checked

CONFIG = """<configuration>
  <packageSources><clear /><add key="feed" value="{feed}" /></packageSources>
</configuration>
"""


@pytest.fixture
def build_program(latenn_here, tmp_path):
    """Builds a copy of a console project on a feed with these packages; gives what starts it, and its environment."""
    environment = {**dotnet_environment(), "DOTNET_CLI_HOME": str(tmp_path / "home"), "DOTNET_NOLOGO": "1"}
    environment |= {"NUGET_PACKAGES": str(tmp_path / "packages"), "DOTNET_CLI_TELEMETRY_OPTOUT": "1"}

    def build(project, packages, *properties):
        feed, folder = tmp_path / "feed", tmp_path / "program"
        feed.mkdir()
        for package in packages:
            shutil.copy(package, feed)
        shutil.copytree(project, folder)
        (folder / "NuGet.config").write_text(CONFIG.format(feed=feed), "utf-8")
        (folder / "Directory.Build.props").write_text("<Project />", "utf-8")
        dotnet = shutil.which("dotnet", path=environment["PATH"])
        major = int(run_checked(dotnet, "--version", env=environment, cwd=folder).partition(".")[0])
        framework = f"net{major}.0" if major > 4 else f"netcoreapp{major}.1"
        chosen = [f"-p:ConsumerFramework={framework}", *(f"-p:{setting}" for setting in properties)]
        command = [dotnet, "build", "--nologo", "-c", "Release", "-o", "../out", *chosen]
        run_checked(*command, cwd=folder, env=environment, timeout=600)
        return [dotnet, tmp_path / "out" / f"{next(folder.glob('*.csproj')).stem}.dll"], environment

    return build


@pytest.fixture
def repack(latenn_here, tmp_path):
    """Writes a copy of a package whose files go through `change`: a file of that name has other bytes, or None."""

    def write(name, change):
        copy = tmp_path / "repacked" / name
        copy.parent.mkdir()
        with zipfile.ZipFile(latenn_here / name) as package, zipfile.ZipFile(copy, "w") as archive:
            for inner in package.namelist():
                data = change(inner, package.read(inner))
                if data is not None:
                    archive.writestr(inner, data)
        return copy

    return write


@pytest.fixture(autouse=True)
def no_own_runtime(monkeypatch):
    """No variable of this shell chooses the runtime."""
    for name in [name for name in os.environ if name.endswith("_LIB_PATH")]:
        monkeypatch.delenv(name)
