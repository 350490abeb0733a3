"""Makes the SDK archive of a target: headers, libraries, CMake package, pkg-config files, license and SBOM.

The libraries are the staged ones, byte for byte. Names that the linker needs and the stage lacks are links to them.
"""

from __future__ import annotations

import posixpath
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.utils import canonicalize_name
from packaging.version import Version

from latebind.backend.sbom import SBOM_FILE
from latebind.backend.stage import Stage
from latebind.backend.targets import target
from latebind.config.config import Config
from latebind.ecosystems.ecosystem import PackageJob, PackageKind, PackRun, Planning
from latebind.ecosystems.sdk.files import sdk_file
from latebind.errors import BuildError
from latebind.native.bill import package_notices, sbom
from latebind.native.builds import apply_soversion
from latebind.native.linklibraries import import_libraries, imported_dlls, static_libraries
from latebind.native.promise import refuse_broken
from latebind.system.archive import Entry, write_tar, write_zip
from latebind.templates import render
from loadcheck.facts import read_images

_STEM = re.compile(r"(?:lib)?(.+?)(?:\.so(?:\.\d+)*|(?:\.\d+)*\.dylib)$")
_LIBDIR = re.compile(r"lib(?:32|64)?(?:/[a-z0-9_]+(?:-[a-z0-9_]+)+)?")
"""What CMAKE_INSTALL_LIBDIR is: lib, lib64, lib/x86_64-linux-gnu."""
_LINK_NAME = {"linux": "lib{}.so", "macos": "lib{}.dylib"}
"""What -lNAME looks for, and what CMake's users expect."""
_CPUS = {
    "x86_64": ("x86_64", "x86_64h", "amd64", "x64"),
    "aarch64": ("aarch64", "arm64"),
    # A 32-bit system on a 64-bit kernel calls its CPU aarch64 or armv8l.
    "armv7l": ("arm", "armhf", "armv7", "armv7-a", "armv7l", "armv8l", "aarch64"),
    "riscv64": ("riscv64", "riscv"),
}
_SAME_CPU = {"arm64": "aarch64", "amd64": "x86_64"}
"""How CMake and compilers spell each CPU, in lower case."""
_POINTER_SIZES = {"armv7l": 4}
"""For all other CPUs it is 8."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SdkLibrary:
    """One library in the archive. Paths are relative to the prefix."""

    target: str
    """Its imported target in CMake."""
    stem: str
    """What -l takes."""
    file: str
    entries: tuple[Entry, ...]
    cpus: frozenset[str] = frozenset()
    """The CPUs that it has code for: several in a universal library."""
    soname: str = ""
    import_library: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SdkPackage:
    """One package in the archive: a component of the CMake package, and a pkg-config file."""

    name: str
    target: str
    module: str
    """The name of its pkg-config file."""
    libraries: tuple[SdkLibrary, ...]
    static: tuple[SdkLibrary, ...]
    requires: tuple[str, ...]
    linked: tuple[str, ...]
    """The targets that its own target links."""

    @property
    def targets(self) -> list[str]:
        """All of its targets in CMake."""
        own = [self.target] if self.libraries else []
        return sorted({*own, *(library.target for library in (*self.libraries, *self.static))})


def pack_sdk(config: Config, packages: Sequence[str], stage: Stage, outdir: Path) -> Path:
    """Write the archive of some packages for a target into `outdir`; equal inputs give equal bytes.

    Raises BuildError: no library, no header or no import library, libraries that break the promises of the
    configuration, two headers of one name.
    """
    libdir = _libdir(config, packages, stage)
    sdk_packages = [_package(config, name, packages, stage, libdir) for name in packages]
    entries = [
        *(
            entry
            for package in sdk_packages
            for library in (*package.libraries, *package.static)
            for entry in library.entries
        ),
        *_headers(config, packages, stage),
        *_build_files(config, sdk_packages, stage, libdir),
        *_papers(config, packages, stage),
    ]
    path = outdir / sdk_file(config.project, stage.rid)
    top = re.sub(r"\.(zip|tar\.gz)$", "", path.name)
    # Packages of one component hold the same files.
    placed = [Entry(name=f"{top}/{entry.name}", data=entry.data, mode=entry.mode) for entry in dict.fromkeys(entries)]
    (write_zip if path.suffix == ".zip" else write_tar)(path, placed)
    return path


def sdk_name(config: Config) -> str:
    """The name of the CMake package: in lower case, `<name>-config.cmake` is found by any spelling of it."""
    return config.project.name.lower()


def _libdir(config: Config, packages: Sequence[str], stage: Stage) -> str:
    """The folder of libraries: where the project installs them, if that is one that linkers know; else lib.

    Raises BuildError for several.
    """
    roots = {stage.root / config.packages[name].component: name for name in packages}
    paths = [(path.parent, root) for root in roots for path in stage.library_names(root.name)]
    folders = {folder.relative_to(root).as_posix() for folder, root in paths}
    libdirs = sorted(name for name in folders if _LIBDIR.fullmatch(name))
    if target(stage.rid).system == "windows" or not libdirs:
        return "lib"
    if len(libdirs) > 1:
        raise BuildError(
            f"libraries are installed in {' and '.join(libdirs)}, but an SDK has one folder for all libraries",
            where=str(stage.root),
            advice="Install all of them in ${CMAKE_INSTALL_LIBDIR}.",
        )
    return libdirs[0]


def _package(config: Config, name: str, packages: Sequence[str], stage: Stage, libdir: str) -> SdkPackage:
    project, settings = sdk_name(config), config.packages[name]
    refuse_broken(config, name, stage)
    linked = import_libraries(stage, settings.component)
    # MinGW's compilers call the DLL libx.dll, and CMake its import library x.lib.
    imports = {dll.rpartition(".")[0]: path for path in linked for dll in imported_dlls(path)}
    imports |= {path.stem.lower(): path for path in linked}
    copies: dict[bytes, list[Path]] = {}
    for path in stage.library_names(settings.component):
        copies.setdefault(path.read_bytes(), []).append(path)
    target_name = f"{project}::{name}"
    is_several = len(copies) > 1
    libraries = tuple(
        _library(target_name, stage, [path.name for path in same], data, imports, libdir, is_several=is_several)
        for data, same in copies.items()
    )
    requires = tuple(other for other in settings.requires if other in packages)
    return SdkPackage(
        name=name,
        target=target_name,
        module=project if canonicalize_name(name) == canonicalize_name(project) else f"{project}-{name}",
        libraries=libraries,
        static=tuple(_static(stage, settings.component, target_name, libdir)),
        requires=requires,
        linked=(
            *(library.target for library in libraries if is_several),
            *(f"{project}::{other}" for other in requires),
        ),
    )


def _static(stage: Stage, component: str, package: str, libdir: str) -> Iterator[SdkLibrary]:
    """The static libraries of a component: `demo::core_static`; `demo::core.<name>_static` where there are several."""
    paths = static_libraries(stage, component)
    for path in paths:
        target_name = f"{package}.{path.stem.removeprefix('lib')}_static" if len(paths) > 1 else f"{package}_static"
        entry = Entry(name=f"{libdir}/{path.name}", data=path.read_bytes())
        yield SdkLibrary(target=target_name, stem=path.stem.removeprefix("lib"), file=entry.name, entries=(entry,))


def _library(  # noqa: PLR0913  # what names a library, and what it is
    package: str,
    stage: Stage,
    names: Sequence[str],
    data: bytes,
    imports: dict[str, Path],
    libdir: str,
    *,
    is_several: bool,
) -> SdkLibrary:
    """One library, which may be staged under several names: the longest is the file, the others are links to it."""
    name = max(names, key=lambda candidate: (len(candidate), candidate))
    is_windows = target(stage.rid).system == "windows"
    images = read_images(data, name)
    cpus = frozenset(_SAME_CPU.get(image.arch, image.arch) for image in images)
    match = None if is_windows else _STEM.match(min(names, key=len))
    stem = match[1] if match else name.rpartition(".")[0]
    target_name = f"{package}.{stem}" if is_several else package
    if is_windows:
        import_library = imports.get(stem.lower())
        if import_library is None:
            raise BuildError(
                f"{name} has no import library, which the linker of Visual C++ needs",
                where=f"stage/{stage.rid}",
                advice="Add ARCHIVE DESTINATION lib to the install(TARGETS ...) of its component.",
            )
        linked = Entry(name=f"lib/{import_library.name}", data=import_library.read_bytes())
        return SdkLibrary(
            target=target_name,
            stem=import_library.stem,
            file=f"bin/{name}",
            entries=(Entry(name=f"bin/{name}", data=data), linked),
            cpus=cpus,
            import_library=linked.name,
        )
    soname = next((image.soname for image in images), "")
    all_names = {*names, _LINK_NAME[target(stage.rid).system].format(stem), posixpath.basename(soname)}
    links = sorted(all_names - {name, ""})
    entries = (
        Entry(name=f"{libdir}/{name}", data=data),
        *(Entry(name=f"{libdir}/{link}", data=name.encode(), mode=stat.S_IFLNK | 0o777) for link in links),
    )
    return SdkLibrary(target=target_name, stem=stem, file=f"{libdir}/{name}", entries=entries, cpus=cpus, soname=soname)


def _headers(config: Config, packages: Sequence[str], stage: Stage) -> Iterator[Entry]:
    """The headers of all packages. Raises BuildError for a package with none that requires none with some."""
    headers: dict[str, bytes] = {}
    having = {name for name in packages if stage.headers(config.packages[name].component)}
    for name in packages:
        if having.isdisjoint(config.list_needed_packages(name)):
            component = config.packages[name].component
            raise BuildError(
                f"component {component} installed no header for {stage.rid}, so nothing can be compiled with the SDK",
                where=str(stage.root),
                advice=f"Add install(FILES ... DESTINATION include COMPONENT {component}) to the CMake project.",
            )
        for header, path in stage.headers(config.packages[name].component):
            data = path.read_bytes()
            if headers.setdefault(header, data) != data:
                raise BuildError(
                    f"two packages install different headers as {header}, but an SDK has one folder for all headers",
                    where=str(path),
                    advice="Install them in folders of their own: DESTINATION include/<name>.",
                )
    return (Entry(name=f"include/{header}", data=data) for header, data in headers.items())


def _build_files(config: Config, packages: Sequence[SdkPackage], stage: Stage, libdir: str) -> Iterator[Entry]:
    """The CMake package and a pkg-config file for each package. They find everything relative to themselves."""
    name, version = sdk_name(config), Version(config.project.version)
    system = target(stage.rid).cmake_system
    up = "../" * (libdir.count("/") + 1)
    common = {"name": name, "version": str(version), "rid": stage.rid, "packages": packages, "up": up, "system": system}
    major, minor = version.major, "" if version.major else version.minor
    libraries = [library for package in packages for library in package.libraries]
    cpus = [name for cpu, names in _CPUS.items() if all(cpu in library.cpus for library in libraries) for name in names]
    fit = {"cpus": cpus, "pointer_size": _POINTER_SIZES.get(target(stage.rid).arch, 8), "major": major, "minor": minor}
    texts = {
        "config": render("sdk/config.cmake.j2", **common),
        "config-version": render("sdk/version.cmake.j2", **common, **fit),
    }
    cmake = f"{libdir}/cmake/{name}/{name}"
    for kind, text in texts.items():
        yield Entry(name=f"{cmake}-{kind}.cmake", data=text.encode())
    yield Entry(
        name="CMakeLists.txt",
        data=render("sdk/CMakeLists.txt.j2", **common, cmake=cmake).encode(),
    )
    project = config.project
    about = " ".join((project.description or project.name).split()).replace("$", "$$")
    modules = {package.name: package.module for package in packages}
    for package in packages:
        text = render(
            "sdk/package.pc.j2",
            row=package,
            about=about,
            project=project,
            version=str(version),
            libdir=libdir,
            up=up,
            system=target(stage.rid).system,
            requires=[modules[other] for other in package.requires],
        )
        yield Entry(name=f"{libdir}/pkgconfig/{package.module}.pc", data=text.encode())


def _papers(config: Config, packages: Sequence[str], stage: Stage) -> Iterator[Entry]:
    """The licenses and the SBOM."""
    name, file = sdk_name(config), config.project.license_file
    if file:
        path = config.root / file
        yield Entry(name=f"share/licenses/{name}/{path.name}", data=path.read_bytes())
    for notice, data in package_notices(config, packages, [stage]).items():
        yield Entry(name=f"share/licenses/{name}/{notice}", data=data)
    purl = f"pkg:generic/{name}@{Version(config.project.version)}"
    bill = sbom(config, packages[0], [stage], purl, more=packages[1:], has_static=True)
    yield Entry(name=f"share/{name}/{SBOM_FILE}", data=bill)


def _plan(planning: Planning) -> list[PackageJob]:
    """An archive for each target, with the packages whose runtime exists there."""
    project, jobs = planning.config.project, []
    for rid in planning.rids:
        packages = [name for name in planning.config.sdk_packages if rid in planning.floors[name]]
        if packages:
            files = {sdk_file(project, rid): tuple(planning.name_stage(name, rid) for name in packages)}
            jobs.append(PackageJob(name=f"sdk {rid}", package=project.name, rids=(rid,), files=files))
    return jobs


def _make(run: PackRun, job: PackageJob) -> Sequence[Path]:
    config, (stage,) = run.config, run.stages_of(job)
    packages = [name for name in config.sdk_packages if not config.explain_not_made(name, stage.rid)]
    with apply_soversion(run.project, stage) as named:
        return [pack_sdk(config, packages, named, run.dist)]


KINDS = (PackageKind(name="sdk", is_for=lambda package: bool(package.sdk), plan=_plan, make=_make),)
