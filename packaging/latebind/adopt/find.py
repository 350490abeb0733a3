"""Finds in the text of CMake and C files which targets link a runtime, and how; runs and changes nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import Path  # noqa: TC003  # tools read the types of the dataclasses
from types import MappingProxyType
from typing import TYPE_CHECKING

from latebind.adopt.cmake import Command, commands
from latebind.adopt.libraries import PackableLibrary, list_libraries
from latebind.adopt.roles import OPERATORS, find_called, find_opening
from latebind.adopt.uncaught import find_uncaught
from latebind.errors import InputError
from latebind.system.tree import list_own_files
from latebind.tables.presets import presets

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from latebind.tables.presets import RuntimePreset

SKIPPED = frozenset({"build", "_build", "out", "dist", "stage", "reports", "node_modules", "_deps", ".venv", ".nox"})
_SOURCES = (".c", ".cc", ".cpp", ".cxx", ".h", ".hpp")
_LARGEST = 4 * 1024 * 1024
_ONE_VALUE = 2  # words of set(NAME value)
_FETCHES = ("fetchcontent_declare", "fetchcontent_makeavailable", "externalproject_add", "cpmaddpackage")
_CALLER = "onnxruntime"
_HEADER = "onnxruntime_c_api.h"
_INCLUDE = re.compile(r"^\s*#\s*include\s*[<\"](?:[\w./-]*/)?onnxruntime_c(?:xx)?_api\.h[>\"]", re.MULTILINE)
# At the start of a line, so not in a function. A value after the parenthesis makes it an object; a type makes it the
# declaration of a function: `Ort::Value View(OrtAllocator* allocator)`, `Ort::Value Clone(Ort::Value value)`.
_OBJECT = re.compile(
    r"""^(?:(?:static|const|inline)[ ]+)*Ort::\w+[ ]+(?P<name>\w+)[ ]*
        (?:[;={]|\((?:ORT_|nullptr|["\d]|Ort\w*::ORT_|Ort(?:Arena|Device|ReadOnly)Allocator,|Ort::\w+[({]))""",
    re.MULTILINE | re.VERBOSE,
)
_CALL = re.compile(r"^(?:(?:static|const|inline)[ ]+)*\w+[ ]+(?P<name>\w+)[ ]*=[ ]*\(?[ ]*Ort::InitApi\(", re.MULTILINE)
"""A variable at namespace scope that calls the runtime, such as `static bool done = (Ort::InitApi(), true);`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A command that has to do with a runtime. `kind`: link, find, fetch, imported, variable."""

    kind: str
    runtime: str
    file: Path
    command: Command
    target: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a project states about itself and its runtimes."""

    root: Path
    top: Path
    """Folder of the top CMakeLists.txt."""
    source: Path
    """Folder that holds everything it includes."""
    files: dict[Path, str]
    """CMake files with their text."""
    objects: tuple[tuple[Path, int, str], ...] = ()
    """C++ objects of ONNX Runtime at namespace scope, which are made while a library is loaded: file, line, name."""
    uncaught: tuple[Path, ...] = ()
    """C++ files with a C interface that catch nothing, in a project that uses `Ort::`."""
    called: tuple[tuple[Path, str], ...] = ()
    """Files that define a function which ONNX Runtime calls, with its name: custom operators, execution providers."""
    opening: tuple[tuple[Path, str], ...] = ()
    """Files that open a runtime by themselves, with its name, so that nothing links it."""
    mentions: tuple[Mention, ...] = ()
    ran: frozenset[tuple[Path, int]] | None = None
    """The file and line of each command that CMake ran; None if it was not asked."""
    libraries: tuple[PackableLibrary, ...] = ()
    """The shared libraries and modules that need a runtime."""
    variables: dict[str, str] = field(default_factory=dict)
    """`${NAME}` of each variable that holds only a runtime's library, with the runtime."""
    name: str = ""
    version: str = ""
    description: str = ""
    header: Path | None = None
    """The folder in which the project holds ONNX Runtime's header."""
    header_version: str = ""
    """The version of that header."""
    includes_header: bool = False
    """Whether its own code includes a header of ONNX Runtime."""

    def of(self, kind: str) -> list[Mention]:
        """The mentions of one kind."""
        return [mention for mention in self.mentions if mention.kind == kind]

    @property
    def runtimes(self) -> list[str]:
        """The runtimes that are linked, in order; for custom operators, the one that calls them."""
        linked = dict.fromkeys(mention.runtime for mention in self.of("link"))
        return list(linked) or ([_CALLER] if self.has_operators and self.libraries else [])

    @property
    def has_operators(self) -> bool:
        """Whether the project is a library of custom operators, which ONNX Runtime opens, and so links no runtime."""
        return not self.of("link") and any(name == OPERATORS for _, name in self.called)

    @property
    def is_adopted(self) -> bool:
        """Whether the project is configured already, or a target binds a runtime late."""
        return (self.root / "latebind.toml").is_file() or any(
            command.name == "latebind_add_runtime" for text in self.files.values() for command in commands(text)
        )


def find(root: Path) -> Found:
    """Look through a project. Raises InputError when it has no CMakeLists.txt."""
    everything = list_own_files(root, without=SKIPPED)
    files = {path: _text(path) for path in everything if path.name == "CMakeLists.txt" or path.suffix == ".cmake"}
    tops = sorted((path for path in files if path.name == "CMakeLists.txt"), key=lambda path: len(path.parts))
    if not tops:
        raise InputError(
            "there is no CMakeLists.txt, but latebind builds with CMake",
            where=str(root),
            advice="Write a CMakeLists.txt that makes your library with add_library(NAME SHARED ...), then run "
            "latebind init again.",
        )
    parsed = {path: commands(text) for path, text in files.items()}
    by_variable = variables([command for file_commands in parsed.values() for command in file_commands])
    mentions = tuple(mention for path in files for mention in _mentions(path, parsed[path], by_variable))
    project_of = {folder: _top(folder, parsed) for folder in {path.parent for path in everything}}
    linking = [top for mention in mentions if mention.kind == "link" and (top := project_of[mention.file.parent])]
    top = min(linking, key=lambda path: len(path.parts), default=tops[0])
    name, version, description = _project(parsed[top])
    texts = {path: _text(path) for path in everything if path.suffix in _SOURCES and path.stat().st_size < _LARGEST}
    source = _source(root, top, parsed)
    own_texts = {
        path: text
        for path, text in texts.items()
        if path.is_relative_to(source) and project_of[path.parent] in (None, top)
    }
    own_files = {path: text for path, text in files.items() if project_of[path.parent] in (None, top)}
    own_mentions = tuple(mention for mention in mentions if project_of[mention.file.parent] in (None, top))
    links = [(mention.target, mention.file) for mention in own_mentions if mention.kind == "link"]
    return Found(
        root=root,
        top=top.parent,
        source=source,
        files=own_files,
        objects=tuple(_objects(own_texts)),
        uncaught=tuple(find_uncaught(own_texts)),
        called=tuple(find_called(own_texts)),
        opening=tuple(find_opening(own_texts)),
        mentions=own_mentions,
        libraries=tuple(list_libraries(own_files, links)),
        variables=by_variable,
        name=name,
        version=version,
        description=description,
        header=next((path.parent for path in texts if path.name == _HEADER), None),
        header_version=_header_version(texts),
        includes_header=any(_INCLUDE.search(text) for text in own_texts.values()),
    )


def _top(folder: Path, parsed: Mapping[Path, list[Command]]) -> Path | None:
    """The CMakeLists.txt of the project that a folder belongs to: a repository may hold several."""
    tops = [path for path in parsed if path.name == "CMakeLists.txt" and path.parent in (folder, *folder.parents)]
    chosen = None
    for path in sorted(tops, key=lambda path: len(path.parts)):
        if chosen is None or (_project(parsed[path])[0] and not _includes(chosen, path, parsed[chosen])):
            chosen = path
    return chosen


def _source(root: Path, top: Path, parsed: Mapping[Path, list[Command]]) -> Path:
    """The folder of a project's CMakeLists.txt, or the one above it that holds everything its files name by `..`."""
    folder = top.parent
    for path in (path for path in parsed if path.is_relative_to(top.parent)):
        for argument in (argument for command in parsed[path] for argument in command.words):
            plain = re.sub(
                r"^\$\{(?:CMAKE_CURRENT_(?:SOURCE|LIST)_DIR|CMAKE_SOURCE_DIR|PROJECT_SOURCE_DIR)\}/", "", argument
            )
            named = (path.parent / plain).resolve() if plain.startswith("../") and "$" not in plain else folder
            while named.exists() and named.is_relative_to(root) and not named.is_relative_to(folder):
                folder = folder.parent
    return folder


def _includes(top: Path, path: Path, file_commands: list[Command]) -> bool:
    """Whether a file takes in another one's folder, or one above it. Of a path with a variable, its end counts."""
    words = [command.words[0] for command in file_commands if command.name == "add_subdirectory" and command.words]
    taken = {top.parent / word for word in words if "$" not in word}
    ends = {f"/{end}" for word in words if "$" in word and (end := word.rpartition("}")[2].strip("/"))}
    below = [folder for folder in path.parents if folder.is_relative_to(top.parent)]
    return any(folder in taken or folder.as_posix().endswith(tuple(ends)) for folder in below)


def variables(file_commands: list[Command]) -> dict[str, str]:
    """`${NAME}` of each variable that find_library() or a set() of one value makes a runtime's library."""
    by_variable: dict[str, str] = {}
    for command in file_commands:
        for value in _names(command):
            if runtime := runtime_of(value, by_variable):
                by_variable[f"${{{command.words[0]}}}"] = runtime
    return by_variable


def _names(command: Command) -> tuple[str, ...]:
    """The libraries that a command may put into its variable; the folders that it searches do not count."""
    if command.name == "set":
        return command.words[1:] if len(command.words) == _ONE_VALUE else ()
    if command.name != "find_library":
        return ()
    end = next((at for at, argument in enumerate(command.words) if argument in ("HINTS", "PATHS")), len(command.words))
    return command.words[1:end]


def runtime_of(item: str, known_variables: Mapping[str, str] = MappingProxyType({})) -> str:
    """The runtime that a link line's item names: `onnxruntime::onnxruntime`, `-lonnxruntime`, a file; "" if none."""
    if item in known_variables:
        return known_variables[item]
    for name, preset in presets().items():
        if _is_of(item, name, preset):
            return name
    return ""


def _is_of(item: str, name: str, preset: RuntimePreset) -> bool:
    lowered, title = item.lower(), name.lower()
    if lowered.startswith("${") and lowered.endswith("}"):
        return title in lowered
    file = lowered.replace("\\", "/").rpartition("/")[2]
    if any(fnmatchcase(file, glob.lower()) for glob in preset.file_globs):
        return True
    plain = re.sub(r"\.(lib|a|so|dylib|dll)$", "", file.removeprefix("-l")).removeprefix("lib")
    space, _, part = plain.partition("::")
    spellings = {title, f"{title}_c", preset.title.lower().replace(" ", "")}
    return (bool(part) and space in spellings) or plain in spellings


def _mentions(path: Path, file_commands: list[Command], by_variable: dict[str, str]) -> Iterator[Mention]:
    for command in file_commands:
        arguments = command.words
        if command.name in ("target_link_libraries", "link_libraries"):
            for runtime in dict.fromkeys(
                filter(None, (runtime_of(argument, by_variable) for argument in arguments[1:]))
            ):
                target = arguments[0] if command.name == "target_link_libraries" else ""
                yield Mention(kind="link", runtime=runtime, file=path, command=command, target=target)
        elif (
            command.name in ("find_library", "set")
            and arguments
            and (runtime := by_variable.get(f"${{{arguments[0]}}}", ""))
        ):
            yield Mention(kind="variable", runtime=runtime, file=path, command=command)
        elif arguments and (runtime := runtime_of(arguments[0])):
            if command.name == "find_package":
                yield Mention(kind="find", runtime=runtime, file=path, command=command)
            elif command.name in _FETCHES:
                yield Mention(kind="fetch", runtime=runtime, file=path, command=command)
            elif command.name == "add_library" and "IMPORTED" in arguments:
                yield Mention(kind="imported", runtime=runtime, file=path, command=command, target=arguments[0])


def _project(file_commands: list[Command]) -> tuple[str, str, str]:
    """Name, version and description of project(); without a version, the one of set(<NAME>_VERSION ...)."""
    command = next((command for command in file_commands if command.name == "project" and command.words), None)
    if command is None:
        return "", "", ""
    name, *options = command.words
    values = {option: value for option, value in pairwise(options) if option in ("VERSION", "DESCRIPTION")}
    variable = f"{re.sub(r'[^A-Za-z0-9]', '_', name)}_VERSION".upper()
    for other in file_commands:
        if other.name == "set" and len(other.words) == _ONE_VALUE and other.words[0].upper() == variable:
            values.setdefault("VERSION", other.words[1])
    return name, values.get("VERSION", ""), values.get("DESCRIPTION", "")


def _objects(texts: dict[Path, str]) -> Iterator[tuple[Path, int, str]]:
    for path, text in texts.items():
        if not path.name.startswith("onnxruntime_"):
            for match in (*_OBJECT.finditer(text), *_CALL.finditer(text)):
                yield path, text.count("\n", 0, match.start()) + 1, match["name"]


def _header_version(texts: dict[Path, str]) -> str:
    for path, text in texts.items():
        if path.name == _HEADER:
            match = re.search(r"^#define ORT_API_VERSION (\d+)", text, re.MULTILINE)
            return f"1.{match[1]}" if match else ""
    return ""


def _text(path: Path) -> str:
    return path.read_text("utf-8", "surrogateescape")
