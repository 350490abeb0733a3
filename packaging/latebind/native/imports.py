"""Imports native files that were built elsewhere into the stage, and checks all that can be checked of them."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import msgspec

from latebind.backend.files import digest
from latebind.backend.stage import (
    MANIFEST,
    WHEEL_MANIFEST,
    StagedFile,
    StageManifest,
    describe_files,
    is_library,
    open_stage,
    write_manifest,
)
from latebind.backend.targets import Rid, Target, target
from latebind.config.config import Config
from latebind.config.project import Project
from latebind.errors import BuildError, InputError
from latebind.native.builds import refuse_floor
from latebind.native.nativerecipe import hash_sources
from latebind.system.decoding import DECODE_ERRORS
from latebind.system.folders import new_folder
from loadcheck import Sha256
from loadcheck.facts import ZipReader, read_images

ON_TRUST = "unknown toolchain"
"""The toolchain of a folder that does not describe itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedFiles:
    """Files of one target that were found, and what is known about them. `files` is by path below the stage."""

    origin: str
    manifest: StageManifest
    files: Mapping[str, bytes]


def import_native(project: Project, sources: Sequence[Path], rid: str = "") -> tuple[StageManifest, ...]:
    """Merge folders, stages and wheels into the stages; the manifests of the targets that were touched.

    With `rid`, only files of that target count, and each source must have some. All are read and checked before
    anything is written.

    Raises InputError for what cannot be read, BuildError for other sources or another floor than the project's,
    for a file that is not what its manifest says, and for a component that is there already with other bytes.
    """
    if rid:
        target(rid)
    config, current = project.config, hash_sources(project)
    imported = [native for source in sources for native in _select(_read(config, source, rid, current), source, rid)]
    for native in imported:
        if native.manifest.source_hash != current:
            raise BuildError(
                f"built from other sources: their hash is {native.manifest.source_hash[:12]}, the project's is "
                f"{current[:12]}",
                where=native.origin,
                advice="Build it again from the same revision, configuration and version.",
            )
        refuse_floor(config, native.manifest, native.origin)
    merged: dict[Rid, ImportedFiles] = {}
    for native in imported:
        merged[native.manifest.rid] = _merge(merged.get(native.manifest.rid), native)
    return tuple(_write(native, project.workdir / "stage" / rid) for rid, native in merged.items())


def _read(config: Config, source: Path, rid: str, source_hash: str) -> list[ImportedFiles]:
    if source.suffix == ".whl" and source.is_file():
        return [_from_wheel(source)]
    if source.is_file() and is_library(source.name):
        return [_from_library(config, source, rid, source_hash)]
    if not source.is_dir():
        why = "is not a library, wheel or folder" if source.exists() else "there is no such file or folder"
        raise InputError(why, where=str(source), advice="Name a library, a wheel, a stage, or a folder of components.")
    folders = (
        [source] if (source / MANIFEST).is_file() else sorted(path.parent for path in source.glob(f"*/{MANIFEST}"))
    )
    if folders:
        return [_from_stage(folder) for folder in folders]
    return [_from_folder(config, source, rid, source_hash)]


def _select(imported: Sequence[ImportedFiles], source: Path, rid: str) -> Sequence[ImportedFiles]:
    """The files of the target that the user names, or all."""
    selected = [native for native in imported if rid in ("", native.manifest.rid)]
    if not selected:
        names = ", ".join(native.manifest.rid for native in imported)
        advice = f"Leave --target out, or name {names}."
        raise InputError(f"has files for {names}, but none for {rid}", where=str(source), advice=advice)
    return selected


def _from_stage(folder: Path) -> ImportedFiles:
    manifest = _manifest(_bytes(folder / MANIFEST, folder), str(folder / MANIFEST))
    files = {file.path: _bytes(folder / file.path, folder) for file in manifest.files}
    return _check_import(str(folder), manifest, files)


def _from_wheel(wheel: Path) -> ImportedFiles:
    with ZipReader(wheel) as archive:
        names = [member.name for member in archive.members]
        carried = next((name for name in names if name.endswith(f".dist-info/{WHEEL_MANIFEST}")), None)
        if carried is None:
            raise InputError(
                "the wheel does not say what it was built from",
                where=str(wheel),
                advice="Build it with latebind's hatchling hook, which records the sources in its metadata.",
            )
        manifest = _manifest(archive.read(carried), f"{wheel.name}!{carried}")
        files = {}
        for file in manifest.files:
            library = PurePosixPath(file.path).name
            inside = [name for name in names if PurePosixPath(name).name == library]
            if len(inside) != 1:
                raise BuildError(
                    f"the wheel contains {len(inside)} files named {library} instead of one", where=str(wheel)
                )
            files[file.path] = archive.read(inside[0])
    return _check_import(str(wheel), manifest, files)


def _from_folder(config: Config, folder: Path, rid: str, source_hash: str) -> ImportedFiles:
    """A folder without a manifest: <component>/... for the target that the user names."""
    if not rid:
        raise InputError(
            f"there is no {MANIFEST} here, so the target is unknown", where=str(folder), advice="Name it: --target RID."
        )
    components = sorted({package.component for package in config.packages.values()})
    paths = [path for name in components for path in sorted((folder / name).rglob("*")) if path.is_file()]
    if not any(is_library(path.name) for path in paths):
        raise InputError(
            f"no library below {', '.join(f'{name}/' for name in components)}",
            where=str(folder),
            advice="Lay the files out as `cmake --install BUILD --component NAME --prefix FOLDER/NAME` does.",
        )
    files = {path.relative_to(folder).as_posix(): _bytes(path, folder) for path in paths}
    return _trust(config, str(folder), target(rid), source_hash, files)


