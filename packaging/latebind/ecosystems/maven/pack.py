"""Packs staged native files as a JAR, and as a bundle that a Maven repository takes: JAR, sources, POM, checksums."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from packaging.version import Version

from latebind import __version__
from latebind.backend.sbom import SBOM_FILE
from latebind.backend.stage import Stage
from latebind.backend.targets import target
from latebind.backend.tree import hash_files, list_tree
from latebind.config.config import Config
from latebind.ecosystems.ecosystem import PackageJob, PackageKind, Planning
from latebind.ecosystems.maven.config import ECOSYSTEM, MavenConfig, find_runtime_artifact, maven_tables
from latebind.ecosystems.maven.files import bundle_file, jar_file
from latebind.ecosystems.maven.programs import (
    MODULE,
    compile_sources,
    describe_module,
    find_jdk,
    list_packages,
    read_major,
)
from latebind.errors import BuildError, LatebindError
from latebind.native.bill import package_notices, sbom
from latebind.native.inside import refuse_links_outside
from latebind.native.promise import find_exporter, refuse_broken
from latebind.semver import VersionError
from latebind.system.archive import Entry, write_zip
from latebind.tables.presets import RuntimeArtifacts
from latebind.templates import render
from loadcheck.facts import MavenArtifact

CLASS_NAME = "NativeLibrary"
FOLDER_START = "latebind-jar-"
"""How the names of the folders begin to which that class copies files; loader/src/installer.c tells them by it."""
_MANIFEST = "META-INF/MANIFEST.MF"
_CHECKSUMS = ("md5", "sha1", "sha256", "sha512")
"""Maven Central asks for the first two and takes the others (central.sonatype.org, "Requirements")."""
_LICENSE_ID = re.compile(r"[A-Za-z0-9.-]+")
"""A license expression that names one license, which has a page on spdx.org."""


def _pack(config: Config, package: str, stages: Sequence[Stage], outdir: Path) -> list[Path]:
    """Write JAR and bundle of a package into `outdir`; equal inputs and the same JDK give equal bytes.

    Raises NotRun `no-program` without a JDK; BuildError for a library that is missing or breaks a promise of the
    configuration, and for sources that do not compile.
    """
    for stage in stages:
        refuse_broken(config, package, stage)
    tables, version = maven_tables(config.packages), config.project.version
    table, sources = tables[package], _list_sources(config, package, stages)
    others = [name for name in config.list_needed_packages(package) if name != package and name in tables]
    needed = {path: data for other in others for path, data in _list_sources(config, other, stages).items()
              if path != f"{MODULE}.java"}  # fmt: skip
    advice = f"Sources may use {table.java_package}.{CLASS_NAME}, the JDK, and the sources of packages in `requires`."
    classes = compile_sources(sources, needed, table.release, table.source or config.file.name, advice)
    if f"{MODULE}.java" not in sources:
        modules = [tables[other].java_package for other in others]
        described = describe_module(classes, table.java_package, modules, table.release, uses_base=not table.source)
        classes |= {name: data for name, data in described.items() if name.endswith(".class")}
        sources |= {name: data for name, data in described.items() if name.endswith(".java")}
    pom = _render_own_pom(config, package).encode()
    shared = _describe(config, package, stages, pom, classes)
    jar, bundle = outdir / jar_file(table.name, version), outdir / bundle_file(table.name, version)
    purl = f"pkg:maven/{table.group}/{table.name}@{version}"  # purl-spec, type maven
    bill = Entry(name=f"META-INF/sbom/{SBOM_FILE}", data=sbom(config, package, stages, purl))
    component = config.packages[package].component
    native = {f"native/{stage.rid}/{path.name}": path.read_bytes() for stage in stages
              for path in stage.libraries(component)}  # fmt: skip
    # The manifest leads, as java.util.jar expects of its streams.
    write_zip(jar, [*shared, bill, *_entries({**classes, **native})], first=(_MANIFEST,))
    sources_jar = outdir / f"{table.name}-{version}-sources.jar"
    try:
        write_zip(sources_jar, [*shared, *_entries(sources)], first=(_MANIFEST,))
        parts = {jar.name: jar.read_bytes(), sources_jar.name: sources_jar.read_bytes()}
    finally:
        sources_jar.unlink(missing_ok=True)
    parts[f"{table.name}-{version}.pom"] = pom
    folder = "/".join([*table.group.split("."), table.name, version])
    sums = {f"{name}.{sum_}": hashlib.new(sum_, data).hexdigest().encode()
            for name, data in parts.items() for sum_ in _CHECKSUMS}  # fmt: skip
    write_zip(bundle, _entries({f"{folder}/{name}": data for name, data in {**parts, **sums}.items()}))
    return [jar, bundle]


def _list_sources(config: Config, package: str, stages: Sequence[Stage]) -> dict[str, bytes]:
    """The generated class and the project's own sources, by their places below a folder of sources.

    Raises BuildError for a source that would take the generated one's place.
    """
    table = maven_tables(config.packages)[package]
    root = config.root / table.source
    own = {path.relative_to(root).as_posix(): path.read_bytes() for path in source_files(config, package)}
    generated = f"{table.java_package.replace('.', '/')}/{CLASS_NAME}.java"
    if generated in own:
        raise BuildError(
            f"{generated} is in the folder maven.source of package {package}, but latebind writes that file",
            where=table.source,
            advice="Give the class another name.",
        )
    return {**own, generated: _render_class(config, package, stages).encode()}


def source_files(config: Config, package: str) -> list[Path]:
    """The project's own Java sources. Raises BuildError for a link that leads out of the repository."""
    source = maven_tables(config.packages)[package].source
    files = [path for path in list_tree(config.root / source) if path.suffix == ".java"] if source else []
    refuse_links_outside(config.root, files, f"package.{package}.maven.source")
    return files


