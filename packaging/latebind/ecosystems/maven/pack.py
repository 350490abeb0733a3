"""Packs staged native files as a JAR, and as a bundle that a Maven repository takes: JAR, sources, POM, checksums."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from latebind import __version__
from latebind.build.inside import refuse_links_outside
from latebind.build.notices import package_notices
from latebind.build.promise import find_exporter, refuse_broken
from latebind.build.sbom import sbom, sbom_file
from latebind.build.stage import Stage
from latebind.config.config import Config
from latebind.ecosystems.maven.compiled import MODULE, compile_sources, describe_module
from latebind.ecosystems.maven.config import maven_tables
from latebind.ecosystems.maven.files import bundle_file, jar_file
from latebind.ecosystems.maven.pom import ECOSYSTEM, write_pom
from latebind.errors import BuildError
from latebind.system.archive import Entry, write_zip
from latebind.system.tree import list_tree
from latebind.tables.presets import RuntimePreset
from latebind.tables.targets import target
from latebind.templates import render

CLASS_NAME = "NativeLibrary"
_MANIFEST = "META-INF/MANIFEST.MF"
_CHECKSUMS = ("md5", "sha1", "sha256", "sha512")
"""Maven Central asks for the first two and takes the others (central.sonatype.org, "Requirements")."""


def pack_jar(config: Config, package: str, stages: Sequence[Stage], outdir: Path) -> list[Path]:
    """Write JAR and bundle of a package into `outdir`; equal inputs and the same JDK give equal bytes.

    Raises NotRun `no-program` without a JDK; BuildError for a library that is missing or breaks a promise of the
    configuration, and for sources that do not compile.
    """
    for stage in stages:
        refuse_broken(config, package, stage)
    table, version = maven_tables(config)[package], config.project.version
    sources = java_sources(config, package, stages)
    others = [name for name in config.list_needed_packages(package) if name != package and name in maven_tables(config)]
    needed = {path: data for other in others for path, data in java_sources(config, other, stages).items()
              if path != f"{MODULE}.java"}  # fmt: skip
    advice = f"Sources may use {table.java_package}.{CLASS_NAME}, the JDK, and the sources of packages in `requires`."
    classes = compile_sources(sources, needed, table.release, table.source or config.file.name, advice)
    if f"{MODULE}.java" not in sources:
        modules = [maven_tables(config)[other].java_package for other in others]
        described = describe_module(classes, table.java_package, modules, table.release, uses_base=not table.source)
        classes |= {name: data for name, data in described.items() if name.endswith(".class")}
        sources |= {name: data for name, data in described.items() if name.endswith(".java")}
    pom = write_pom(config, package).encode()
    shared = [*_describe(config, package, pom), *_licenses(config, package, stages)]
    jar, bundle = outdir / jar_file(table.name, version), outdir / bundle_file(table.name, version)
    files = {**classes, **_native_files(config, package, stages)}
    bill = Entry(name=f"META-INF/sbom/{sbom_file(config)}", data=sbom(config, package, stages, _purl(config, package)))
    _write_jar(jar, [*shared, bill, *_entries(files)])
    sources_jar = outdir / f"{table.name}-{version}-sources.jar"
    try:
        _write_jar(sources_jar, [*shared, *_entries(sources)])
        parts = {jar.name: jar.read_bytes(), sources_jar.name: sources_jar.read_bytes()}
    finally:
        sources_jar.unlink(missing_ok=True)
    parts[f"{table.name}-{version}.pom"] = pom
    folder = "/".join([*table.group.split("."), table.name, version])
    sums = {f"{name}.{sum_}": hashlib.new(sum_, data).hexdigest().encode()
            for name, data in parts.items() for sum_ in _CHECKSUMS}  # fmt: skip
    write_zip(bundle, _entries({f"{folder}/{name}": data for name, data in {**parts, **sums}.items()}))
    return [jar, bundle]


def java_sources(config: Config, package: str, stages: Sequence[Stage]) -> dict[str, bytes]:
    """The generated class and the project's own sources, by their places below a folder of sources.

    Raises BuildError for a source that would take the generated one's place.
    """
    table = maven_tables(config)[package]
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
    source = maven_tables(config)[package].source
    files = [path for path in list_tree(config.root / source) if path.suffix == ".java"] if source else []
    refuse_links_outside(config.root, files, f"package.{package}.maven.source")
    return files


def _render_class(config: Config, package: str, stages: Sequence[Stage]) -> str:
    table, runtime = maven_tables(config)[package], config.runtime_of(package)
    supply = runtime.traits.supplies.get(ECOSYSTEM) if runtime is not None else None
    return render(
        f"maven/{CLASS_NAME}.java.j2",
        package=table.java_package,
        title=table.name,
        version=config.project.version,
        files={stage.rid: _library_names(config, package, stage) for stage in stages},
        runtime=runtime_resources(runtime.traits, [stage.rid for stage in stages]) if runtime is not None else {},
        location=supply.location if supply is not None else "",
    )


def runtime_resources(runtime: RuntimePreset, rids: Iterable[str]) -> dict[str, list[str]]:
    """Where the runtime's own JAR holds its files for some targets; the first is the library."""
    supply = runtime.supplies.get(ECOSYSTEM)
    if supply is None:
        return {}
    return {
        rid: [f"{supply.folder}/{supply.targets[rid]}/{name}" for name in getattr(supply.files, target(rid).system)]
        for rid in rids
        if rid in supply.targets
    }


