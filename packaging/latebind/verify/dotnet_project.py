"""Consumes packages in a console project, as a user would: restore from a feed, build or publish, run.

Everything is made below one folder; nothing of the machine's NuGet configuration or package cache is seen.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import msgspec

from latebind.errors import InputError, ToolError
from latebind.nuget import dotnet
from latebind.nuget.nuspec import semantic_version
from latebind.run import run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

Layout = Literal["build", "publish", "cache"]
"""How the consumer is made.

build: framework-dependent `dotnet build`, which copies native files to bin/runtimes/<rid>/native. publish: `dotnet
publish -r <rid> --self-contained false`, which lays them flat beside the application. cache: a build that copies
nothing, so that every library comes straight from its own package in the package folder.
"""

_TIME_LIMIT = 600.0


class CaseFailure(msgspec.Struct, frozen=True):
    """A case whose outputs differ, and how."""

    name: str
    message: str


class LoadError(msgspec.Struct, frozen=True):
    """What latenn threw when no model could be loaded: `code` is the name of a LatennCode."""

    code: str
    message: str


class SmokeDocument(msgspec.Struct, frozen=True):
    """What the consumer wrote."""

    report: dict[str, object] | None = None
    """The loader's report on the runtime."""
    backend: str = ""
    passed: tuple[str, ...] = ()
    failed: tuple[CaseFailure, ...] = ()
    libraries: tuple[str, ...] = ()
    """The files in the process whose name holds latenn or onnxruntime."""
    warnings: tuple[str, ...] = ()
    error: LoadError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SmokeRun:
    """How the consumer ended: 0 all passed, 1 failures, 3 nothing could be loaded."""

    status: int
    document: SmokeDocument
    output: str
    sdk: str
    """The version of the SDK that built it."""
    framework: str
    """What it was built for: `netcoreapp3.1`, `net8.0`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Consumer:
    """A console project, the packages that it gets, and how it is made.

    `project` is the folder with the .csproj, which is copied; `version` is the packages' version, PEP 440.
    `runtime_version` is the runtime package's, "" to leave it out. `framework` is what it is built for, by default the
    SDK's own, which needs no package.
    `environment` is the whole environment in which `dotnet` runs.
    """

    project: Path
    packages: Sequence[Path]
    version: str
    environment: Mapping[str, str]
    layout: Layout = "build"
    rid: str = "linux-x64"
    runtime_version: str = ""
    framework: str = ""
    properties: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A consumer that was built, and by what."""

    assembly: Path
    sdk: str
    framework: str


def run_smoke(
    consumer: Consumer, cases: Path, work: Path, *, arguments: Sequence[str] = (), log: Path | None = None
) -> SmokeRun:
    """Make the consumer in the empty or absent folder `work`, run it over the cases, and read what it wrote.

    `arguments` are added to its command line; `log` receives every command and its output.

    Raises NotRun (`no-dotnet`), ToolError when restoring or building fails, InputError when the consumer ended
    without writing its result.
    """
    made = make_consumer(consumer, work, log=log)
    result = work / "result.json"
    ended = run(
        [dotnet.find(consumer.environment), made.assembly, cases, result, *arguments],
        cwd=work,
        env=dotnet.private(consumer.environment, work / "home"),
        timeout=_TIME_LIMIT,
        check=False,
        log=log,
    )
    try:
        document = msgspec.json.decode(result.read_bytes(), type=SmokeDocument)
    except (OSError, msgspec.DecodeError) as error:
        raise InputError(
            f"the consumer ended with status {ended.returncode} and wrote no result: {ended.output[-2000:]}",
            where=str(made.assembly),
        ) from error
    return SmokeRun(
        status=ended.returncode, document=document, output=ended.output, sdk=made.sdk, framework=made.framework
    )


def make_consumer(consumer: Consumer, work: Path, *, log: Path | None = None) -> Made:
    """Restore and build or publish the consumer below `work`.

    Raises NotRun (`no-dotnet`), ToolError with the output of `dotnet`.
    """
    program = dotnet.find(consumer.environment)
    source, out = work / "consumer", work / "out"
    _lay_out(consumer, source, work / "feed")
    environment = dotnet.private(consumer.environment, work / "home")
    sdk = dotnet.sdk_version(environment, source)
    framework = consumer.framework or dotnet.own_framework(sdk)
    defines = [f"-p:{key}={value}" for key, value in _properties(consumer, framework).items()]
    argv: list[str | Path] = [program, *_command(consumer), *defines, "--nologo", "-c", "Release", "-o", out]
    try:
        run(argv, cwd=source, env=environment, timeout=_TIME_LIMIT, log=log)
    except ToolError as error:
        # MSBuild greets, warns and repeats itself; what is wrong stands somewhere between.
        wrong = dict.fromkeys(line.strip() for line in error.message.splitlines() if ": error " in line)
        raise ToolError("\n".join([*wrong, error.message]), where=error.where, advice=error.advice) from error
    return Made(assembly=out / f"{_project_name(source)}.dll", sdk=sdk, framework=framework)


def _lay_out(consumer: Consumer, source: Path, feed: Path) -> None:
    """Copy packages and project; nothing in the folders above may change how the consumer is built."""
    feed.mkdir(parents=True)
    for package in consumer.packages:
        shutil.copyfile(package, feed / package.name)
    shutil.copytree(consumer.project, source, ignore=shutil.ignore_patterns("bin", "obj"))
    dotnet.write_nuget_config(source / "NuGet.config", [str(feed)])
    for name in ("Directory.Build.props", "Directory.Build.targets", "Directory.Packages.props"):
        (source / name).write_text("<Project />\n", encoding="utf-8")


def _command(consumer: Consumer) -> list[str]:
    if consumer.layout == "publish":
        return ["publish", "-r", consumer.rid, "--self-contained", "false"]
    return ["build"]


def _properties(consumer: Consumer, framework: str) -> dict[str, str]:
    properties = {
        "ConsumerFramework": framework,
        "ProjectVersion": semantic_version(consumer.version),
        "RuntimeVersion": semantic_version(consumer.runtime_version) if consumer.runtime_version else "",
        **consumer.properties,
    }
    if consumer.layout == "cache":
        properties |= {"CopyLocalLockFileAssemblies": "false", "GenerateRuntimeConfigDevFile": "true"}
    return properties


def _project_name(folder: Path) -> str:
    found = sorted(folder.glob("*.csproj"))
    if len(found) != 1:
        raise InputError(f"the consumer's folder holds {len(found)} .csproj files instead of one", where=str(folder))
    return found[0].stem
