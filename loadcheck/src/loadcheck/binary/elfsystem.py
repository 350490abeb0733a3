"""Reads for which system and processors an ELF file is, and what it says that it opens: from its header and notes.

Sources: the System V ABI (EI_OSABI, e_machine) and its supplement for x86-64; elf.h of glibc, bionic, FreeBSD, NetBSD
and OpenBSD; LLVM's ELF.h; uapi-group.org, "ELF dlopen Metadata" (.note.dlopen).
"""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING, Any

from loadcheck.binary.image import Opened

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from loadcheck.binary.elffile import ElfFile

COPROCESSORS = {
    83: "avr",
    84: "fr30",
    94: "xtensa",
    105: "msp430",
    144: "pru",
    164: "hexagon",
    165: "8051",
    186: "stm8",
    190: "cuda",
    197: "rl78",
    224: "amdgpu",
    247: "bpf",
}
"""Machines for which no system loads libraries: drivers, kernels and debuggers get these files as data."""
_BY_HEADER = {2: "netbsd", 6: "solaris", 7: "aix", 8: "irix", 9: "freebsd", 12: "openbsd"}
_BY_NOTE = {
    b"Android": "android",
    b"DragonFly": "dragonfly",
    b"FreeBSD": "freebsd",
    b"NetBSD": "netbsd",
    b"OHOS": "openharmony",
    b"OpenBSD": "openbsd",
}
_BY_INTERPRETER = {
    "/libexec/ld-elf.so.1": "freebsd",
    "/libexec/ld.elf_so": "netbsd",
    "/usr/libexec/ld.elf_so": "netbsd",
    "/usr/libexec/ld.so": "openbsd",
    "/system/bin/linker": "android",
    "/system/bin/linker64": "android",
    "/usr/lib/ld.so.1": "solaris",
    "/usr/lib/amd64/ld.so.1": "solaris",
}
_BY_VERSION = {"FBSD_": "freebsd", "SUNW_": "solaris", "ILLUMOS_": "solaris"}
_BY_LIBRARY = {
    "libc.so.1": "solaris",
    "libc.so.7": "freebsd",
    "libc.so.8": "dragonfly",
    "libc.so.12": "netbsd",
    "libhilog_ndk.z.so": "openharmony",
}
_PT_GNU_PROPERTY, _NT_GNU_PROPERTY, _ISA_1_NEEDED = 0x6474E553, 5, 0xC0008002
_X86_64 = 62
_LEVELS = {8: "x86-64-v4", 4: "x86-64-v3", 2: "x86-64-v2"}
_OF_BIONIC = "LIBC"
"""The version of most symbols in Android's C library, whose file name is that of musl's."""
_NT_FDO_DLOPEN = 0x407C0C0A
_PRIORITIES = ("required", "recommended", "suggested")


def find_system(
    file: ElfFile, needed: Collection[str], versions: Mapping[str, Collection[str]], interpreter: str
) -> str:
    """The system other than Linux with glibc or musl for which a file is; "" if nothing says so."""
    signs = [_BY_HEADER.get(file.data[7], ""), _BY_INTERPRETER.get(interpreter, "")]
    signs += [_BY_NOTE.get(owner, "") for owner in file.list_note_owners()]
    texts = [text for row in versions.values() for text in row]
    signs += [system for start, system in _BY_VERSION.items() if any(text.startswith(start) for text in texts)]
    signs += ["android"] * (_OF_BIONIC in versions.get("libc.so", ()))
    signs += [_BY_LIBRARY.get(name, "") for name in needed]
    return next(filter(None, signs), "")


def isa_level(file: ElfFile) -> str:
    """The x86-64 level in the notes of a file: from x86-64-v2, or ""."""
    notes = next((segment for segment in file.segments if segment.kind == _PT_GNU_PROPERTY), None)
    if notes is None or file.machine != _X86_64 or not file.is_64:
        return ""
    data = file.bytes_of(notes)
    position = 16  # after the sizes, the kind, and GNU as the owner
    if len(data) < position or struct.unpack_from("<I", data, 8)[0] != _NT_GNU_PROPERTY:
        return ""
    while position + 12 <= len(data):
        kind, size, value = struct.unpack_from("<III", data, position)
        if kind == _ISA_1_NEEDED:
            return next((level for bit, level in _LEVELS.items() if value & bit), "")
        position += 8 + (size + 7 & ~7)
    return ""


def list_opened(file: ElfFile) -> tuple[Opened, ...]:
    """The features of a file's notes, each with libraries of which it opens one; without entries of another form."""
    return tuple(opened for text in file.list_notes(b"FDO", _NT_FDO_DLOPEN) for opened in _read(text))


def _read(text: bytes) -> Iterator[Opened]:
    try:
        entries: Any = json.loads(text.rstrip(b"\0"))
    except (ValueError, RecursionError):
        return
    for entry in entries if isinstance(entries, list) else ():
        names = entry.get("soname") if isinstance(entry, dict) else None
        if isinstance(names, list) and names and all(isinstance(name, str) for name in names):
            priority = entry.get("priority", "recommended")
            yield Opened(
                names=tuple(names),
                feature=str(entry.get("feature", "")),
                priority=priority if priority in _PRIORITIES else "recommended",
            )