def _from_library(config: Config, library: Path, rid: str, source_hash: str) -> ImportedFiles:
    """One library, for the only component of the project. Its format and processor give its target."""
    components = sorted({package.component for package in config.packages.values()})
    if len(components) != 1:
        raise InputError(
            f"the project has several components, so the library's component is unknown: {', '.join(components)}",
            where=str(library),
            advice=f"Put it into the folder of its component, such as FOLDER/{components[0]}/lib/, and import FOLDER.",
        )
    data = _bytes(library, library)
    images = {(image.format, image.arch) for image in read_images(data, str(library))}
    if not images:
        raise InputError("is not a native library", where=str(library), advice="Name the library that was built.")
    included = [target(rid) for rid in config.document.targets.include]
    suited = [platform for platform in included if (platform.binary_format, platform.arch) in images]
    chosen = [platform for platform in suited if rid in ("", platform.rid)]
    if len(chosen) != 1:
        names = ", ".join(platform.rid for platform in suited)
        advice = f"Leave --target out, or name {names}." if suited else "Add its target to targets.include."
        raise InputError(
            f"the library is for {names or 'none of the targets of the project'}" + (f", not for {rid}" if rid else ""),
            where=str(library),
            advice="Name one of them: --target RID." if len(suited) > 1 else advice,
        )
    folder = "bin" if chosen[0].binary_format == "pe" else "lib"  # as CMake installs it
    return _trust(config, str(library), chosen[0], source_hash, {f"{components[0]}/{folder}/{library.name}": data})


def _trust(
    config: Config, origin: str, platform: Target, source_hash: str, files: Mapping[str, bytes]
) -> ImportedFiles:
    """Files that don't describe themselves: taken as made from the present sources, for the project's floor."""
    described = (
        StagedFile(path=path, sha256=Sha256(hashlib.sha256(data).hexdigest()), size=len(data))
        for path, data in files.items()
    )
    manifest = StageManifest(
        rid=platform.rid, key="", source_hash=source_hash, toolchain=ON_TRUST, floor=config.floor(platform),
        files=tuple(described),
    )  # fmt: skip
    return ImportedFiles(origin=origin, manifest=manifest, files=files)


def _check_import(origin: str, manifest: StageManifest, files: Mapping[str, bytes]) -> ImportedFiles:
    for file in manifest.files:
        if hashlib.sha256(files[file.path]).hexdigest() != file.sha256:
            raise BuildError(
                f"{file.path} was changed after it was built",
                where=origin,
                advice="If a repair tool changed it, exclude the file there (auditwheel repair --exclude).",
            )
    return ImportedFiles(origin=origin, manifest=manifest, files=files)


def _merge(earlier: ImportedFiles | None, more: ImportedFiles) -> ImportedFiles:
    """Merge two finds for one target; a file in both must have the same bytes."""
    if earlier is None:
        return more
    for path, data in more.files.items():
        if earlier.files.get(path, data) != data:
            rid = more.manifest.rid
            raise BuildError(
                f"{path} for {rid} differs from the same file in {earlier.origin}",
                where=more.origin,
                advice=f"Import one of them only. To replace files of a stage, remove its folder: stage/{rid}.",
            )
    described = {file.path: file for native in (earlier, more) for file in native.manifest.files}
    toolchain = " + ".join(dict.fromkeys([earlier.manifest.toolchain, more.manifest.toolchain]))
    manifest = dataclasses.replace(more.manifest, files=tuple(described.values()), toolchain=toolchain)
    return ImportedFiles(origin=earlier.origin, manifest=manifest, files={**earlier.files, **more.files})


def _write(native: ImportedFiles, root: Path) -> StageManifest:
    existing, current = open_stage(root), native.manifest.source_hash
    if existing is not None and (existing.manifest.source_hash, existing.manifest.floor) == (
        current,
        native.manifest.floor,
    ):
        existing_files = {file.path: (root / file.path).read_bytes() for file in existing.manifest.files}
        native = _merge(ImportedFiles(origin=str(root), manifest=existing.manifest, files=existing_files), native)
    with new_folder(root) as aside:
        for path, data in native.files.items():
            (aside / path).parent.mkdir(parents=True, exist_ok=True)
            (aside / path).write_bytes(data)
        files = describe_files(aside)
        key = digest([current, *(f"{file.path} {file.sha256}" for file in files)])
        return write_manifest(aside, dataclasses.replace(native.manifest, key=key, files=files, imported=True)).manifest


def _manifest(raw: bytes, where: str) -> StageManifest:
    """A manifest with a usable target and usable paths: every path is checked here before it is used."""
    try:
        manifest = msgspec.json.decode(raw, type=StageManifest)
    except DECODE_ERRORS as error:
        raise InputError(f"not a manifest: {error}", where=where) from error
    target(manifest.rid)
    for file in manifest.files:
        path = PurePosixPath(file.path)
        plain = str(path) == file.path and file.path.isprintable() and not {"\\", ":"} & set(file.path)
        if not plain or path.is_absolute() or ".." in path.parts or len(path.parts) < 2:  # noqa: PLR2004
            raise InputError(f"the path {file.path!r} is not in a component's folder", where=where)
    return manifest


def _bytes(path: Path, folder: Path) -> bytes:
    """A file of an imported folder. A link out of the folder would put a file of this machine into packages."""
    if not path.resolve().is_relative_to(folder.resolve()):
        advice = f"Packages would contain the link's target. Put a copy of it into {folder}, or remove the link."
        raise InputError(
            f"leads through a link to {path.resolve()}, outside the folder", where=str(path), advice=advice
        )
    if path.exists() and not path.is_file():  # reading a pipe or a device may never end
        raise InputError("is not a file", where=str(path))
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=str(path)) from error
