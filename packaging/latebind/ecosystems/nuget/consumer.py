"""Runs a nupkg's test case: a .NET or C consumer of a local feed with the project's packages and the runtime's."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from latebind.backend.targets import target
from latebind.compilers import dotnet
from latebind.config.config import Config
from latebind.config.runtime import RuntimeUse
from latebind.ecosystems.nuget.dotnet_project import (
    ANSWERS,
    BuiltConsumer,
    DotnetConsumer,
    build_consumer,
    describe_tools,
    run_built,
    share_build,
)
from latebind.ecosystems.nuget.files import nuget_tables, nupkg_file
from latebind.ecosystems.nuget.layouts import BUILD, LAYOUTS, Application, Layout, find_layout, older_assembly
from latebind.ecosystems.nuget.managed import list_frameworks
from latebind.ecosystems.nuget.runtime_package import add_runtime, runtime_nupkg
from latebind.errors import BuildError, InputError, LatebindError, NotRun
from latebind.model import Outcome, State
from latebind.system.run import run
from latebind.verify.cases.scenarios import C_NUPKG
from latebind.verify.declared import Consumer
from latebind.verify.run.access import NOBODY, assert_reached, hand_over, is_root, lock
from latebind.verify.run.installers import clean_environment
from latebind.verify.run.judge import judge_program
from latebind.verify.run.native import STOOD_IN, build_program, share_program
from latebind.verify.run.protocol import ConsumerResult, ConsumerRun, run_program
from latebind.verify.run.trial import Trial, assert_first, failing_at

ASSEMBLED = "the runtime's nupkg was assembled for this test from its PyPI wheel"
_LAID_OUT = "the runtime's library is that of its PyPI wheel, at its place in the runtime's nupkg"


def run_dotnet_case(trial: Trial) -> Outcome:
    """Restore, build, run and judge.

    Raises NotRun without a .NET SDK or without the nupkgs, LatebindError when something other than them failed.
    """
    consumer = _consumer(trial)
    work = trial.work / trial.situation.folder
    if consumer.layout.start == "nothing":
        with failing_at("install"):
            built = build_consumer(consumer, work, log=trial.log)
        wrong = _unproven(trial, consumer, built)
        outcome = Outcome(case=trial.case, state=State.PASSED, summary="the application has the files of the packages")
    else:
        built, ended = _run(trial, consumer, work)
        wrong = [] if trial.scenario.negative else _unproven(trial, consumer, built, ended.result)
        outcome = _judge_consumer(trial, ended, str(_find_runtime(trial, built.out) or ""))
    if outcome.state is State.FAILED or wrong:
        reason = "\n".join(filter(None, [outcome.reason, *wrong]))
        phase = "install" if consumer.layout.start == "nothing" else "load"  # what is unproven: where files are
        facts = {"phase": phase, **outcome.facts}
        return replace(outcome, state=State.FAILED, reason=reason, summary="", facts=facts)
    mono = {"mono": built.mono} if built.mono else {}
    facts = {**outcome.facts, "framework": built.framework, "sdk": built.sdk, **mono}
    if _find_on_feed(trial):
        facts |= {"runtime_package": ASSEMBLED}
    return replace(outcome, facts=facts)


def run_c_case(trial: Trial) -> Outcome:
    """Unpack, configure, compile, run and judge.

    Raises NotRun without CMake or a compiler (`no-compiler`) or without the nupkgs, PhaseError when building fails and
    when the consumer wrote no result.
    """
    cases = trial.data()
    source = trial.config.root / trial.config.document.verify.c
    which = f"{trial.configured.package} {trial.case.runtime} {trial.case.version}"
    with failing_at("install"):
        packages, program = share_program(
            trial,
            source,
            which,
            partial(_unpack_all, trial),
            partial(_build_program, trial),
            alone=trial.situation.changes_files,
        )
        runtime = _break_runtime(trial, packages)
    ended = run_program(trial, program, cases, packages, name="the C consumer")
    outcome = _judge_consumer(trial, ended, trial.machine.path(runtime) if runtime else "", packages)
    if outcome.state is not State.PASSED or not trial.case.version:
        return outcome
    supplied = STOOD_IN if trial.configured.stands_in else _LAID_OUT
    return replace(outcome, facts={**outcome.facts, "runtime_package": supplied})


def _build_program(trial: Trial, packages: Path, tree: Path, log: Path) -> None:
    platform, source = target(trial.case.target), trial.config.root / trial.config.document.verify.c
    libraries = sorted(packages.glob(f"*/runtimes/{platform.rid}/native"))
    # On macOS, CMake adds no run path for a library that find_library() has found.
    run_paths = ";".join(map(str, libraries))
    defines = (f"-DPACKAGES={packages}", f"-DRID={platform.rid}", f"-DCMAKE_BUILD_RPATH={run_paths}")
    build_program(trial, source, tree, *defines, log=log)
    if platform.system == "windows":  # where it has no other way to find what it links
        runtime = _find_runtime(trial, packages)
        for library in (file for folder in libraries for file in folder.glob("*.dll") if file != runtime):
            shutil.copy(library, tree)


def _unpack_all(trial: Trial, folder: Path) -> None:
    """Unpack the project's nupkgs and the runtime's; nobody needs that one as a file. Raises as _collect_packages()."""
    unpack(_own_packages(trial), folder)
    if runtime := _find_on_feed(trial):
        add_runtime(trial, runtime, trial.case.version, folder)


def _collect_packages(trial: Trial) -> list[Path]:
    """The project's nupkgs, and the runtime's where the test case has one. Raises NotRun when one was not made.

    All test cases share the runtime's; a scenario that breaks the library does so after the build.
    """
    packages = _own_packages(trial)
    if runtime := _find_on_feed(trial):
        packages.append(runtime_nupkg(trial, runtime, trial.case.version))
    return packages


def _own_packages(trial: Trial) -> list[Path]:
    packages = [artifact.path for artifact in trial.artifacts if artifact.kind == "nupkg"]
    version = trial.config.project.version
    expected = {nupkg_file(table.id, version) for table in nuget_tables(trial.config.packages).values()}
    if not expected <= {path.name for path in packages}:
        raise NotRun("not-built", "not every nupkg of the project was made")
    return packages


def _find_runtime(trial: Trial, folder: Path) -> Path | None:
    """The runtime's library below a folder, as an application has it; None when it has none."""
    if trial.bound_runtime is None:
        return None
    names = getattr(trial.bound_runtime.traits.names, target(trial.case.target).system)
    return next((path for name in names for path in sorted(folder.rglob(name))), None)


