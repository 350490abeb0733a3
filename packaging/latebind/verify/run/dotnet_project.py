"""Consumes packages in a console project, as a user would: restore from a feed, build or publish, run.

Everything is made below one folder; nothing of the machine's NuGet configuration or package cache is seen.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from latebind.errors import InputError, NotRun, ToolError
from latebind.nuget import dotnet, mono
from latebind.nuget.nuspec import semantic_version
from latebind.system.limits import CELL_LIMITS
from latebind.system.resources import folder
from latebind.system.run import run
from latebind.verify.plan.layouts import BUILD, Layout
from latebind.verify.run.stage import StageError, failing_at

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

ANSWERS = "answers"
"""The folder in which the consumer writes."""
_TIME_LIMIT = 600.0


class CaseFailure(msgspec.Struct, frozen=True):
    """A case whose outputs differ, and how."""

    name: str
    message: str


class LoadError(msgspec.Struct, frozen=True):
    """What latenn threw when no model could be loaded: `code` is the name of a LatennCode."""

    code: str
    message: str


class ManagedAssembly(msgspec.Struct, frozen=True):
    """The packages' assembly that the process loaded: its file, "" inside a program, and its TargetFramework."""

    path: str = ""
    framework: str = ""


class SmokeDocument(msgspec.Struct, frozen=True):
    """What the consumer wrote."""

    report: dict[str, object] | None = None
    """The loader's report on the runtime."""
    backend: str = ""
    passed: tuple[str, ...] = ()
    failed: tuple[CaseFailure, ...] = ()
    libraries: tuple[str, ...] = ()
    """The files in the process whose name holds the packages' or a runtime's."""
    assembly: ManagedAssembly = ManagedAssembly()
    warnings: tuple[str, ...] = ()
    error: LoadError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SmokeRun:
    """How the consumer ended: 0 all passed, 1 failures, 3 nothing could be loaded."""

    status: int
    document: SmokeDocument
    output: str
    made: Made


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
    layout: Layout = BUILD
    rid: str = "linux-x64"
    runtime_version: str = ""
    framework: str = ""
    properties: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    """Added to the environment in which the consumer itself runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A consumer that was built, and by what."""

    argv: tuple[str | Path, ...]
    """What starts it."""
    out: Path
    """The folder of the application."""
    cache: Path
    """NuGet's package folder."""
    sdk: str
    """The version of the SDK that built it."""
    framework: str
    """What it was built for: `netcoreapp3.1`, `net8.0`."""
    mono: str = ""
    """The version of the Mono that runs it."""


def run_smoke(  # noqa: PLR0913  # a consumer, what it computes, where, and how it is called
    consumer: Consumer,
    cases: Path,
    work: Path,
    *,
    arguments: Sequence[str] = (),
    log: Path | None = None,
    cwd: Path | None = None,
    settle: Callable[[Made], int | None] = lambda _: None,
) -> SmokeRun:
    """Make the consumer in the folder `work`, run it over the cases, and read what it wrote in `work`/answers.

    `arguments` are added to its command line; `log` receives every command and its output; `cwd` is where it runs, by
    default in `work`. `settle` may change what was made, and says as which user it runs (None: as this one).

    Raises NotRun (`no-dotnet`), StageError when restoring or building fails, and when the consumer ended without
    writing its result.
    """
    with failing_at("install"):
        made = make_consumer(consumer, work, log=log)
    result = work / ANSWERS / "result.json"
    result.parent.mkdir(exist_ok=True)
    result.unlink(missing_ok=True)  # of the run before an upgrade
    user = settle(made)
    with failing_at("load"):
        ended = run(
            [*made.argv, cases, result, *arguments],
            cwd=cwd or work,
            env=_runtime_environment(consumer, work),
            check=False,
            log=log,
            limits=CELL_LIMITS,
            user=user,
        )
    try:
        document = msgspec.json.decode(result.read_bytes(), type=SmokeDocument)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        told = f"the consumer ended with status {ended.returncode} and wrote no result: {ended.output[-2000:]}"
        raise StageError("load", InputError(told, where=str(made.out))) from error
    return SmokeRun(status=ended.returncode, document=document, output=ended.output, made=made)


