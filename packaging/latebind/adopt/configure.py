"""Has CMake configure a project, with stubs in the runtimes' place, and reads which commands ran and what links what.

CMake answers in two ways: `--trace-expand` lists each command that ran with its arguments (cmake(1)), and the file API
lists each target with its sources and its link line (cmake-file-api(7)).
"""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import msgspec

from latebind.adopt.absent import configure_without, list_declared
from latebind.adopt.cmake import commands
from latebind.adopt.configuration import read_definitions
from latebind.adopt.find import runtime_of
from latebind.adopt.libraries import ADDS
from latebind.adopt.roles import OPERATORS
from latebind.build.codemodel import list_installers, list_targets, request_codemodel
from latebind.build.diagnostics import first_errors
from latebind.build.downloads import DISCONNECTED, OFFLINE, find_refused
from latebind.build.extension import FIND_PYTHON
from latebind.build.stub import IN_FRONT, Stub
from latebind.build.stubtable import stub_source
from latebind.compilers.choose import CMAKE_REQUIREMENT, NINJA_REQUIREMENT, installers_toolchain, require, toolchain
from latebind.config.runtime import RuntimeUse
from latebind.errors import BuildError
from latebind.system.cache import user_cache
from latebind.system.log import LOG
from latebind.system.resources import cmake_dir
from latebind.system.run import run
from latebind.tables.presets import preset
from latebind.tables.targets import host_rid, target

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from latebind.adopt.find import Found
    from latebind.compilers.choose import Toolchain
    from latebind.system.run import Completed

_LIMIT = 1800.0  # seconds; a few are enough where nothing is downloaded
_ADVICE = "Allow the download with --download, or name an archive of the dependency in [native.sources]."
_TRACE = ".trace"
DEPENDENCIES = "_deps"
"""What FetchContent calls the folder of all that it downloads."""
_MODULES = frozenset({*ADDS[1:], "python3_add_library", "latebind_add_python_module"})
_SHARED = frozenset({"SHARED_LIBRARY", "MODULE_LIBRARY"})
_UNSPECIFIED = "Unspecified"
"""CMake's name for the component of an install() without COMPONENT."""

Place = tuple[Path, int]
"""A file and a line of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedLibrary:
    """A shared library or module whose link line has a runtime."""

    name: str
    place: Place
    """The command of the project that makes it: add_library(), or a call of a function that does."""
    component: str | None
    """The install component; "" for an install() without COMPONENT, None where nothing installs it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfiguredProject:
    """What CMake did."""

    calls: Mapping[Place, list[list[str]]]
    """The arguments of each command that ran, with variables expanded: a list for each time that it ran."""
    libraries: tuple[LinkedLibrary, ...]
    sources: frozenset[Path]
    """The files of these libraries and of the libraries in them; of all that link a runtime where there are none."""
    are_operators: bool = False
    """Whether the libraries are custom operators, which ONNX Runtime opens, so that none of them links it."""
    absent: tuple[str, ...] = ()
    """The dependencies that it would have downloaded: CMake configured it without them."""


class UnconfiguredError(BuildError):
    """CMake could not configure the project. `calls` are the commands that ran before it stopped."""

    def __init__(self, message: str, *, advice: str, calls: Mapping[Place, list[list[str]]]) -> None:
        super().__init__(message, advice=advice)
        self.calls = calls


class _Call(msgspec.Struct):
    """A line of CMake's trace; the first line gives the trace's version instead, and some lines have no command."""

    file: str = ""
    line: int = 0
    args: list[str] = []


