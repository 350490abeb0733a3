"""Reads binaries with pyelftools, macholib and pefile into the same facts as Image gives; asserts nothing.

Each fact is a plain value or a sorted list, so that a difference can be shown.
"""

from __future__ import annotations

import io
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from latebind.binary import Image

Facts = dict[str, Any]

_ELF_ARCH = {"EM_X86_64": "x86_64", "EM_AARCH64": "aarch64", "EM_386": "i686", "EM_ARM": "armv7l"}
_MACHO_ARCH = {0x01000007: "x86_64", 0x0100000C: "aarch64", 7: "i686"}
_PE_ARCH = {0x8664: "x86_64", 0xAA64: "aarch64", 0x14C: "i686"}
_LOADS = {0xC: None, 0x80000018: "weak", 0x8000001F: "reexport", 0x20: "delay", 0x80000023: "upward"}


def facts_of(image: Image) -> Facts:
    """What Image says."""
    facts: Facts = {
        "arch": image.arch,
        "own name": image.soname,
        "needed": list(image.needed),
        "imports": sorted({(row.name, row.version if image.format == "elf" else row.library) for row in image.imports}),
        "exports": sorted({(row.name, row.version) for row in image.exports}),
        "search paths": [*image.rpath, *image.runpath],
    }
    if image.format == "macho":
        facts |= {"min os": image.min_os, "signed": image.is_signed, "kinds": dict(image.link_kinds)}
    if image.format == "pe":
        facts |= {"pdb": image.pdb, "timestamp": image.timestamp, "aslr": image.aslr, "nx": image.is_nx}
        facts |= {"forwards": sorted((row.name, row.forward) for row in image.exports if row.forward)}
        facts |= {"delayed": sorted({row.library for row in image.imports if row.kind == "delay"})}
    return facts


def elf(data: bytes) -> list[Facts]:
    """What pyelftools says."""
    from elftools.elf.elffile import ELFFile  # noqa: PLC0415  # installed by the test
    from elftools.elf.gnuversions import GNUVerDefSection, GNUVerNeedSection, GNUVerSymSection  # noqa: PLC0415

    file = ELFFile(io.BytesIO(data))
    dynamic = next(row for row in file.iter_segments() if row["p_type"] == "PT_DYNAMIC")
    tags = list(dynamic.iter_tags())

    def texts(tag: str, attribute: str) -> list[str]:
        return [getattr(row, attribute) for row in tags if row.entry.d_tag == tag]

    paths = [*texts("DT_RPATH", "rpath"), *texts("DT_RUNPATH", "runpath")]
    sections = list(file.iter_sections())
    needs = next((row for row in sections if isinstance(row, GNUVerNeedSection)), None)
    definitions = next((row for row in sections if isinstance(row, GNUVerDefSection)), None)
    numbers = next((row for row in sections if isinstance(row, GNUVerSymSection)), None)
    names: dict[int, str] = {}
    for _, rows in needs.iter_versions() if needs else ():
        names.update({row["vna_other"] & 0x7FFF: row.name for row in rows})
    for version, rows in definitions.iter_versions() if definitions else ():
        names.setdefault(version["vd_ndx"], next(rows).name)
    imports, exports = set(), set()
    table = file.get_section_by_name(".dynsym")
    for index, symbol in enumerate(table.iter_symbols() if table else ()):
        binding, kind = symbol["st_info"]["bind"], symbol["st_info"]["type"]
        if not symbol.name or binding == "STB_LOCAL" or kind in ("STT_SECTION", "STT_FILE"):
            continue
        number = numbers.get_symbol(index)["ndx"] if numbers else 0
        row = (symbol.name, names.get(number & 0x7FFF, "") if isinstance(number, int) and number & 0x7FFF > 1 else "")
        if symbol["st_shndx"] == "SHN_UNDEF":
            imports.add(row)
        elif symbol["st_other"]["visibility"] not in ("STV_HIDDEN", "STV_INTERNAL"):
            is_version = symbol["st_shndx"] == "SHN_ABS" and symbol["st_size"] == 0
            exports |= set() if is_version else {row}
    return [
        {
            "arch": _ELF_ARCH[file["e_machine"]],
            "own name": next(iter(texts("DT_SONAME", "soname")), ""),
            "needed": texts("DT_NEEDED", "needed"),
            "imports": sorted(imports),
            "exports": sorted(exports),
            "search paths": [folder for path in paths for folder in path.split(":")],
        }
    ]


