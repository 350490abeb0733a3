"""What checks receive: a package with its files and their images, already read."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from loadcheck.binary import floors
from loadcheck.formats import SDK_FILE
from loadcheck.readers.imports import find_imported, find_outside_imports
from loadcheck.readers.opened import list_opened
from loadcheck.readers.places import list_beside, resolve_from
from loadcheck.readers.record import read_fields
from loadcheck.tables.pythonabi import module_abi

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from loadcheck.archive import ArchiveProblem
    from loadcheck.binary import Format, Image
    from loadcheck.model import Kind
    from loadcheck.readers.environment import Environment
    from loadcheck.readers.numpyapi import NumpyUse
    from loadcheck.readers.opened import Opened, Place
    from loadcheck.readers.supplied import Supplied

GRAFTED = re.compile(r"(?:-[0-9a-f]{8}(?:[0-9a-f]{24})?)+(?:\.so[.\d]*|(?=\.))")
"""The hash that auditwheel, delvewheel and others add to a library's name, different in each build; on Linux also the
library's version."""

PROVIDER_ENTRY = "CreateEpFactories"
"""The function by which ONNX Runtime gets the execution providers of a plugin."""


@dataclass(frozen=True, kw_only=True)
class File:
    """One file of a package."""

    name: str
    """Its path inside the package; "" for a bare binary."""
    within: str = ""
    """The archive in the package that holds it, an AAR; "" for the package itself."""
    size: int
    mode: int = 0o644
    sha256: str = ""
    head: bytes = b""
    """The first bytes."""
    format: Format | None = None
    is_managed: bool = False
    images: tuple[Image, ...] = ()
    """One; for universal Mach-O files, one per architecture."""
    markers: tuple[str, ...] = ()
    """The policy's markers that the file contains."""
    names: tuple[str, ...] = ()
    """The names in an execution provider's library; or the helpers of a .NET assembly, and the names in its texts."""
    helpers: tuple[str, ...] = ()
    """What a script does so that libraries are found: `LD_LIBRARY_PATH`, `add_dll_directory`."""
    required: tuple[str, ...] = ()
    """The packages that JavaScript code requires by their names."""
    opened: tuple[Opened, ...] = ()
    """The libraries that Python code opens by their paths."""
    may_open: bool = False
    """Whether Python code may open others, too."""
    numpy: NumpyUse | None = None
    """How a module uses NumPy's C API, if it does."""
    problem: str = ""
    """Why the file or its image could not be read."""
    died: str = ""
    """How the reader's process ended while it read this file; "" if it did not."""

    @cached_property
    def base(self) -> str:
        """The file's name without folders."""
        return posixpath.basename(self.name)

    @property
    def stem(self) -> str:
        """The file's name up to its first dot: for a module of Python, the module's name."""
        return self.base.partition(".")[0]

    @property
    def own_name(self) -> str:
        """What the library calls itself, its SONAME or install name without folders; where it doesn't, its file name.

        Windows identifies a library by its file name only.
        """
        sonames = (posixpath.basename(image.soname) for image in self.images if image.format != "pe")
        return next((name for name in sonames if name), self.base)

    @property
    def folder(self) -> str:
        """The folder inside the package, "" at its root."""
        return posixpath.dirname(self.name)

    @property
    def is_grafted(self) -> bool:
        """Whether a repair tool, such as auditwheel, has copied this library into the package."""
        return self.folder.endswith((".libs", ".dylibs")) or GRAFTED.search(self.base) is not None

    @cached_property
    def is_provider(self) -> bool:
        """Whether ONNX Runtime registers it as an execution provider; a runtime's own libraries do not count."""
        exported = {row.name for image in self.images for row in image.exports}
        return PROVIDER_ENTRY in exported and exported.isdisjoint({"OrtGetApiBase", "GetProvider", "Provider_GetHost"})

    @property
    def is_module(self) -> bool:
        """Whether this is an extension module of Python."""
        return any(image.python_module for image in self.images)

    @property
    def is_node_addon(self) -> bool:
        """Whether Node.js loads this file with require()."""
        return self.base.endswith(".node")

    @property
    def is_native(self) -> bool:
        """Whether this is a native binary and not a .NET assembly."""
        return self.format is not None and not self.is_managed


@dataclass(frozen=True, slots=True, kw_only=True)
class WheelName:
    """The parts of a wheel's file name."""

    project: str
    version: str
    pythons: tuple[str, ...]
    abis: tuple[str, ...]
    platforms: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, eq=False)  # so that a result for it can be kept