def configure(discovery: Found, scratch: Path, *, may_download: bool) -> ConfiguredProject:
    """Configure the project for this machine in the empty folder `scratch`.

    If it would download something and may not, it is configured without that. Raises UnconfiguredError with CMake's
    first error, NotRun where no compiler is there, ToolError at the time limit.
    """
    cmake, ninja = require("cmake", CMAKE_REQUIREMENT), require("ninja", NINJA_REQUIREMENT)
    host = target(host_rid())
    sources = [path for path in discovery.source.rglob("*") if path.suffix in (".cc", ".cpp", ".cxx")]
    compiler = toolchain(installers_toolchain("zig", host, sources, is_sdist=True), host)
    stubs = [_make_stub(runtime, compiler, scratch) for runtime in _list_runtimes(discovery)]
    arguments = [f"-DCMAKE_MAKE_PROGRAM={ninja}", *compiler.configure(host, host.floor, scratch / "toolchain")]

    def run_cmake(tree: Path, front: Iterable[Path], more: Mapping[str, str | Path]) -> Completed:
        request_codemodel(tree)
        trace = tree.with_suffix(_TRACE)
        variables = {**_list_variables(discovery, [*front, *stubs], may_download=may_download), **more}
        defined = [f"-D{name}={value}" for name, value in variables.items()]
        traced = ["--trace-expand", "--trace-format=json-v1", f"--trace-redirect={trace}"]
        command: list[str | Path] = [
            cmake,
            "-S",
            discovery.top,
            "-B",
            tree,
            "-G",
            "Ninja",
            *traced,
            *arguments,
            *defined,
        ]
        environment = {**compiler.environment(tree), **({} if may_download else OFFLINE)}
        return run(command, env=environment, timeout=_LIMIT, check=False)

    tree, refused = scratch / "tree", ""
    with LOG.step("configuring the project with CMake", "configured the project with CMake"):
        ended = run_cmake(tree, [] if may_download else [cmake_dir() / "sources.cmake"], {})
        if ended.returncode != 0 and not may_download and (refused := find_refused(ended.output)):
            tree = scratch / "rest"
            configure_rest = partial(run_cmake, tree, [cmake_dir() / "absent.cmake"])
            ended = configure_without(configure_rest, list_declared(discovery), scratch / DEPENDENCIES)
    calls = _read_trace(tree.with_suffix(_TRACE), discovery.root)
    if ended.returncode != 0:
        text, advice = _describe_error(discovery, ended.output), ""
        if refused:
            text, advice = f"the project would download {refused}", _ADVICE + _mention_others(discovery, refused)
        raise UnconfiguredError(text, advice=advice, calls=calls)
    project = _read_tree(discovery, tree, calls)
    absent = [name for name in list_declared(discovery, calls) if not runtime_of(name)]  # the stub is in its place
    return replace(project, absent=tuple(absent)) if refused else project


def _describe_error(discovery: Found, output: str) -> str:
    return next(iter(first_errors(output, discovery.root, discovery.top)), "CMake ended with an error")


def _mention_others(discovery: Found, name: str) -> str:
    """A line on the other downloads that the CMake files declare: CMake stops at the first one that it needs."""
    others = [other for other in list_declared(discovery) if other != name]
    return (
        f"\n  CMake stopped at this download. The CMake files also declare the downloads {', '.join(others)}."
        if others
        else ""
    )


def _list_variables(discovery: Found, more: Iterable[Path], *, may_download: bool) -> dict[str, str | Path]:
    """CMake's variables: those of `latebind build` as far as they matter before a latebind.toml is written."""
    loader, is_undecided = cmake_dir(), any(library.is_undecided for library in discovery.libraries)
    front = [loader / "defaults.cmake", *more]
    return {
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_PROJECT_TOP_LEVEL_INCLUDES": ";".join(map(str, front)),
        "latebind_DIR": loader,
        "LATEBIND_PROJECT_VERSION": discovery.version or "0.1.0",
        "LATEBIND_SOURCE_DIR": discovery.source,
        **({"LATEBIND_HEADERS_onnxruntime": discovery.header} if discovery.header else {}),
        **({} if may_download else DISCONNECTED),
        **({"BUILD_SHARED_LIBS": "ON"} if is_undecided else {}),
        **_list_interpreters(discovery),
        **read_definitions(discovery.root),
    }


def _list_interpreters(discovery: Found) -> dict[str, str | Path]:
    """The CPython that runs latebind, for a project with Python modules: `latebind build` compiles them for it, too."""
    if not any(command.name in _MODULES for text in discovery.files.values() for command in commands(text)):
        return {}
    return {f"{name}_EXECUTABLE": Path(sys.executable) for name in FIND_PYTHON}


def _list_runtimes(discovery: Found) -> list[str]:
    return list(dict.fromkeys(mention.runtime for mention in discovery.mentions))


