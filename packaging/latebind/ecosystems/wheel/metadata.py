"""What a wheel has besides its libraries: metadata, and a hook for PyInstaller.

`latebind pack` writes it into the wheels of plugins, and the hooks in the build of a project's own wheel into those.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, TypedDict

from packaging.version import Version

from latebind.config.config import Config
from latebind.errors import BuildError
from latebind.templates import fill

WORKDIR_VARIABLE = "LATEBIND_WORKDIR"
_USUAL = re.compile(r"lib.*\.(so|dylib)|lib[^.]*\*$|.*\.dll$")
"""The names that the hook takes of any runtime: others are those of a runtime that the project describes itself."""

MetadataFields = TypedDict(
    "MetadataFields",
    {"version": str, "dependencies": list[str], "optional-dependencies": dict[str, list[str]], "urls": dict[str, str]},
)
"""The fields of [project] that come from the configuration and that a wheel must have."""


def metadata_fields(config: Config, package: str, own_requirements: tuple[str, ...] = ()) -> MetadataFields:
    """The dynamic metadata of a package: version, dependencies (`own_requirements` first), optional-dependencies, urls.

    Packages of one project require each other by the same minor version: their binary interface is checked at
    run time, and a patch release of one must not force one of all.
    """
    version = config.project.version
    parsed = Version(version)
    since = parsed.public if parsed.is_prerelease else f"{parsed.major}.{parsed.minor}.0"
    needs = [f"{name}~={since}" for other in config.packages[package].requires if (name := config.wheel_name(other))]
    extras: dict[str, list[str]] = {}
    wheel, runtime = config.packages[package].wheel, config.runtime_of(package)
    if wheel is not None and runtime is not None:
        supply = runtime.traits.python
        if wheel.runtime == "required":
            needs.append(supply.render_requirement(supply.extra, runtime.minimum))
        if wheel.extras != "none":  # one for each distribution that supplies the runtime
            extras = {extra: [supply.render_requirement(extra, runtime.minimum)] for extra in supply.extras}
    return {
        "version": version,
        "dependencies": [*own_requirements, *needs],
        "optional-dependencies": extras,
        "urls": {"Source": config.project.repository} if config.project.repository else {},
    }


def page_fields(config: Config, fields: Collection[str]) -> dict[str, Any]:
    """Those of `fields` that describe the project, for people: description, readme, license, authors.

    Raises BuildError for a README that cannot be read.
    """
    project = config.project
    known = {
        "description": project.description,
        "license": project.license,
        "authors": [{key: value for key, value in author._asdict().items() if value} for author in project.people],
        "readme": _read_readme(config) if "readme" in fields else None,
    }
    return {key: value for key, value in known.items() if value and key in fields}


def _read_readme(config: Config) -> dict[str, str] | None:
    """The README as text: [project] can name only files of its own folder."""
    if not config.project.readme:
        return None
    path = config.root / config.project.readme
    try:
        return {"content-type": "text/markdown", "text": path.read_text("utf-8")}
    except (OSError, UnicodeDecodeError) as error:
        text = f"{path.name} cannot be read: {getattr(error, 'strerror', None) or error}"
        raise BuildError(text, where=str(path), advice=f"Correct project.readme in {config.file.name}.") from error


def hook_files(config: Config, package: str, module: str, distribution: str) -> Mapping[str, str]:
    """The files of a hook for PyInstaller, by their paths in a wheel: it takes the native files into a frozen program.

    PyInstaller follows imports. It does not see a library that is opened by its path, nor a runtime that is found by
    its metadata. A wheel names the folder of its hooks by an entry point (PyInstaller manual, "Providing PyInstaller
    Hooks with your Package"). `module` is the import package, which holds the native files.
    """
    runtime = None if config.packages[package].ep else config.runtime_of(package)
    supplied = runtime.traits.python if runtime else None
    dependents = [name for name, other in config.packages.items() if package in other.requires]
    hook = fill(
        "pyinstaller_hook.py",
        module=module,
        runtime=supplied.folder.partition("/")[0] if supplied else "",
        distributions=_quote_names([distribution, *(supplied.extras.values() if supplied else ())]),
        files=_quote_names(name for name in (runtime.traits.file_globs if runtime else ()) if not _USUAL.match(name)),
        dependents=_quote_names(filter(None, map(config.wheel_name, dependents))),
    )
    folder = f"{module.replace('.', '/')}/_pyinstaller"
    return {
        f"{folder}/__init__.py": fill("pyinstaller_dirs.py", module=module),
        f"{folder}/hook-{module}.py": hook,
    }


def _quote_names(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in dict.fromkeys(names))
