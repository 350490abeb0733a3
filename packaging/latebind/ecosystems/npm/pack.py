"""Packs staged native files as npm packages: one for each target, and the main one, which finds its target's."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packaging.version import Version

from latebind.backend.sbom import SBOM_FILE
from latebind.backend.stage import Stage
from latebind.backend.targets import npm_platform
from latebind.backend.tree import hash_files, list_tree
from latebind.config.config import Config
from latebind.ecosystems.ecosystem import PackageJob, PackageKind, Planning
from latebind.ecosystems.npm.config import IMPORTED, REQUIRED, NpmConfig, npm_tables
from latebind.ecosystems.npm.files import npm_file, npm_target, npm_version
from latebind.errors import BuildError
from latebind.native.bill import package_notices, sbom
from latebind.native.inside import refuse_links_outside
from latebind.native.promise import find_exporter, refuse_broken
from latebind.system.archive import Entry, write_tar
from latebind.templates import render

if TYPE_CHECKING:
    from latebind.config.plugin import PluginConfig


_GENERATED = "latebind"
"""The stem of the generated module and its types."""
_GENERATED_FILES: Mapping[str, str] = {
    f"{_GENERATED}.cjs": "latebind.cjs.j2",
    f"{_GENERATED}-trusted.cjs": "latebind-trusted.cjs.j2",
    f"{_GENERATED}.mjs": "latebind.mjs.j2",
    f"{_GENERATED}.d.cts": "latebind.d.ts.j2",
    f"{_GENERATED}.d.mts": "latebind.d.ts.j2",
    f"{_GENERATED}.d.ts": "latebind.d.ts.j2",
}
"""Each with its template. TypeScript takes .d.cts for require, .d.mts for import, .d.ts where it reads no `exports`."""
_NODE = ">=18"
"""The oldest Node.js that has Object.hasOwn, ES modules and process.report."""
_TYPES, _REQUIRED_TYPES, _IMPORTED_TYPES = "index.d.ts", "index.d.cts", "index.d.mts"
_ISSUES = {
    "https://github.com/": "/issues",
    "https://gitlab.com/": "/-/issues",
    "https://codeberg.org/": "/issues",
    "https://bitbucket.org/": "/issues",
}
"""Where these hosts have a repository's issues."""
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
    source = npm_tables(config.packages)[package].source
    files = list_tree(config.root / source, without=_NEVER_PACKED) if source else []
    refuse_links_outside(config.root, files, f"package.{package}.npm.source")
    return files


def _target(config: Config, package: str, stage: Stage, outdir: Path) -> Path:
    """The package of one target: its libraries, and the fields by which npm chooses it."""
    main_name = npm_tables(config.packages)[package].name
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
    files.append(Entry(name=SBOM_FILE, data=sbom(config, package, [stage], _purl(config, name))))
    return _write(config, outdir, _metadata(config, package, name, described) | fields, files)


def _main(config: Config, package: str, stages: Sequence[Stage], outdir: Path) -> Path:
    """The package that users install: the module that finds the library, and the project's own files."""
    npm, project, plugin = npm_tables(config.packages)[package], config.project, config.packages[package].plugin
    version = npm_version(project.version)
    parts = {npm_target(npm.name, stage.rid): stage for stage in stages}
    library_by_platform = {
        npm_platform(stage.rid).name: (name, find_exporter(config, package, stage).name)
        for name, stage in parts.items()
    }
    used = config.runtime_of(package)
    runtime = npm.runtime or (used.traits.npm if used else "")
    modules = [
        Entry(name=file, data=render_module(template, npm.name, version, library_by_platform, plugin, runtime))
        for file, template in _GENERATED_FILES.items()
    ]
    root = config.root / npm.source
    own_files = {path.relative_to(root).as_posix(): path for path in npm_sources(config, package)}
    for name in (*_GENERATED_FILES, "package.json"):
        if name in own_files:
            raise BuildError(
                f"{name} is in the folder npm.source of package {package}, but latebind writes that file",
                where=str(own_files[name].relative_to(config.root)),
                advice=f"Remove the file, and list what it requires in package.{package}.npm.dependencies."
                if name == "package.json"
                else "Give the file another name.",
            )
    own_files |= {name: own_files[types] for name, types in _copied_types(own_files).items()}
    fields = {
        **_metadata(config, package, npm.name, project.description or project.name),
        **entry_points(own_files),
        **_list_needs(config, package),
        "optionalDependencies": dict.fromkeys(sorted(parts), version),
    }
    bill = sbom(config, package, (), _purl(config, npm.name), parts=[_purl(config, name) for name in parts])
    files = [Entry(name=name, data=path.read_bytes()) for name, path in own_files.items()]
    return _write(config, outdir, fields, [*modules, *files, Entry(name=SBOM_FILE, data=bill)])


def render_module(  # noqa: PLR0913  # what the templates have
    template: str,
    name: str,
    version: str,
    files: Mapping[str, tuple[str, str]],
    plugin: PluginConfig | None = None,
    runtime: str = "",
) -> bytes:
    """A generated module; `files` has for each platform the package and the library in it, `runtime` is a package."""
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
        runtime=runtime,
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


# ---- package.json: metadata, entry points with their types, and what a package needs -------------------------------