def _library_names(config: Config, package: str, stage: Stage) -> list[str]:
    """The names of a target's libraries; the one with the package's exports leads."""
    exporter = find_exporter(config, package, stage)
    names = [path.name for path in stage.libraries(config.packages[package].component)]
    return sorted(names, key=lambda name: (name != exporter.name, name))


def _native_files(config: Config, package: str, stages: Sequence[Stage]) -> dict[str, bytes]:
    component = config.packages[package].component
    return {
        f"native/{stage.rid}/{path.name}": path.read_bytes() for stage in stages for path in stage.libraries(component)
    }


def _describe(config: Config, package: str, pom: bytes) -> list[Entry]:
    """Manifest and Maven's own metadata."""
    table, version = maven_tables(config)[package], config.project.version
    manifest = {
        "Manifest-Version": "1.0",
        "Created-By": f"latebind {__version__}",
        "Implementation-Title": table.name,
        "Implementation-Version": version,
    }
    text = "".join(f"{key}: {value}\r\n" for key, value in manifest.items()) + "\r\n"
    folder = f"META-INF/maven/{table.group}/{table.name}"
    properties = f"artifactId={table.name}\ngroupId={table.group}\nversion={version}\n"
    return _entries(
        {_MANIFEST: text.encode(), f"{folder}/pom.xml": pom, f"{folder}/pom.properties": properties.encode()}
    )


def _licenses(config: Config, package: str, stages: Sequence[Stage]) -> list[Entry]:
    texts = package_notices(config, [package], stages)
    if file := config.project.license_file:
        texts = {**texts, Path(file).name: (config.root / file).read_bytes()}
    return _entries({f"META-INF/{name}": data for name, data in texts.items()})


def _write_jar(path: Path, entries: Iterable[Entry]) -> None:
    """Write a JAR: the manifest leads, as java.util.jar expects of its streams."""
    write_zip(path, entries, first=(_MANIFEST,))


def _entries(files: Mapping[str, bytes]) -> list[Entry]:
    return [Entry(name=name, data=data) for name, data in files.items()]


def _purl(config: Config, package: str) -> str:
    """The package URL of an artifact (purl-spec, type maven)."""
    table = maven_tables(config)[package]
    return f"pkg:maven/{table.group}/{table.name}@{config.project.version}"
