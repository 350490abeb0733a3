"""Makes the packages of a plugin: the wheel with its module, and the sources of the .NET helper."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.version import Version

from latebind.backend.files import write_text
from latebind.backend.notices import notices
from latebind.backend.recipe import HOOK_GROUP, hook_entry
from latebind.backend.sbom import SBOM_FILE
from latebind.backend.stage import WHEEL_MANIFEST, Stage, manifest_of
from latebind.backend.wheelfile import record_digest
from latebind.config.config import Config, import_name
from latebind.config.package import Package
from latebind.ecosystems.ecosystem import PackageJob, PackageKind, PackRun
from latebind.ecosystems.nuget.pack import nupkg_kind
from latebind.ecosystems.wheel.files import tag
from latebind.ecosystems.wheel.metadata import hook_files
from latebind.ecosystems.wheel.pack import plan_wheels
from latebind.errors import BuildError
from latebind.native.bill import sbom
from latebind.native.promise import refuse_broken
from latebind.system.archive import Entry, write_zip
from latebind.system.resources import cmake_dir
from latebind.templates import render
from loadcheck.facts import read_images

if TYPE_CHECKING:
    from latebind.config.plugin import HostedConfig


_PYTHON = ">=3.10"
"""onnxruntime's own wheels ask for it since 1.20."""


def hosted_of(config: Config, package: str) -> HostedConfig:
    """The table `ep` or `plugin` of a package. Raises BuildError when there is none."""
    hosted = config.packages[package].hosted
    if hosted is None:
        raise BuildError(f"package {package} has no table `plugin`", where=f"package.{package}.plugin")
    return hosted


def plugin_files(config: Config, package: str, stage: Stage) -> tuple[Path, ...]:
    """The library that exports the entry points; then the files that `companions` matches, which must be next to it.

    Raises BuildError when no library or several export them, the host looks up others in a file of its name, a library
    is neither, two files have one name, or a library needs a newer system than the stage's floor.
    """
    component, hosted = config.packages[package].component, hosted_of(config, package)
    table, entry = "ep" if config.packages[package].ep else "plugin", hosted.exports[0]
    refuse_broken(config, package, stage)
    libraries = stage.libraries(component)
    entry_libraries = [path for path in libraries if _exports_entry(path, entry)]
    if len(entry_libraries) != 1:
        named = ", ".join(path.name for path in entry_libraries or libraries)
        raise BuildError(
            f"{'no library' if not entry_libraries else 'more than one library'} of component {component} exports "
            f"{entry}: {named}",
            where=str(stage.root),
            advice=f"Install exactly one library that exports {entry} into the component.",
        )
    (library,) = entry_libraries
    _refuse_other_name(config, package, library)
    staged = [stage.root / file.path for file in stage.manifest.files if file.path.startswith(f"{component}/")]
    matched = [path for path in staged if any(fnmatchcase(path.name, glob) for glob in hosted.companions)]
    files = (library, *(path for path in matched if path != library and path not in stage.links))
    others = [path.name for path in libraries if path not in files]
    if others:
        raise config.problem_at(
            f"package.{package}.{table}.companions",
            f"component {component} installs {others[0]}, which is neither {library.name} nor a companion",
            f'Add it to package.{package}.{table}.companions: ["{others[0]}"].',
            BuildError,
        )
    names = [path.name.lower() for path in files]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise BuildError(f"component {component} installs {twice} twice", where=str(stage.root))
    return files


def _pack_wheel(config: Config, package: str, stage: Stage, path: Path) -> None:
    """Write the wheel for a target; equal inputs give equal bytes. Raises BuildError as plugin_files() does."""
    files, module = plugin_files(config, package, stage), config.module_name(package)
    folder, distribution = module.replace(".", "/"), config.wheel_name(package)
    info = f"{import_name(distribution)}-{Version(config.project.version)}.dist-info"
    words, version = _words(config, package), str(Version(config.project.version))
    code = render(f"plugin/{words['kind']}/module.py.j2", **words, version=version, library=files[0].name)
    contents = [
        (f"{folder}/__init__.py", code.encode()),
        (f"{folder}/py.typed", b""),
        *((f"{folder}/{file.name}", file.read_bytes()) for file in files),
        *((name, text.encode()) for name, text in hook_files(config, package, module, distribution).items()),
        *((f"{info}/{name}", data) for name, data in _info(config, package, stage, files)),
    ]
    record = "".join(f"{name},{record_digest(data)},{len(data)}\n" for name, data in sorted(contents))
    contents.append((f"{info}/RECORD", f"{record}{info}/RECORD,,\n".encode()))
    write_zip(path, [Entry(name=name, data=data) for name, data in contents])


def write_helper(config: Config, package: str, stages: Sequence[Stage], folder: Path) -> Path:
    """Write the managed project whose assembly finds the library, and return its folder."""
    nuget = config.packages[package].nuget
    name = nuget.id if nuget is not None else ""
    files = [(stage.rid, plugin_files(config, package, stage)[0].name) for stage in stages]
    class_name = name.rpartition(".")[2].replace("-", "") + hosted_of(config, package).known_host.suffix
    # The id as a namespace of C#.
    namespace = ".".join(part if part[:1].isalpha() else f"_{part}" for part in name.replace("-", "_").split("."))
    words = {**_words(config, package), "class": class_name}
    code = render("plugin/helper.cs.j2", **words, id=name, namespace=namespace, files=files)
    write_text(folder / f"{class_name}.cs", code)
    company = ", ".join(config.project.author_names) or config.project.name
    write_text(folder / f"{name}.csproj", render("plugin/helper.csproj.j2", assembly=name, company=company))
    return folder


