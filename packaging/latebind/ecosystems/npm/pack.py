"""Packs staged native files as npm packages: one for each target, and the main one, which finds its target's."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from latebind.build.inside import refuse_links_outside
from latebind.build.notices import package_notices
from latebind.build.promise import find_exporter, refuse_broken
from latebind.build.sbom import sbom, sbom_file
from latebind.build.stage import Stage
from latebind.config.config import Config
from latebind.ecosystems.ecosystem import PackageJob, PackageKind, Planning
from latebind.ecosystems.npm.config import NpmConfig, npm_tables
from latebind.ecosystems.npm.manifest import GENERATED_FILES, copied_types, entry_points, list_needs, metadata
from latebind.errors import BuildError
from latebind.filenames import npm_file, npm_target, npm_version
from latebind.system.archive import Entry, write_tar
from latebind.system.tree import hash_files, list_tree
from latebind.tables.targets import npm_platform
from latebind.templates import render

if TYPE_CHECKING:
    from latebind.config.plugin import PluginConfig


_NEVER_PACKED = frozenset({
    *("node_modules", ".npmrc", ".svn", "CVS", ".lock-wscript", "config.gypi", "npm-debug.log"),
    *("package-lock.json", "yarn.lock", "pnpm-lock.yaml"),
})  # fmt: skip
"""From the documentation of package.json, "files". An .npmrc often has a token for a registry."""


def _pack(config: Config, package: str, stages: Sequence[Stage], outdir: Path) -> list[Path]:
    """Write the npm packages of a package into `outdir`, the main one last; equal inputs give equal bytes.

    Raises BuildError: no library for a target, a library that breaks a promise of the configuration, a file of
    `npm.source` in the place of a generated one.
    """
    for stage in stages:
        refuse_broken(config, package, stage)
    return [*(_target(config, package, stage, outdir) for stage in stages), _main(config, package, stages, outdir)]


def npm_sources(config: Config, package: str) -> list[Path]:
    """The project's own files for the main package, without those that `npm pack` never takes.

    Raises BuildError for a link that leads out of the repository.
    """
    source = npm_tables(config)[package].source
    files = list_tree(config.root / source, without=_NEVER_PACKED) if source else []
    refuse_links_outside(config.root, files, f"package.{package}.npm.source")
    return files


def _target(config: Config, package: str, stage: Stage, outdir: Path) -> Path:
    """The package of one target: its libraries, and the fields by which npm chooses it."""
    main_name = npm_tables(config)[package].name
    name, platform = npm_target(main_name, stage.rid), npm_platform(stage.rid)
    about = config.project.description or config.project.name
    described = f"{about.rstrip('.')} (native files for {platform.name}; install {main_name} instead)"
    fields: dict[str, Any] = {"os": [platform.os], "cpu": [platform.cpu]}
    if platform.libc:
        fields["libc"] = [platform.libc]
    fields["preferUnplugged"] = True  # Yarn's Plug'n'Play keeps packages zipped, where no library can be loaded
    chosen = config.packages[package]
    native = [*stage.libraries(chosen.component), *stage.data(chosen.component, chosen.companions)]
    files = [Entry(name=path.name, data=path.read_bytes()) for path in native]
    files += [Entry(name=notice, data=data) for notice, data in package_notices(config, [package], [stage]).items()]
    files.append(Entry(name=sbom_file(config), data=sbom(config, package, [stage], _purl(config, name))))
    return _write(config, outdir, metadata(config, package, name, described) | fields, files)


def _main(config: Config, package: str, stages: Sequence[Stage], outdir: Path) -> Path:
    """The package that users install: the module that finds the library, and the project's own files."""
    npm, project, plugin = npm_tables(config)[package], config.project, config.packages[package].plugin
    version = npm_version(project.version)
    parts = {npm_target(npm.name, stage.rid): stage for stage in stages}
    library_by_platform = {
        npm_platform(stage.rid).name: (name, find_exporter(config, package, stage).name)
        for name, stage in parts.items()
    }
    modules = [
        Entry(name=file, data=render_module(template, npm.name, version, library_by_platform, plugin))
        for file, template in GENERATED_FILES.items()
    ]
    root = config.root / npm.source
    own_files = {path.relative_to(root).as_posix(): path for path in npm_sources(config, package)}
    for name in (*GENERATED_FILES, "package.json"):
        if name in own_files:
            raise BuildError(
                f"{name} is in the folder npm.source of package {package}, but latebind writes that file",
                where=str(own_files[name].relative_to(config.root)),
                advice=f"Remove the file, and list what it requires in package.{package}.npm.dependencies."
                if name == "package.json"
                else "Give the file another name.",
            )
    own_files |= {name: own_files[types] for name, types in copied_types(own_files).items()}
    fields = {
        **metadata(config, package, npm.name, project.description or project.name),
        **entry_points(own_files),
        **list_needs(config, package),
        "optionalDependencies": dict.fromkeys(sorted(parts), version),
    }
    bill = sbom(config, package, (), _purl(config, npm.name), parts=[_purl(config, name) for name in parts])
    files = [Entry(name=name, data=path.read_bytes()) for name, path in own_files.items()]
    return _write(config, outdir, fields, [*modules, *files, Entry(name=sbom_file(config), data=bill)])


