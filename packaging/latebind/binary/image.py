"""What a native binary says of itself, whatever its format, as frozen data; reads nothing and judges nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Format = Literal["elf", "macho", "pe"]
FileType = Literal["shared", "executable", "object", "core"]
ImportKind = Literal["normal", "weak", "delay"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """A symbol that an image takes from elsewhere."""

    name: str
    version: str = ""
    library: str = ""
    """The library that must supply it, where the format records that; else ""."""
    kind: ImportKind = "normal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """A symbol that an image offers."""

    name: str
    kind: Literal["func", "data"]
    version: str = ""
    binding: Literal["global", "weak", "unique"] = "global"


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """One native binary."""

    format: Format
    file_type: FileType
    arch: str
    """`x86_64`, `aarch64`, `i386`, ... in the spelling of wheel platform tags; "unknown-<number>" otherwise."""
    soname: str = ""
    needed: tuple[str, ...] = ()
    imports: tuple[Import, ...] = ()
    exports: tuple[Export, ...] = ()
    rpath: tuple[str, ...] = ()
    runpath: tuple[str, ...] = ()
    version_needs: Mapping[str, tuple[str, ...]]
    """Library to the symbol versions that the image needs of it."""
    version_definitions: tuple[str, ...] = ()
    interpreter: str = ""
    is_static: bool = False
    """Loads no other file: neither an interpreter nor a library is named."""
    exec_stack: bool = False
    text_relocations: bool = False
    relro: Literal["none", "partial", "full"] = "none"
    bind_now: bool = False
    build_id: str = ""
    has_debug_info: bool = False
    is_stripped: bool = True
    python_module: str = ""
    """The name of the Python module that the image is, by the function that it exports; else ""."""

    @property
    def is_linked(self) -> bool:
        """Whether a dynamic loader can load or run it, so that what is said of linkage applies."""
        return self.file_type in ("shared", "executable")

    @property
    def libc(self) -> Literal["glibc", "musl", "unknown"]:
        """The C library that the image was linked for, as far as it says so."""
        names = (*self.needed, *self.version_needs, self.interpreter)
        if any("musl" in name for name in names) or "libc.so" in self.needed:
            return "musl"
        versions = (version for needs in self.version_needs.values() for version in needs)
        if "libc.so.6" in self.needed or any(version.startswith("GLIBC_") for version in versions):
            return "glibc"
        return "unknown"


def python_module(exports: Iterable[Export]) -> str:
    """The name of the Python module whose initialization is exported, or ""."""
    for export in exports:
        if export.name.startswith(("PyInit_", "PyModExport_")):
            return export.name.partition("_")[2]
    return ""
