"""Finds, loads and binds libraries as dyld does, and says in dyld's words why one cannot be loaded."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ci.machines.macos.image import Image, UnusableError, map_image, protect_image, read_image
from ci.machines.macos.process import FUNCTIONS, Call
from ci.machines.macos.processor import PAGE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ci.machines.macos.image import Library
    from ci.machines.macos.process import Process, Steps

_IMAGES = 0x1_0000_0000
_FRAMEWORKS = "/System/"
_NAMES = (
    "libSystem.B", "libc++.1", "libc++abi", "libobjc.A", "libz.1", "libiconv.2", "libresolv.9", "libsqlite3",
    "libbz2.1.0", "libm", "libdl",
)  # fmt: skip
_SYSTEM = frozenset(f"/usr/lib/{name}.dylib" for name in _NAMES)
"""The libraries in /usr/lib that this one takes for its own; any other must be a file."""
_CXX = "/usr/lib/libc++.1.dylib"
_SELF, _MAIN, _FLAT, _WEAK = 0, -1, -2, -3
_EXECUTABLE = 2


class NotLoadedError(Exception):
    """A library that cannot be loaded, in dyld's words."""


@dataclass
class Dyld:
    """The images of a process, in the order in which they were loaded."""

    process: Process
    images: list[Image] = field(default_factory=list)
    data: dict[str, int] = field(default_factory=dict)
    """Variables of libSystem, and functions of it that run in the processor, by symbol."""
    end: int = _IMAGES
    kept: Path | None = None
    """The folder of what was read of files before."""

    @property
    def program(self) -> Image:
        """The main program."""
        return self.images[0]

    def load(self, path: Path, chain: tuple[Image, ...] = ()) -> Image:
        """Load a file and what it needs, and bind all of it; it isn't initialized. `chain` are those that need it.

        Raises NotLoadedError; nothing stays loaded then.
        """
        before = len(self.images)
        try:
            image = self._map(path, chain)
            for fresh in self.images[before:]:
                self._bind(fresh)
                protect_image(self.process.processor, fresh)
        except (NotLoadedError, UnusableError):
            del self.images[before:]
            raise
        return image

    def find_loaded(self, path: Path) -> Image | None:
        """The image of a file that is loaded."""
        return next((image for image in self.images if _is_same(image.path, path)), None)

    def initialize(self, image: Image) -> Steps:
        """Run the initializers of an image after those of what it needs."""
        if image.is_initialized:
            return 0
        image.is_initialized = True
        for dependency in filter(None, image.dependencies):
            yield from self.initialize(dependency)
        for address in image.initializers(self.process.processor):
            yield Call(address, (0, 0, 0, 0))
        return 0

    # ---- finding ----

    def candidates(self, name: str, chain: tuple[Image, ...]) -> Iterator[Path]:
        """The files that a name may mean to the last of `chain`."""
        for variable in ("DYLD_LIBRARY_PATH",):
            for folder in filter(None, os.environ.get(variable, "").split(":")):
                yield Path(folder, name.rpartition("/")[2])
        if name.startswith("@rpath/"):
            for image in reversed(chain):
                for rpath in image.contents.rpaths:
                    yield Path(self._expand(rpath, image), name.removeprefix("@rpath/"))
        elif chain or name.startswith("@"):
            yield Path(self._expand(name, chain[-1] if chain else self.program))

    def _expand(self, name: str, image: Image) -> str:
        for prefix, base in (("@loader_path", image), ("@executable_path", self.program)):
            if name == prefix or name.startswith(f"{prefix}/"):
                return str(base.path.parent) + name.removeprefix(prefix)
        return name

    def _map(self, path: Path, chain: tuple[Image, ...]) -> Image:
        processor = self.process.processor
        image = map_image(processor, path, read_image(path, processor.kind.name, self.kept), self.end)
        self.end += -(-image.size // PAGE) * PAGE + 16 * PAGE
        self.images.append(image)
        for library in image.contents.libraries:
            image.dependencies.append(self._find_dependency(library, (*chain, image)))
        return image

    def _find_dependency(self, library: Library, chain: tuple[Image, ...]) -> Image | None:
        name = library.name
        if name.startswith(_FRAMEWORKS) or name in _SYSTEM:
            return None
        tried = []
        for path in self.candidates(name, chain):
            if loaded := self.find_loaded(path):
                return loaded
            try:
                return self._map(path, chain)
            except UnusableError as error:
                tried.append(f"'{path}' ({error})")
        if library.command == "LOAD_WEAK_DYLIB":
            return None
        why = f"tried: {', '.join(tried)}" if tried else "no LC_RPATH's found"
        raise NotLoadedError(f"Library not loaded: {name}\n  Referenced from: {chain[-1].path}\n  Reason: {why}")

    # ---- symbols ----

    def find_symbol(self, image: Image, name: str, *, only: bool = False) -> int | None:
        """What an image exports, or what it re-exports."""
        address = image.find_export(name)
        if address is not None or only:
            return address
        for library, dependency in zip(image.contents.libraries, image.dependencies, strict=True):
            if library.command == "REEXPORT_DYLIB" and dependency is not None:
                address = self.find_symbol(dependency, name)
                if address is not None:
                    return address
        return None

    def find_system(self, name: str, *, lazily: bool = False) -> int | None:
        """A variable or function of libSystem; with `lazily` also one that fails when it is called."""
        if name in self.data:
            return self.data[name]
        return self.process.gate(name) if lazily or name in FUNCTIONS else None

    def find_anywhere(self, name: str) -> int | None:
        """The first export of that name, in the order of loading."""
        for image in self.images:
            address = image.find_export(name)
            if address is not None:
                return address
        return self.find_system(name)

    def _bind(self, image: Image) -> None:
        processor = self.process.processor
        for binding in image.contents.bindings:
            address = self._resolve(image, binding.name, binding.ordinal)
            if address is None:
                if not binding.is_weak:
                    self._refuse(image, binding.name, binding.ordinal)
                address = 0
            value = (address + binding.addend if address else 0) & (1 << 64) - 1
            processor.write(binding.address + image.slide, value.to_bytes(8, "little"))
        for section in image.sections("THREAD_LOCAL_VARIABLES"):
            start = section.address + image.slide
            for at in range(start, start + section.size, 24):
                processor.write(at, self.process.gate("<thread local>").to_bytes(8, "little"))
                processor.write(at + 8, self.images.index(image).to_bytes(8, "little"))

    def _resolve(self, image: Image, name: str, ordinal: int) -> int | None:
        if ordinal > 0:
            dependency = image.dependencies[ordinal - 1]
            if dependency is not None:
                return self.find_symbol(dependency, name)
            return self.find_system(name, lazily=True)
        if ordinal == _SELF:
            return self.find_symbol(image, name)
        if ordinal == _MAIN:
            return self.program.find_export(name)
        address = self.find_anywhere(name)
        if address is None and ordinal == _WEAK and _needs_cxx(image):
            return self.find_system(name, lazily=True)  # the C++ library of macOS, which is not here, has it
        return address

    def _refuse(self, image: Image, name: str, ordinal: int) -> None:
        expected = image.dependencies[ordinal - 1] if ordinal > 0 else None
        where = expected.path if expected else "flat namespace"
        raise NotLoadedError(f"Symbol not found: {name}\n  Referenced from: {image.path}\n  Expected in: {where}")


def _needs_cxx(image: Image) -> bool:
    return any(library.name == _CXX for library in image.contents.libraries)


def _is_same(left: Path, right: Path) -> bool:
    try:
        return left.samefile(right)
    except OSError:
        return False
