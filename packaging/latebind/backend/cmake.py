"""Builds the native code of a project for one target with CMake: configures, compiles, and installs components."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from latebind.backend.diagnostics import first_errors, linker_advice, relative, without_commands
from latebind.backend.errors import BuildError
from latebind.backend.extension import Extension
from latebind.backend.fileapi import list_installed_targets, request_replies
from latebind.backend.files import digest, explain_full_disk, write_changed
from latebind.backend.recipe import CONFIG, NativeRecipe, Value
from latebind.backend.run import Completed, Run, command_text, run, tail
from latebind.backend.stub import IN_FRONT, install_stub
from latebind.backend.targets import Target
from latebind.backend.toolchain import Toolchain, require
from latebind.backend.tree import hash_files

_TIME_LIMIT = 1800.0
_TOP_LEVEL = "CMAKE_PROJECT_TOP_LEVEL_INCLUDES"
_NOWHERE = "http://127.0.0.1:9"  # the port of the discard protocol, on which nothing listens
_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
OFFLINE = {**dict.fromkeys(_PROXIES, _NOWHERE), "no_proxy": "", "NO_PROXY": "", "GIT_ALLOW_PROTOCOL": "file"}
"""Environment variables with which programs download nothing."""
REFUSE_DOWNLOADS = {"CMAKE_POLICY_DEFAULT_CMP0170": "NEW"}
"""With which CMake 3.30 and newer name a dependency that has no source, instead of going on without it."""
DESCRIBED = "latebind-runtimes"
"""The folder in a build tree for headers and sources of the runtimes that the project describes itself."""


@dataclass(frozen=True, kw_only=True)
class Build:
    """How the native code is built for one target on this machine."""

    recipe: NativeRecipe
    target: Target
    toolchain: Toolchain
    root: Path
    """The folder of the project, from which errors name files."""
    native: Path
    """The folder of all native code."""
    files: Sequence[Path]
    """The files of the native code."""
    generated: Mapping[str, str]
    """What is compiled besides, by name: below DESCRIBED, and of each stub that is built below `stubs`."""
    loader: Path
    folder: Path
    """The folder of all build trees."""
    run: Run = run
    is_verbose: bool = False
    """Whether errors have the commands and all that they printed."""

    @property
    def floor(self) -> str:
        """The oldest libc or macOS that the target is built for."""
        return self.recipe.targets[self.target.rid].floor

    @property
    def source(self) -> Path:
        """The folder of the top-level CMakeLists.txt."""
        return self.native / self.recipe.cmake

    def identify(self, versions: Sequence[str]) -> str:
        """The compiler and the versions of CPython whose headers are used, for people and manifests."""
        headers = f"headers of CPython {', '.join(dict.fromkeys(versions))}" if versions else ""
        return ", ".join(filter(None, (self.toolchain.identity(), headers)))

    def stub_prefix(self, name: str) -> Path:
        """Where the stub of a runtime is installed."""
        return self.folder / f"{self.target.rid}.{name}"

    def environment(self, tree: Path) -> dict[str, str]:
        """The environment in which CMake and the compiler run for a build tree."""
        return {**self.toolchain.environment(tree), **(OFFLINE if self.recipe.sources else {})}

    def arguments(self, tree: Path, python: Extension | None) -> list[str]:
        """CMake's arguments for a build tree, and for Python modules if there are any and `python` builds them."""
        return [
            f"-DCMAKE_MAKE_PROGRAM={require('ninja')}",
            *self.toolchain.configure(self.target, self.floor, self.folder / f"{tree.name}.toolchain"),
            "-DCMAKE_BUILD_TYPE=Release",
            f"-Dlatebind_DIR={self.loader}",
            f"-DLATEBIND_PROJECT_VERSION={self.recipe.version}",
            f"-DLATEBIND_SOURCE_DIR={self.native}",
            *(f"-D{name}={value}" for name, value in self.recipe.variables.items()),
            *([f"-DLATEBIND_DESCRIBED={tree / DESCRIBED}"] if self.recipe.is_described else []),
            *(f"-D{name}={cmake_value(value)}" for name, value in self._definitions().items()),
            *(self._configure(python, tree) if self.recipe.module_kind else ()),
        ]

    def _configure(self, python: Extension | None, tree: Path) -> list[str]:
        return python.configure(self.folder / f"{tree.name}.python") if python else ["-DLATEBIND_PYTHON_KIND=none"]

    def _definitions(self) -> dict[str, Value]:
        """The project's own definitions, and latebind's defaults and stubs in front of it."""
        recipe = self.recipe
        definitions = dict(recipe.targets[self.target.rid].define)
        existing = definitions.get(_TOP_LEVEL)
        files = [str(self.loader / "defaults.cmake")]
        if recipe.sources:
            files.append(str(self.loader / "sources.cmake"))
            definitions |= source_definitions(self.native, recipe.sources)
        for stub in recipe.stubs:
            files.append(str(self.stub_prefix(stub.name) / IN_FRONT))
            if stub.headers:
                definitions[f"LATEBIND_HEADERS_{stub.name}"] = str(self.native / stub.headers)
        if recipe.exports:
            definitions["LATEBIND_EXPORTS"] = recipe.exports
        definitions[_TOP_LEVEL] = ";".join([*files, *([str(existing)] if existing else [])])
        return definitions