def _find_supply(config: Config, package: str) -> RuntimeArtifacts | None:
    """What the runtime's own JAR holds, if a package uses a runtime and there is such a JAR."""
    runtime = config.runtime_of(package)
    return runtime.traits.supplies.get(ECOSYSTEM) if runtime is not None else None


def _render_class(config: Config, package: str, stages: Sequence[Stage]) -> str:
    table, supply = maven_tables(config.packages)[package], _find_supply(config, package)
    resources = {
        rid: [f"{supply.folder}/{supply.targets[rid]}/{name}" for name in getattr(supply.files, target(rid).system)]
        for rid in (stage.rid for stage in stages)
        if supply is not None and rid in supply.targets
    }
    return render(
        f"maven/{CLASS_NAME}.java.j2",
        package=table.java_package,
        title=table.name,
        version=config.project.version,
        folder=FOLDER_START,
        files={stage.rid: _library_names(config, package, stage) for stage in stages},
        runtime=resources,  # where the runtime's own JAR holds its files; the first is the library
        location=supply.location if supply is not None else "",
    )


def _library_names(config: Config, package: str, stage: Stage) -> list[str]:
    """The names of a target's libraries; the one with the package's exports leads."""
    exporter = find_exporter(config, package, stage)
    names = [path.name for path in stage.libraries(config.packages[package].component)]
    return sorted(names, key=lambda name: (name != exporter.name, name))


def _describe_bundle(config: Config, package: str, classes: Iterable[str]) -> dict[str, str]:
    """The manifest's fields by which OSGi takes the JAR as a bundle (OSGi Core 8, 3.2.1).

    The runtime's files are in another bundle, from whose packages they are read when a class asks.
    """
    tables, supply = maven_tables(config.packages), _find_supply(config, package)
    table, version = tables[package], Version(config.project.version)
    qualifier = re.sub(r"[^\w-]+", "-", str(version).removeprefix(version.base_version)).strip("-")
    parts = [*(str(number) for number in (*version.release, 0, 0)[:3]), *([qualifier] if qualifier else [])]
    exported = filter(None, list_packages(classes))
    imported = sorted(tables[other].java_package for other in config.packages[package].requires if other in tables)
    number = ".".join(parts)
    return {
        "Bundle-ManifestVersion": "2",
        "Bundle-SymbolicName": f"{table.group}.{table.name}",
        "Bundle-Version": number,
        "Export-Package": ",".join(f'{name};version="{number}"' for name in exported),
        **({"Import-Package": ",".join(imported)} if imported else {}),
        **({"DynamicImport-Package": f"{supply.folder.replace('/', '.')}.*"} if supply is not None else {}),
    }


def _manifest_field(key: str, value: str) -> str:
    """A field in lines of at most 72 bytes, as the JAR File Specification asks for."""
    text = f"{key}: {value}"
    return "\r\n ".join([text[:70], *(text[at : at + 69] for at in range(70, len(text), 69))]) + "\r\n"


