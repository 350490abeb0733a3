"""The model of a native binary, for all formats."""

from __future__ import annotations

from dataclasses import dataclass, field
from mmap import mmap
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from loadcheck.binary.signature import SignedPages

Data = bytes | mmap
"""The bytes of a file: in memory, or mapped from the disk."""
Format = Literal["elf", "macho", "pe"]
FileType = Literal["shared", "executable", "object", "core"]
ImportKind = Literal["normal", "weak", "delay"]
LinkKind = Literal["normal", "weak", "reexport", "upward", "delay"]

EXECUTABLE = "(executable)"
"""The library of an import that the program itself must define (Mach-O bundles)."""


class Import(NamedTuple):  # a package has 100,000 of these, and a frozen dataclass takes three times as long
    """A symbol that an image imports."""

    name: str
    version: str = ""
    library: str = ""
    """The library that must define it, if the format records that; "" if any loaded image may."""
    kind: ImportKind = "normal"


class Export(NamedTuple):
    """A symbol that an image exports."""

    name: str
    kind: Literal["func", "data"]
    version: str = ""
    forward: str = ""
    """The symbol of another library that it stands for: `onnxruntime.OrtGetApiBase`."""
    is_weak: bool = False
    """Whether another definition may take its place, as for inline functions of C++ (ELF)."""


class Opened(NamedTuple):
    """Libraries of which an image says that it opens one at run time, the best first."""

    names: tuple[str, ...]
    feature: str
    """What the image calls their use."""
    priority: Literal["required", "recommended", "suggested"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """One native binary, or one slice of a universal one.

    Mach-O symbols have their C names, without the leading underscore of the format.
    """

    format: Format
    file_type: FileType
    arch: str
    """`x86_64`, `aarch64`, `i386`, ... as wheel platform tags spell it; "unknown-<number>" otherwise."""
    slice: str = ""
    """Apple's name for the architecture in a file with several: `arm64`, `x86_64`."""
    soname: str = ""
    """SONAME, install name, or the name in a PE's export table."""
    needed: tuple[str, ...] = ()
    opened: tuple[Opened, ...] = ()
    """What an ELF file says that it opens."""
    link_kinds: Mapping[str, LinkKind] = field(default_factory=dict)
    """How a needed library is linked, if not normally."""
    imports: tuple[Import, ...] = ()
    exports: tuple[Export, ...] = ()
    rpath: tuple[str, ...] = ()
    """DT_RPATH, or LC_RPATH."""
    runpath: tuple[str, ...] = ()
    version_needs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Library to the symbol versions that the image needs from it."""
    interpreter: str = ""
    system: str = ""
    """The system for which an ELF file is, if that is not Linux with glibc or musl: `freebsd`."""
    is_firmware: bool = False
    """Whether it is code for a coprocessor or a board, which no process of a system loads."""
    exec_stack: bool = False
    text_relocations: bool = False
    is_bound_at_once: bool = False
    """Whether the loader looks for all functions of an ELF file when it loads the file (BIND_NOW)."""
    stays_loaded: bool = False
    """Whether an ELF file asks never to be unloaded (DF_1_NODELETE)."""
    build_id: str = ""
    has_debug_info: bool = False
    python_module: str = ""
    """The name of the Python module, by the function that the image exports, or ""."""
    platform: str = ""
    """Mach-O: `macos`, `ios`, ...; "" if the file names none."""
    min_os: str = ""
    """The oldest system that the image declares: `11.0`."""
    is_signed: bool = False
    """Whether a Mach-O file has a code signature."""
    signed_pages: SignedPages | None = None
    """What a Mach-O file's signature covers; None if it cannot be judged. Its certificates are not verified."""
    page: int = 0
    """The largest page, in bytes, on which an ELF file's segments can be mapped; 0 for other formats."""
    static_tls: int = 0
    """The bytes of thread-local storage for which an ELF library needs room in every thread's block (DF_STATIC_TLS)."""
    is_skewed: bool = False
    """Whether a segment of an ELF file is at another place of its alignment in memory than in the file."""
    isa: str = ""
    """The x86-64 level without which glibc refuses to load an ELF file, as its notes say: `x86-64-v3`."""
    keeps_gil: bool | None = None
    """Whether a Python module of multi-phase initialization does not say that it needs no GIL; None if unknown."""

    @property
    def is_linked(self) -> bool:
        """Whether a dynamic loader can load or run it, so that linkage matters."""
        return self.file_type in ("shared", "executable")

    @property
    def unjudged(self) -> str:
        """Why no check judges it: no loader loads it, or one whose rules are not known; "" if checks do."""
        if not self.is_linked:
            return f"{self.file_type} files are not loaded"
        if self.is_firmware:
            return f"{self.arch} code runs on a coprocessor, or without a system"
        return f"{self.system} has its own rules for binaries" if self.system else ""

    @property
    def open_imports(self) -> tuple[Import, ...]:
        """The required imports that are not bound to a library, so that any loaded image may define them."""
        if self.format == "elf":
            return tuple(symbol for symbol in self.imports if symbol.kind == "normal" and not symbol.version)
        return tuple(symbol for symbol in self.imports if symbol.kind == "normal" and not symbol.library)

    @property
    def libc(self) -> Literal["glibc", "musl", "unknown"]:
        """The C library that the image is linked against."""
        names = (*self.needed, *self.version_needs, self.interpreter)
        if any("musl" in name for name in names) or "libc.so" in self.needed:
            return "musl"
        versions = (version for needs in self.version_needs.values() for version in needs)
        has_glibc_loader = self.interpreter.rpartition("/")[2].startswith(("ld-linux", "ld64.so"))
        if has_glibc_loader or "libc.so.6" in self.needed or any(text.startswith("GLIBC_") for text in versions):
            return "glibc"
        return "unknown"


def python_module(exports: Iterable[Export]) -> str:
    """The name of the Python module whose init function is exported, or ""."""
    for export in exports:
        if export.name.startswith(("PyInit_", "PyModExport_")):
            return export.name.partition("_")[2]
    return ""
