"""Has CMake configure a project, with stubs in the runtimes' place, and reads what CMake did.

CMake answers in two ways: the file API lists each target with its link line, each install(), and the line of the
project that asked for it (cmake-file-api(7)); `--trace-expand` lists each command that ran (cmake(1)).
"""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from latebind.adopt.trace import TRACE_OPTIONS, read_calls
from latebind.backend.cache import user_cache
from latebind.backend.cmake import OFFLINE, REFUSE_DOWNLOADS, cmake_value, source_definitions
from latebind.backend.extension import FIND_PYTHON
from latebind.backend.fileapi import list_directories, list_targets, read_cache, request_replies
from latebind.backend.stub import IN_FRONT
from latebind.backend.targets import host_rid, target
from latebind.backend.toolchain import installers_toolchain, require, toolchain
from latebind.config.described import libraries
from latebind.config.file import FILE_NAME, load
from latebind.config.runtime import RuntimeUse
from latebind.native.codemodel import find_place, list_link_items, name_runtime
from latebind.native.stublibrary import Stub, stub_source
from latebind.system.log import LOG
from latebind.system.resources import cmake_dir
from latebind.system.run import run
from latebind.tables.presets import presets
from loadcheck.api import fits_any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from latebind.adopt.trace import Call
    from latebind.backend.toolchain import Toolchain
    from latebind.tables.presets import RuntimePreset

LIMIT = 600.0
"""The seconds that CMake may take."""
PACKED = frozenset({"SHARED_LIBRARY", "MODULE_LIBRARY"})
"""The types of targets that a package holds."""
_DISCONNECTED = {"FETCHCONTENT_FULLY_DISCONNECTED": "ON", **REFUSE_DOWNLOADS}
"""CMake's variables with which FetchContent fails at once where it would download."""
_TRACE = ".trace"
_SHOWN = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A target whose link line has a runtime."""

    target: str
    kind: str
    """CMake's type of the target: SHARED_LIBRARY."""
    runtime: str
    item: str
    """What the link line has: the stub's file, or another one."""
    can_be_late: bool
    """Whether that is the stub, or a name by which the linker may find it."""
    place: str
    """The file and line of the command that linked it."""
    component: str | None
    """The component that installs the target; None if nothing does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Configured:
    """What CMake did with a project."""

    project: Mapping[str, str]
    """Name, version and description, as project() stated them."""
    links: tuple[Link, ...] = ()
    others: tuple[tuple[str, str, str], ...] = ()
    """Each link of a library that latebind knows, but for runtimes: its place, the target, and the library's title."""
    bundled: tuple[tuple[str, str], ...] = ()
    """Each install() of a runtime's own file: its place, and the file."""
    downloads: tuple[tuple[str, str], ...] = ()
    """Each download that ran or was declared: its place, and what is downloaded."""
    asked: Mapping[str, str] = field(default_factory=dict)
    """The version that find_package() asks for, by runtime."""
    outside: tuple[str, ...] = ()
    """Source files outside of the project's folder."""
    error: str = ""
    """What CMake printed about its first error; "" if it configured the project."""


def configure(root: Path, scratch: Path, *, may_download: bool) -> Configured:
    """Configure the project for this machine in the empty folder `scratch`; nothing is written into the project.

    Raises NotRun where no compiler is there, ToolError at the time limit.
    """
    cmake, ninja = require("cmake"), require("ninja")
    host = target(host_rid())
    sources = [path for path in root.rglob("*") if path.suffix in (".cc", ".cpp", ".cxx")]
    compiler = toolchain(installers_toolchain("zig", host, sources, is_sdist=True), host)
    stubs = {name: make_stub(name, preset, compiler, scratch) for name, preset in presets().items() if preset.stub}
    tree = scratch / "tree"
    request_replies(tree)
    trace = tree.with_suffix(_TRACE)
    front = [cmake_dir() / "defaults.cmake", *(prefix / IN_FRONT for prefix in stubs.values())]
    variables: dict[str, str | Path] = {
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_PROJECT_TOP_LEVEL_INCLUDES": ";".join(map(str, front)),
        "latebind_DIR": cmake_dir(),
        "LATEBIND_SOURCE_DIR": root,
        **({} if may_download else _DISCONNECTED),
        **{f"{name}_EXECUTABLE": Path(sys.executable) for name in FIND_PYTHON},
        **_read_definitions(root),
    }
    traced = [*TRACE_OPTIONS, f"--trace-redirect={trace}"]
    options = [f"-DCMAKE_MAKE_PROGRAM={ninja}", *compiler.configure(host, host.floor, scratch / "toolchain")]
    defined = [f"-D{name}={value}" for name, value in variables.items()]
    with LOG.step("configuring the project with CMake", "ran CMake"):
        ended = run(
            [cmake, "-S", root, "-B", tree, "-G", "Ninja", *traced, *options, *defined],
            cwd=scratch,  # where file(DOWNLOAD) writes a file without a folder
            env={**compiler.environment(tree), **({} if may_download else OFFLINE)},
            timeout=LIMIT,
            check=False,
        )
    calls = list(read_calls(trace, root)) if trace.is_file() else []
    downloads = tuple((call.place(root), call.fetched) for call in calls if call.fetched)
    if ended.returncode:
        return Configured(project={}, downloads=downloads, error=_first_error(ended.output))
    cache = read_cache(tree)
    targets = list_targets(tree)
    paths = {(root / source["path"]).resolve() for item in targets for source in item.get("sources", ())}
    return Configured(
        project={key.lower(): cache.get(f"CMAKE_PROJECT_{key}", "") for key in ("NAME", "VERSION", "DESCRIPTION")},
        links=tuple(_list_links(targets, tree, root, stubs)),
        others=tuple(dict.fromkeys(_list_others(targets, root))),
        bundled=tuple(_list_bundled(tree, root)),
        downloads=downloads,
        asked=dict(_list_asked(calls)),
        outside=tuple(
            sorted(str(path) for path in paths if not {root, scratch, cmake_dir().resolve()} & {*path.parents})
        ),
    )


