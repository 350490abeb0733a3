"""Says which line of a project links or installs a runtime, as its build system knows it, and how to write that line.

A line is replaced only where its text is nothing but the command, expression or list that the build system ran.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import msgspec

from latebind.adopt.setuppy import replace_library
from latebind.errors import ToolError
from latebind.native.codemodel import list_link_items, name_runtime
from latebind.system.run import run
from loadcheck.api import fits_any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from latebind.adopt.ownbuild import Backend, Built
    from latebind.adopt.trace import Call
    from latebind.tables.presets import RuntimePreset, StubNames

VENDOR = "third_party/latebind"
SUBPROJECT = "subprojects/latebind"
_SCOPES = frozenset({"PUBLIC", "PRIVATE", "INTERFACE"})
_COPIES = frozenset({"install", "add_custom_command", "configure_file", "file"})
_LIMIT = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """One place that links, installs or downloads a runtime."""

    path: str
    line: int
    """0 where the build system names none."""
    what: str
    """`links ONNX Runtime`."""
    edit: Edit | None = None
    """None where the change is not certain."""

    def __str__(self) -> str:
        """`CMakeLists.txt:6: links ONNX Runtime`."""
        return f"{self.path}:{self.line}: {self.what}" if self.line else f"{self.path}: {self.what}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """Lines of a file, counted from 1, and what takes their place."""

    path: str
    first: int
    last: int
    """first - 1 to insert before `first`."""
    lines: tuple[str, ...]


def find_causes(built: Built, backend: Backend, runtime: RuntimePreset) -> list[Cause]:
    """The places in the project's own files, in the order of the files."""
    names = runtime.stub
    if names is None:
        return []
    causes = [*_of_cmake(built, runtime, names), *_of_meson(built, backend, names), *_of_setuptools(built, names)]
    causes += _of_cargo(built, runtime)
    return sorted(causes, key=lambda cause: (cause.path, cause.line, cause.what))


# ---- CMake ---------------------------------------------------------------------------------------------------------


def _of_cmake(built: Built, runtime: RuntimePreset, names: StubNames) -> Iterator[Cause]:
    linked = {item.place for item in list_link_items(built.targets, built.source) if name_runtime(item.item)}
    found = False
    imported = {call.args[0] for call in built.calls if _sets_location(call, runtime)}
    calls = list(dict.fromkeys(built.calls))
    times = Counter((call.file, call.line) for call in calls)
    own_modules = {Path(call.file).name for call in calls}
    for call in calls:
        if call.command == "find_package" and f"Find{''.join(call.args[:1])}.cmake" in own_modules:
            continue  # the project's own module finds it
        what, written = _replace_command(call, runtime, names, imported)
        if what:
            found = found or call.command != "install"
            is_once = times[call.file, call.line] == 1  # a loop or a function runs a line for other libraries, too
            yield _cause_of(call, built.root, what, written if is_once else None)
        elif call.fetched:
            yield _cause_of(call, built.root, f"downloads {call.fetched}", None)
    if found or not linked:
        return
    plain = [call for call in built.calls if call.command == "target_link_libraries" and names.library in call.args]
    project = next((call for call in built.calls if call.command == "project"), None)
    for place in sorted(linked):
        path, _, line = place.partition(":")
        edit = _insert_include(project, built.root, runtime) if plain and project else None
        path = (built.source / path).relative_to(built.root).as_posix()
        yield Cause(path=path, line=int(line or 0), what="links {title}", edit=edit)
        plain = []


def _sets_location(call: Call, runtime: RuntimePreset) -> bool:
    """Whether a command says where an imported target's file is, and that file is the runtime's."""
    pairs = zip(call.args, call.args[1:], strict=False)
    return call.command in ("set_target_properties", "set_property") and any(
        key.startswith(("IMPORTED_LOCATION", "IMPORTED_IMPLIB")) and _is_runtime(value, runtime) for key, value in pairs
    )


def _is_runtime(path: str, runtime: RuntimePreset) -> bool:
    return fits_any(PurePosixPath(path.replace("\\", "/")).name, runtime.file_globs)


