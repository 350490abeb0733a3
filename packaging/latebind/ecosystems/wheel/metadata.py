"""What `latebind pack` and the hooks in a wheel's build have in common: variables, metadata and the manifest."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from pathlib import Path
from typing import Any, TypedDict

from packaging.version import Version

from latebind.build.stage import Stage, manifest_text
from latebind.config.config import Config
from latebind.errors import BuildError

WORKDIR_VARIABLE = "LATEBIND_WORKDIR"
TARGET_VARIABLE = "LATEBIND_TARGET"
KIND_VARIABLE = "LATEBIND_WHEEL_KIND"
"""Which of a package's wheels the hook makes: one of WheelConfig.kinds."""

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
    """As [project] has a README that is not a file of its own folder."""
    if not config.project.readme:
        return None
    path = config.root / config.project.readme
    try:
        return {"content-type": "text/markdown", "text": path.read_text("utf-8")}
    except (OSError, UnicodeDecodeError) as error:
        text = f"{path.name} cannot be read: {getattr(error, 'strerror', None) or error}"
        raise BuildError(text, where=str(path), advice=f"Correct project.readme in {config.file.name}.") from error


def render_manifest(stage: Stage, files: Collection[Path]) -> str:
    """What some files of a stage were built from, so that `stage --import` can read the wheel that has them."""
    staged_files = tuple(file for file in stage.manifest.files if stage.root / file.path in files)
    return manifest_text(dataclasses.replace(stage.manifest, files=staged_files, key="", imported=False))