class Contents:
    """One thing that is audited: a package, a folder or a binary, with its files and their images."""

    path: Path
    kind: Kind
    files: tuple[File, ...] = ()
    problems: tuple[ArchiveProblem, ...] = ()
    texts: Mapping[str, bytes] = field(default_factory=dict)
    """The bytes of the metadata files, by name."""
    wheel: WheelName | None = None
    project: str = ""
    """The distribution, NuGet id or npm name (of the whole, for a part), `<name>-sdk` for an SDK, or ""."""
    links: tuple[str, ...] = ()
    """Its symbolic links."""
    unfollowed: tuple[str, ...] = ()
    """Those that lead to no file of the package."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """The names that files have by links, each with the name of the file."""
    damage: str = ""
    """Why the package cannot be opened; "" if it can."""
    damage_fix: str = ""
    """What to do about it, if not to make the package again."""
    supplied: Supplied | None = None
    """What its requirements install; None if they were not read."""
    environment: Environment | None = None
    """What is installed, if this is a Python environment."""
    lost: Mapping[str, str] = field(default_factory=dict)
    """The files that ended the readers of a package that was given up, each with how."""

    @property
    def is_unread(self) -> bool:
        """Whether the package was not read to its end."""
        return bool(self.damage or self.lost)

    def subject(self, inner: str = "") -> str:
        """`package-file!inner/path`; the path alone for a bare binary."""
        if self.kind == "binary":
            return self.path.as_posix()
        if self.kind in ("folder", "environment"):
            return posixpath.join(self.path.as_posix(), inner) if inner else self.path.as_posix()
        return f"{self.path.name}!{inner}" if inner else self.path.name

    @cached_property
    def sdk(self) -> re.Match[str] | None:
        """Name, version and RID in the name of an SDK archive; None for anything else."""
        return SDK_FILE.fullmatch(self.path.name)

    @property
    def platforms(self) -> tuple[str, ...]:
        """The platform tags of a wheel; none for other packages."""
        return self.wheel.platforms if self.wheel is not None else ()

    @property
    def is_symbols(self) -> bool:
        """Whether this is a NuGet symbol package."""
        return self.path.suffix.lower() == ".snupkg"

    @cached_property
    def stored(self) -> tuple[File, ...]:
        """The files of the package itself, without those of archives in it."""
        return tuple(file for file in self.files if not file.within)

    @cached_property
    def native(self) -> tuple[File, ...]:
        """The native binaries."""
        return tuple(file for file in self.files if file.is_native)

    @cached_property
    def twins(self) -> Mapping[tuple[str, str], tuple[str, ...]]:
        """The names of native files by folder and stem: a module of Python may have one for each of several Pythons."""
        found: dict[tuple[str, str], tuple[str, ...]] = {}
        for file in self.native:
            key = (file.folder, file.stem)
            found[key] = (*found.get(key, ()), file.base)
        return found

    @cached_property
    def paths(self) -> Mapping[str, tuple[str, ...]]:
        """The paths of native files by their names without folders."""
        found: dict[str, tuple[str, ...]] = {}
        for file in self.native:
            for path in (file.name, *self.other_names.get(file.name, ())):
                base = posixpath.basename(path)
                found[base] = (*found.get(base, ()), path)
        return found

    @cached_property
    def other_names(self) -> Mapping[str, tuple[str, ...]]:
        """The paths of links that lead to a file, by its own path."""
        found: dict[str, tuple[str, ...]] = {}
        for alias, name in sorted(self.aliases.items()):
            found[name] = (*found.get(name, ()), alias)
        return found

    def bases_of(self, file: File) -> frozenset[str]:
        """The names of a file without folders, in lower case: its own, and those of links to it."""
        paths = (file.name, *self.other_names.get(file.name, ()))
        return frozenset(posixpath.basename(path).lower() for path in paths)

    @cached_property
    def reachable(self) -> frozenset[str]:
        """The names of native files to which a search path leads, of a binary that needs them or of one that loads it.

        Loaders on Linux pass on DT_RPATH, and not where a binary has DT_RUNPATH.
        """
        found: set[str] = set()
        for file, image in self.images:
            found |= list_beside(self.paths, file.folder, image)
            names = (name for name in image.needed if image.format != "macho" or name.startswith("@rpath/"))
            needed = set(map(posixpath.basename, names)) & self.paths.keys() - found
            folders = self.list_searched(file, image) if needed else frozenset()
            found |= {
                base for base in needed if folders & {posixpath.dirname(path) or "." for path in self.paths[base]}
            }
        return frozenset(found)

    def list_searched(self, file: File, image: Image) -> frozenset[str]:
        """The folders to which the search paths lead of a binary and of those that load it; "." for the root.

        A path that leads out of the package's root is left out.
        """
        users = () if image.runpath else self.users.get(file.name, frozenset())
        searched = [(file.folder, (*image.rpath, *image.runpath))]
        searched += [self._inherited[user] for user in users if user in self._inherited]
        leads = (resolve_from(folder, path) for folder, paths in searched for path in paths)
        return frozenset(filter(None, leads))

    @cached_property
    def _inherited(self) -> Mapping[str, tuple[str, tuple[str, ...]]]:
        """For each binary its folder and the search paths that loaders on Linux pass on."""
        return {file.name: (file.folder, image.rpath) for file, image in self.images}

    @cached_property
    def helpers(self) -> frozenset[str]:
        """What the package's scripts do so that its libraries are found."""
        return frozenset().union(*(file.helpers for file in self.files))

    @cached_property
    def opened(self) -> Mapping[str, frozenset[Place]]:
        """The names of native files that the package's Python code opens by their paths, and where it does."""
        return list_opened(self.files)

    @cached_property
    def providers(self) -> tuple[File, ...]:
        """The execution providers for ONNX Runtime."""
        return tuple(file for file in self.native if file.is_provider)

    @cached_property
    def least_glibc(self) -> tuple[int, ...]:
        """The glibc that the least demanding binary needs; () where one needs none."""
        needed = (floors.needed_glibc(floors.glibc_versions(image))[0] for _, image in self.images)
        return min((version or () for version in needed), default=())

    @cached_property
    def images(self) -> tuple[tuple[File, Image], ...]:
        """Each image that was read, with its file."""
        return tuple((file, image) for file in self.files for image in file.images)

    @cached_property
    def exported(self) -> frozenset[str]:
        """Every name that any image of the package exports."""
        return frozenset(row.name for _, image in self.images for row in image.exports)

    @cached_property
    def names(self) -> frozenset[str]:
        """The paths of all files, also those by links."""
        return frozenset(file.name for file in self.files).union(self.aliases)

    @cached_property
    def bases(self) -> frozenset[str]:
        """The names of all files without folders, in lower case, as Windows compares them."""
        return frozenset(posixpath.basename(name).lower() for name in self.names)

    @cached_property
    def users(self) -> Mapping[str, frozenset[str]]:
        """The files that load a file of the package, directly or through others, with the file itself."""
        places: dict[str, set[str]] = {}
        for file, image in self.images:
            for name in (*self.bases_of(file), posixpath.basename(image.soname).lower()):
                places.setdefault(name, set()).add(file.name)
        needed: dict[str, set[str]] = {file.name: set() for file, _ in self.images}
        for file, image in self.images:
            for name in image.needed:
                needed[file.name] |= places.get(posixpath.basename(name).lower(), set())
        found: dict[str, set[str]] = {}
        for start in needed:
            seen, waiting = {start}, [start]
            while waiting:
                fresh = needed[waiting.pop()] - seen
                seen |= fresh
                waiting += fresh
            for name in seen:
                found.setdefault(name, set()).add(start)
        return {name: frozenset(rows) for name, rows in found.items()}

    def users_of(self, name: str) -> frozenset[str]:
        """The files that load a file of the package, with the file itself."""
        return self.users.get(name, frozenset({name}))

    @cached_property
    def own_libraries(self) -> frozenset[str]:
        """The names of binaries without folders, in lower case."""
        return frozenset().union(*(self.bases_of(file) for file, _ in self.images))

    @cached_property
    def by_soname(self) -> Mapping[str, str]:
        """The file name of each binary that calls itself by a name, by that name in lower case."""
        return {image.soname.lower(): file.base for file, image in self.images if image.soname}

    @cached_property
    def imported(self) -> Mapping[str, str]:
        """The modules that importing a top-level name of the wheel loads in any case, each with that name."""
        if self.kind != "wheel" or not (self.modules or any(module_abi(file.base) for file in self.native)):
            return {}
        return find_imported(self.path, [file.name for file in self.native])

    @cached_property
    def imports(self) -> frozenset[str]:
        """The names of other distributions that Python code of the wheel imports; "*" if not all are known."""
        return find_outside_imports(self.path) if self.kind == "wheel" else frozenset("*")

    @cached_property
    def modules(self) -> frozenset[str]:
        """The files that are Python modules."""
        return frozenset(file.name for file, image in self.images if image.python_module)

    @cached_property
    def entries(self) -> Mapping[str, frozenset[str]]:
        """For each format, the files that users load: its Python modules, or what no other file needs."""
        found: dict[str, frozenset[str]] = {}
        for form in {image.format for _, image in self.images}:
            rows = [(file, image) for file, image in self.images if image.format == form and image.is_linked]
            modules = self.modules & {file.name for file, _ in rows}
            used = {posixpath.basename(name).lower() for _, image in rows for name in image.needed}
            free = (file.name for file, image in rows if not used & {*self.bases_of(file), image.soname.lower()})
            found[form] = modules or frozenset(free) or frozenset(file.name for file, _ in rows)
        return found

    @cached_property
    def tops(self) -> frozenset[str]:
        """The folders and files at the root."""
        return frozenset(file.name.partition("/")[0] for file in self.files)

    @property
    def top(self) -> str:
        """The folder that holds everything; "" where there are several."""
        return next(iter(self.tops)) if len(self.tops) == 1 else ""

    @cached_property
    def dist_info(self) -> str:
        """The wheel's `.dist-info` folder, or ""."""
        return next((name for name in sorted(self.tops) if name.endswith(".dist-info")), "")

    @cached_property
    def metadata(self) -> Mapping[str, tuple[str, ...]] | None:
        """The fields of a wheel's METADATA; None if it cannot be read, which LB502 reports."""
        return read_fields(self.texts.get(f"{self.dist_info}/METADATA", b""))