def _replace_command(
    call: Call, runtime: RuntimePreset, names: StubNames, imported: set[str]
) -> tuple[str, tuple[str, ...] | None]:
    """What a command does with the runtime ("" for nothing), and what takes its place; None where that is not certain.

    `{include}` stands for the command that defines the stub's target.
    """
    stub = f"latebind::{runtime.name}"
    first = call.args[0] if call.args else ""
    if call.command == "find_package" and first in names.packages:
        return "finds {title}", ("{include}",)
    if call.command == "find_library" and names.library in call.args[1:]:
        return "finds {title}", ("{include}", f"set({first} {stub})")
    if call.command == "pkg_check_modules" and names.pkg_config and names.pkg_config in call.args[1:]:
        alias = f"add_library(PkgConfig::{first} ALIAS latebind_{runtime.name})"
        return "finds {title}", ("{include}", alias, f"set({first}_LIBRARIES {stub})")
    if call.command == "add_library" and "IMPORTED" in call.args and first in imported:
        shared = " GLOBAL" if "GLOBAL" in call.args else ""
        lines = (f"add_library({first} INTERFACE IMPORTED{shared})", f"target_link_libraries({first} INTERFACE {stub})")
        return "imports {title}", ("{include}", *lines)
    libraries = [argument for argument in call.args[1:] if argument not in _SCOPES]
    if call.command == "target_link_libraries" and any(
        "/" in name and _is_runtime(name, runtime) for name in libraries
    ):
        scope = next((f"{argument} " for argument in call.args if argument in _SCOPES), "")
        alone = ("{include}", f"target_link_libraries({first} {scope}{stub})")
        return "links {title}", alone if len(libraries) == 1 else None
    return _drop_copy(call, runtime)


def _drop_copy(call: Call, runtime: RuntimePreset) -> tuple[str, tuple[str, ...] | None]:
    """What a command copies of the runtime; nothing takes its place if it is an install() of that alone."""
    listed = [part for argument in call.args for part in argument.split(";")]
    copied = [part for part in listed if _is_runtime(part, runtime)]
    if call.command not in _COPIES or call.fetched or not copied:
        return "", None
    end = next((index for index, part in enumerate(listed) if part in ("DESTINATION", "TYPE")), len(listed))
    is_alone = call.command == "install" and listed[0] in ("FILES", "PROGRAMS") and listed[1:end] == copied
    verb = "installs" if call.command == "install" else "copies"
    return f"{verb} {PurePosixPath(copied[0]).name}", () if is_alone else None


def _cause_of(call: Call, root: Path, what: str, written: tuple[str, ...] | None) -> Cause:
    path = Path(call.file).relative_to(root).as_posix()
    last = call.line_end or call.line
    lines = Path(call.file).read_text("utf-8").splitlines()[call.line - 1 : last]
    if written is None or not _is_alone("\n".join(lines).strip(), call):
        return Cause(path=path, line=call.line, what=what)
    indent = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    made = tuple(indent + line.replace("{include}", _include(path)) for line in written)
    return Cause(path=path, line=call.line, what=what, edit=Edit(path=path, first=call.line, last=last, lines=made))


def _is_alone(text: str, call: Call) -> bool:
    """Whether lines hold one command and nothing else: its name, and a parenthesis that ends with them."""
    rest = text[len(call.command) :].lstrip()
    depths = list(accumulate((character == "(") - (character == ")") for character in rest))
    is_one = rest.startswith("(") and depths[-1] == 0 and 0 not in depths[:-1]
    return is_one and text.lower().startswith(call.command) and "#" not in text


def _include(path: str) -> str:
    """The command that reads the stub's CMake file, from a file of the project."""
    start = "" if path == "CMakeLists.txt" else "${CMAKE_CURRENT_LIST_DIR}/" + "../" * path.count("/")
    return f"include({start}{VENDOR}/{{runtime}}.cmake)"


def _insert_include(project: Call, root: Path, runtime: RuntimePreset) -> Edit:
    """After project(): a target named as the linked library, which CMake then links in its place."""
    path = Path(project.file).relative_to(root).as_posix()
    after = (project.line_end or project.line) + 1
    line = f"include({VENDOR}/{runtime.name}.cmake)"
    return Edit(path=path, first=after, last=after - 1, lines=(line,))


# ---- Meson ---------------------------------------------------------------------------------------------------------


