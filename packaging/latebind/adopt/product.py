"""Says what a package that was built links, bundles, requires and exports, as loadcheck reads it."""

from __future__ import annotations

import shlex
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from latebind.backend.targets import host_rid, target
from latebind.checks.policy import BindingPolicy
from latebind.config.described import libraries
from latebind.config.file import load_described
from latebind.errors import LatebindError
from latebind.native.stublibrary import stub_source
from latebind.tables.hosts import OPERATORS_ENTRY
from latebind.tables.presets import SYSTEMS, library_files, presets
from latebind.text import DOCS
from loadcheck.api import Choice, audit_paths, fits_any, requirement_rows
from loadcheck.facts import LOADER_FOLDERS, find_kind, is_glibc, kind_of, platforms, read_package

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from latebind.tables.presets import FunctionTable, RuntimePreset
    from loadcheck import Finding
    from loadcheck.facts import Contents, File, Image

_STUB = "LATEBIND_RECORD"
"""A text that every stub contains: a variable that it reads."""
HELD = ("LB101", "LB102", "LB103", "LB104", "LB105")
"""The checks that find a runtime which is linked or contained."""
_UNDEFINED = "LB106"
_PROBES = {"meson-private", "CMakeFiles"}
"""Folders of Meson's and CMake's own: what they build there to try the compiler is no product."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """A package, and what it has to do with runtimes."""

    contents: Contents
    findings: tuple[Finding, ...]
    """Of HELD, an error each."""
    undefined: tuple[Finding, ...]
    """The functions that nothing defines: a stub lacks them, or they are missing anyway."""
    known: tuple[RuntimePreset, ...]
    """The runtimes and libraries that were looked for."""

    @property
    def runtimes(self) -> tuple[RuntimePreset, ...]:
        """Those that it links or contains."""
        names = {finding.cause for finding in self.findings}
        return tuple(runtime for runtime in self.known if runtime.name in names)

    @property
    def bound(self) -> tuple[RuntimePreset, ...]:
        """Those that a stub in it binds late."""
        texts = [set(file.markers) for file in self._with_stubs]
        return tuple(runtime for runtime in self.known if any(runtime.environment in found for found in texts))

    def _list_bound(self, file: File) -> Iterator[RuntimePreset]:
        return (runtime for runtime in self.known if runtime.environment in file.markers)

    def list_static(self) -> Iterator[str]:
        """A line for each program with a stub that is linked statically: its C library opens no other."""
        for file in self._with_stubs:
            if any(
                image.format == "elf" and image.file_type == "executable" and not image.needed for image in file.images
            ):
                page = f"{DOCS}/howto/not-found.md#common-causes"
                yield f"{file.name}: is linked statically, so it can open no library: link it dynamically: {page}"

    def list_late(self) -> Iterator[str]:
        """A line for each library that a stub binds late: of each file in a folder, else of the package."""
        path = self.contents.path
        bound = (
            (file.name if path.is_dir() else path.name, title)
            for file in self._with_stubs
            if not file.name.endswith((".o", ".obj"))
            for title in (*(runtime.title for runtime in self._list_bound(file)), *self._list_others(file))
        )
        lacks = self.undefined or self.list_missing_variables()
        when = "but what is named below is missing" if lacks else "at the first call"
        return (f"{name}: binds {title} late, {when}" for name, title in dict.fromkeys(bound))

    @property
    def has_module(self) -> bool:
        """Whether it has a module of CPython's."""
        return any(name.startswith("PyInit_") for names in self.exports.values() for name in names)

    @property
    def operators(self) -> tuple[str, ...]:
        """The libraries of custom operators that link or bind the runtime, or need its entry."""
        linked = {self.name_file(finding) for finding in self.findings if finding.cause == "onnxruntime"}
        late = {file.name for file in self._with_stubs if presets()["onnxruntime"].environment in file.markers}
        entries = set(presets()["onnxruntime"].entry_symbols)
        needing = {file.name for file, image in self.contents.images if entries & {one.name for one in image.imports}}
        is_alone = self.contents.kind == "binary"
        return tuple(file for file in self.registering if file in linked | late | needing or (is_alone and linked))

    @property
    def registering(self) -> tuple[str, ...]:
        """The libraries of custom operators."""
        return tuple(file for file, exports in self.exports.items() if OPERATORS_ENTRY in exports)

    @property
    def others_bound(self) -> tuple[str, ...]:
        """The libraries that stubs in it bind late, and that `known` lacks: ELF files name what they open."""
        return tuple(dict.fromkeys(name for file in self._with_stubs for name in self._list_others(file)))

    def _list_others(self, file: File) -> Iterator[str]:
        names = {runtime.name for runtime in self.known}
        notes = (opened for image in file.images for opened in image.opened)
        return (opened.feature for opened in notes if opened.feature not in names)

    @property
    def linked(self) -> Mapping[str, tuple[str, ...]]:
        """The files that link libraries which neither the package nor a C library has, and the names of those."""
        found: dict[str, list[str]] = {}
        for file, image in self.contents.images:
            names = [name for name in image.needed if not self._has(name, image)]
            found.setdefault(file.name, []).extend(names)
        return {name: tuple(dict.fromkeys(names)) for name, names in found.items() if names}

    @property
    def built_with(self) -> Mapping[str, Path]:
        """The libraries that the build of a file at hand made, too: its run path leads to them."""
        images = self.contents.images if self.contents.kind == "binary" else ()
        here = str(self.contents.path.resolve().parent)
        paths = ((image, folder.replace("$ORIGIN", here)) for _, image in images for folder in image.runpath)
        folders = [(image, folder) for image, folder in paths if folder not in LOADER_FOLDERS]
        places = ((name, Path(folder, name)) for image, folder in folders for name in image.needed)
        return {name: file for name, file in places if file.is_absolute() and file.is_file()}

    def list_unserved(self, runtime: RuntimePreset) -> tuple[list[str], list[str]]:
        """What it uses of a described library that its stub does not give as the library does.

        That are variables, and functions that it refers to weakly: a linker takes these from a shared library alone.
        Raises LatebindError.
        """
        file = Path(runtime.file).resolve() if runtime.file else library_files().get(runtime.name)
        table = _read_functions(file) if file else None
        if table is None:
            return [], []
        images = [image for _, image in self.contents.images]
        imports = [one for image in images for one in image.imports]
        exports = {one.name for image in images for one in image.exports}  # a program has copies of variables
        used = exports.union(one.name for one in imports)
        weak = {one.name for one in imports if one.kind == "weak"}
        return sorted(used.intersection(table.variables)), sorted(weak.intersection(table.since))

    def _has(self, library: str, image: Image) -> bool:
        is_systems = {
            "elf": is_glibc(library) or platforms.is_musl(library),
            "macho": platforms.is_macos(library),
            "pe": platforms.is_windows(library, image.arch) or platforms.is_python(library),
        }
        return is_systems[image.format] or library.rpartition("/")[2].lower() in self.contents.bases

    @property
    def _with_stubs(self) -> tuple[File, ...]:
        return tuple(file for file in self.contents.native if _STUB in file.markers)

    @property
    def exports(self) -> Mapping[str, frozenset[str]]:
        """What each native file exports."""
        return {
            file.name: frozenset(export.name for image in file.images for export in image.exports)
            for file in self.contents.native
        }

    def find_requirement(self, runtime: RuntimePreset) -> str:
        """The first requirement on a distribution of the runtime, as the package states it; "" for none."""
        names = {canonicalize_name(name) for name in runtime.python.extras.values()}
        rows = requirement_rows(self.contents) if self.contents.dist_info else ()
        return next((text for text, requirement in rows if canonicalize_name(requirement.name) in names), "")

    def describe(self) -> list[str]:
        """A line for each file and runtime that it links, is or opens; none if the package binds late."""
        inner = {(self.name_file(finding), finding.cause): finding for finding in reversed(self.findings)}
        lines = (f"{name}: {finding.message}" for (name, _), finding in sorted(inner.items()))
        return [*lines, *self._list_opened()]

    def name_file(self, finding: Finding) -> str:
        """The file that a finding is about, from the package's top."""
        is_alone = self.contents.kind == "binary"
        return self.contents.path.name if is_alone else finding.subject.rpartition("!")[2].removeprefix("./")

    def _list_opened(self) -> Iterator[str]:
        """The calls in Python code that open a runtime's file in the package."""
        globs = tuple(glob for runtime in presets().values() for glob in runtime.file_globs)
        for file in self.contents.files:
            for call in file.opened:
                names = [] if call.is_elsewhere else sorted(name for name in call.names if fits_any(name, globs))
                if names:
                    place = f"{file.name}:{call.line}" if call.line else file.name
                    yield f"{place}: opens {names[0]}, which a package that binds late does not contain"

    def list_lacking(self) -> Iterator[str]:
        """The functions that nothing defines; a header gives the stub's programs its variables."""
        variables = self.list_missing_variables()
        return (name for finding in self.undefined for name in finding.names if name not in variables)

    def list_missing_variables(self) -> tuple[str, ...]:
        """The variables of libraries bound late that it uses: it does not load before a header gives them."""
        imported = {one.name for _, image in self.contents.images for one in image.imports}
        variables: set[str] = set()
        for runtime in self.bound:
            with suppress(LatebindError):
                variables.update(self.list_unserved(runtime)[0])
        return tuple(sorted(variables & imported))


