"""Computes package.json of npm packages: metadata, entry points with their types, and what they need."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from packaging.version import Version

from latebind.config.config import Config
from latebind.ecosystems.npm.config import IMPORTED, REQUIRED, npm_tables
from latebind.filenames import npm_version

GENERATED = "latebind"
"""The stem of the generated module and its types."""
GENERATED_FILES: Mapping[str, str] = {
    f"{GENERATED}.cjs": "latebind.cjs.j2",
    f"{GENERATED}-trusted.cjs": "latebind-trusted.cjs.j2",
    f"{GENERATED}.mjs": "latebind.mjs.j2",
    f"{GENERATED}.d.cts": "latebind.d.ts.j2",
    f"{GENERATED}.d.mts": "latebind.d.ts.j2",
    f"{GENERATED}.d.ts": "latebind.d.ts.j2",
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


def metadata(config: Config, package: str, name: str, description: str) -> dict[str, Any]:
    """What package.json of every package of a component has."""
    project, settings = config.project, npm_tables(config)[package]
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

    `own_files` are the names of the project's files, with those of copied_types().
    """
    generated = {
        "import": {"types": f"./{GENERATED}.d.mts", "default": f"./{GENERATED}.mjs"},
        "require": {"types": f"./{GENERATED}.d.cts", "default": f"./{GENERATED}.cjs"},
    }
    required = next((name for name in REQUIRED if name in own_files), "")
    imported = IMPORTED if IMPORTED in own_files else ""
    required_types = _REQUIRED_TYPES if _REQUIRED_TYPES in own_files else _TYPES
    by_import = _add_types(imported, _IMPORTED_TYPES, own_files)
    by_require = _add_types(required, required_types, own_files)
    entry = {"import": by_import, "require": by_require} if imported and required else by_import or by_require
    main = required or imported or f"{GENERATED}.cjs"
    types = next((name for name in (_TYPES, _REQUIRED_TYPES, _IMPORTED_TYPES) if name in own_files), "")
    if not required and not imported:
        types = f"{GENERATED}.d.ts"
    return {
        "main": f"./{main}",
        **({"types": f"./{types}"} if types else {}),
        "exports": {".": entry or generated, f"./{GENERATED}": generated, "./package.json": "./package.json"},
    }


def copied_types(own_files: Collection[str]) -> dict[str, str]:
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


def list_needs(config: Config, package: str) -> dict[str, Any]:
    """The packages that the main one needs.

    Those of the same project are peers, so that an application has one of each. So is the runtime's own, unless
    `npm.runtime` makes it a dependency: an application may have it from elsewhere. Packages that require this one are
    optional peers: it could not find them in the folders of pnpm and of Yarn's Plug'n'Play if it did not name them.
    """
    tables, runtime = npm_tables(config), config.runtime_of(package)
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
