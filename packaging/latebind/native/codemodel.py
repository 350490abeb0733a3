"""Reads from CMake and ninja what a build tree compiles, links and installs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from latebind.errors import BuildError
from latebind.system.decoding import DECODE_ERRORS
from latebind.system.folders import explain_full_disk
from latebind.system.run import run
from latebind.tables.presets import presets
from loadcheck.api import fits_any

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


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkItem:
    """A library on the link line of a target, which a command of the project put there."""

    target: Mapping[str, Any]
    """The target, as cmake-file-api(7) describes the object "target" of the code model."""
    item: str
    """A path, or `-l` and a name."""
    place: str
    """The file and line of the command: `CMakeLists.txt:6`."""


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


def read_inputs(ninja: Path, tree: Path) -> list[Path]:
    """Every file that the compiler read for a build tree, as ninja recorded it."""
    output = run([ninja, "-C", tree, "-t", "deps"], timeout=_LIMIT).output
    names = {line.strip() for line in output.splitlines() if line.startswith("    ")}
    return sorted((tree / name).resolve() for name in names)


def list_link_items(targets: Iterable[Mapping[str, Any]], root: Path) -> Iterator[LinkItem]:
    """The libraries that the targets of list_targets() link, with places relative to `root`."""
    for item in targets:
        for fragment in item.get("link", {}).get("commandFragments", ()):
            if fragment["role"] == "libraries" and "backtrace" in fragment:
                place = find_place(item["backtraceGraph"], fragment["backtrace"], root)
                yield LinkItem(target=item, item=fragment["fragment"].strip().strip('"'), place=place)


def name_runtime(item: str) -> str:
    """The runtime whose file an item of a link line is, by its path or as -l; "" if it is another library."""
    name = PurePosixPath(item.replace("\\", "/")).name
    name = f"lib{item[2:]}.so" if item.startswith("-l") else name
    return next((key for key, preset in presets().items() if fits_any(name, preset.linked_globs)), "")


def find_place(graph: Mapping[str, Any], index: int | None, root: Path) -> str:
    """`CMakeLists.txt:6`: the command that a backtrace starts at, or the one of the project that led to it."""
    while index is not None:
        node = graph["nodes"][index]
        path = root / graph["files"][node["file"]]
        if path.is_relative_to(root) and "line" in node:
            return f"{path.relative_to(root).as_posix()}:{node['line']}"
        index = node.get("parent")
    return "CMakeLists.txt"


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
