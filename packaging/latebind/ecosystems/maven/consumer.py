"""Runs a JAR's test case: a Java program with a class path from a Maven repository of the packages and the runtime."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from latebind.backend.targets import target
from latebind.backend.tree import hash_file
from latebind.config.config import Config
from latebind.config.runtime import RuntimeUse
from latebind.ecosystems.maven.config import ECOSYSTEM, OLDEST_JAVA, PROGRAM, find_runtime_artifact, maven_tables
from latebind.ecosystems.maven.files import bundle_file, jar_file
from latebind.ecosystems.maven.layouts import LAYOUTS, MAIN, JavaProgram, find_start
from latebind.ecosystems.maven.pack import CLASS_NAME, FOLDER_START, render_pom
from latebind.ecosystems.maven.programs import find_jdk, read_major
from latebind.errors import InputError, NotRun
from latebind.model import Outcome, State
from latebind.system.archive import Entry, write_zip
from latebind.system.run import run
from latebind.tables.presets import RuntimePreset
from latebind.verify.declared import Consumer
from latebind.verify.run.installers import clean_environment
from latebind.verify.run.judge import judge_program
from latebind.verify.run.protocol import ConsumerRun, run_consumer
from latebind.verify.run.shared import hash_parts
from latebind.verify.run.trial import Trial, assert_first, failing_at
from loadcheck.facts import MavenArtifact, ZipReader, read_pom

_ASSEMBLED = "the runtime's JAR was assembled for this test from its PyPI wheel"
_TIME_LIMIT = 300.0
_BRIEFLY = ("-J-XX:+UseSerialGC", "-J-XX:TieredStopAtLevel=1")
"""A compiler that lives for two seconds gains nothing from being optimized."""
_NATIVE_ACCESS = 22
"""From this Java on, one that calls native code without permission prints a warning."""
_TEMPORARY = "temporary"
"""The folder of an application for temporary files."""
_VERSION_FILE = ".java-version"
"""Where jenv, SDKMAN and others look for the Java that a folder needs."""


def run_java_case(trial: Trial) -> Outcome:
    """Resolve, compile, run and judge.

    Raises NotRun without a JDK that is new enough or without the packages, PhaseError when something cannot be
    resolved or compiled, and when the program wrote no result.
    """
    source = trial.config.root / trial.config.document.verify.find_program(PROGRAM)
    jdk = find_jdk(_read_needed_java(source))
    app = trial.work / trial.situation.folder
    bundles = _find_bundles(trial)
    if first := trial.situation.first:
        ended = _run_program(trial, jdk, source, app, _resolve(trial, app / "first", bundles, first))
        assert_first(ended.result.version, first)
        shutil.rmtree(app)
    ended = _run_program(trial, jdk, source, app, _resolve(trial, app / "repository", bundles, trial.case.version))
    outcome = judge_program(trial, ended, _name_installed(trial, app, ended.result.message))
    if outcome.state is not State.PASSED or _find_runtime(trial) is None:
        return outcome
    return replace(outcome, facts={**outcome.facts, "runtime_package": _ASSEMBLED})


def _read_needed_java(source: Path) -> int:
    """The oldest Java of the program, as its folder says; else the oldest that JARs are made for."""
    file = source / _VERSION_FILE
    if not file.is_file():
        return OLDEST_JAVA
    match = re.search(r"\d+", file.read_text("utf-8", "replace"))
    if match is None:
        raise InputError("names no version of Java", where=str(file), advice="Write the major version: 22.")
    return int(match[0])


def _find_bundles(trial: Trial) -> list[Path]:
    """The project's bundles, without the package that the situation leaves out. Raises NotRun when one was not made."""
    paths = {artifact.path.name: artifact.path for artifact in trial.artifacts}
    bundles = []
    for package, table in maven_tables(trial.config.packages).items():
        name = bundle_file(table.name, trial.config.project.version)
        if package != trial.situation.without and name not in paths:
            raise NotRun("not-built", f"{name} was not made")
        bundles += [paths[name]] if package != trial.situation.without else []
    return bundles


def _find_runtime(trial: Trial) -> RuntimeUse | None:
    """The runtime, if the application depends on its own artifact."""
    supply = trial.bound_runtime.traits.supplies.get(ECOSYSTEM) if trial.bound_runtime else None
    return trial.bound_runtime if supply and trial.case.version and trial.case.target in supply.targets else None