def macho(data: bytes) -> list[Facts]:
    """What macholib says, for each slice."""
    from macholib.MachO import MachO  # noqa: PLC0415
    from macholib.SymbolTable import SymbolTable  # noqa: PLC0415

    class InMemory(MachO):
        """macholib opens files by name."""

        def __init__(self) -> None:
            self.graphident = self.filename = "x"
            self.loader_path = "x"
            self.allow_unknown_load_commands = True
            self.fat = None
            self.headers = []
            self.load(io.BytesIO(data))

    file = InMemory()
    return [_slice(header, SymbolTable(file, header, openfile=lambda *_: io.BytesIO(data))) for header in file.headers]


def _slice(header: Any, symbols: Any) -> Facts:
    def text(raw: bytes) -> str:
        return raw.rstrip(b"\0").decode()

    own, needed, kinds, paths, minimum, signed = "", [], {}, [], "", False
    for load, command, rest in header.commands:
        number = load.cmd
        if number == 0xD:
            own = text(rest)
        elif number in _LOADS:
            needed.append(text(rest))
            kinds |= {text(rest): _LOADS[number]} if _LOADS[number] else {}
        elif number == 0x8000001C:
            paths.append(text(rest))
        elif number in (0x24, 0x32):
            value = int(command.version if number == 0x24 else command.minos)
            patch = f".{value & 0xFF}" if value & 0xFF else ""
            minimum = f"{value >> 16}.{value >> 8 & 0xFF}{patch}"
        signed |= number == 0x1D
    imports = {
        (name.decode().removeprefix("_"), _library(entry.n_desc >> 8, needed))
        for entry, name in symbols.undefsyms
        if entry.n_type & 0xEF == 1
    }
    exports = {(name.decode().removeprefix("_"), "") for entry, name in symbols.extdefsyms if not entry.n_type & 0x10}
    return {
        "arch": _MACHO_ARCH[header.header.cputype & 0xFFFFFFFF],
        "own name": own,
        "needed": needed,
        "imports": sorted(imports),
        "exports": sorted(exports),
        "search paths": paths,
        "min os": minimum,
        "signed": signed,
        "kinds": kinds,
    }


def _library(ordinal: int, needed: list[str]) -> str:
    if ordinal == 255:
        return "(executable)"
    return needed[ordinal - 1] if 0 < ordinal <= len(needed) and ordinal < 254 else ""


def pe(data: bytes) -> list[Facts]:
    """What pefile says."""
    import pefile  # noqa: PLC0415

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        file = pefile.PE(data=data, fast_load=True)
        file.parse_data_directories([0, 1, 6, 13])
    normal = getattr(file, "DIRECTORY_ENTRY_IMPORT", [])
    delayed = getattr(file, "DIRECTORY_ENTRY_DELAY_IMPORT", [])
    table = getattr(file, "DIRECTORY_ENTRY_EXPORT", None)
    flags = file.OPTIONAL_HEADER.DllCharacteristics
    names = [row.dll.decode() for row in (*normal, *delayed)]
    return [
        {
            "arch": _PE_ARCH[file.FILE_HEADER.Machine],
            "own name": table.name.decode() if table is not None and table.name else "",
            "needed": list(dict.fromkeys(names)),
            "imports": sorted(set(_imports([*normal, *delayed]))),
            "exports": sorted({(_name(row), "") for row in (table.symbols if table else ())}),
            "search paths": [],
            "pdb": next(iter(_pdbs(file)), ""),
            "timestamp": file.FILE_HEADER.TimeDateStamp,
            "aslr": "none" if not flags & 0x40 else "full" if flags & 0x20 else "32-bit",
            "nx": bool(flags & 0x100),
            "forwards": sorted(
                (_name(row), row.forwarder.decode()) for row in (table.symbols if table else ()) if row.forwarder
            ),
            "delayed": sorted({row.dll.decode() for row in delayed}),
        }
    ]


def _imports(libraries: list[Any]) -> Iterator[tuple[str, str]]:
    for library in libraries:
        for row in library.imports:
            by_number = row.import_by_ordinal  # then pefile puts in the names that it knows
            yield f"#{row.ordinal}" if by_number else row.name.decode(), library.dll.decode()


def _name(row: Any) -> str:
    return row.name.decode() if row.name else f"#{row.ordinal}"


def _pdbs(file: Any) -> Iterator[str]:
    for row in getattr(file, "DIRECTORY_ENTRY_DEBUG", []):
        if row.struct.Type == 2 and row.entry is not None:
            yield row.entry.PdbFileName.rstrip(b"\0").decode()
