"""Checks before anything runs whether the files and folders exist that a configuration names."""

from __future__ import annotations

from collections.abc import Iterator

from latebind.config.config import Config
from latebind.errors import ConfigError


def refuse_missing(config: Config, *, sources: bool = True, scripts: bool = True) -> None:
    """Refuse a configuration that names missing files or wrong folders, before anything is built or installed.

    `sources` are the files that packages are made from, `scripts` those that verify them. Raises ConfigError with all
    of them.
    """
    named = list(_sources(config)) if sources else []
    if scripts:
        named += [(f"verify.{key}", name) for key, name in config.document.verify.list_scripts().items()]
    problems = [
        config.problem_at(key, f"there is no file or folder {name!r}", "Correct the path or remove the key.")
        for key, name in named
        if name and not (config.root / name).exists()
    ]
    if sources:
        problems += [config.problem_at(key, text, advice) for key, text, advice in _wrong_folders(config)]
    if problems:
        raise ConfigError(problems)


def list_sources(config: Config) -> set[str]:
    """The files and folders that a configuration names for packages to be made from, besides the native code."""
    named = {name for key, name in _sources(config) if not key.endswith(".wheel.source")}
    return {name for name in (*named, *config.wheel_sources.values()) if name}


def _sources(config: Config) -> Iterator[tuple[str, str]]:
    project = config.project
    yield from (("project.readme", project.readme), ("project.icon", project.icon))
    yield "project.license_file", project.license_file
    native = config.document.native
    yield from ((f"native.sources.{name}", f"{native.source}/{path}") for name, path in native.sources.items())
    for name, source in config.wheel_sources.items():
        yield f"package.{name}.wheel.source", f"{source}/pyproject.toml"
    for name, package in config.packages.items():
        if package.nuget is not None:
            yield f"package.{name}.nuget.managed", package.nuget.managed
            yield f"package.{name}.nuget.icon", package.nuget.icon
    yield from ((key, folder) for key, folder, _ in _folders(config))


def _folders(config: Config) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """The folders that the tables of ecosystems name, each with its key and the globs of what it must hold."""
    for name, package in config.packages.items():
        for table, settings in package.tables.items():
            for key, (folder, globs) in settings.folders.items():
                yield f"package.{name}.{table}.{key}", folder, globs


def _wrong_folders(config: Config) -> Iterator[tuple[str, str, str]]:
    """The key, the problem and advice for each folder that is there and that would give a package no code of its own.

    One that holds the project would give it everything else, too: what was built, and what was packed before.
    """
    for key, name, globs in _folders(config):
        folder = config.root / name
        if not name or not folder.exists():
            continue
        if not folder.is_dir():
            yield key, f"{name!r} is a file", "Name its folder."
        elif config.root.resolve().is_relative_to(folder.resolve()):
            yield (
                key,
                f"{name!r} contains the whole project",
                "Move the package's files into a folder of their own.",
            )
        elif not any(path.is_file() for glob in globs for path in folder.glob(glob)):
            yield key, f"{name!r} has no {' or '.join(globs)}", "Name the folder that has it."
