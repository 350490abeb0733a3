"""Where `dotnet` is and the private environment that it runs in; it neither installs nor builds anything."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import quoteattr

from latebind.backend.files import write_text
from latebind.backend.programs import which
from latebind.errors import NotRun, ToolError
from latebind.system.run import run

_VERSION_LIMIT = 120.0
_VERSION = re.compile(r"\d+\.\d+\.\d+")
_ADVICE = "Install a .NET SDK, 8.0 or newer."
_FIRST_UNIFIED = 5
"""The short name is net5.0 from .NET 5 on, and netcoreapp3.1 before that."""
_NUGET_CONFIG = """<?xml version="1.0" encoding="utf-8"?>
<configuration>
  <packageSources>
{rows}  </packageSources>
  <fallbackPackageFolders>
    <clear />
  </fallbackPackageFolders>
</configuration>
"""
_QUIET = {
    "DOTNET_CLI_TELEMETRY_OPTOUT": "1",
    "DOTNET_NOLOGO": "1",
    "DOTNET_PRINT_TELEMETRY_MESSAGE": "false",
    "DOTNET_SKIP_FIRST_TIME_EXPERIENCE": "1",
    "DOTNET_GENERATE_ASPNET_CERTIFICATE": "false",
    # Build servers must not outlive a build: they would keep folders busy and see another environment.
    "MSBUILDDISABLENODEREUSE": "1",
    "UseSharedCompilation": "false",
    # In a process that lives for seconds, profiling costs more than it gives: a quarter of a build's time.
    "DOTNET_TieredPGO": "0",
    "DOTNET_CLI_UI_LANGUAGE": "en",
    # The framework's own texts need no ICU, which bare machines lack.
    "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1",
}


def find(environment: Mapping[str, str]) -> Path:
    """The `dotnet` on the PATH of an environment.

    Raises NotRun with the reason `no-dotnet` when there is none.
    """
    path = which("dotnet", path=environment.get("PATH", ""))
    if path is None:
        raise NotRun("no-dotnet", "no `dotnet` on PATH", advice=_ADVICE)
    return path


def sdk_version(environment: Mapping[str, str], folder: Path) -> str:
    """The version of the SDK that builds in a folder: a global.json there or above may choose one.

    Raises NotRun (`no-dotnet`) without an SDK, when the chosen one is not installed, and when `dotnet` does not start.
    """
    program = find(environment)
    try:
        output = run([program, "--version"], cwd=folder, env=environment, timeout=_VERSION_LIMIT).output
    except ToolError as error:
        raise NotRun("no-dotnet", f"{program} reports no SDK version: {error.message}", advice=_ADVICE) from error
    version = output.strip().rpartition("\n")[2]
    if not _VERSION.match(version):
        raise NotRun("no-dotnet", f"{program} printed no version, but: {version or 'nothing'}", advice=_ADVICE)
    return version


def own_framework(version: str) -> str:
    """The framework that an SDK builds programs for without fetching anything: that of its own version."""
    major, minor = version.split(".")[:2]
    return f"net{major}.{minor}" if int(major) >= _FIRST_UNIFIED else f"netcoreapp{major}.{minor}"


def private(environment: Mapping[str, str], home: Path) -> dict[str, str]:
    """An environment in which `dotnet` keeps packages and settings below `home` and ignores the user's."""
    packages = home / "packages"
    packages.mkdir(parents=True, exist_ok=True)
    return {
        **environment,
        **_QUIET,
        "HOME": str(home),
        "DOTNET_CLI_HOME": str(home),
        "NUGET_PACKAGES": str(packages),
        "NUGET_HTTP_CACHE_PATH": str(home / "http"),
        "NUGET_SCRATCH": str(home / "scratch"),
    }


def write_nuget_config(path: Path, sources: Sequence[str], *, alone: bool = True) -> None:
    """Write a NuGet.config with these sources; `alone` excludes the machine's other sources."""
    elements = [
        f"    <add key={quoteattr(f'source{i}')} value={quoteattr(value)} />\n" for i, value in enumerate(sources)
    ]
    write_text(path, _NUGET_CONFIG.format(rows="".join([*(["    <clear />\n"] if alone else []), *elements])))
