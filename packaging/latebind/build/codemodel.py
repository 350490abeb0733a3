"""Reads from CMake and ninja what a configured build tree will compile and install, before anything is compiled."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from latebind.errors import BuildError
from latebind.system.folders import explain_full_disk
from latebind.system.run import run
from loadcheck.decoding import DECODE_ERRORS

_API = ".cmake/api/v1"
_CLIENT = "client-latebind"
_CMAKE_FILES, _CODEMODEL, _CACHE = "cmakeFiles-v1", "codemodel-v2", "cache-v2"
_NODE = re.compile(r'^"[^"]+" \[label="(.*)"\]$', re.MULTILINE)
_LIMIT = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeModel:
    """What a configured build tree reads and installs. Paths are resolved; files in the tree are among them."""

    files: tuple[Path, ...]
    """What CMake read, and what the commands of a build name: sources, scripts, libraries. No headers."""
    searched: tuple[Path, ...]
    """Folders in which the compiler will look for headers; it need not find any there."""
    written: tuple[Path, ...]
    """The files of targets, which the linker writes; not resolved."""
    components: tuple[str, ...]
    """The components that install() rules name, sorted."""


def request_codemodel(tree: Path) -> None:
    """Have CMake write what read_codemodel() reads when it configures a build tree (cmake-file-api(7))."""
    folder = tree / _API / "query" / _CLIENT
    folder.mkdir(parents=True, exist_ok=True)
    for kind in (_CMAKE_FILES, _CODEMODEL, _CACHE):
        (folder / kind).touch()


def read_codemodel(ninja: Path, tree: Path, source: Path) -> CodeModel:
    """The model of a configured tree of the CMake project in `source`.

    Raises BuildError for a CMake that writes no answer, ToolError when ninja fails.
    """
    listed = [cmake_file["path"] for cmake_file in _reply(tree, _CMAKE_FILES)["inputs"]]
    # The graph of what is built by default: targets that are excluded from it are not compiled.
    commanded = _NODE.findall(run([ninja, "-C", tree, "-t", "graph"], timeout=_LIMIT).output)
    files = {*(source / path for path in listed), *(tree / path for path in commanded)}
    components = {rule["component"] for rule in list_installers(tree) if "component" in rule}
    targets = list_targets(tree)
    groups = [group for target in targets for group in target.get("compileGroups", [])]
    artifacts = {tree / artifact["path"] for target in targets for artifact in target.get("artifacts", [])}
    searched = {source / include["path"] for group in groups for include in group.get("includes", [])}
    return CodeModel(
        files=_resolve_paths(files),
        searched=_resolve_paths(searched),
        written=tuple(sorted(artifacts)),
        components=tuple(sorted(components)),
    )


def list_targets(tree: Path) -> list[dict[str, Any]]:
    """The targets of a configured tree, as cmake-file-api(7) describes the object "target" of the code model."""
    return _list_objects(tree, "targets")


def list_directories(tree: Path) -> list[dict[str, Any]]:
    """The folders of a configured tree with their install() rules, as cmake-file-api(7) describes "directory"."""
    return _list_objects(tree, "directories")


def read_cache(tree: Path) -> dict[str, str]:
    """The variables in the cache of a configured tree."""
    return {entry["name"]: entry["value"] for entry in _reply(tree, _CACHE)["entries"]}


def list_installers(tree: Path) -> list[dict[str, Any]]:
    """The install() rules of a configured tree, as cmake-file-api(7) describes "installers"."""
    return [rule for folder in list_directories(tree) for rule in folder["installers"]]


def _list_objects(tree: Path, kind: str) -> list[dict[str, Any]]:
    configurations = _reply(tree, _CODEMODEL)["configurations"]
    return [_read(tree, reference["jsonFile"]) for configuration in configurations for reference in configuration[kind]]


def _resolve_paths(paths: set[Path]) -> tuple[Path, ...]:
    return tuple(sorted({path.resolve() for path in paths if path.exists()}))


def _reply(tree: Path, kind: str) -> Any:
    index = max((tree / _API / "reply").glob("index-*.json"), key=lambda path: path.name, default=None)
    if index is None:
        raise BuildError("CMake's file API wrote no reply", where=str(tree), advice="Use CMake 3.25 or newer.")
    return _read(tree, _read(tree, index.name)["reply"][_CLIENT][kind]["jsonFile"])


def _read(tree: Path, name: str) -> Any:
    """Raises BuildError for what CMake did not write as a whole, which it does not notice on a full disk."""
    try:
        return msgspec.json.decode((tree / _API / "reply" / name).read_bytes())
    except (OSError, *DECODE_ERRORS) as error:
        advice = explain_full_disk(tree) or "Remove this folder, and use CMake 3.25 or newer."
        raise BuildError(
            f"the reply of CMake's file API cannot be read: {error}", where=str(tree), advice=advice
        ) from error
