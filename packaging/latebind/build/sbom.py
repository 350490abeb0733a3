"""Writes the SBOM of a package: its libraries, what compiled them, and what it binds late.

CycloneDX 1.7, the first version that can say "not in here, and any version of this range will do" (isExternal,
versionRange). There is no time and no serial number in it: equal inputs give equal bytes.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from packaging.version import Version

from latebind import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

    from latebind.build.stage import Stage
    from latebind.config.config import Config
    from latebind.config.document import RuntimeUse

SBOM_FILE = "latebind.cdx.json"
_SCHEMA = "http://cyclonedx.org/schema/bom-1.7.schema.json"


def sbom(config: Config, package: str, stages: Sequence[Stage], purl: str, *, parts: Sequence[str] = ()) -> bytes:
    """The SBOM of a package that holds those stages' libraries; `purl` is the package's own package URL.

    `parts` are the URLs of the packages that hold the libraries instead, where a package was split.
    """
    component = config.packages[package].component
    project = config.project
    libraries = [_library(stage, path.name, component) for stage in stages for path in stage.libraries(component)]
    use = config.runtime_of(package)
    bound = [_bound(use)] if use else []
    everything = [*libraries, *(_part(part, project.version) for part in parts), *bound]
    itself: dict[str, Any] = {
        "type": "library",
        "bom-ref": purl,
        "name": purl.partition("/")[2].partition("@")[0],
        "version": project.version,
        "purl": purl,
    }
    if project.license:
        itself["licenses"] = [{"expression": project.license}]
    document = {
        "$schema": _SCHEMA,
        "bomFormat": "CycloneDX",
        "specVersion": "1.7",
        "version": 1,
        "metadata": {
            "lifecycles": [{"phase": "build"}],
            "tools": {"components": _tools(stages)},
            "component": itself,
        },
        "components": everything,
        "dependencies": [
            {"ref": purl, "dependsOn": sorted(part["bom-ref"] for part in everything)},
            *({"ref": part["bom-ref"]} for part in everything),
        ],
    }
    return (json.dumps(document, indent=2, sort_keys=True) + "\n").encode()


def version_range(use: RuntimeUse) -> str:
    """Which versions of a runtime will do, as a `vers` URI: from the minimum on, below the next major one.

    Where the major version is a year, the next one changes nothing.
    """
    below = "" if use.known.calendar else f"|<{Version(use.minimum).major + 1}"
    return f"vers:generic/>={use.minimum}{below}"


def _library(stage: Stage, name: str, component: str) -> dict[str, Any]:
    """One library of one target, with the hash that it has in every package."""
    here = [row for row in stage.manifest.files if row.path.startswith(f"{component}/")]
    (file,) = [row for row in here if row.path.endswith(f"/{name}")]
    return {
        "type": "file",
        "bom-ref": f"{stage.rid}/{name}",
        "name": name,
        "hashes": [{"alg": "SHA-256", "content": file.sha256}],
        "properties": [
            {"name": "latebind:floor", "value": stage.manifest.floor},
            {"name": "latebind:target", "value": stage.rid},
            {"name": "latebind:toolchain", "value": stage.manifest.toolchain},
        ],
    }


def _part(purl: str, version: str) -> dict[str, Any]:
    """One of the packages that a package was split into; it has an SBOM of its own."""
    name = purl.partition("/")[2].partition("@")[0]
    return {
        "type": "library",
        "bom-ref": purl,
        "name": name,
        "version": version,
        "purl": purl,
        "isExternal": True,
        "scope": "required",
    }


def _bound(use: RuntimeUse) -> dict[str, Any]:
    """The runtime, which another distribution supplies."""
    known = use.known
    return {
        "type": "library",
        "bom-ref": f"late-bound/{use.name}",
        "name": use.name,
        "description": f"{known.title}, bound at run time and not contained.",
        "isExternal": True,
        "versionRange": version_range(use),
        "scope": "required",
    }


def _tools(stages: Sequence[Stage]) -> list[dict[str, Any]]:
    compilers = sorted({stage.manifest.toolchain for stage in stages})
    rows = [{"type": "application", "name": "latebind", "version": __version__}]
    for compiler in compilers:
        name, _, version = compiler.partition(" ")
        rows.append({"type": "application", "name": name, **({"version": version} if version else {})})
    return rows