def make_consumer(consumer: Consumer, work: Path, *, log: Path | None = None) -> Made:
    """Restore and build or publish the consumer below `work`.

    Raises NotRun (`no-dotnet`, `no-sdk` when it is too old for the layout, `no-mono`), ToolError with the output of
    `dotnet`.
    """
    program = dotnet.find(consumer.environment)
    found = mono.find(consumer.environment) if consumer.layout.start == "mono" else None
    project, out = _lay_out(consumer, work), work / "out"
    environment = dotnet.private(consumer.environment, work / "home")
    sdk = dotnet.sdk_version(environment, project)
    needed = consumer.layout.needs_sdk
    if needed and int(sdk.partition(".")[0]) < needed:
        raise NotRun("no-sdk", f"this takes an SDK of {needed}.0 or newer; here is {sdk}")
    references = str(found.references) if found else ""
    properties = _properties(consumer, consumer.framework or dotnet.own_framework(sdk), references)
    defines = [f"-p:{key}={value}" for key, value in properties.items()]
    words = [word.format(rid=consumer.rid) for word in consumer.layout.command]
    argv = [program, *words, *defines, "--nologo", "-c", "Release", *_output(consumer, work)]
    try:
        run(argv, cwd=project, env=environment, timeout=_TIME_LIMIT, log=log)
    except ToolError as error:
        # MSBuild greets, warns and repeats itself; what is wrong stands somewhere between.
        wrong = dict.fromkeys(line.strip() for line in error.message.splitlines() if ": error " in line)
        raise ToolError("\n".join([*wrong, error.message]), where=error.where, advice=error.advice) from error
    return Made(
        argv=_start(consumer, found.program if found else program, out, work),
        out=out,
        cache=work / "home" / "packages",
        sdk=sdk,
        framework=properties["ConsumerFramework"],
        mono=mono.version(found, environment) if found else "",
    )


def _start(consumer: Consumer, host: Path, out: Path, work: Path) -> tuple[str | Path, ...]:
    """The command line; `host` is what runs assemblies: `dotnet` or `mono`."""
    name = _project_name(work / "consumer")
    if consumer.layout.start == "program":
        return (out / (f"{name}.exe" if consumer.rid.startswith("win") else name),)
    if consumer.layout.application:
        return (host, out / f"{_project_name(work / 'application')}.dll", name)
    return (host, out / f"{name}.{'exe' if consumer.layout.start == 'mono' else 'dll'}")


def _runtime_environment(consumer: Consumer, work: Path) -> dict[str, str]:
    """For the consumer itself. A program finds .NET by DOTNET_ROOT, and unpacks what it carries below `work`."""
    root = str(dotnet.find(consumer.environment).resolve().parent)
    environment = dotnet.private(consumer.environment, work / "home")
    unpacked = str(work / "unpacked")
    return {"DOTNET_ROOT": root, **environment, "DOTNET_BUNDLE_EXTRACT_BASE_DIR": unpacked, **consumer.variables}


def _lay_out(consumer: Consumer, work: Path) -> Path:
    """Copy packages and project; nothing in the folders above may change how they are built. The folder to build.

    A consumer that was made there before is built again as it is: with another runtime, that is an upgrade.
    """
    feed, source, layout = work / "feed", work / "consumer", consumer.layout
    feed.mkdir(parents=True, exist_ok=True)
    for package in consumer.packages:
        shutil.copyfile(package, feed / package.name)
    if source.is_dir():
        return work / "application" if layout.application else source
    shutil.copytree(consumer.project, source, ignore=shutil.ignore_patterns("bin", "obj"))
    _confine(source, consumer, feed)
    if layout.targets:
        shutil.copyfile(folder("templates") / "dotnet" / layout.targets, source / "Directory.Build.targets")
    if not layout.application:
        return source
    shutil.copytree(folder("templates") / "dotnet" / layout.application, work / "application")
    _confine(work / "application", consumer, feed)
    return work / "application"


def _confine(project: Path, consumer: Consumer, feed: Path) -> None:
    dotnet.write_nuget_config(project / "NuGet.config", [str(feed)], alone=not consumer.layout.fetches)
    for name in ("Directory.Build.props", "Directory.Build.targets", "Directory.Packages.props"):
        (project / name).write_text("<Project />\n", encoding="utf-8")


def _properties(consumer: Consumer, framework: str, references: str = "") -> dict[str, str]:
    """What a consumer's project is told. Those of the layout and of the caller come last."""
    own = {
        key: text.format(rid=consumer.rid, references=references) for key, text in consumer.layout.properties.items()
    }
    return {
        "ConsumerFramework": framework,
        "ProjectVersion": semantic_version(consumer.version),
        "RuntimeVersion": semantic_version(consumer.runtime_version) if consumer.runtime_version else "",
        **own,
        **consumer.properties,
    }


def _output(consumer: Consumer, work: Path) -> list[str | Path]:
    """Where the application goes: relative, since MSBuild cuts a path on its command line at commas.

    To `-o`, or OutputPath, which are for all projects of a build, a class library would write, too.
    """
    if not consumer.layout.application:
        return [f"-p:{'PublishDir' if consumer.layout.command[0] == 'publish' else 'OutputPath'}=../out/"]
    project = f"../consumer/{_project_name(work / 'consumer')}.csproj"
    return ["-p:ApplicationOutput=../out/", f"-p:ConsumerProject={project}"]


def _project_name(folder: Path) -> str:
    found = sorted(folder.glob("*.csproj"))
    if len(found) != 1:
        raise InputError(f"the consumer's folder holds {len(found)} .csproj files instead of one", where=str(folder))
    return found[0].stem