def _break_runtime(trial: Trial, folder: Path) -> Path | None:
    """The runtime's library below a folder, once it is broken as the scenario asks for."""
    library = _find_runtime(trial, folder)
    trial.situation.break_files([library] if library else [])
    return library


def _find_on_feed(trial: Trial) -> RuntimeUse | None:
    """The runtime of a test case that NuGet has, too, so that its application restores it."""
    runtime = trial.bound_runtime
    return runtime if runtime is not None and trial.case.version and runtime.traits.nuget.ids else None


def _judge_consumer(trial: Trial, ended: ConsumerRun, library: str = "", *folders: Path) -> Outcome:
    outcome, assembly = judge_program(trial, ended, library, *folders), ended.result.assembly
    if not assembly.framework:
        return outcome
    return replace(outcome, facts={**outcome.facts, "assembly": f"{assembly.path} ({assembly.framework})".strip()})


# ---- .NET ----------------------------------------------------------------------------------------------------------


def _consumer(trial: Trial) -> DotnetConsumer:
    properties = {}
    left_out = nuget_tables(trial.config.packages).get(trial.situation.without)
    if left_out is not None:
        properties["WithoutPackage"] = left_out.id
    if len(trial.config.document.runtime) > 1 and trial.bound_runtime is not None:
        properties["RuntimeName"] = trial.bound_runtime.name
    return DotnetConsumer(
        project=trial.config.root / trial.config.document.verify.dotnet,
        packages=_collect_packages(trial),
        version=trial.config.project.version,
        environment=clean_environment(),
        layout=find_layout(trial.case.consumer),
        rid=trial.case.target,
        runtime_version=trial.case.version if _find_on_feed(trial) else "",
        variables=trial.situation.environment,
        properties=properties,
    )


def _run(trial: Trial, consumer: DotnetConsumer, work: Path) -> tuple[BuiltConsumer, ConsumerRun]:
    """Build and run, from the folder that the situation's relative paths start at."""
    home = trial.work / "home"
    home.mkdir(exist_ok=True)
    start = partial(
        run_built,
        cases=trial.data(),
        work=work,
        arguments=(*trial.consumer_words(), *trial.situation.action),
        log=trial.log,
        cwd=home,
        advice=trial.crash_advice,
    )
    first = trial.situation.first
    if first and trial.bound_runtime is not None:
        older = runtime_nupkg(trial, trial.bound_runtime, first)
        before = replace(consumer, packages=[*consumer.packages, older], runtime_version=first)
        with failing_at("install"):
            built = build_consumer(before, work, log=trial.log)
        assert_first(start(before, built).result.version, first)
    shares = consumer.layout is BUILD and not first and not trial.situation.is_elsewhere
    build = partial(share_build, trial.shared) if shares else build_consumer
    with failing_at("install"):
        built = build(consumer, work, log=trial.log)
    (work / ANSWERS).mkdir(exist_ok=True)
    library = _break_runtime(trial, built.out)
    user = lock_application(trial, consumer, built, work / ANSWERS, library)
    return built, start(consumer, built, user=user)


