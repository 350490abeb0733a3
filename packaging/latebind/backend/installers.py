"""Reads which targets an install() component needs, by what CMake's file API says of a configured tree."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_API = Path(".cmake", "api", "v1")
_CLIENT, _CODEMODEL = "client-latebind", "codemodel-v2"


def request_targets(tree: Path) -> None:
    """Have CMake write what list_installed_targets() reads when it configures a build tree (cmake-file-api(7))."""
    folder = tree / _API / "query" / _CLIENT
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _CODEMODEL).touch()


def list_installed_targets(tree: Path, component: str) -> list[str]:
    """The targets whose files the install() rules of a component install, sorted; [] if the rules install others, too.

    A file of the tree, a script or a folder may be made by any target; so may all where CMake wrote no reply.
    """
    index = max((tree / _API / "reply").glob("index-*.json"), key=lambda path: path.name, default=None)
    if index is None:
        return []
    model = _read(index.with_name(_read(index)["reply"][_CLIENT][_CODEMODEL]["jsonFile"]))
    source = Path(model["paths"]["source"])
    names: dict[str, str] = {}
    rules: list[Mapping[str, Any]] = []
    for configuration in model["configurations"]:
        names |= {target["id"]: target["name"] for target in configuration["targets"]}
        for folder in configuration["directories"]:
            installers = _read(index.with_name(folder["jsonFile"]))["installers"]
            rules += [rule for rule in installers if rule.get("component") == component]
    if any(rule["type"] not in ("target", "file") or _is_made(rule, tree, source) for rule in rules):
        return []
    return sorted({names[rule["targetId"]] for rule in rules if rule["type"] == "target"})


def _is_made(rule: Mapping[str, Any], tree: Path, source: Path) -> bool:
    """Whether an install() rule of files installs one of the tree, or of anywhere else outside of the sources."""
    paths = [path if isinstance(path, str) else path["from"] for path in rule["paths"]]
    made = (path for path in paths if Path(path).is_absolute() or (source / path).is_relative_to(tree))
    return rule["type"] == "file" and any(made)


def _read(path: Path) -> Any:
    return json.loads(path.read_bytes())