def _of_meson(built: Built, backend: Backend, names: StubNames) -> Iterator[Cause]:
    """The calls dependency() and find_library() in Meson's own syntax tree."""
    if built.meson is None:
        return
    wanted = {*names.packages, names.pkg_config, names.library} - {""}
    files = msgspec.json.decode((built.meson / "meson-info/intro-buildsystem_files.json").read_bytes(), type=list[str])
    for file in (Path(name) for name in files):
        if file.name != "meson.build" or not file.is_relative_to(built.root):
            continue
        path = file.relative_to(built.root).as_posix()
        for node in _walk(_meson_tree(backend, file)):
            name = node.get("name", {})
            called = name.get("value", name) if isinstance(name, dict) else name
            arguments = node.get("args", {}).get("positional", []) if isinstance(node.get("args"), dict) else []
            values = [argument.get("value") for argument in arguments[:1]]
            if called in ("dependency", "find_library") and set(values) & wanted:
                text = "subproject('latebind').get_variable('{runtime}')"
                edit = _replace_span(file, path, node, text)
                yield Cause(path=path, line=node["lineno"], what="finds {title}", edit=edit)


def _meson_tree(backend: Backend, file: Path) -> Any:
    argv: list[str | Path] = [backend.python, "-m", "mesonbuild.mesonmain", "introspect", "--ast", file]
    try:
        return msgspec.json.decode(run(argv, timeout=_LIMIT).output)
    except (ToolError, msgspec.DecodeError):
        return None  # another Meson than the environment's: then no line is named


def _walk(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
    for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from _walk(child)


def _replace_span(file: Path, path: str, node: Mapping[str, Any], text: str) -> Edit:
    """The lines of an expression with another in its place; a method's expression begins at its object."""
    lines = file.read_text("utf-8").splitlines()
    begin, last = node, node["end_lineno"]
    while "object" in begin:
        begin = begin["object"]
    first = begin["lineno"]
    start, end = lines[first - 1][: begin["colno"]], lines[last - 1][node["end_colno"] :]
    return Edit(path=path, first=first, last=last, lines=(f"{start}{text}{end}",))


# ---- setuptools ----------------------------------------------------------------------------------------------------


def _of_setuptools(built: Built, names: StubNames) -> Iterator[Cause]:
    """The Extension of each module that links the runtime, by the line of setup.py that made it."""
    seen: set[tuple[str, int]] = set()
    for extension in built.extensions:
        if names.library not in extension["libraries"] and not any(map(name_runtime, extension["extra_objects"])):
            continue
        for path, line in extension["calls"][:1]:
            if (path, line) not in seen:
                seen.add((path, line))
                edit = _edit_setup(built.root / path, line, names)
                yield Cause(path=path, line=line, what=f"links {{title}} into {extension['name']}", edit=edit)


def _edit_setup(file: Path, line: int, names: StubNames) -> Edit | None:
    text = file.read_text("utf-8")
    changed = replace_library(text, line, names.library, f"{VENDOR}/latebind_{{runtime}}.c")
    if not changed:
        return None
    return Edit(path=file.name, first=1, last=len(text.splitlines()), lines=tuple(changed.splitlines()))


# ---- Cargo ---------------------------------------------------------------------------------------------------------


def _of_cargo(built: Built, runtime: RuntimePreset) -> Iterator[Cause]:
    """The packages whose build scripts have rustc link the runtime. Their code decides how, so no change is certain."""
    for package in built.crates:
        if any(name_runtime(f"-l{library.rpartition('=')[2]}") == runtime.name for library in package.libraries):
            yield Cause(path=package.script, line=0, what=f"has rustc link {{title}} ({package.name})")


def apply_edits(root: Path, edits: Iterable[Edit], runtime: RuntimePreset) -> dict[str, str]:
    """The texts of the files that edits change, by their paths."""
    texts: dict[str, str] = {}
    ordered: Sequence[Edit] = sorted(edits, key=lambda edit: (edit.path, edit.first), reverse=True)
    for edit in ordered:
        text = texts.get(edit.path) or (root / edit.path).read_text("utf-8")
        lines = text.splitlines()
        lines[edit.first - 1 : edit.last] = [line.replace("{runtime}", runtime.name) for line in edit.lines]
        texts[edit.path] = "\n".join(lines) + "\n" * text.endswith("\n")
    return texts
