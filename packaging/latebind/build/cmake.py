"""Runs CMake for one target: configures, compiles and installs each component, and reports what failed."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from latebind.build.codemodel import (
    list_installed_targets,
    list_link_items,
    list_targets,
    name_runtime,
    read_codemodel,
    read_inputs,
    request_codemodel,
)
from latebind.build.cpython import Extension, extension
from latebind.build.diagnostics import (
    first_errors,
    headers_advice,
    linker_advice,
    module_advice,
    provider_advice,
    relative,
    without_commands,
)
from latebind.build.downloads import OFFLINE, report_downloads, source_definitions, sources_advice
from latebind.build.inside import SourceBoundary
from latebind.build.loadersource import write_sources
from latebind.build.sources import loader_dir, native_files
from latebind.build.stub import IN_FRONT, Stub, stub_source
from latebind.compilers.choose import Toolchain, require, toolchain
from latebind.config.config import Config
from latebind.config.project import Project
from latebind.config.runtime import RuntimeUse
from latebind.errors import BuildError
from latebind.fingerprint import digest
from latebind.model import Target
from latebind.semver import semantic_version
from latebind.system.folders import explain_full_disk
from latebind.system.log import LOG
from latebind.system.parallel import each
from latebind.system.run import Completed, command_text, run, tail
from loadcheck.facts import module_abi

if TYPE_CHECKING:
    from latebind.config.native import TomlValue

Variant = Literal["", "debug", "versioned"]
_TIME_LIMIT = 1800.0
_DESCRIBED = "latebind-runtimes"
"""The folder in a build tree for headers and sources of the runtimes that the project describes itself."""
_NO_COMPONENT = "Unspecified"
"""CMake's name for what install() puts into no component."""
_TOP_LEVEL = "CMAKE_PROJECT_TOP_LEVEL_INCLUDES"
_NINJA_STEP = re.compile(rb"^\[\d+/\d+\]", re.MULTILINE)
_UNLINK = (
    "Remove the runtime from target_link_libraries(): the loader's header declares its functions, and the loader finds "
    "it at run time. For code that calls the functions directly, write drop_in = true below [[runtime]]: then a stub "
    "takes the runtime's place when the library is linked."
)
_LAST_OUTPUT = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class NativeBuild:
    """How a project is built for one target on this machine."""

    project: Project
    target: Target
    floor: str
    toolchain: Toolchain
    pythons: tuple[Extension, ...]
    """The CPythons that Python modules are built for; () where there are none."""
    only: str = ""
    """The one package to build, of those that the target has; "" for all."""

    @property
    def config(self) -> Config:
        """The project's configuration."""
        return self.project.config

    @property
    def folder(self) -> Path:
        """The folder of all build trees."""
        return self.project.workdir / "build"

    @property
    def packages(self) -> list[str]:
        """The packages that the target has.

        These are all but the excluded ones, and but Python modules that only a machine of the target can build.
        """
        kind, excluded = self.config.wheel_kind, self.config.excluded(self.target.rid)
        present = [name for name in self.config.packages if name not in excluded and self.only in ("", name)]
        return [name for name in present if self.pythons or kind(name) != "cpython"]

    @property
    def identity(self) -> str:
        """The compiler and the CPythons whose headers are used, for people and manifests."""
        versions = ", ".join(dict.fromkeys(python.interpreter.version for python in self.pythons))
        return ", ".join(filter(None, (self.toolchain.identity(), versions and f"headers of CPython {versions}")))

    @property
    def components(self) -> list[str]:
        """The CMake components of those packages, each once."""
        return list(dict.fromkeys(self.config.packages[name].component for name in self.packages))

    def install(self, prefix: Path, variant: Variant = "") -> None:
        """Build in the target's tree and install each component into a folder of its name below `prefix`.

        A variant is built in a tree of its own: `debug` keeps debug information, `versioned` has versioned SONAMEs. So
        is each further CPython, of whose files only the modules are taken.

        Raises BuildError with the first errors, or when a file from outside the sources was used.
        """
        for runtime in self._drop_ins():
            self._stub(runtime).make(self._stub_prefix(runtime))
        first, *others = self.pythons or (None,)
        self._install(prefix, first, variant)
        each(lambda python: self._add_modules(prefix, python, variant), filter(None, others))
        self.toolchain.finish(self.target, prefix)

    def _add_modules(self, prefix: Path, python: Extension, variant: Variant) -> None:
        """Build for one more CPython, and add its modules. Raises BuildError when there are none."""
        with tempfile.TemporaryDirectory(prefix=".modules-", dir=self.folder) as aside:
            self._install(Path(aside), python, variant, python.abi)
            modules = [path for path in Path(aside).rglob("*") if module_abi(path.name) == python.abi]
            for module in modules:
                (prefix / module.relative_to(aside)).parent.mkdir(parents=True, exist_ok=True)
                module.rename(prefix / module.relative_to(aside))
        if not modules:
            raise BuildError(
                f"the build installed no Python module for {python.abi}",
                where=str(self.config.cmake_source),
                advice="Make modules with latebind_add_python_module(), pybind11_add_module() or "
                "nanobind_add_module(), which name each module for the CPython that CMake finds.",
            )

    def _install(self, prefix: Path, python: Extension | None, variant: Variant, suffix: str = "") -> None:
        cmake, ninja = require("cmake"), require("ninja")
        tree = self.folder / ".".join(filter(None, (self.target.rid, suffix, variant)))
        log = self.folder / f"{tree.name}.log"
        arguments = [f"-DCMAKE_MAKE_PROGRAM={ninja}", *self._arguments(tree, python, variant)]
        owner = [self.toolchain.fingerprint(), python.identity if python else "", self.target.rid, self.floor]
        _prepare_tree(tree, arguments, digest([*owner, str(self.config.cmake_source), str(tree)]), self.target.rid)
        write_sources(self.config, tree / _DESCRIBED)
        log.unlink(missing_ok=True)

        def step(*arguments: str | Path) -> None:
            environment = {
                **self.toolchain.environment(tree),
                **(OFFLINE if self.config.document.native.sources else {}),
            }
            ended = run(
                [cmake, *arguments],
                cwd=tree,  # where file(DOWNLOAD) writes a file without a folder
                env=environment,
                timeout=_TIME_LIMIT,
                log=log,
                check=False,
                watcher=_show_progress,
            )
            if ended.returncode != 0:
                links = self._list_mistaken_links(tree) if arguments[0] == "--build" else []
                raise self._failure(ended, log, links)

        request_codemodel(tree)
        files = native_files(self.project)
        boundary = SourceBoundary(self.config, files, [self.folder, *self.toolchain.folders(tree)])
        with self.toolchain.first_use(self.target, self.floor, tree, files):
            step("-S", self.config.cmake_source, "-B", tree, "-G", "Ninja", *arguments)
            model = read_codemodel(ninja, tree, self.config.cmake_source)
            self._refuse_missing_components(model.components)
            boundary.refuse_outside(model.files)
            boundary.note_outside(model.searched)
            report_downloads(self.config, tree, self.target.rid)
            for path in model.written:  # zig's linker, for macOS, would write to what an old link names
                if path.is_symlink():  # of a library that had a version
                    path.unlink()
            step("--build", tree, *self._choose_made(tree))
        for component in self.components:
            step("--install", tree, "--component", component, "--prefix", prefix / component)
        boundary.refuse_outside(read_inputs(ninja, tree))

    def _choose_made(self, tree: Path) -> list[str]:
        """The options for CMake that build one package alone: what its component installs, and what this needs."""
        made = list_installed_targets(tree, self.components) if self.only else []
        return ["--target", *made] if made else []

    def _arguments(self, tree: Path, python: Extension | None, variant: Variant) -> list[str]:
        document, toolchain_folder = self.config.document, self.folder / f"{tree.name}.toolchain"
        described = any(runtime.describe for runtime in document.runtime)
        arguments = [
            *self.toolchain.configure(self.target, self.floor, toolchain_folder),
            "-DCMAKE_BUILD_TYPE=Release",
            f"-Dlatebind_DIR={loader_dir(self.config)}",
            f"-DLATEBIND_PROJECT_VERSION={self.config.project.version}",
            f"-DLATEBIND_SOURCE_DIR={self.config.native_source}",
            *(f"-DLATEBIND_MINIMUM_{runtime.name}={runtime.minimum}" for runtime in document.runtime),
            *(f"-DLATEBIND_PRIORITY_{runtime.name}={runtime.priority}" for runtime in document.runtime),
            *self._execution_providers(),
            *([f"-DLATEBIND_DESCRIBED={tree / _DESCRIBED}"] if described else []),
            *(f"-D{name}={cmake_value(value)}" for name, value in self._definitions().items()),
        ]
        if self.config.module_kind:
            answers = self.folder / f"{tree.name}.python"
            arguments += python.configure(answers) if python else ["-DLATEBIND_PYTHON_KIND=none"]
        if variant == "versioned":
            arguments.append(f"-DLATEBIND_SOVERSION={self.config.soversion}")
        if variant == "debug":
            arguments += ["-DLATEBIND_SYMBOLS=ON", *self.toolchain.symbols(self.target, toolchain_folder, self.folder)]
        return arguments

    def _execution_providers(self) -> list[str]:
        providers = {name: package.ep for name, package in self.config.packages.items() if package.ep}
        if not providers:
            return []
        version = semantic_version(self.config.project.version)
        return [f"-DLATEBIND_EP_{name}={';'.join(ep.definitions(version))}" for name, ep in providers.items()]

    def _definitions(self) -> dict[str, TomlValue]:
        """The project's own definitions, and latebind's defaults and stubs in front of it."""
        definitions = self.config.definitions(self.target.rid)
        existing = definitions.get(_TOP_LEVEL)
        files = [str(loader_dir(self.config) / "defaults.cmake")]
        if sources := source_definitions(self.config):
            files.append(str(loader_dir(self.config) / "sources.cmake"))
            definitions |= sources
        for runtime in self._drop_ins():
            files.append(str(self._stub_prefix(runtime) / IN_FRONT))
            if runtime.headers:
                definitions[f"LATEBIND_HEADERS_{runtime.name}"] = str(self.config.native_source / runtime.headers)
        if self.config.document.native.hide:
            patterns = (name for package in self.config.packages.values() for name in package.exports)
            definitions["LATEBIND_EXPORTS"] = ";".join(dict.fromkeys(patterns))
        definitions[_TOP_LEVEL] = ";".join([*files, *([str(existing)] if existing else [])])
        return definitions

    def _drop_ins(self) -> list[RuntimeUse]:
        return [runtime for runtime in self.config.document.runtime if runtime.drop_in]

    def _stub(self, runtime: RuntimeUse) -> Stub:
        source, notes = stub_source(runtime, self.config.native_source)
        for note in notes:
            LOG.detail(note)
        return Stub(
            source=source,
            target=self.target,
            floor=self.floor,
            toolchain=self.toolchain,
            loader=loader_dir(self.config),
        )

    def _stub_prefix(self, runtime: RuntimeUse) -> Path:
        return self.folder / f"{self.target.rid}.{runtime.name}"

    def _list_mistaken_links(self, tree: Path) -> list[str]:
        """Where the project links a runtime that it binds late, without a stub in the runtime's place."""
        late = {runtime.preset for runtime in self.config.document.runtime if not runtime.drop_in}
        source, root = self.config.cmake_source, self.config.root
        return [
            f"{relative(str(source / link.place), root)}: error: {link.target['name']} links {link.item}, "
            f"but a library that binds {runtime} late links no file of it"
            for link in list_link_items(list_targets(tree), source)
            if (runtime := name_runtime(link.item)) in late
        ]

    def _failure(self, ended: Completed, log: Path, links: Sequence[str] = ()) -> BuildError:
        """The error of a failed step: the first errors, then the rest; the commands only with `--verbose`.

        `links` are the places that link a runtime by mistake; they come first.
        """
        root, verbose = self.config.root, LOG.level == "verbose"
        command = f": {command_text(ended.argv)}" if verbose else ""
        rest = ended.output if verbose else without_commands(ended.output)
        lines = [
            *dict.fromkeys(links),
            *first_errors(ended.output, root, self.config.native_source),
            f"the native build for {self.target.rid} failed with status {ended.returncode}{command}",
            tail(relative(rest, root)),
        ]
        is_provider = any(package.ep for package in self.config.packages.values())
        specific_advice = provider_advice(ended.output) if is_provider else module_advice(ended.output)
        for runtime in (runtime for runtime in self._drop_ins() if not runtime.headers):
            source = self.config.document.native.source
            specific_advice = specific_advice or headers_advice(ended.output, runtime.name, runtime.minimum, source)
        advice = (
            explain_full_disk(self.folder)
            or (_UNLINK if links else "")
            or sources_advice(self.config, ended.output)
            or specific_advice
            or f"{linker_advice(ended.output) or 'Fix the error and run the command again.'} The whole log is {log}."
        )
        return BuildError("\n".join(lines), advice=advice)

    def _refuse_missing_components(self, existing: Sequence[str]) -> None:
        named = [component for component in existing if component != _NO_COMPONENT]
        begin = f"The CMake project installs: {', '.join(named)}. Name one of these, or" if named else "Add one:"
        for package in self.packages:
            component = self.config.packages[package].component
            if component not in existing:
                raise self.config.problem_at(
                    f"package.{package}.component",
                    f"no install() rule has COMPONENT {component}",
                    f"{begin} write install(TARGETS mylib COMPONENT {component}). COMPONENT must come before "
                    "LIBRARY and RUNTIME: after one of them, it applies to that kind of file only.",
                    BuildError,
                )


