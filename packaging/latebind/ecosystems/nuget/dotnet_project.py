"""Builds and runs a console project that uses packages, as a user would: restore from a feed, build or publish, run.

Everything is made below one folder, with a NuGet configuration and a package cache of its own.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from latebind.backend.targets import target
from latebind.backend.tree import hash_file, hash_tree
from latebind.compilers import dotnet, mono
from latebind.config.config import Config
from latebind.config.project import MSBUILD_OUTPUTS
from latebind.ecosystems.nuget.layouts import BUILD, Layout
from latebind.errors import InputError, LatebindError, NotRun, ToolError
from latebind.semver import semantic_version
from latebind.system.resources import folder
from latebind.system.run import run
from latebind.verify.run.protocol import ConsumerRun, run_consumer
from latebind.verify.run.shared import Shared, hash_parts

ANSWERS = "answers"
"""The folder in which the consumer writes."""
_TIME_LIMIT = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DotnetConsumer:
    """A console project, the packages that it gets, and how it is built.

    `project` is the folder with the .csproj, which is copied; `version` is the packages' version, PEP 440.
    `runtime_version` is the runtime package's, "" to leave it out. It is built for the SDK's own framework, which needs
    no package, unless the layout names another.
    `environment` is the whole environment in which `dotnet` runs.
    """

    project: Path
    packages: Sequence[Path]
    version: str
    environment: Mapping[str, str]
    layout: Layout = BUILD
    rid: str = "linux-x64"
    runtime_version: str = ""
    properties: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    """Added to the environment in which the consumer itself runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltConsumer:
    """A console project that was built, and by what."""

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


def run_built(  # noqa: PLR0913  # a consumer, what it computes, where, and how it is called
    consumer: DotnetConsumer,
    built: BuiltConsumer,
    cases: Path,
    work: Path,
    *,
    arguments: Sequence[str] = (),
    log: Path | None = None,
    cwd: Path | None = None,
    user: int | None = None,
    advice: str = "",
) -> ConsumerRun:
    """Run a consumer that was built in `work` over the cases, and read what it wrote in `work`/answers.

    `arguments` are added to its command line; `log` receives the command and its output; `cwd` is where it runs, by
    default in `work`; `advice` is for a crash. Raises PhaseError when it wrote no valid result.
    """
    result = work / ANSWERS / "result.json"
    result.parent.mkdir(exist_ok=True)
    return run_consumer(
        [*built.argv, cases, result, *arguments],
        name="the .NET consumer",
        result=result,
        cwd=cwd or work,
        # A program finds .NET by DOTNET_ROOT, and unpacks what it carries below `work`.
        env={
            "DOTNET_ROOT": str(dotnet.find(consumer.environment).resolve().parent),
            **dotnet.private(consumer.environment, work / "home"),
            "DOTNET_BUNDLE_EXTRACT_BASE_DIR": str(work / "unpacked"),
            **consumer.variables,
        },
        log=log,
        user=user,
        advice=advice,
    )


def build_consumer(consumer: DotnetConsumer, work: Path, *, log: Path | None = None) -> BuiltConsumer:
    """Restore and build or publish the consumer below `work`.

    Raises NotRun (`no-dotnet`, `no-sdk` when it is too old for the layout, `no-mono`), ToolError with the output of
    `dotnet`.
    """
    program = dotnet.find(consumer.environment)
    mono_install = mono.find(consumer.environment) if consumer.layout.start == "mono" else None
    project, out = _lay_out(consumer, work), work / "out"
    environment = dotnet.private(consumer.environment, work / "home")
    sdk = dotnet.sdk_version(environment, project)
    needed = consumer.layout.needs_sdk
    if needed and int(sdk.partition(".")[0]) < needed:
        raise NotRun("no-sdk", f"the test case needs .NET SDK {needed}.0 or newer, but {sdk} is installed")
    references = str(mono_install.references) if mono_install else ""
    properties = _properties(consumer, dotnet.own_framework(sdk), references)
    defines = [f"-p:{key}={value}" for key, value in properties.items()]
    command = [part.format(rid=consumer.rid) for part in consumer.layout.command]
    argv = [program, *command, *defines, "--nologo", "-c", "Release", *_output(consumer, work)]
    try:
        run(argv, cwd=project, env=environment, timeout=_TIME_LIMIT, log=log)
    except ToolError as error:
        # MSBuild's canonical error format comes first (learn.microsoft.com, "MSBuild and Visual Studio format for
        # diagnostic messages"), without the banner, warnings and repetitions around it.
        wrong = dict.fromkeys(line.strip() for line in error.message.splitlines() if ": error " in line)
        raise ToolError("\n".join([*wrong, error.message]), where=error.where, advice=error.advice) from error
    return BuiltConsumer(
        argv=_start(consumer, mono_install.program if mono_install else program, out, work),
        out=out,
        cache=work / "home" / "packages",
        sdk=sdk,
        framework=properties["ConsumerFramework"],
        mono=mono.version(mono_install, environment) if mono_install else "",
    )


