"""JARs with the native libraries of all targets, and the bundles of them that a Maven repository takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from packaging.version import Version

from latebind.config.config import Config
from latebind.ecosystems.ecosystem import PackageKind, PlannedFile
from latebind.ecosystems.maven.config import MavenConfig, maven_tables
from latebind.ecosystems.maven.files import bundle_file, jar_file
from latebind.ecosystems.maven.pack import CLASS_NAME, pack_jar, source_files
from latebind.ecosystems.maven.programs import find_jdk, read_major
from latebind.system.tree import hash_files


def _plan(config: Config, suited: Mapping[str, Sequence[str]], _rids: Sequence[str]) -> list[PlannedFile]:
    _refuse_shared_class(config)
    _refuse_version(config)
    files: list[PlannedFile] = []
    for package, table in maven_tables(config).items():
        if suited[package]:
            component = config.packages[package].component
            inputs = (*(f"stage/{rid}/{component}" for rid in suited[package]), *filter(None, [table.source]))
            version = config.project.version
            files += [
                PlannedFile(file=file, kind=kind, package=package, inputs=inputs)
                for file, kind in ((jar_file(table.name, version), "jar"), (bundle_file(table.name, version), "maven"))
            ]
    return files


def _refuse_version(config: Config) -> None:
    """Raise LatebindError for a version that Maven orders differently than PEP 440: 1.0.dev1 would be newer than 1.0.

    Maven knows alphas, betas, release candidates and post-releases in their shortest spelling (ComparableVersion).
    """
    text, version = config.project.version, Version(config.project.version)
    if version.epoch or version.local or version.is_devrelease:
        wrong = "an epoch" if version.epoch else "a local part" if version.local else "a development number"
        message = f"version {text} has {wrong}, which Maven orders differently than Python"
        raise config.problem_at("project.version", message, "Use the form 1.2.3, or 1.2.3a1 for a prerelease.")
    if text != str(version):
        message = f"{text} is another spelling of {version}, which Maven may order differently"
        raise config.problem_at("project.version", message, f'Write version = "{version}".')


def _refuse_shared_class(config: Config) -> None:
    """Raise ConfigError where two packages have one Java package: a program would find the first JAR's class alone."""
    owners: dict[str, str] = {}
    for package, table in maven_tables(config).items():
        first = owners.setdefault(table.java_package, package)
        if first != package:
            text = f"packages {first} and {package} would both have the class {table.java_package}.{CLASS_NAME}"
            advice = f"Set package.{package}.maven.package to another Java package."
            raise config.problem_at(f"package.{package}.maven", text, advice)


def _list_inputs(config: Config, package: str) -> list[str]:
    """The sources of a package and of those that it requires, and the JDK that compiles them."""
    tables = maven_tables(config)
    needed = [name for name in config.list_needed_packages(package) if name in tables]
    compiler = find_jdk(tables[package].release) / "javac"
    hashes = [hash_files(config.root, source_files(config, name), modes=False) for name in needed]
    return [*hashes, f"javac {read_major(compiler)}"]


JARS = PackageKind(
    name="jar",
    is_for=lambda package: package.find_table(MavenConfig) is not None,
    plan=_plan,
    jobs=lambda run: run.list_jobs("jar", maven_tables(run.config)),
    key=lambda run, job: _list_inputs(run.config, job.package),
    make=lambda run, job: pack_jar(run.config, job.package, job.stages, run.dist),
)
KINDS = (JARS,)
