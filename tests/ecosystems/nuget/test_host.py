"""What .NET's host trusts next to an application: docs/threats.md."""

from __future__ import annotations

import json
import os
import shutil

import pytest

from testing.needs import dotnet_environment
from tests.client import write_files
from tests.programs import run_checked

pytestmark = [
    pytest.mark.builds,
    pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="not run: only root can give files to others"),
]
STRANGER = 12345
PROJECT = """<Project Sdk="Microsoft.NET.Sdk"><PropertyGroup>
<OutputType>Exe</OutputType><TargetFramework>{framework}</TargetFramework>
</PropertyGroup></Project>
"""
APPLICATION = 'class Application { static void Main() { System.Console.WriteLine("APPLICATION"); } }\n'
HOOK = """internal class StartupHook {
  public static void Initialize() { System.Console.WriteLine("FOREIGN CODE RUNS"); }
}
class Unused { static void Main() { } }
"""


def test_the_host_runs_what_another_user_adds_in_a_sticky_folder(tmp_path):
    environment = {**dotnet_environment(), "DOTNET_CLI_HOME": str(tmp_path), "DOTNET_CLI_TELEMETRY_OPTOUT": "1"}
    dotnet = shutil.which("dotnet", path=environment["PATH"])
    major = int(run_checked(dotnet, "--version", env=environment, cwd=tmp_path).partition(".")[0])
    project = PROJECT.format(framework=f"net{major}.0" if major > 4 else f"netcoreapp{major}.1")
    for name, text in (("application", APPLICATION), ("hook", HOOK)):
        write_files(tmp_path / name, {f"{name}.csproj": project, f"{name}.cs": text})
        run_checked(dotnet, "build", "--nologo", "-o", tmp_path / "out" / name, cwd=tmp_path / name, env=environment)
    folder = tmp_path / "out" / "application"
    added = folder / "application.runtimeconfig.dev.json"
    added.unlink(missing_ok=True)
    start = (dotnet, folder / "application.dll")
    assert run_checked(*start, env=environment) == "APPLICATION\n"

    folder.chmod(0o1777)
    hook = {"STARTUP_HOOKS": str(tmp_path / "out" / "hook" / "hook.dll")}
    added.write_text(json.dumps({"runtimeOptions": {"configProperties": hook}}))
    os.chown(added, STRANGER, STRANGER)
    assert run_checked(*start, env=environment) == "FOREIGN CODE RUNS\nAPPLICATION\n"
