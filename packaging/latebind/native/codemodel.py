"""Reads from CMake and ninja what a build tree compiles, links and installs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from latebind.backend.fileapi import CMAKE_FILES, list_installers, list_targets, read_reply
from latebind.system.run import run
from latebind.tables.presets import RuntimePreset, presets
from loadcheck.api import fits_any

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


def read_codemodel(ninja: Path, tree: Path, source: Path) -> CodeModel:
    """The model of a configured tree of the CMake project in `source`.

    Raises BuildError for a CMake that writes no answer, ToolError when ninja fails.
    """
    listed = [cmake_file["path"] for cmake_file in read_reply(tree, CMAKE_FILES)["inputs"]]
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


def name_runtime(item: str, known: Mapping[str, RuntimePreset] | None = None) -> str:
    """The runtime whose file an item of a link line is, by its path or as -l; "" if it is another library."""
    name = PurePosixPath(item.replace("\\", "/")).name
    name = f"lib{item[2:]}.so" if item.startswith("-l") else name
    return next((key for key, preset in (known or presets()).items() if fits_any(name, preset.linked_globs)), "")


def find_place(graph: Mapping[str, Any], index: int | None, root: Path) -> str:
    """`CMakeLists.txt:6`: the command that a backtrace starts at, or the one of the project that led to it."""
    while index is not None:
        node = graph["nodes"][index]
        path = root / graph["files"][node["file"]]
        if path.is_relative_to(root) and "line" in node:
            return f"{path.relative_to(root).as_posix()}:{node['line']}"
        index = node.get("parent")
    return "CMakeLists.txt"


def _resolve_paths(paths: set[Path]) -> tuple[Path, ...]:
    return tuple(sorted({path.resolve() for path in paths if path.exists()}))
