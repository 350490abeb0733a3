"""JARs with the native libraries of all targets, and the bundles of them that a Maven repository takes."""

from __future__ import annotations

from collections.abc import Mapping

from packaging.version import Version

from latebind.config.config import Config
from latebind.config.extension import find_tables
from latebind.ecosystems.ecosystem import PackageJob, PackageKind, Planning
from latebind.ecosystems.maven.config import MavenConfig, maven_tables
from latebind.ecosystems.maven.files import bundle_file, jar_file
from latebind.ecosystems.maven.pack import CLASS_NAME, pack_jar, source_files
from latebind.ecosystems.maven.programs import find_jdk, read_major
from latebind.errors import LatebindError
from latebind.semver import VersionError
from latebind.system.tree import hash_files


def _plan(planning: Planning) -> list[PackageJob]:
    tables = find_tables({name: package.row for name, package in planning.packages.items()}, MavenConfig)
    _refuse_shared_class(tables, planning.file)
    jobs, version = [], planning.project.version
    for name, table in tables.items():
        _refuse_version(version)
        package = planning.packages[name]
        inputs = (*package.list_stages(), *filter(None, [table.source]))
        files = {jar_file(table.name, version): inputs, bundle_file(table.name, version): inputs}
        if package.floors:
            jobs.append(PackageJob(name=f"jar {name}", package=name, rids=tuple(package.floors), files=files))
    return jobs


def _refuse_version(text: str) -> None:
    """Raise VersionError for a version that Maven orders differently than PEP 440: 1.0.dev1 would be newer than 1.0.

    Maven knows alphas, betas, release candidates and post-releases in their shortest spelling (ComparableVersion).
    """
    version = Version(text)
    if version.epoch or version.local or version.is_devrelease:
        wrong = "an epoch" if version.epoch else "a local part" if version.local else "a development number"
        message = f"version {text} has {wrong}, which Maven orders differently than Python"
        raise VersionError(message, advice="Use the form 1.2.3, or 1.2.3a1 for a prerelease.")
    if text != str(version):
        message = f"{text} is another spelling of {version}, which Maven may order differently"
        raise VersionError(message, advice=f'Write version = "{version}".')


def _refuse_shared_class(tables: Mapping[str, MavenConfig], file: str) -> None:
    """Raise LatebindError where two packages have one Java package: programs would find the first JAR's class alone."""
    owners: dict[str, str] = {}
    for package, table in tables.items():
        first = owners.setdefault(table.java_package, package)
        if first != package:
            text = f"packages {first} and {package} would both have the class {table.java_package}.{CLASS_NAME}"
            advice = f"Set package.{package}.maven.package to another Java package."
            raise LatebindError(text, where=f"{file}: package.{package}.maven", advice=advice)


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
    key=lambda run, job: _list_inputs(run.config, job.package),
    make=lambda run, job: pack_jar(run.config, job.package, run.stages_of(job), run.dist),
)
KINDS = (JARS,)