def _resolve(trial: Trial, repository: Path, bundles: Sequence[Path], version: str) -> list[Path]:
    """The class path of an application that depends on the packages and on a version of the runtime."""
    with failing_at("install"):
        needed = [_unpack_bundle(bundle, repository) for bundle in bundles]
        if runtime := _find_runtime(trial):
            library = _find_library(trial, runtime, version)
            needed.append(_add_runtime(repository, runtime.traits, version, trial.case.target, library))
        return _resolve_class_path(repository, needed)


def _find_library(trial: Trial, runtime: RuntimeUse, version: str) -> Path:
    """The runtime's library, as the scenario leaves it."""
    library = trial.shared.library(runtime, version, trial.case.target)
    if trial.situation.spoil is None or version != trial.case.version:
        return library
    spoiled = trial.work / "spoiled" / library.name
    spoiled.parent.mkdir(exist_ok=True)
    spoiled.write_bytes(trial.situation.spoil(library.read_bytes()))
    return spoiled


def _name_installed(trial: Trial, app: Path, message: str) -> str:
    """Where the runtime's library was put from its JAR, in a new folder that the message names; "" without one."""
    runtime = _find_runtime(trial)
    if runtime is None:
        return ""
    names: tuple[str, ...] = getattr(runtime.traits.supplies[ECOSYSTEM].files, target(trial.case.target).system)
    temporary = re.escape(str((app / _TEMPORARY).resolve()))
    found = re.search(rf"{temporary}[\\/]{FOLDER_START}\d+[\\/]{re.escape(names[0])}", message)
    return found[0] if found else names[0]


def _run_program(trial: Trial, jdk: Path, source: Path, app: Path, class_path: Sequence[Path]) -> ConsumerRun:
    result, home = trial.work / "result.json", trial.work / "home"
    home.mkdir(exist_ok=True)
    (app / _TEMPORARY).mkdir(parents=True, exist_ok=True)
    variables = {**clean_environment(), **trial.situation.environment}
    environment = {key: value for key, value in variables.items() if key not in ("CLASSPATH", "JAVA_TOOL_OPTIONS")}
    with failing_at("install"):
        classes = _compile(trial, jdk, source, class_path, environment)
        tables = maven_tables(trial.config.packages).values()
        names = {jar_file(table.name, trial.config.project.version): table for table in tables}
        program = JavaProgram(
            jdk=jdk,
            classes=classes,
            ours=[jar for jar in class_path if jar.name in names],
            others=[jar for jar in class_path if jar.name not in names],
            libraries=[f"{names[jar.name].java_package}.{CLASS_NAME}" for jar in class_path if jar.name in names],
            work=trial.work,
        )
        java, start = find_start(trial.case.consumer)(program)
    permits = ("--enable-native-access=ALL-UNNAMED",) if read_major(jdk / "javac") >= _NATIVE_ACCESS else ()
    return run_consumer(
        [
            java, "-XX:-UsePerfData", *permits, f"-Djava.io.tmpdir={app / _TEMPORARY}", *start,
            trial.data(), result, *trial.consumer_words(),
        ],
        name="the Java program",
        result=result,
        cwd=home,
        env=environment,
        log=trial.log,
        advice=trial.crash_advice,
    )  # fmt: skip


def _compile(trial: Trial, jdk: Path, source: Path, class_path: Sequence[Path], environment: Mapping[str, str]) -> Path:
    """The folder of the program's classes, compiled once for all test cases whose class path has the same classes.

    A runtime's JAR without classes does not decide what the compiler writes.
    """
    compiled = [jar for jar in class_path if _has_classes(jar)]
    sources = sorted(source.rglob("*.java"))
    if source / f"{MAIN}.java" not in sources:
        raise InputError(f"has no {MAIN}.java", where=str(source), advice=f"Write a class {MAIN} with main().")
    options = ("-encoding", "UTF-8", "-proc:none", "-cp", os.pathsep.join(map(str, compiled)))

    def compile_sources(folder: Path, log: Path) -> None:
        argv: list[str | Path] = [jdk / "javac", *_BRIEFLY, *options, "-d", folder, *sources]
        run(argv, cwd=trial.work / "home", env=environment, timeout=_TIME_LIMIT, log=log)

    content = (*map(hash_file, sources), *(f"{jar.name} {hash_file(jar)}" for jar in compiled))
    return trial.shared.fill(hash_parts(PROGRAM, str(jdk), *content), trial.log, compile_sources)