def render_module(
    template: str, name: str, version: str, files: Mapping[str, tuple[str, str]], plugin: PluginConfig | None = None
) -> bytes:
    """A generated module; `files` has for each platform the package and the library in it."""
    exported = ("libraryPath", "target", *(plugin.known_host.node if plugin else ()))
    variable = f"{re.sub('[^A-Z0-9]+', '_', name.upper()).strip('_')}_LIB_PATH"
    return render(
        f"npm/{template}",
        name=name,
        version=version,
        files=files,
        variable=variable,
        kind=plugin.host if plugin else "",
        exported=exported,
    ).encode()


def _write(config: Config, outdir: Path, fields: dict[str, Any], files: Sequence[Entry]) -> Path:
    project = config.project
    shared = {Path(name).name: config.root / name for name in (project.license_file, project.readme) if name}
    named = {"README.md" if name == Path(project.readme).name else name: path for name, path in shared.items()}
    names = {entry.name for entry in files}
    everything = [
        *files,
        *(Entry(name=name, data=path.read_bytes()) for name, path in named.items() if name not in names),
        Entry(name="package.json", data=(json.dumps(fields, indent=2, ensure_ascii=False) + "\n").encode()),
    ]
    path = outdir / npm_file(fields["name"], project.version)
    write_tar(path, [Entry(name=f"package/{entry.name}", data=entry.data) for entry in everything])
    return path


def _purl(config: Config, name: str) -> str:
    """The package URL of an npm package, where the scope's @ is escaped (purl-spec, type npm)."""
    return f"pkg:npm/{name.replace('@', '%40')}@{npm_version(config.project.version)}"


def _plan(planning: Planning) -> list[PackageJob]:
    jobs, version = [], planning.config.project.version
    for name, npm in npm_tables(planning.config).items():
        rids = tuple(planning.floors[name])
        files: dict[str, tuple[str, ...]] = {
            npm_file(npm_target(npm.name, rid), version): (planning.name_stage(name, rid),) for rid in rids
        }
        files[npm_file(npm.name, version)] = (*filter(None, [npm.source]), planning.config.file.name)
        jobs += [PackageJob(name=f"npm {name}", package=name, rids=rids, files=files)] if rids else []
    return jobs


KINDS = (
    PackageKind(
        name="npm",
        is_for=lambda package: package.find_table(NpmConfig) is not None,
        plan=_plan,
        key=lambda run, job: [hash_files(run.config.root, npm_sources(run.config, job.package), modes=False)],
        make=lambda run, job: _pack(run.config, job.package, run.stages_of(job), run.dist),
    ),
)
