"""Runs CMake for one target: configures, compiles and installs each component, and reports what failed."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from latebind.backend.cmake import DESCRIBED, Build
from latebind.backend.diagnostics import first_errors, linker_advice, relative
from latebind.backend.extension import Extension
from latebind.backend.files import digest
from latebind.backend.run import tail
from latebind.backend.targets import Target
from latebind.backend.toolchain import Toolchain, require, toolchain
from latebind.config.config import Config
from latebind.config.project import Project
from latebind.config.runtime import RuntimeUse
from latebind.errors import BuildError
from latebind.native.codemodel import (
    list_link_items,
    list_targets,
    name_runtime,
    read_codemodel,
    read_inputs,
    request_codemodel,
)
from latebind.native.diagnostics import (
    headers_advice,
    module_advice,
    provider_advice,
    without_commands,
)
from latebind.native.downloads import report_downloads, sources_advice
from latebind.native.inside import SourceBoundary
from latebind.native.loadersource import write_sources
from latebind.native.pythons import InstalledPython, extension
from latebind.native.recipe import native_recipe
from latebind.native.sources import native_files
from latebind.native.stub import Stub, stub_source
from latebind.system.folders import explain_full_disk
from latebind.system.log import LOG
from latebind.system.parallel import each
from latebind.system.resources import cmake_dir
from latebind.system.run import Completed, command_text, run
from loadcheck.facts import module_abi

Variant = Literal["", "debug", "versioned"]
_TIME_LIMIT = 1800.0
_NO_COMPONENT = "Unspecified"
"""CMake's name for what install() puts into no component."""
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
    pythons: tuple[Extension | InstalledPython, ...]
    """The CPythons that Python modules are built for; () where there are none."""

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
        present = [name for name in self.config.packages if name not in excluded]
        return [name for name in present if self.pythons or kind(name) != "cpython"]

    @property
    def build(self) -> Build:
        """What CMake gets."""
        return Build(
            recipe=native_recipe(self.config),
            target=self.target,
            toolchain=self.toolchain,
            native=self.config.native_source,
            loader=cmake_dir(),
            folder=self.folder,
        )

    @property
    def identity(self) -> str:
        """The compiler and the CPythons whose headers are used, for people and manifests."""
        return self.build.identify([python.title for python in self.pythons])

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
        build = self.build
        for runtime in self._drop_ins():
            self._stub(runtime).make(build.stub_prefix(runtime.name))
        self._install(build, prefix, self.pythons[0] if self.pythons else None, variant)
        each(lambda python: self._add_modules(build, prefix, python, variant), self.pythons[1:])
        self.toolchain.finish(self.target, prefix)

    def _add_modules(self, build: Build, prefix: Path, python: Extension | InstalledPython, variant: Variant) -> None:
        """Build for one more CPython, and add its modules. Raises BuildError when there are none."""
        with tempfile.TemporaryDirectory(prefix=".modules-", dir=self.folder) as aside:
            self._install(build, Path(aside), python, variant, python.abi)
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

    def _install(  # what is built, and where it goes
        self,
        build: Build,
        prefix: Path,
        python: Extension | InstalledPython | None,
        variant: Variant,
        suffix: str = "",
    ) -> None:
        cmake, ninja = require("cmake"), require("ninja")
        tree = self.folder / ".".join(filter(None, (self.target.rid, suffix, variant)))
        log = self.folder / f"{tree.name}.log"
        arguments = [f"-DCMAKE_MAKE_PROGRAM={ninja}", *self._arguments(build, tree, python, variant)]
        owner = [self.toolchain.fingerprint(), python.identity if python else "", self.target.rid, self.floor]
        _prepare_tree(tree, arguments, digest([*owner, str(self.config.cmake_source), str(tree)]), self.target.rid)
        write_sources(self.config, tree / DESCRIBED)
        log.unlink(missing_ok=True)

        def step(*arguments: str | Path) -> None:
            ended = run(
                [cmake, *arguments],
                cwd=tree,  # where file(DOWNLOAD) writes a file without a folder
                env=build.environment(tree),
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
            step("--build", tree)
        for component in self.components:
            step("--install", tree, "--component", component, "--prefix", prefix / component)
        boundary.refuse_outside(read_inputs(ninja, tree))

    def _arguments(
        self, build: Build, tree: Path, python: Extension | InstalledPython | None, variant: Variant
    ) -> list[str]:
        modules = self.config.module_kind and python
        answers = modules.configure(self.folder / f"{tree.name}.python") if modules else ["-DLATEBIND_PYTHON_KIND=none"]
        arguments = build.arguments(tree, answers)
        if variant == "versioned":
            arguments.append(f"-DLATEBIND_SOVERSION={self.config.soversion}")
        if variant == "debug":
            folder = self.folder / f"{tree.name}.toolchain"
            arguments += ["-DLATEBIND_SYMBOLS=ON", *self.toolchain.symbols(self.target, folder, self.folder)]
        return arguments

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
            loader=cmake_dir(),
        )

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
            *first_errors(ended.output, root, self.config.cmake_source),
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


def native_build(project: Project, target: Target) -> NativeBuild:
    """How a target is built here. Raises NotRun if there is no compiler for it, BuildError for an unsuitable Python."""
    config = project.config
    chosen = toolchain(config.toolchain(target.rid), target)
    return NativeBuild(
        project=project,
        target=target,
        floor=config.floor(target),
        toolchain=chosen,
        pythons=tuple(filter(None, (extension(kind, target, chosen) for kind in config.module_kinds))),
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
