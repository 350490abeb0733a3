"""What a native binary says of itself, whatever its format, as frozen data; reads nothing and judges nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Format = Literal["elf", "macho", "pe"]
FileType = Literal["shared", "executable", "object", "core"]
ImportKind = Literal["normal", "weak", "delay"]
LinkKind = Literal["normal", "weak", "reexport", "upward", "delay"]

EXECUTABLE = "(executable)"
"""The library of an import that the program itself must supply (Mach-O bundles)."""


class Import(NamedTuple):  # a package has a hundred thousand of these: a frozen dataclass takes three times as long
    """A symbol that an image takes from elsewhere."""

    name: str
    version: str = ""
    library: str = ""
    """The library that must supply it, where the format records that; "" where any loaded image may."""
    kind: ImportKind = "normal"


class Export(NamedTuple):
    """A symbol that an image offers."""

    name: str
    kind: Literal["func", "data"]
    version: str = ""
    binding: Literal["global", "weak", "unique"] = "global"
    forward: str = ""
    """Where the symbol really lies, when another library supplies it: `onnxruntime.OrtGetApiBase`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """One native binary, or one slice of a universal one.

    The C names of Mach-O symbols are given, without the underscore that the format puts before them.
    """

    format: Format
    file_type: FileType
    arch: str
    """`x86_64`, `aarch64`, `i386`, ... in the spelling of wheel platform tags; "unknown-<number>" otherwise."""
    slice: str = ""
    """The architecture in Apple's own words where the file holds several: `arm64`, `x86_64`."""
    soname: str = ""
    """SONAME, install name, or the name in a PE's export table."""
    needed: tuple[str, ...] = ()
    link_kinds: Mapping[str, LinkKind] = field(default_factory=dict)
    """How a needed library is asked for, where that is not the normal way."""
    imports: tuple[Import, ...] = ()
    exports: tuple[Export, ...] = ()
    rpath: tuple[str, ...] = ()
    """DT_RPATH, or LC_RPATH."""
    runpath: tuple[str, ...] = ()
    version_needs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
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
    platform: str = ""
    """Mach-O: `macos`, `ios`, ...; "" where the file does not say."""
    min_os: str = ""
    """The oldest system that the image says it runs on: `11.0`."""
    is_signed: bool = False
    """Whether a code signature is there; nobody checked it."""
    aslr: Literal["none", "32-bit", "full"] = "full"
    """How far the loader may place the image where it likes; "32-bit" where a PE refuses high addresses."""
    is_nx: bool = True
    pdb: str = ""
    """The path of the debug database that a PE names."""
    timestamp: int = 0
    """Of the PE header; linkers that build reproducibly put a hash there."""

    @property
    def is_linked(self) -> bool:
        """Whether a dynamic loader can load or run it, so that what is said of linkage applies."""
        return self.file_type in ("shared", "executable")

    @property
    def open_imports(self) -> tuple[Import, ...]:
        """What must be found but is not tied to a library: any image that is loaded by then may supply it."""
        if self.format == "elf":
            return tuple(row for row in self.imports if row.kind == "normal" and not row.version)
        return tuple(row for row in self.imports if row.kind == "normal" and not row.library)

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
