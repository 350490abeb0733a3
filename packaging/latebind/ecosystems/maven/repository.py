"""A folder that is laid out as a Maven repository: what is in it, and the class path of an application."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable
from pathlib import Path

from latebind.ecosystems.maven.files import jar_file
from latebind.ecosystems.maven.pom import ECOSYSTEM, find_runtime_artifact, render_pom
from latebind.errors import InputError
from latebind.system.archive import Entry, write_zip
from latebind.tables.presets import RuntimePreset
from latebind.tables.targets import target
from loadcheck.archive import ZipReader
from loadcheck.kinds.maven.pom import MavenArtifact, read_pom

ASSEMBLED = "the runtime's JAR was assembled for this test from its PyPI wheel"


def unpack_bundle(bundle: Path, repository: Path) -> None:
    """Add an artifact to a repository. Raises InputError for an archive that cannot be read."""
    with ZipReader(bundle) as archive:
        for member in archive.members:
            if not member.is_folder:
                (repository / member.name).parent.mkdir(parents=True, exist_ok=True)
                (repository / member.name).write_bytes(archive.read(member.name))


def add_runtime(repository: Path, runtime: RuntimePreset, version: str, rid: str, library: Path) -> MavenArtifact:
    """Add the runtime's own artifact, in its official layout, around the library of its PyPI wheel and its neighbors.

    It is for tests where no repository can be reached; its description says so.
    """
    group, _, name = find_runtime_artifact(runtime).partition(":")
    artifact = MavenArtifact(group=group, name=name, version=version)
    folder = _folder(repository, artifact)
    folder.mkdir(parents=True)
    supply = runtime.supplies[ECOSYSTEM]
    names = getattr(supply.files, target(rid).system)
    beside = {path.name: path for path in library.parent.iterdir() if path.name in names}
    files = {**beside, names[0]: library}
    place = f"{supply.folder}/{supply.targets[rid]}"
    entries = [Entry(name=f"{place}/{file}", data=path.read_bytes(), compressed=False) for file, path in files.items()]
    write_zip(folder / jar_file(name, version), entries)
    pom = render_pom(artifact, description=f"{runtime.title} {version}: {ASSEMBLED}")
    (folder / f"{name}-{version}.pom").write_text(pom, encoding="utf-8")
    return artifact


def resolve_class_path(repository: Path, needed: Iterable[MavenArtifact]) -> list[Path]:
    """The JARs of some artifacts and of what they depend on, as Maven resolves them: the nearest version counts.

    Raises InputError for an artifact that is not in the repository.
    """
    queue = [*needed]
    jars: dict[str, Path] = {}
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


def read_bundle(bundle: Path) -> MavenArtifact:
    """The artifact that a bundle holds. Raises InputError when it holds none."""
    with zipfile.ZipFile(bundle) as archive:
        name = next((name for name in archive.namelist() if name.endswith(".pom")), "")
        if not name:
            raise InputError("holds no POM", where=str(bundle))
        pom = read_pom(archive.read(name), name)
    return MavenArtifact(group=pom.group, name=pom.name, version=pom.version)


def _folder(repository: Path, artifact: MavenArtifact) -> Path:
    return repository.joinpath(*artifact.group.split("."), artifact.name, artifact.version)