def _describe(config: Config, package: str, stages: Sequence[Stage], pom: bytes, classes: Iterable[str]) -> list[Entry]:
    """Manifest, Maven's own metadata, and licenses."""
    table, version = maven_tables(config.packages)[package], config.project.version
    manifest = {
        "Manifest-Version": "1.0",
        "Created-By": f"latebind {__version__}",
        "Implementation-Title": table.name,
        "Implementation-Version": version,
        **_describe_bundle(config, package, classes),
    }
    text = "".join(_manifest_field(key, value) for key, value in manifest.items()) + "\r\n"
    folder = f"META-INF/maven/{table.group}/{table.name}"
    properties = f"artifactId={table.name}\ngroupId={table.group}\nversion={version}\n"
    described = {_MANIFEST: text.encode(), f"{folder}/pom.xml": pom, f"{folder}/pom.properties": properties.encode()}
    licenses = dict(package_notices(config, [package], stages))
    if file := config.project.license_file:
        licenses[Path(file).name] = (config.root / file).read_bytes()
    return [*_entries(described), *_entries({f"META-INF/{name}": data for name, data in licenses.items()})]


def _entries(files: Mapping[str, bytes]) -> list[Entry]:
    return [Entry(name=name, data=data) for name, data in files.items()]


def _render_own_pom(config: Config, package: str) -> str:
    """The POM of a package's artifact, with what Maven Central asks for as far as the configuration says it."""
    table, project = maven_tables(config.packages)[package], config.project
    return render_pom(
        MavenArtifact(group=table.group, name=table.name, version=project.version),
        description=project.description or project.name,
        repository=project.repository,
        license=project.license,
        authors=project.people,
        dependencies=_list_dependencies(config, package),
    )


def render_pom(artifact: MavenArtifact, **fields: object) -> str:
    """A POM; the fields are description, repository (of the sources), license, authors and dependencies."""
    defaults = {"description": "", "repository": "", "license": "", "authors": (), "dependencies": ()}
    values = {**defaults, **fields}
    is_listed = _LICENSE_ID.fullmatch(str(values["license"])) and not str(values["license"]).startswith("LicenseRef-")
    url = f"https://spdx.org/licenses/{values['license']}.html" if is_listed else ""
    return render("maven/pom.xml.j2", artifact=artifact, license_url=url, **values)


def _list_dependencies(config: Config, package: str) -> list[MavenArtifact]:
    """The packages that it requires, at its own version; and the runtime, which an application has from elsewhere."""
    tables, needed = maven_tables(config.packages), config.packages[package].requires
    others = [
        MavenArtifact(group=tables[name].group, name=tables[name].name, version=config.project.version)
        for name in needed
        if name in tables
    ]
    runtime = config.runtime_of(package)
    artifact = tables[package].runtime or (find_runtime_artifact(runtime.traits) if runtime is not None else "")
    if runtime is None or not artifact:
        return others
    group, _, name = artifact.partition(":")
    dependency = MavenArtifact(
        group=group,
        name=name,
        version=f"[{runtime.minimum},)",
        scope="runtime",
        optional=not tables[package].runtime,
    )
    return [*others, dependency]


def _plan(planning: Planning) -> list[PackageJob]:
    tables, version = maven_tables(planning.config.packages), planning.config.project.version
    _refuse_shared_class(tables, planning.config.file.name)
    jobs = []
    for name, table in tables.items():
        _refuse_version(version)
        rids, inputs = tuple(planning.floors[name]), (*planning.list_stages(name), *filter(None, [table.source]))
        files = {jar_file(table.name, version): inputs, bundle_file(table.name, version): inputs}
        if rids:
            jobs.append(PackageJob(name=f"jar {name}", package=name, rids=rids, files=files))
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
    tables = maven_tables(config.packages)
    needed = [name for name in config.list_needed_packages(package) if name in tables]
    compiler = find_jdk(tables[package].release) / "javac"
    hashes = [hash_files(config.root, source_files(config, name), modes=False) for name in needed]
    return [*hashes, f"javac {read_major(compiler)}"]


KINDS = (
    PackageKind(
        name="jar",
        is_for=lambda package: package.find_table(MavenConfig) is not None,
        plan=_plan,
        key=lambda run, job: _list_inputs(run.config, job.package),
        make=lambda run, job: _pack(run.config, job.package, run.stages_of(job), run.dist),
    ),
)