def _exports_entry(path: Path, entry: str) -> bool:
    images = read_images(path.read_bytes(), str(path))
    return any(export.name == entry for image in images for export in image.exports)


def _refuse_other_name(config: Config, package: str, library: Path) -> None:
    """Raise BuildError for a library in which the host looks up something else because of its file name."""
    plugin = config.packages[package].plugin
    if plugin is None or plugin.known_host.list_exports(library.name) == plugin.exports:
        return
    title, (sought, *_) = plugin.known_host.title, plugin.known_host.list_exports(library.name)
    raise BuildError(
        f"{title} looks up {sought} in a file of this name, not {plugin.exports[0]}",
        where=library.name,
        advice=f"Name the file after package.{package}.plugin.name: "
        f"set_target_properties(TARGET PROPERTIES OUTPUT_NAME {plugin.name}).",
    )


def _words(config: Config, package: str) -> dict[str, object]:
    """What the templates of all languages name."""
    ep, hosted = config.packages[package].ep, hosted_of(config, package)
    host, names = hosted.known_host, hosted.plugin_names
    description = config.project.description or f"The {host.plugin} {names[0]} for {host.title}."
    return {
        "host": host,
        "kind": hosted.host_name,
        "names": names,
        "entry": hosted.exports[0],
        "module": config.module_name(package),
        "distribution": config.wheel_name(package),
        "supported": ep.supported if ep is not None else "",
        "description": description,
        "title": description.rstrip("."),
    }


def _info(config: Config, package: str, stage: Stage, files: Sequence[Path]) -> list[tuple[str, bytes]]:
    """The files of .dist-info but RECORD."""
    project, distribution = config.project, config.wheel_name(package)
    wheel = ["Wheel-Version: 1.0", "Generator: latebind", "Root-Is-Purelib: false"]
    wheel.append(f"Tag: {tag('py3-none', stage.rid, stage.manifest.floor)}")
    purl = f"pkg:pypi/{distribution}@{project.version}"
    license_texts = notices(cmake_dir(), files)
    contents = [
        ("METADATA", _metadata(config, package, tuple(license_texts)).encode()),
        ("entry_points.txt", _entry_points(config, package).encode()),
        ("WHEEL", ("\n".join(wheel) + "\n").encode()),
        (f"sboms/{SBOM_FILE}", sbom(config, package, [stage], purl)),
        (WHEEL_MANIFEST, manifest_of(stage, files).encode()),
        *((f"licenses/{name}", data) for name, data in license_texts.items()),
    ]
    if project.license_file:
        license_file = config.root / project.license_file
        contents.append((f"licenses/{license_file.name}", license_file.read_bytes()))
    return contents


def _entry_points(config: Config, package: str) -> str:
    """By which PyInstaller finds its hook, and some hosts the module."""
    module, plugin = config.module_name(package), config.packages[package].plugin
    rows = [(HOOK_GROUP, *hook_entry(module))]
    if plugin is not None and plugin.known_host.entry_points:
        rows.append((plugin.known_host.entry_points, plugin.name, module))
    return "\n".join(f"[{group}]\n{name} = {value}\n" for group, name, value in rows)


def _metadata(config: Config, package: str, notice_names: Sequence[str]) -> str:
    """Core metadata 2.4. It requires no distribution: applications have the host, from one of several."""
    project = config.project
    fields = [
        ("Metadata-Version", "2.4"),
        ("Name", config.wheel_name(package)),
        ("Version", str(Version(project.version))),
        ("Summary", project.description),
        ("Project-URL", f"Source, {project.repository}" if project.repository else ""),
        ("Author", ", ".join(author.name for author in project.people if not author.email)),
        ("Author-email", ", ".join(f"{author.name} <{author.email}>" for author in project.people if author.email)),
        ("License-Expression", project.license),
        ("License-File", Path(project.license_file).name if project.license_file else ""),
        *(("License-File", name) for name in notice_names),
        ("Requires-Python", _PYTHON),
        ("Description-Content-Type", "text/markdown"),
    ]
    head = "".join(f"{name}: {value}\n" for name, value in fields if value)
    readme = f"{(config.root / project.readme).read_text('utf-8').rstrip()}\n\n" if project.readme else ""
    return f"{head}\n{readme}{render('plugin/description.md.j2', **_words(config, package))}"


def _has_wheel(package: Package) -> bool:
    return package.hosted is not None and package.wheel is not None


def _make(run: PackRun, job: PackageJob) -> Sequence[Path]:
    (file,), (stage,) = job.files, run.stages_of(job)
    _pack_wheel(run.config, job.package, stage, run.dist / file)
    return [run.dist / file]


KINDS = (
    PackageKind(
        name="wheel",
        is_for=_has_wheel,
        plan=lambda planning: plan_wheels(planning, "plugin wheel", _has_wheel),
        make=_make,
    ),
    nupkg_kind(
        lambda package: package.hosted is not None,
        lambda run, job: write_helper(
            run.config, job.package, run.stages_of(job), run.workdir / "build" / "plugin" / job.package
        ),
    ),
)