def _make_stub(runtime: str, compiler: Toolchain, scratch: Path) -> Path:
    """Build the stub of a runtime, and return the file that puts it in front."""
    host = target(host_rid())
    source, _ = stub_source(RuntimeUse(preset=runtime, minimum=preset(runtime).floor, drop_in=True), scratch)
    stub = Stub(source=source, target=host, floor=host.floor, toolchain=compiler, loader=cmake_dir())
    cache = user_cache()
    prefix = (cache or scratch) / "stubs" / stub.key
    if not prefix.is_dir():
        prefix.parent.mkdir(exist_ok=True)
        with TemporaryDirectory(dir=prefix.parent, prefix=".") as aside:
            stub.make(Path(aside) / "stub")
            with suppress(OSError):  # another process was faster
                (Path(aside) / "stub").rename(prefix)
    return prefix / IN_FRONT


def _read_trace(trace: Path, root: Path) -> dict[Place, list[list[str]]]:
    """The commands of the project's own files that ran."""
    calls: dict[Place, list[list[str]]] = {}
    decoder, own = msgspec.json.Decoder(_Call), msgspec.json.encode(str(root))[:-1]
    with trace.open("rb") as lines:
        for call in (decoder.decode(line) for line in lines if own in line):
            path = Path(call.file)
            if path.is_relative_to(root):
                calls.setdefault((path, call.line), []).append(call.args)
    return calls


def _read_tree(discovery: Found, tree: Path, calls: dict[Place, list[list[str]]]) -> ConfiguredProject:
    targets = {item["id"]: item for item in list_targets(tree)}
    installers = [rule for rule in list_installers(tree) if rule["type"] == "target"]
    components = {rule["targetId"]: rule["component"].removeprefix(_UNSPECIFIED) for rule in reversed(installers)}
    called = {path for path, name in discovery.called if name == OPERATORS}
    holding = {key for key, item in targets.items() if called & {discovery.top / path for path in _list_sources(item)}}
    linked = {key: item for key, item in targets.items() if _links_runtime(item)}
    are_operators = bool(holding) and not any(item["type"] in _SHARED for item in linked.values())
    if are_operators:  # what else links a runtime, such as a test, is not packed
        linked = {
            key: item for key, item in targets.items() if item["type"] in _SHARED and holding & _close(targets, [key])
        }
    shared = {key: item for key, item in linked.items() if item["type"] in _SHARED}
    libraries = [
        LinkedLibrary(name=item["name"], place=place, component=components.get(key))
        for key, item in shared.items()
        if (place := _find_place(item, discovery.top)) in calls
    ]
    needed = _close(targets, shared or linked)
    files = (discovery.top / path for key in needed for path in _list_sources(targets[key]))
    return ConfiguredProject(
        calls=calls,
        libraries=tuple(sorted(libraries, key=lambda library: (library.place, library.name))),
        sources=frozenset(path.resolve() for path in files),
        are_operators=are_operators,
    )


def _list_sources(item: Mapping[str, Any]) -> list[str]:
    return [source["path"] for source in item.get("sources", ())]


def _links_runtime(item: Mapping[str, Any]) -> bool:
    fragments = item.get("link", {}).get("commandFragments", ())
    return any(
        fragment["role"] == "libraries" and runtime_of(fragment["fragment"].strip('"')) for fragment in fragments
    )


def _find_place(item: Mapping[str, Any], top: Path) -> Place:
    """Where the project makes a target: the outermost command of its folder that isn't include()."""
    graph, index = item["backtraceGraph"], item.get("backtrace")
    place = (top, 0)
    while index is not None:
        node = graph["nodes"][index]
        if "command" in node and graph["commands"][node["command"]] != "include":
            place = (top / graph["files"][node["file"]], node["line"])
        index = node.get("parent")
    return place


def _close(targets: Mapping[str, Any], keys: Iterable[str]) -> set[str]:
    """These targets and all that they depend on."""
    closed: set[str] = set()
    waiting = list(keys)
    while waiting:
        if (key := waiting.pop()) in targets and key not in closed:
            closed.add(key)
            waiting += [dependency["id"] for dependency in targets[key].get("dependencies", ())]
    return closed
