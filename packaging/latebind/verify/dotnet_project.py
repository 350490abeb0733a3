"""Consumes packages in a console project, as a user would: restore from a feed, build or publish, run.

Everything is made below one folder; nothing of the machine's NuGet configuration or package cache is seen.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import msgspec

from latebind.errors import InputError
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Consumer:
    """A console project, the packages that it gets, and how it is made.

    `project` is the folder with the .csproj, which is copied; `version` is the packages' version, PEP 440.
    `runtime_version` is the runtime package's, "" to leave it out. `framework` overrides the project's own.
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


def run_smoke(
    consumer: Consumer, cases: Path, work: Path, *, arguments: Sequence[str] = (), log: Path | None = None
) -> SmokeRun:
    """Make the consumer in the empty or absent folder `work`, run it over the cases, and read what it wrote.

    `arguments` are added to its command line; `log` receives every command and its output.

    Raises NotRun (`no-dotnet`), ToolError when restoring or building fails, InputError when the consumer ended
    without writing its result.
    """
    application = make_consumer(consumer, work, log=log)
    result = work / "result.json"
    ended = run(
        [dotnet.find(consumer.environment), application, cases, result, *arguments],
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
            where=str(application),
        ) from error
    return SmokeRun(status=ended.returncode, document=document, output=ended.output)


def make_consumer(consumer: Consumer, work: Path, *, log: Path | None = None) -> Path:
    """Restore and build or publish the consumer below `work`; the path of its assembly.

    Raises NotRun (`no-dotnet`), ToolError with the output of `dotnet`.
    """
    program = dotnet.find(consumer.environment)
    source, feed, out = work / "consumer", work / "feed", work / "out"
    feed.mkdir(parents=True)
    for package in consumer.packages:
        shutil.copyfile(package, feed / package.name)
    shutil.copytree(consumer.project, source, ignore=shutil.ignore_patterns("bin", "obj"))
    dotnet.write_nuget_config(source / "NuGet.config", [str(feed)])
    # Nothing above `work` may change how the consumer is built.
    for name in ("Directory.Build.props", "Directory.Build.targets"):
        (source / name).write_text("<Project />\n", encoding="utf-8")
    argv: list[str | Path] = [
        program,
        *_command(consumer),
        *(f"-p:{key}={value}" for key, value in _properties(consumer).items()),
    ]
    run(
        [*argv, "--nologo", "-c", "Release", "-o", out],
        cwd=source,
        env=dotnet.private(consumer.environment, work / "home"),
        timeout=_TIME_LIMIT,
        log=log,
    )
    return out / f"{_project_name(source)}.dll"


def _command(consumer: Consumer) -> list[str]:
    if consumer.layout == "publish":
        return ["publish", "-r", consumer.rid, "--self-contained", "false"]
    return ["build"]


def _properties(consumer: Consumer) -> dict[str, str]:
    properties = {
        "LatennVersion": semantic_version(consumer.version),
        "OrtVersion": semantic_version(consumer.runtime_version) if consumer.runtime_version else "",
        **consumer.properties,
    }
    if consumer.framework:
        properties["SmokeFramework"] = consumer.framework
    if consumer.layout == "cache":
        properties |= {"CopyLocalLockFileAssemblies": "false", "GenerateRuntimeConfigDevFile": "true"}
    return properties


def _project_name(folder: Path) -> str:
    found = sorted(folder.glob("*.csproj"))
    if len(found) != 1:
        raise InputError(f"the consumer's folder holds {len(found)} .csproj files instead of one", where=str(folder))
    return found[0].stem