@cache
def _read_functions(file: Path) -> FunctionTable | None:
    """The functions and variables that a file describes. Raises LatebindError."""
    source, _ = stub_source(load_described(file, {target(host_rid()).system}), file.parent)
    return source.table


def _list_known(described: tuple[RuntimePreset, ...]) -> tuple[RuntimePreset, ...]:
    """Those to look for: the user's descriptions, and latebind's own of other libraries."""
    names = {runtime.name for runtime in described}
    files = {file for runtime in described for system in SYSTEMS for file in runtime.list_files(system)}
    own = {**presets(), **libraries()}
    others = (
        runtime
        for name, runtime in own.items()
        if name not in names and not any(files.intersection(runtime.list_files(system)) for system in SYSTEMS)
    )
    return (*others, *described)


def read_product(path: Path, described: Iterable[RuntimePreset] = ()) -> Product:
    """Read a package, a folder or a library. Raises InputError for anything else.

    It is looked for all runtimes and libraries that latebind knows, and for those that the user describes.
    """
    known = _list_known(tuple(described))
    policy = BindingPolicy(runtimes=known, choice=Choice(profile="runtime", select=(*HELD, _UNDEFINED)))
    report = audit_paths([path], policy)
    name = kind_of(path)
    kind = find_kind(name)
    markers = (_STUB, *(runtime.environment for runtime in known))
    contents = read_package(
        path, name, is_text=kind.is_text, markers=markers, lost={}, about_to_read=lambda _name: None
    )
    files = tuple(file for file in contents.files if not _PROBES & {*file.name.split("/")})
    return Product(
        contents=replace(contents, files=files, project=kind.find_project(contents)),
        findings=tuple(finding for finding in report.findings if finding.code in HELD),
        undefined=tuple(finding for finding in report.findings if finding.code == _UNDEFINED and not finding.cause),
        known=known,
    )


def list_stub_commands(runtimes: Iterable[RuntimePreset]) -> str:
    """The command that makes the stubs of libraries in the folder stubs, and has the shell's builds link them."""
    *others, last = (f"latebind stub {shlex.quote(runtime.stub_argument)} --output stubs" for runtime in runtimes)
    return " && ".join((*others, f'eval "$({last} --export)"'))