def _unproven(
    trial: Trial, consumer: DotnetConsumer, built: BuiltConsumer, result: ConsumerResult | None = None
) -> list[str]:
    """What the layout promises and the packages that the consumer asks for do not hold."""
    tables = nuget_tables(trial.config.packages)
    restored = {name for name, table in tables.items() if (built.cache / table.id.lower()).is_dir()}
    needed = trial.config.list_needed_packages(trial.configured.package) if trial.bound_runtime else ()
    missing = [name for name in needed if name not in restored]
    if missing and trial.situation.without not in missing:
        return [f"the consumer did not restore the package {name}" for name in missing]
    ours = {artifact.path.name for artifact in trial.artifacts}
    cached = {path.name for path in built.cache.glob("*/*/*.nupkg")}  # NuGet keeps them in lower case
    application = Application(
        packages=[path for path in consumer.packages if path.name not in ours or path.name.lower() in cached],
        rid=consumer.rid,
        out=built.out,
        cache=built.cache,
        libraries=result.libraries if result else (),
        parts=len(restored) + bool(consumer.runtime_version),
        framework=result.assembly.framework if result else "",
    )
    return [wrong for proof in consumer.layout.proofs for wrong in proof(application)]


def lock_application(
    trial: Trial, consumer: DotnetConsumer, built: BuiltConsumer, answers: Path, library: Path | None
) -> int | None:
    """Lock an application as its situation asks, prove it, and return the user that runs it: None is this one.

    `answers` is where the consumer writes, `library` the runtime's in the application.

    Raises NotRun (`no-access`) where another user cannot reach what it needs, LatebindError when something is not
    denied that must be.
    """
    if not trial.situation.unprivileged:
        return None
    user = NOBODY if is_root() else None
    if user is not None:
        assert_reached(built.out / "application", dotnet.find(consumer.environment).resolve(), trial.data())
    if trial.situation.unreadable and library is not None:
        library.chmod(0)
        _assert_denied(["head", "-c", "1", library], user, f"{library} can be read")
    lock(built.out)
    _assert_denied(["touch", built.out / "probe"], user, f"{built.out} can be written to")
    hand_over(trial.work / "home", answers)
    return user


def _assert_denied(argv: list[str | Path], user: int | None, otherwise: str) -> None:
    if run(argv, user=user, check=False).returncode == 0:
        who = "this user" if user is None else f"user {user}"
        raise LatebindError(f"{otherwise} by {who}: this file system ignores permissions")


# ---- C -------------------------------------------------------------------------------------------------------------


def unpack(packages: Sequence[Path], folder: Path) -> Path:
    """Unpack each package into a folder of its id in lower case, without the version."""
    for package in packages:
        with zipfile.ZipFile(package) as archive:
            nuspec = next((name for name in archive.namelist() if name.endswith(".nuspec") and "/" not in name), "")
            if not nuspec:
                raise InputError("the package has no nuspec", where=str(package))
            archive.extractall(folder / nuspec.removesuffix(".nuspec").lower())
    return folder


def _find_install_words(_config: Config, _package: str, runtime: RuntimeUse) -> tuple[str, str]:
    id_ = next(iter(runtime.traits.nuget.ids), "")
    return ("dotnet add package", f"dotnet add package {id_}") if id_ else ("pip install", "")


def _offers_older_assembly(config: Config) -> bool:
    """Whether a package has an assembly for netstandard2.0, as far as the sources of managed parts are here."""
    for package in config.packages.values():
        if package.hosted is not None:
            return True
        if package.nuget is not None and package.nuget.managed:
            try:
                if "netstandard2.0" in list_frameworks(config.root / package.nuget.managed):
                    return True
            except BuildError:
                return True
    return False


def _suits(layout: Layout, config: Config, _runtime: RuntimeUse | None) -> bool:
    return older_assembly not in layout.proofs or _offers_older_assembly(config)


def _declare_consumer(layout: Layout) -> Consumer:
    return Consumer(
        names=(layout.name,),
        group="" if layout is BUILD else "files" if layout.start == "nothing" else "dotnet layouts",
        kind="nupkg",
        run=run_dotnet_case,
        names_runtime=False,
        table="nuget",
        program="dotnet",
        suits=partial(_suits, layout),
        describe_tools=describe_tools,
        find_runtime=lambda runtime: next(iter(runtime.traits.nuget.ids), ""),
        find_install_words=_find_install_words,
        installs_required=True,
    )


_IN_C = replace(
    _declare_consumer(BUILD),
    names=(C_NUPKG,),
    run=run_c_case,
    reads_commas=False,  # CMake gives a linker the folders of libraries in words that commas separate
    is_cross_built=True,
    find_install_words=lambda _config, _package, _runtime: ("", ""),
    program="c",
)
CONSUMERS = (*map(_declare_consumer, LAYOUTS), _IN_C)
