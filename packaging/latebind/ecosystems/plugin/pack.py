"""Makes the packages of a plugin execution provider: the wheel with its module, and the sources of the .NET helper."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.version import Version

from latebind.build.notices import notices
from latebind.build.promise import refuse_broken
from latebind.build.sbom import sbom, sbom_file
from latebind.build.stage import manifest_text
from latebind.config.ep import EP_EXPORTS
from latebind.ecosystems.wheel.freezing import HOOK_GROUP, hook_entry, hook_files
from latebind.errors import BuildError
from latebind.filenames import WHEEL_MANIFEST, tag
from latebind.system.archive import Entry, write_zip
from latebind.system.wheelfile import record_digest
from latebind.templates import render
from loadcheck.archive import write_text
from loadcheck.binary import read_images

if TYPE_CHECKING:
    from collections.abc import Sequence

    from latebind.build.stage import Stage
    from latebind.config.config import Config
    from latebind.config.ep import EpConfig

_PYTHON = ">=3.10"
"""onnxruntime's own wheels ask for it since 1.20."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EpFiles:
    """The files of an execution provider for one target: the library, and what must be next to it."""

    library: Path
    companions: tuple[Path, ...]

    @property
    def every(self) -> tuple[Path, ...]:
        """The library first."""
        return (self.library, *self.companions)


def ep_of(config: Config, package: str) -> EpConfig:
    """The `ep` table of a package. Raises BuildError when there is none."""
    ep = config.packages[package].ep
    if ep is None:
        raise BuildError(f"package {package} has no `ep` table", where=f"package.{package}.ep")
    return ep


def ep_files(config: Config, package: str, stage: Stage) -> EpFiles:
    """The library that exports the entry points, and the files that `companions` matches.

    Raises BuildError when no library or several export them, a library is neither, two files have one name, or a
    library needs a newer system than the stage's floor.
    """
    component, ep = config.packages[package].component, ep_of(config, package)
    refuse_broken(config, package, stage)
    libraries = stage.libraries(component)
    entry_libraries = [path for path in libraries if _exports_entry(path)]
    if len(entry_libraries) != 1:
        named = ", ".join(path.name for path in entry_libraries or libraries)
        raise BuildError(
            f"{'no library' if not entry_libraries else 'more than one library'} of component {component} exports "
            f"{EP_EXPORTS[0]}: {named}",
            where=str(stage.root),
            advice=f"Install exactly one library that exports {EP_EXPORTS[0]} into the component.",
        )
    staged = [stage.root / file.path for file in stage.manifest.files if file.path.startswith(f"{component}/")]
    matched = [path for path in staged if any(fnmatchcase(path.name, glob) for glob in ep.companions)]
    companions = tuple(path for path in matched if path != entry_libraries[0] and path not in stage.links)
    others = [path.name for path in libraries if path not in (entry_libraries[0], *companions)]
    if others:
        raise config.problem_at(
            f"package.{package}.ep.companions",
            f"component {component} installs {others[0]}, which is neither {entry_libraries[0].name} nor a companion",
            f'Add it to package.{package}.ep.companions: ["{others[0]}"].',
            BuildError,
        )
    names = [path.name.lower() for path in (entry_libraries[0], *companions)]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise BuildError(f"component {component} installs {twice} twice", where=str(stage.root))
    return EpFiles(library=entry_libraries[0], companions=companions)


def pack_ep_wheel(config: Config, package: str, stage: Stage, path: Path) -> Path:
    """Write the wheel for a target; equal inputs give equal bytes. Raises BuildError as ep_files() does."""
    ep, files = ep_of(config, package), ep_files(config, package, stage)
    module = [
        Entry(name=f"{ep.module}/__init__.py", data=_module(config, ep, files.library.name).encode()),
        Entry(name=f"{ep.module}/py.typed", data=b""),
        *(Entry(name=f"{ep.module}/{file.name}", data=file.read_bytes()) for file in files.every),
        *(
            Entry(name=name, data=text.encode())
            for name, text in hook_files(config, package, ep.module, ep.distribution).items()
        ),
    ]
    info = f"{ep.module}-{Version(config.project.version)}.dist-info"
    entries = [
        *module,
        *(Entry(name=f"{info}/{name}", data=data) for name, data in _info(config, package, stage, files)),
    ]
    record = "".join(
        f"{entry.name},{record_digest(entry.data)},{len(entry.data)}\n"
        for entry in sorted(entries, key=lambda e: e.name)
    )
    entries.append(Entry(name=f"{info}/RECORD", data=f"{record}{info}/RECORD,,\n".encode()))
    write_zip(path, entries)
    return path