def share_build(shared: Shared, consumer: DotnetConsumer, work: Path, *, log: Path) -> BuiltConsumer:
    """Build a consumer once for all test cases that build the same; `work` gets a copy.

    Only the ordinary layout can be copied. `log` receives what the build wrote.
    """
    packages = [f"{path.name} {hash_file(path)}" for path in consumer.packages]
    project = hash_tree(consumer.project, without=MSBUILD_OUTPUTS)
    properties = chain.from_iterable(sorted(consumer.properties.items()))
    settings = (project, consumer.version, consumer.rid, consumer.runtime_version)

    def build(folder: Path, build_log: Path) -> None:
        built = build_consumer(consumer, folder, log=build_log)
        (folder / "answer").write_text(f"{built.sdk} {built.framework}", encoding="utf-8")

    folder = shared.fill(hash_parts(*settings, *sorted(packages), *properties), log, build)
    out = shutil.copytree(folder / "out", work / "out", symlinks=True)
    sdk, framework = (folder / "answer").read_text("utf-8").split()
    return BuiltConsumer(
        argv=_start(consumer, dotnet.find(consumer.environment), out, folder),
        out=out,
        cache=folder / "home" / "packages",
        sdk=sdk,
        framework=framework,
    )


def describe_tools(config: Config) -> str:
    """The versions of the SDK and Mono that build and run the consumers, as far as they are installed."""
    found = []
    if config.document.verify.dotnet:
        with suppress(LatebindError):  # each test case that needs it reports it
            found.append(dotnet.sdk_version(os.environ, config.root))
        with suppress(LatebindError):
            found.append(mono.version(mono.find(os.environ), os.environ))
    return "\0".join(found)


def _start(consumer: DotnetConsumer, host: Path, out: Path, work: Path) -> tuple[str | Path, ...]:
    """The command line; `host` is what runs assemblies: `dotnet` or `mono`."""
    name = _project_name(work / "consumer")
    if consumer.layout.start == "program":
        return (out / f"{name}{target(consumer.rid).program_suffix}",)
    if consumer.layout.application:
        return (host, out / f"{_project_name(work / 'application')}.dll", name)
    return (host, out / f"{name}.{'exe' if consumer.layout.start == 'mono' else 'dll'}")


def _lay_out(consumer: DotnetConsumer, work: Path) -> Path:
    """Copy packages and project; nothing in the folders above may change how they are built. The folder to build.

    A consumer that was made there before is built again as it is: with another runtime, that is an upgrade.
    """
    feed, source, layout = work / "feed", work / "consumer", consumer.layout
    feed.mkdir(parents=True, exist_ok=True)
    for package in consumer.packages:
        shutil.copyfile(package, feed / package.name)
    if source.is_dir():
        return work / "application" if layout.application else source
    shutil.copytree(consumer.project, source, ignore=shutil.ignore_patterns(*MSBUILD_OUTPUTS))
    _confine(source, consumer, feed)
    if layout.targets:
        shutil.copyfile(folder("templates") / "nuget/consumer" / layout.targets, source / "Directory.Build.targets")
    if not layout.application:
        return source
    shutil.copytree(folder("templates") / "nuget/consumer" / layout.application, work / "application")
    _confine(work / "application", consumer, feed)
    return work / "application"


def _confine(project: Path, consumer: DotnetConsumer, feed: Path) -> None:
    dotnet.write_nuget_config(project / "NuGet.config", [str(feed)], alone=not consumer.layout.fetches)
    for name in ("Directory.Build.props", "Directory.Build.targets", "Directory.Packages.props"):
        (project / name).write_text("<Project />\n", encoding="utf-8")


def _properties(consumer: DotnetConsumer, framework: str, references: str = "") -> dict[str, str]:
    """The MSBuild properties of a consumer. Those of the layout and of the caller come last."""
    layout_properties = {
        key: text.format(rid=consumer.rid, references=references) for key, text in consumer.layout.properties.items()
    }
    return {
        "ConsumerFramework": framework,
        "ProjectVersion": semantic_version(consumer.version),
        "RuntimeVersion": semantic_version(consumer.runtime_version) if consumer.runtime_version else "",
        **layout_properties,
        **consumer.properties,
    }


def _output(consumer: DotnetConsumer, work: Path) -> list[str | Path]:
    """Where the application goes: relative, since MSBuild cuts a path on its command line at commas.

    To `-o`, or OutputPath, which are for all projects of a build, a class library would write, too.
    """
    if not consumer.layout.application:
        return [f"-p:{'PublishDir' if consumer.layout.command[0] == 'publish' else 'OutputPath'}=../out/"]
    project = f"../consumer/{_project_name(work / 'consumer')}.csproj"
    return ["-p:ApplicationOutput=../out/", f"-p:ConsumerProject={project}"]


def _project_name(folder: Path) -> str:
    projects = sorted(folder.glob("*.csproj"))
    if len(projects) != 1:
        text = f"the consumer's folder contains {len(projects)} .csproj files instead of one"
        raise InputError(text, where=str(folder))
    return projects[0].stem
