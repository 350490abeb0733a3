"""Asks CMake which targets make what a component installs (cmake-file-api(7))."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_API = ".cmake/api/v1"
_CLIENT, _KINDS = "client-latebind", ("codemodel-v2", "cache-v2")


def request_codemodel(tree: Path) -> None:
    """Have CMake write what list_installed_targets() reads when it configures a build tree."""
    folder = tree / _API / "query" / _CLIENT
    folder.mkdir(parents=True, exist_ok=True)
    for kind in _KINDS:
        (folder / kind).touch()


def list_installed_targets(tree: Path, component: str) -> list[str]:
    """The targets whose files the install() rules of a component install, sorted; [] if the rules install others, too.

    A file of the tree, a script or a folder may be made by any target.
    """
    model, cache = (_read_reply(tree, kind) for kind in _KINDS)
    source = Path(next(entry["value"] for entry in cache["entries"] if entry["name"] == "CMAKE_HOME_DIRECTORY"))
    names = {item["id"]: item["name"] for item in _list_objects(tree, model, "targets")}
    installers = [rule for folder in _list_objects(tree, model, "directories") for rule in folder["installers"]]
    rules = [rule for rule in installers if rule.get("component") == component]
    if any(rule["type"] not in ("target", "file") or _is_made(rule, source, tree) for rule in rules):
        return []
    return sorted({names[rule["targetId"]] for rule in rules if rule["type"] == "target"})


def _is_made(rule: dict[str, Any], source: Path, tree: Path) -> bool:
    """Whether an install() rule of files installs one of the tree, or of anywhere else outside of the sources."""
    paths = [path if isinstance(path, str) else path["from"] for path in rule["paths"]]
    made = (path for path in paths if Path(path).is_absolute() or (source / path).is_relative_to(tree))
    return rule["type"] == "file" and any(made)


def _list_objects(tree: Path, model: dict[str, Any], kind: str) -> Iterator[dict[str, Any]]:
    (configuration,) = model["configurations"]
    yield from (_read(tree, reference["jsonFile"]) for reference in configuration[kind])


def _read_reply(tree: Path, kind: str) -> dict[str, Any]:
    index = max((tree / _API / "reply").glob("index-*.json"), key=lambda path: path.name)
    return _read(tree, _read(tree, index.name)["reply"][_CLIENT][kind]["jsonFile"])


def _read(tree: Path, name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((tree / _API / "reply" / name).read_bytes())
    return document
