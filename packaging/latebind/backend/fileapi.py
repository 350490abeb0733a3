"""Has CMake's file API describe a build tree when it configures that, and reads the answer (cmake-file-api(7))."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from latebind.backend.errors import BuildError
from latebind.backend.files import explain_full_disk

CMAKE_FILES, CODEMODEL, CACHE = "cmakeFiles-v1", "codemodel-v2", "cache-v2"
_API = Path(".cmake", "api", "v1")
_CLIENT = "client-latebind"


def request_replies(tree: Path) -> None:
    """Have CMake write what the functions below read when it configures a build tree."""
    folder = tree / _API / "query" / _CLIENT
    folder.mkdir(parents=True, exist_ok=True)
    for kind in (CMAKE_FILES, CODEMODEL, CACHE):
        (folder / kind).touch()


def read_reply(tree: Path, kind: str) -> Any:
    """The answer of a kind. Raises BuildError for a CMake that wrote none."""
    index = max((tree / _API / "reply").glob("index-*.json"), key=lambda path: path.name, default=None)
    if index is None:
        raise BuildError("CMake's file API wrote no reply", where=str(tree), advice="Use CMake 3.25 or newer.")
    return _read(tree, _read(tree, index.name)["reply"][_CLIENT][kind]["jsonFile"])


def read_cache(tree: Path) -> dict[str, str]:
    """The variables in the cache of a configured tree."""
    return {entry["name"]: entry["value"] for entry in read_reply(tree, CACHE)["entries"]}


def list_targets(tree: Path) -> list[dict[str, Any]]:
    """The targets of a configured tree, as CMake describes the object "target" of the code model."""
    return _list_objects(tree, "targets")


def list_directories(tree: Path) -> list[dict[str, Any]]:
    """The folders of a configured tree with their install() rules, as CMake describes the object "directory"."""
    return _list_objects(tree, "directories")


def list_installers(tree: Path) -> list[dict[str, Any]]:
    """The install() rules of a configured tree, as CMake describes "installers"."""
    return [rule for folder in list_directories(tree) for rule in folder["installers"]]


def list_installed_targets(tree: Path, component: str) -> list[str]:
    """The targets whose files the install() rules of a component install, sorted; [] if the rules install others, too.

    A file of the tree, a script or a folder may be made by any target.
    """
    source = Path(read_reply(tree, CODEMODEL)["paths"]["source"])
    rules = [rule for rule in list_installers(tree) if rule.get("component") == component]
    if any(rule["type"] not in ("target", "file") or _is_made(rule, tree, source) for rule in rules):
        return []
    names = {target["id"]: target["name"] for target in list_targets(tree)}
    return sorted({names[rule["targetId"]] for rule in rules if rule["type"] == "target"})


def _is_made(rule: Mapping[str, Any], tree: Path, source: Path) -> bool:
    """Whether an install() rule of files installs one of the tree, or of anywhere else outside of the sources."""
    paths = [path if isinstance(path, str) else path["from"] for path in rule["paths"]]
    made = (path for path in paths if Path(path).is_absolute() or (source / path).is_relative_to(tree))
    return rule["type"] == "file" and any(made)


def _list_objects(tree: Path, kind: str) -> list[dict[str, Any]]:
    configurations = read_reply(tree, CODEMODEL)["configurations"]
    return [_read(tree, reference["jsonFile"]) for configuration in configurations for reference in configuration[kind]]


def _read(tree: Path, name: str) -> Any:
    """Raises BuildError for what CMake did not write as a whole, which it does not notice on a full disk."""
    try:
        return json.loads((tree / _API / "reply" / name).read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        advice = explain_full_disk(tree) or "Remove this folder, and use CMake 3.25 or newer."
        raise BuildError(
            f"the reply of CMake's file API cannot be read: {error}", where=str(tree), advice=advice
        ) from error