def _read_definitions(root: Path) -> dict[str, str]:
    """The CMake variables of the project's latebind.toml for this machine."""
    if not (root / FILE_NAME).is_file():
        return {}
    config = load(root / FILE_NAME)
    values = config.definitions(host_rid()) | source_definitions(config.native_source, config.document.native.sources)
    return {name: cmake_value(value) for name, value in values.items()}


def make_stub(name: str, preset: RuntimePreset, compiler: Toolchain, scratch: Path) -> Path:
    """The folder with the stub of a runtime."""
    host = target(host_rid())
    source, _ = stub_source(RuntimeUse(preset=name, minimum=preset.floor, drop_in=True), scratch)
    stub = Stub(source=source, target=host, floor=host.floor, toolchain=compiler, loader=cmake_dir())
    prefix = (user_cache() or scratch) / "stubs" / stub.key
    if not prefix.is_dir():
        prefix.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=prefix.parent, prefix=".") as aside:
            stub.make(Path(aside) / "stub")
            with suppress(OSError):  # another process was faster
                (Path(aside) / "stub").rename(prefix)
    return prefix


def _list_asked(calls: list[Call]) -> Iterator[tuple[str, str]]:
    names = {package: name for name, preset in presets().items() if preset.stub for package in preset.stub.packages}
    for call in calls:
        if call.command == "find_package" and call.args[1:] and call.args[0] in names:
            yield names[call.args[0]], call.args[1]


def _list_links(targets: list[dict[str, Any]], tree: Path, root: Path, stubs: Mapping[str, Path]) -> Iterator[Link]:
    rules = [rule for folder in list_directories(tree) for rule in folder["installers"] if rule["type"] == "target"]
    components = {rule["targetId"]: rule["component"] for rule in rules}
    for linked in list_link_items(targets, root):
        stub = next((name for name, prefix in stubs.items() if prefix.as_posix() in linked.item), "")
        if runtime := stub or name_runtime(linked.item):
            yield Link(
                target=linked.target["name"],
                kind=linked.target["type"],
                runtime=runtime,
                item=linked.item,
                can_be_late=bool(stub)
                or linked.item.startswith("-l"),  # by its name: a trial shows what the linker finds
                place=linked.place,
                component=components.get(linked.target["id"]),
            )


def _list_others(targets: list[dict[str, Any]], root: Path) -> Iterator[tuple[str, str, str]]:
    """The libraries' links, or the programs' if there are none: what links a library gets what that links, too."""
    known = libraries()
    named = [(linked, name_runtime(linked.item, known)) for linked in list_link_items(targets, root)]
    found = [(linked, known[name].title) for linked, name in named if name]
    made = [each for each in found if each[0].target["type"] != "EXECUTABLE"]
    return ((linked.place, linked.target["name"], title) for linked, title in made or found)


def _list_bundled(tree: Path, root: Path) -> Iterator[tuple[str, str]]:
    for folder in list_directories(tree):
        for rule in folder["installers"]:
            for path in rule.get("paths", ()) if rule["type"] == "file" else ():
                name = PurePosixPath(path if isinstance(path, str) else path["from"]).name
                if any(fits_any(name, preset.file_globs) for preset in presets().values()):
                    yield find_place(folder["backtraceGraph"], rule["backtrace"], root), name


def _first_error(output: str) -> str:
    """What CMake printed from its first error on, a few lines of it."""
    lines = output[max(output.find("CMake Error"), 0) :].splitlines()
    return "\n".join([line for line in lines if line.strip()][:_SHOWN])