def native_build(project: Project, target: Target, only: str = "") -> NativeBuild:
    """How a target, or one package of it, is built here.

    Raises NotRun if there is no compiler for it, BuildError for an unsuitable Python.
    """
    config = project.config
    chosen = toolchain(config.toolchain(target.rid), target)
    return NativeBuild(
        project=project,
        target=target,
        floor=config.floor(target),
        toolchain=chosen,
        pythons=tuple(filter(None, (extension(kind, target, chosen) for kind in config.module_kinds))),
        only=only,
    )


def _prepare_tree(tree: Path, arguments: Sequence[str], identity: str, rid: str) -> None:
    """Keep of an earlier tree what is still right: all for the same settings, what was compiled for other ones.

    CMake's cache would keep removed definitions, so it goes; Ninja then compiles what has another command. Another
    `identity` (compiler, target or source folder) empties the tree.
    """
    stamp = json.dumps({"identity": identity, "arguments": list(arguments)}, indent=1)
    mark = tree / ".latebind"
    if mark.is_file() and mark.read_bytes() == stamp.encode():
        return
    earlier = _read_mark(mark)
    if earlier.get("identity") == identity:
        changed = sorted(set(arguments) ^ set(map(str, earlier.get("arguments", ()))))
        names = dict.fromkeys(argument.partition("=")[0].removeprefix("-D") for argument in changed)
        LOG.say(f"{rid}: settings changed ({', '.join(names)}): building what depends on them")
        (tree / "CMakeCache.txt").unlink(missing_ok=True)
    elif tree.exists():
        LOG.say(f"{rid}: the compiler, its target, Python or the path of a folder changed: building everything again")
        shutil.rmtree(tree)
    tree.mkdir(parents=True, exist_ok=True)
    mark.write_text(stamp, encoding="utf-8")


def _read_mark(mark: Path) -> dict[str, Any]:
    """What a tree was configured with; nothing where that cannot be read."""
    try:
        content = json.loads(mark.read_bytes())
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _show_progress(output: bytes) -> None:
    """Show how far Ninja has come: `[123/235]`, the last one that it printed."""
    steps = _NINJA_STEP.findall(output[-_LAST_OUTPUT:])
    if steps:
        LOG.progress(steps[-1].decode("ascii"))


def cmake_value(value: TomlValue) -> str:
    """A value of latebind.toml as CMake writes it."""
    return ("ON" if value else "OFF") if isinstance(value, bool) else str(value)