def write_ep_helper(config: Config, package: str, stages: Sequence[Stage], folder: Path) -> Path:
    """Write the managed project whose assembly finds the library, and return its folder."""
    ep, nuget = ep_of(config, package), config.packages[package].nuget
    name = nuget.id if nuget is not None else ep.nuget_id
    files = [(stage.rid, ep_files(config, package, stage).library.name) for stage in stages]
    class_name = f"{name.rpartition('.')[2].replace('-', '')}Ep"
    code = render(
        "plugin/helper.cs.j2", id=name, namespace=_namespace(name), names=ep.names, files=files, **{"class": class_name}
    )
    write_text(folder / f"{class_name}.cs", code)
    company = ", ".join(config.project.author_names) or config.project.name
    write_text(folder / f"{name}.csproj", render("plugin/helper.csproj.j2", assembly=name, company=company))
    return folder


def _namespace(id_: str) -> str:
    """The id as a namespace of C#."""
    return ".".join(part if part[:1].isalpha() else f"_{part}" for part in id_.replace("-", "_").split("."))


def _exports_entry(path: Path) -> bool:
    images = read_images(path.read_bytes(), str(path))
    return any(export.name == EP_EXPORTS[0] for image in images for export in image.exports)


def _module(config: Config, ep: EpConfig, library: str) -> str:
    return render(
        "plugin/module.py.j2",
        **_words(config, ep),
        title=f"{(config.project.description or ep.names[0]).rstrip('.')}.",
        version=str(Version(config.project.version)),
        library=library,
    )


def _words(config: Config, ep: EpConfig) -> dict[str, object]:
    """What the templates of both languages name."""
    return {
        "id": ep.id,
        "names": ep.names,
        "module": ep.module,
        "distribution": ep.distribution,
        "supported": ep.supported,
        "description": config.project.description or f"The execution provider {ep.names[0]} for ONNX Runtime.",
    }


def _info(config: Config, package: str, stage: Stage, files: EpFiles) -> list[tuple[str, bytes]]:
    """The files of .dist-info but RECORD."""
    project, ep = config.project, ep_of(config, package)
    wheel = ["Wheel-Version: 1.0", "Generator: latebind", "Root-Is-Purelib: false"]
    wheel.append(f"Tag: {tag('py3-none', stage.rid, stage.manifest.floor)}")
    purl = f"pkg:pypi/{ep.distribution}@{project.version}"
    license_texts = notices(config, files.every)
    contents = [
        ("METADATA", _metadata(config, ep, tuple(license_texts)).encode()),
        ("entry_points.txt", "[{}]\n{} = {}\n".format(HOOK_GROUP, *hook_entry(ep.module)).encode()),
        ("WHEEL", ("\n".join(wheel) + "\n").encode()),
        (f"sboms/{sbom_file(config)}", sbom(config, package, [stage], purl)),
        (WHEEL_MANIFEST, _manifest(stage, files).encode()),
        *((f"licenses/{name}", data) for name, data in license_texts.items()),
    ]
    if project.license_file:
        license_file = config.root / project.license_file
        contents.append((f"licenses/{license_file.name}", license_file.read_bytes()))
    return contents


def _manifest(stage: Stage, files: EpFiles) -> str:
    """What the files were built from, so that `stage --import` can read the wheel."""
    staged_files = tuple(file for file in stage.manifest.files if stage.root / file.path in files.every)
    return manifest_text(dataclasses.replace(stage.manifest, files=staged_files, key="", imported=False))


def _metadata(config: Config, ep: EpConfig, notice_names: Sequence[str]) -> str:
    """Core metadata 2.4. It requires no distribution: there are several of ONNX Runtime, and any of them will do."""
    project = config.project
    fields = [
        ("Metadata-Version", "2.4"),
        ("Name", ep.distribution),
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
    return f"{head}\n{readme}{render('plugin/description.md.j2', **_words(config, ep))}"
