"""Builds a Node.js add-on in a copy of its project, as npm does, and once more with a stub in a library's place."""

from __future__ import annotations

import ast
import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from latebind.adopt.ownbuild import copy_project, first_error
from latebind.adopt.product import list_stub_commands, read_product
from latebind.adopt.stubs import enter, judge_trial, list_unserved, make_stubs, warn_of_spaces
from latebind.backend.programs import which
from latebind.backend.targets import host_rid, target
from latebind.errors import BuildError
from latebind.native.stubplaces import set_places
from latebind.system.log import LOG
from latebind.system.run import run
from latebind.text import DOCS
from loadcheck.api import fits_any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from latebind.adopt.product import Product
    from latebind.tables.presets import RuntimePreset

BINDING = "binding.gyp"
"""The file from which node-gyp builds an add-on: an expression of Python (gyp, InputFormatReference)."""
_LIMIT = 1800.0
_FROM_SOURCE = {"npm_config_build_from_source": "true"}
"""prebuild-install, node-pre-gyp and node-gyp-build then take no file that somebody built before."""
ELSEWHERE = (
    "these are the files that you build: where npm compiles the add-on on a user's machine, it has no stub, nor the "
    "stub's headers, unless the package has them: as a C file, "
    f"{DOCS}/howto/other-builds.md#the-stub-as-one-c-file"
)
_HEADERS = "const c = process.config.variables; console.log(c.node_prefix || '')"


@dataclass(frozen=True, slots=True, kw_only=True)
class Addon:
    """What a project's add-ons link, and what came of the stub."""

    products: Mapping[str, Product]
    """By the file that npm's build made."""
    advice: tuple[str, ...] = ()
    """What to do, a line each."""
    tried: tuple[str, ...] = ()
    """What came of doing that in a copy."""


def try_addon(root: Path, scratch: Path, described: tuple[RuntimePreset, ...]) -> Addon:
    """Build a project's add-ons in an empty folder, then with stubs. Raises BuildError where they don't build."""
    products = _build(copy_project(root, scratch / "first"), root, described)
    named = {each.name: each for product in products.values() for each in product.runtimes}
    runtimes = [named[name] for name in sorted(named)]
    if not runtimes or any(runtime.stub is None for runtime in runtimes):
        return Addon(products=products)
    copy = copy_project(root, scratch / "second")
    text = (root / BINDING).read_text("utf-8")
    lines = list(_replace_libraries(text, runtimes))
    (copy / BINDING).write_text(_apply(text, lines), "utf-8")
    advice = (
        f"next: {enter(root)}{list_stub_commands(runtimes)}",
        *warn_of_spaces(root),
        *(f"{BINDING}:{line.number}: write {line.new} in place of {line.old}" for line in lines),
        *dict.fromkeys(line for product in products.values() for line in list_unserved(product)),
        "then: npm install --build-from-source",
        ELSEWHERE,
    )
    stubs = make_stubs(runtimes, copy / "stubs")
    try:
        after = _build(copy, root, described, set_places(stubs))
    except BuildError as error:
        reason = first_error(error.message).replace(f"{copy}/", "")
        return Addon(products=products, tried=(f"a stub in its place does not build: {reason}",))
    is_late, tried = judge_trial(after, products.values())
    return Addon(products=products, advice=(*advice, *_list_kept(root, described)) if is_late else (), tried=tried)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """A string of binding.gyp that names a library's file, and what takes its place."""

    number: int
    start: int
    end: int
    """In the line, in bytes of UTF-8."""
    old: str
    new: str


def _replace_libraries(text: str, runtimes: Iterable[RuntimePreset]) -> Iterator[_Line]:
    """The strings under `libraries` that name a library's file for this system: -l finds the stub in LIBRARY_PATH."""
    system = target(host_rid()).system
    for node, item in _list_libraries(ast.parse(text, BINDING, "eval")):
        for runtime in runtimes:
            stub = runtime.stub.library if runtime.stub else ""
            names = (*runtime.list_files(system), *(f"lib{stub}{ending}" for ending in (".so", ".dylib")))
            if "/" in item and fits_any(PurePosixPath(item).name, names):
                yield _Line(
                    number=node.lineno,
                    start=node.col_offset,
                    end=node.end_col_offset or 0,
                    old=f'"{item}"',
                    new=f'"-l{stub}", "-lpthread", "-ldl"',
                )