def _metadata(config: Config, package: str, name: str, description: str) -> dict[str, Any]:
    """What package.json of every package of a component has."""
    project, settings = config.project, npm_tables(config.packages)[package]
    nuget = config.packages[package].nuget
    file = Path(project.license_file).name
    fields = {
        "name": name,
        "version": npm_version(project.version),
        "description": description,
        "keywords": list(settings.keywords or (nuget.tags if nuget else ())),
        **_places(project.repository),
        "license": project.license or (f"SEE LICENSE IN {file}" if file else ""),
        "author": "".join(project.authors[:1]),
        "contributors": list(project.authors[1:]),
        "type": "commonjs",
        "engines": {"node": _NODE},
    }
    return {key: value for key, value in fields.items() if value}


def _places(repository: str) -> dict[str, Any]:
    """Homepage, issues and repository, as far as the repository's URL shows them."""
    if not repository:
        return {}
    if not repository.startswith("https://"):
        return {"repository": {"type": "git", "url": repository}}
    web = repository.rstrip("/").removesuffix(".git")
    issues = next((f"{web}{path}" for host, path in _ISSUES.items() if web.startswith(host)), "")
    return {
        "homepage": f"{web}#readme" if issues else web,
        "bugs": {"url": issues} if issues else {},
        "repository": {"type": "git", "url": f"git+{web}.git"},
    }


def entry_points(own_files: Collection[str]) -> dict[str, Any]:
    """How the main package is imported: by the project's own index, else by the generated module.

    `own_files` are the names of the project's files, with those of _copied_types().
    """
    generated = {
        "import": {"types": f"./{_GENERATED}.d.mts", "default": f"./{_GENERATED}.mjs"},
        "require": {"types": f"./{_GENERATED}.d.cts", "default": f"./{_GENERATED}.cjs"},
    }
    required = next((name for name in REQUIRED if name in own_files), "")
    imported = IMPORTED if IMPORTED in own_files else ""
    required_types = _REQUIRED_TYPES if _REQUIRED_TYPES in own_files else _TYPES
    by_import = _add_types(imported, _IMPORTED_TYPES, own_files)
    by_require = _add_types(required, required_types, own_files)
    entry = {"import": by_import, "require": by_require} if imported and required else by_import or by_require
    main = required or imported or f"{_GENERATED}.cjs"
    types = next((name for name in (_TYPES, _REQUIRED_TYPES, _IMPORTED_TYPES) if name in own_files), "")
    if not required and not imported:
        types = f"{_GENERATED}.d.ts"
    return {
        "main": f"./{main}",
        **({"types": f"./{types}"} if types else {}),
        "exports": {".": entry or generated, f"./{_GENERATED}": generated, "./package.json": "./package.json"},
    }


def _copied_types(own_files: Collection[str]) -> dict[str, str]:
    """Types that the project has for require() alone, by the names under which import finds them: index.d.mts.

    TypeScript takes index.d.ts for the types of a CommonJS module, and lets users import a default that is not there.
    """
    needed = IMPORTED in own_files and _TYPES in own_files and _IMPORTED_TYPES not in own_files
    return {_IMPORTED_TYPES: _TYPES} if needed else {}


def _add_types(file: str, types: str, own_files: Collection[str]) -> dict[str, str]:
    """A file with its types, which come first, as TypeScript demands; {} for no file."""
    if not file:
        return {}
    return {**({"types": f"./{types}"} if types in own_files else {}), "default": f"./{file}"}


def _list_needs(config: Config, package: str) -> dict[str, Any]:
    """The packages that the main one needs.

    Those of the same project are peers, so that an application has one of each. So is the runtime's own, unless
    `npm.runtime` makes it a dependency: an application may have it from elsewhere. Packages that require this one are
    optional peers: it could not find them in the folders of pnpm and of Yarn's Plug'n'Play if it did not name them.
    """
    tables, runtime = npm_tables(config.packages), config.runtime_of(package)
    npm, same = tables[package], _same_minor(config.project.version)
    peers = {tables[name].name: same for name in config.packages[package].requires if name in tables}
    fields: dict[str, Any] = {"dependencies": dict(npm.dependencies)}
    if npm.runtime and runtime is not None:
        fields["dependencies"][npm.runtime] = f">={npm_version(runtime.minimum)}"
    elif runtime is not None and runtime.traits.npm:
        peers[runtime.traits.npm] = f">={npm_version(runtime.minimum)}"
        fields["peerDependenciesMeta"] = {runtime.traits.npm: {"optional": True}}
    for other in (table for user, table in tables.items() if package in config.packages[user].requires):
        peers[other.name] = same
        fields.setdefault("peerDependenciesMeta", {})[other.name] = {"optional": True}
    fields["dependencies"] = dict(sorted(fields["dependencies"].items()))
    fields["peerDependencies"] = dict(sorted(peers.items()))
    return {key: value for key, value in fields.items() if value}


def _same_minor(version: str) -> str:
    """The versions with the same minor version, as for wheels: the binary interface is checked at run time."""
    parsed = Version(version)
    return npm_version(version) if parsed.is_prerelease else f"~{parsed.major}.{parsed.minor}.0"


# ---- the work --------------------------------------------------------------------------------------------------------


def _plan(planning: Planning) -> list[PackageJob]:
    jobs, version = [], planning.config.project.version
    for name, npm in npm_tables(planning.config.packages).items():
        rids = tuple(planning.floors[name])
        files: dict[str, tuple[str, ...]] = {
            npm_file(npm_target(npm.name, rid), version): (planning.name_stage(name, rid),) for rid in rids
        }
        files[npm_file(npm.name, version)] = (*filter(None, [npm.source]), planning.config.file.name)
        if rids:
            jobs.append(PackageJob(name=f"npm {name}", package=name, rids=rids, files=files))
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
