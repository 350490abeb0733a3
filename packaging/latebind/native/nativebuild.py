"""Builds a project for one target as an sdist of it is built, for all its packages and CPythons, and incrementally.

It also checks what CMake reads and installs, and says more of an error.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from latebind.backend.cmake import Build, StepError, build_tree
from latebind.backend.diagnostics import relative
from latebind.backend.extension import Extension
from latebind.backend.fileapi import list_targets
from latebind.backend.files import digest, explain_full_disk
from latebind.backend.targets import Target
from latebind.backend.toolchain import require, toolchain
from latebind.config.config import Config
from latebind.config.project import Project
from latebind.config.runtime import RuntimeUse
from latebind.errors import BuildError
from latebind.native.buildadvice import headers_advice, module_advice, operators_advice, provider_advice, sources_advice
from latebind.native.codemodel import list_link_items, name_runtime, read_codemodel, read_inputs
from latebind.native.inside import SourceBoundary, report_downloads
from latebind.native.nativerecipe import describe_runtimes, find_stub, native_recipe
from latebind.native.pythons import extension
from latebind.native.sources import native_files
from latebind.native.stublibrary import Stub
from latebind.system.log import LOG
from latebind.system.parallel import each
from latebind.system.resources import cmake_dir
from latebind.system.run import run
from latebind.tables.hosts import OPERATORS_ENTRY
from loadcheck.facts import module_abi

Variant = Literal["", "debug", "versioned"]
_NO_COMPONENT = "Unspecified"
"""CMake's name for what install() puts into no component."""
_NINJA_STEP = re.compile(rb"^\[\d+/\d+\]", re.MULTILINE)
_UNLINK = (
    "Remove the runtime from target_link_libraries(): the loader's header declares its functions, and the loader finds "
    "it at run time. For code that calls the functions directly, write drop_in = true below [[runtime]]: then a stub "
    "takes the runtime's place when the library is linked."
)
_LAST_OUTPUT = 64 * 1024


@dataclass(frozen=True, kw_only=True)
class NativeBuild:
    """How a project is built for one target on this machine."""

    config: Config
    build: Build
    """How an sdist of the project is built."""
    pythons: tuple[Extension, ...]
    """The CPythons that Python modules are built for; () where there are none."""

    @property
    def packages(self) -> list[str]:
        """The packages that the target has.

        These are all but the excluded ones, and but Python modules that only a machine of the target can build.
        """
        kind, excluded = self.config.wheel_kind, self.config.excluded(self.build.target.rid)
        present = [name for name in self.config.packages if name not in excluded]
        return [name for name in present if self.pythons or kind(name) != "cpython"]

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
        for runtime in self._drop_ins():
            stub = Stub(
                source=find_stub(self.config, runtime),
                target=self.build.target,
                floor=self.build.floor,
                toolchain=self.build.toolchain,
                loader=cmake_dir(),
            )
            stub.make(self.build.stub_prefix(runtime.name))
        self._install(prefix, self.pythons[0] if self.pythons else None, variant)
        each(lambda python: self._add_modules(prefix, python, variant), self.pythons[1:])

    def _add_modules(self, prefix: Path, python: Extension, variant: Variant) -> None:
        """Build for one more CPython, and add its modules. Raises BuildError when there are none."""
        with tempfile.TemporaryDirectory(prefix=".modules-", dir=self.build.folder) as aside:
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
        build, rid = self.build, self.build.target.rid
        tree = build.folder / ".".join(filter(None, (rid, suffix, variant)))
        arguments = [*build.arguments(tree, python), *self._vary(tree, variant)]
        owner = [build.toolchain.fingerprint(), python.identity if python else "", rid, build.floor]
        _prepare_tree(tree, arguments, digest([*owner, str(self.config.cmake_source), str(tree)]), rid)
        boundary = SourceBoundary(self.config, build.files, [build.folder, *build.toolchain.folders(tree)])
        try:
            build_tree(build, tree, arguments, self.components, prefix, lambda: self._check(tree, boundary))
        except StepError as error:
            raise self._explain(error, tree) from error
        boundary.refuse_outside(read_inputs(require("ninja"), tree))

    def _vary(self, tree: Path, variant: Variant) -> list[str]:
        """CMake's arguments for a variant."""
        if variant == "versioned":
            return [f"-DLATEBIND_SOVERSION={self.config.soversion}"]
        if variant == "debug":
            build = self.build
            folder = build.folder / f"{tree.name}.toolchain"
            return ["-DLATEBIND_SYMBOLS=ON", *build.toolchain.symbols(build.target, folder, build.folder)]
        return []

    def _check(self, tree: Path, boundary: SourceBoundary) -> tuple[()]:
        """Refuse what a configured tree would build from other files or without a component; report downloads."""
        model = read_codemodel(require("ninja"), tree, self.config.cmake_source)
        self._refuse_missing_components(model.components)
        boundary.refuse_outside(model.files)
        boundary.note_outside(model.searched)
        report_downloads(self.config, tree, self.build.target.rid)
        for path in model.written:  # zig's linker, for macOS, would write to what an old link names
            if path.is_symlink():  # of a library that had a version
                path.unlink()
        return ()  # all is built, so that errors in what no package holds are seen, too

    def _drop_ins(self) -> list[RuntimeUse]:
        return [runtime for runtime in self.config.document.runtime if runtime.drop_in]

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

    def _explain(self, error: StepError, tree: Path) -> BuildError:
        """The error with what the project must change, as far as that is known; links of a runtime come first."""
        output, source = error.ended.output, self.config.document.native.source
        links = self._list_mistaken_links(tree) if "--build" in error.ended.argv else []
        is_provider = any(package.ep for package in self.config.packages.values())
        has_operators = any(OPERATORS_ENTRY in package.exports for package in self.config.packages.values())
        advice = [
            explain_full_disk(self.build.folder),
            _UNLINK if links and not has_operators else "",
            sources_advice(self.config, output),
            operators_advice(output) if has_operators else "",
            provider_advice(output) if is_provider else module_advice(output),
            *(
                headers_advice(output, runtime.name, runtime.minimum, source)
                for runtime in self._drop_ins()
                if not runtime.headers
            ),
            error.advice,
        ]
        return BuildError("\n".join([*dict.fromkeys(links), error.message]), advice=next(filter(None, advice)))

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
    build = Build(
        recipe=native_recipe(config),
        target=target,
        toolchain=chosen,
        root=config.root,
        native=config.native_source,
        files=native_files(project),
        generated=describe_runtimes(config),
        loader=cmake_dir(),
        folder=project.workdir / "build",
        run=partial(run, watcher=_show_progress),
        is_verbose=LOG.level == "verbose",
    )
    pythons = filter(None, (extension(kind, target, chosen) for kind in config.module_kinds))
    return NativeBuild(config=config, build=build, pythons=tuple(pythons))


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