class StepError(BuildError):
    """CMake, ninja or a compiler failed; `ended` has all that it printed."""

    def __init__(self, ended: Completed, message: str, advice: str) -> None:
        super().__init__(message, advice=advice)
        self.ended = ended


def build_tree(  # noqa: PLR0913  # what is built, and where it goes
    build: Build,
    tree: Path,
    arguments: Sequence[str],
    components: Sequence[str],
    prefix: Path,
    configured: Callable[[], Sequence[str]],
) -> None:
    """Build in a tree with CMake's `arguments`, and install components, each into a folder of its name below `prefix`.

    `configured` is called when CMake has configured the tree; it returns the targets to compile, none for all.

    Raises StepError with the first errors, ToolError and NotRun.
    """
    cmake, log = require("cmake"), build.folder / f"{tree.name}.log"
    tree.mkdir(parents=True, exist_ok=True)
    write_changed(_list_below(build.generated, DESCRIBED), tree / DESCRIBED)
    log.unlink(missing_ok=True)

    def step(*arguments: str | Path) -> None:
        # In the tree, because file(DOWNLOAD) writes a file without a folder there.
        environment = build.environment(tree)
        ended = build.run([cmake, *arguments], cwd=tree, env=environment, timeout=_TIME_LIMIT, check=False, log=log)
        if ended.returncode != 0:
            raise _explain(build, ended, log)

    request_replies(tree)
    with build.toolchain.first_use(build.target, build.floor, tree, build.files):
        step("-S", build.source, "-B", tree, "-G", "Ninja", *arguments)
        targets = configured()
        step("--build", tree, *(["--target", *targets] if targets else []))
    for component in components:
        step("--install", tree, "--component", component, "--prefix", prefix / component)
    build.toolchain.finish(build.target, prefix)


def build_component(build: Build, component: str, python: Extension | None) -> Path:
    """Build the stubs, then one component into a folder of its name; the folder above it, as an sdist needs it.

    Raises BuildError with the first errors, ToolError and NotRun.
    """
    tree, prefix = build.folder / build.target.rid, build.folder / "installed"
    build.folder.mkdir(parents=True, exist_ok=True)
    for stub in build.recipe.stubs:
        with TemporaryDirectory(dir=build.folder) as folder:
            install_stub(
                stub,
                _list_below(build.generated, f"stubs/{stub.name}"),
                loader=build.loader,
                target=build.target,
                floor=build.floor,
                toolchain=build.toolchain,
                folder=Path(folder),
                prefix=build.stub_prefix(stub.name),
            )
    arguments = build.arguments(tree, python)
    build_tree(build, tree, arguments, [component], prefix, lambda: list_installed_targets(tree, component))
    return prefix


def _explain(build: Build, ended: Completed, log: Path) -> StepError:
    """The error of a failed step: the first errors, then the last lines, without the commands unless in detail."""
    command = f": {command_text(ended.argv)}" if build.is_verbose else ""
    lines = [
        *first_errors(ended.output, build.root, build.source),
        f"the native build for {build.target.rid} failed with status {ended.returncode}{command}",
        tail(relative(ended.output if build.is_verbose else without_commands(ended.output), build.root)),
    ]
    advice = f"{linker_advice(ended.output) or 'Fix the error and run the command again.'} The whole log is {log}."
    return StepError(ended, "\n".join(lines), explain_full_disk(build.folder) or advice)


def _list_below(texts: Mapping[str, str], folder: str) -> dict[str, str]:
    return {name.removeprefix(f"{folder}/"): text for name, text in texts.items() if name.startswith(f"{folder}/")}


def source_definitions(native: Path, sources: Mapping[str, str]) -> dict[str, str]:
    """The variables that loader/sources.cmake needs; nothing for a project without native.sources."""
    paths = [f"{name}={native / path}" for name, path in sources.items()]
    return {"LATEBIND_SOURCES": ";".join(paths), **REFUSE_DOWNLOADS} if paths else {}


def hash_native(recipe: NativeRecipe, native: Path, files: Sequence[Path]) -> str:
    """A hash of everything that the native files are made from, except the compiler: sources, loader, settings.

    It is the same on every system, for every working folder and in an unpacked sdist: files that were built on one are
    imported on another.
    """
    # Neither the floor nor the compiler count: users have others, and a stage says what it was built for.
    define = {rid: dict(row.define) for rid, row in recipe.targets.items()}
    settings = json.dumps({**asdict(recipe), "targets": define}, sort_keys=True)
    # latebind.toml is among the files where they are the project's root: what counts of it is in the recipe.
    paths = [path for path in files if path != native / CONFIG]
    return digest([settings, hash_files(native, paths, modes=False)])


def cmake_value(value: Value) -> str:
    """A value of latebind.toml as CMake writes it."""
    return ("ON" if value else "OFF") if isinstance(value, bool) else str(value)