def _list_libraries(tree: ast.AST) -> Iterator[tuple[ast.Constant, str]]:
    """The strings in each list `libraries`."""
    for node in ast.walk(tree):
        pairs = zip(node.keys, node.values, strict=True) if isinstance(node, ast.Dict) else ()
        for key, value in pairs:
            if isinstance(key, ast.Constant) and key.value == "libraries" and isinstance(value, ast.List):
                for item in value.elts:
                    if isinstance(item, ast.Constant) and isinstance(item.value, str):
                        yield item, item.value


def _apply(text: str, changes: Iterable[_Line]) -> str:
    """The file with all changes."""
    lines = text.encode().splitlines(keepends=True)
    for change in sorted(changes, key=lambda each: (each.number, each.start), reverse=True):
        line = lines[change.number - 1]
        lines[change.number - 1] = line[: change.start] + change.new.encode() + line[change.end :]
    return b"".join(lines).decode()


def _build(
    copy: Path, root: Path, described: tuple[RuntimePreset, ...], more: Mapping[str, str] | None = None
) -> dict[str, Product]:
    """What npm builds in a copy of a project. Raises BuildError with what it printed."""
    npm, node = which("npm"), which("node")
    if npm is None or node is None:
        raise BuildError(
            "the project is a Node.js add-on, and npm is not on PATH",
            where=str(root),
            advice="Install Node.js with npm. Or build it as you usually do, and name what comes out: "
            "latebind adopt FILE.node",
        )
    env = {**os.environ, **_FROM_SOURCE, **_find_headers(node), **(more or {})}
    argv: list[str | Path] = [npm, "install", "--foreground-scripts", "--no-audit", "--no-fund"]
    before = _list_addons(copy)
    with LOG.step("building the add-on with npm", "ran npm"):
        ended = run(argv, cwd=copy, env=env, timeout=_LIMIT, check=False)
    built = [path for path, time in _list_addons(copy).items() if before.get(path) != time]
    if ended.returncode or not built:
        why = first_error(ended.output) if ended.returncode else "npm install ends well, and there is no new .node file"
        advice = "Build it as you usually do, and name what comes out: latebind adopt FILE.node"
        raise BuildError(f"npm cannot build the add-on\n    {why}", where=str(root), advice=advice)
    return {path.name: read_product(path, described) for path in built}


def _list_addons(root: Path) -> dict[Path, int]:
    """The add-ons in a project and when each was written; one for each name, as node-pre-gyp copies what gyp built."""
    found = {path.name: path for path in sorted(root.rglob("*.node"), key=lambda path: (-len(path.parts), path))}
    return {
        path: path.stat().st_mtime_ns
        for path in found.values()
        if not {"node_modules", "obj.target"} & {*path.relative_to(root).parts}
    }


def _list_kept(root: Path, described: tuple[RuntimePreset, ...]) -> Iterator[str]:
    """A line on the add-ons that a package has already, and that link a library: npm packs them, and builds none."""
    linking = [path for path in sorted(root.glob("prebuilds/**/*.node")) if read_product(path, described).findings]
    if linking:
        first, more = linking[0].relative_to(root).as_posix(), len(linking) - 1
        others = f" and {more} more link" if more else " links"
        yield f"left: {first}{others} it as well: users get these files, so build them again, too"


def _find_headers(node: Path) -> dict[str, str]:
    """The setting with which node-gyp takes the headers that came with Node.js, and downloads none."""
    prefix = run([node, "-e", _HEADERS], timeout=60, check=False).output.strip()
    is_there = (
        prefix and (Path(prefix) / "include/node/node_api.h").is_file() and "npm_config_nodedir" not in os.environ
    )
    return {"npm_config_nodedir": prefix} if is_there else {}