def _has_classes(jar: Path) -> bool:
    with ZipReader(jar) as archive:
        return any(member.name.endswith(".class") for member in archive.members)


# ---- a folder that is laid out as a Maven repository ---------------------------------------------------------------


def _unpack_bundle(bundle: Path, repository: Path) -> MavenArtifact:
    """Add an artifact to a repository. Raises InputError for an archive that cannot be read, or that has no POM."""
    with ZipReader(bundle) as archive:
        files = {member.name: archive.read(member.name) for member in archive.members if not member.is_folder}
    for name, data in files.items():
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_bytes(data)
    name = next((name for name in files if name.endswith(".pom")), "")
    if not name:
        raise InputError("holds no POM", where=str(bundle))
    pom = read_pom(files[name], name)
    return MavenArtifact(group=pom.group, name=pom.name, version=pom.version)


def _add_runtime(repository: Path, runtime: RuntimePreset, version: str, rid: str, library: Path) -> MavenArtifact:
    """Add the runtime's own artifact, in its official layout, around the library of its PyPI wheel and its neighbors.

    It is for tests where no repository can be reached; its description says so.
    """
    group, _, name = find_runtime_artifact(runtime).partition(":")
    artifact = MavenArtifact(group=group, name=name, version=version)
    folder = _folder(repository, artifact)
    supply = runtime.supplies[ECOSYSTEM]
    names = getattr(supply.files, target(rid).system)
    beside = {path.name: path for path in library.parent.iterdir() if path.name in names}
    files = {**beside, names[0]: library}
    place = f"{supply.folder}/{supply.targets[rid]}"
    entries = [Entry(name=f"{place}/{file}", data=path.read_bytes(), compressed=False) for file, path in files.items()]
    write_zip(folder / jar_file(name, version), entries)
    pom = render_pom(artifact, description=f"{runtime.title} {version}: {_ASSEMBLED}")
    (folder / f"{name}-{version}.pom").write_text(pom, encoding="utf-8")
    return artifact


def _resolve_class_path(repository: Path, needed: Iterable[MavenArtifact]) -> list[Path]:
    """The JARs of some artifacts and of what they depend on, as Maven resolves them: the nearest version counts.

    Raises InputError for an artifact that is not in the repository.
    """
    queue, jars = [*needed], dict[str, Path]()
    for artifact in queue:
        if artifact.id in jars:
            continue
        jar = _folder(repository, artifact) / jar_file(artifact.name, artifact.version)
        pom = jar.with_suffix(".pom")
        if not jar.is_file() or not pom.is_file():
            raise InputError(f"{artifact.id}:{artifact.version} is not in the repository", where=str(repository))
        jars[artifact.id] = jar
        queue += [one for one in read_pom(pom.read_bytes(), str(pom)).dependencies if not one.optional]
    return list(jars.values())


def _folder(repository: Path, artifact: MavenArtifact) -> Path:
    return repository.joinpath(*artifact.group.split("."), artifact.name, artifact.version)


def _find_install_words(_config: Config, _package: str, runtime: RuntimeUse) -> tuple[str, str]:
    """What a stub says is the same in every ecosystem: it does not know that it came out of a JAR."""
    return ("", "" if runtime.drop_in else find_runtime_artifact(runtime.traits))


_JAVA = Consumer(
    names=(PROGRAM,),
    title="Java",
    kind="jar",
    run=run_java_case,
    further_kinds=("maven",),
    table="maven",
    program=PROGRAM,
    suits=lambda config, runtime: config.package_of(runtime) in maven_tables(config.packages),
    find_runtime=lambda runtime: find_runtime_artifact(runtime.traits).partition(":")[2],
    installs_required=True,
    group="applications",
    find_install_words=_find_install_words,
)
_LAYOUTS = replace(_JAVA, names=tuple(layout.name for layout in LAYOUTS), group="layouts")
CONSUMERS = (_JAVA, _LAYOUTS)
