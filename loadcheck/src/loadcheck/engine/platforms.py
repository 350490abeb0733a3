"""What platform tags and RIDs promise: floors, system libraries and architectures, by the data in two tables."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from loadcheck.binary.floors import is_glibc, numeric

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from loadcheck.binary import Image
    from loadcheck.binary.floors import Version
    from loadcheck.readers.contents import Contents

_T = TypeVar("_T")
_TABLES = ("platforms", "systems")
_LINUX_TAG = re.compile(r"(?P<libc>manylinux|musllinux)_(?P<major>\d+)_(?P<minor>\d+)_(?P<arch>\w+)")
_MACOS_TAG = re.compile(r"macosx_(\d+)_(\d+)_(\w+)")
_MACOS_ARM = (11, 0)
_BIG_SUR_FOR_OLD_PROGRAMS = (10, 16)
_API_SETS = ("api-ms-win-", "ext-ms-win-")
_VC_RUNTIME = re.compile(r"(vcruntime|vccorlib|msvcp|msvcr|concrt|vcomp|mfc)\d+\w*\.dll")
_DEBUG_RUNTIME = re.compile(r"(vcruntime|vccorlib|msvcp|msvcr|concrt|vcomp|mfc)\d+(_\w+?)?d\.dll|ucrtbased\.dll")
_PYTHON = re.compile(r"python3\d*t?(_d)?\.dll|libpypy3\.\d+-c\.dll|python-native\.dll")


class _Data(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    aliases: dict[str, str]
    system_libraries: frozenset[str]
    musl_libraries: frozenset[str]
    macos_folders: tuple[str, ...]
    windows_libraries: frozenset[str]
    windows_intel_libraries: frozenset[str]
    windows_linked: frozenset[str]
    driver_libraries: tuple[str, ...]
    common_libraries: tuple[str, ...]
    essential_libraries: frozenset[str]
    desktop_libraries: frozenset[str]
    symbol_versions: dict[str, dict[str, str]]
    forbidden_symbols: dict[str, frozenset[str]]
    rid_systems: frozenset[str]
    rid_distributions: frozenset[str]
    rid_archs: dict[str, str]
    rid_formats: dict[str, str]
    format_rids: dict[str, str]
    tag_archs: dict[str, tuple[str, ...]]
    tag_formats: dict[str, str]
    npm_cpus: dict[str, str]
    npm_systems: dict[str, tuple[str, ...]]
    unjudged_tags: tuple[str, ...]
    without_libraries: frozenset[str]
    librt: dict[str, tuple[str, ...]]
    once: dict[str, tuple[str, ...]]
    musl_since: dict[str, tuple[str, ...]]
    macos_cxx: dict[str, tuple[str, ...]]
    macos_libc: dict[str, tuple[str, ...]]


@cache
def data() -> _Data:
    """platforms.toml, and systems.toml, which generate/systems.py takes from public sources."""
    tables = [msgspec.toml.decode(Path(__file__).with_name(f"{name}.toml").read_bytes()) for name in _TABLES]
    return msgspec.convert({key: value for table in tables for key, value in table.items()}, _Data)


class LinuxTag(msgspec.Struct, frozen=True):
    """A manylinux or musllinux tag, taken apart."""

    libc: str
    floor: Version
    arch: str


def linux_tag(platform: str) -> LinuxTag | None:
    """The parts of a manylinux or musllinux tag, aliases such as manylinux2014 included; None for others."""
    for alias, full in data().aliases.items():
        if platform.startswith(f"{alias}_"):
            platform = full + platform[len(alias) :]
    match = _LINUX_TAG.fullmatch(platform)
    if match is None:
        return None
    libc = "glibc" if match["libc"] == "manylinux" else "musl"
    return LinuxTag(libc=libc, floor=(int(match["major"]), int(match["minor"])), arch=match["arch"])


def tag_archs(platform: str) -> tuple[str, ...]:
    """Every architecture that binaries with that tag must support; () for `any` and unknown ones."""
    archs_by_end = data().tag_archs.items()
    return next((archs for end, archs in archs_by_end if platform == end or platform.endswith(f"_{end}")), ())


def tag_format(platform: str) -> str:
    """The binary format that a platform tag implies, or ""."""
    return next((value for start, value in data().tag_formats.items() if platform.startswith(start)), "")


def admits_windows(package: Contents) -> bool:
    """Whether a package is for Windows, too: no wheel, or one whose tags name Windows, any or an unknown system."""
    tags = package.platforms or ("any",)
    return any(tag_format(tag) in ("pe", "") and not is_unjudged(tag) for tag in tags)


def rid_arch(rid: str) -> str:
    """The architecture that a RID names, spelled as in wheel tags, or ""."""
    return data().rid_archs.get(rid.rpartition("-")[2], "")


def rid_format(rid: str) -> str:
    """The binary format that a RID implies, or ""."""
    return next((value for start, value in data().rid_formats.items() if rid.startswith(start)), "")


def rid_of_tag(platform: str) -> str:
    """The RID of a platform tag, or "" for tags without one."""
    tag, archs = linux_tag(platform), tag_archs(platform)
    system = "linux-musl" if tag is not None and tag.libc == "musl" else data().format_rids.get(tag_format(platform))
    arch = next((rid for rid, arch in data().rid_archs.items() if (arch,) == archs and rid != arch), None)
    return f"{system}-{arch}" if system and arch else ""


def npm_cpu(arch: str) -> str:
    """What Node.js calls an architecture, or ""."""
    return data().npm_cpus.get(arch, "")


def npm_systems(binary_format: str) -> tuple[str, ...]:
    """The systems that load a binary format, by Node's names."""
    return data().npm_systems.get(binary_format, ())


def is_system(library: str, libc: str) -> bool:
    """Whether every system has a library that the tags for a C library cover; without one, those of either kind."""
    of_musl = is_musl(library) or library in data().musl_libraries
    of_glibc = is_glibc(library) or library in data().system_libraries
    return of_musl if libc == "musl" else of_glibc if libc == "glibc" else of_musl or of_glibc


def is_macos(library: str) -> bool:
    """Whether every macOS has a library of that path."""
    return library.startswith(data().macos_folders)


def is_windows(library: str, arch: str) -> bool:
    """Whether every Windows for a processor has a library of that name. It resolves the names of API sets itself."""
    name, own = library.lower(), data()
    on_intel = arch in ("x86_64", "i686") and name in own.windows_intel_libraries
    return on_intel or name in own.windows_libraries or name in own.windows_linked or name.startswith(_API_SETS)


def is_driver(library: str) -> bool:
    """Whether a library, in lower case, is installed by a driver of a GPU or another device."""
    return any(fnmatchcase(library, glob) for glob in data().driver_libraries)


def is_common(library: str) -> bool:
    """Whether most Linux systems have a library, in lower case, that no platform tag promises."""
    return is_essential(library) or any(fnmatchcase(library, glob) for glob in data().common_libraries)


def is_desktop(library: str) -> bool:
    """Whether manylinux allows a library that the smallest containers lack, and desktop systems have."""
    return library in data().desktop_libraries


def is_essential(library: str) -> bool:
    """Whether the smallest container of a distribution with glibc has a library, in lower case."""
    return library in data().essential_libraries


def is_unjudged(platform: str) -> bool:
    """Whether a platform tag is for a system whose rules loadcheck does not know, such as Android."""
    return platform.startswith(data().unjudged_tags)


def is_vc_runtime(library: str) -> bool:
    """Whether a library is part of the Visual C++ run-time library, which Windows does not include."""
    return bool(_VC_RUNTIME.fullmatch(library.lower())) or is_debug_runtime(library)


def is_debug_runtime(library: str) -> bool:
    """Whether a library belongs to the debug build of the C or C++ run-time library, or of Python."""
    name = library.lower()
    return bool(_DEBUG_RUNTIME.fullmatch(name)) or (is_python(name) and "_d" in name)


def is_python(library: str) -> bool:
    """Whether a library is CPython's, PyPy's or GraalPy's own on Windows."""
    return bool(_PYTHON.fullmatch(library.lower()))


def macos_floor(platform: str, arch: str) -> Version:
    """The macOS that a tag promises to an architecture; () for other tags. At least 11.0 for arm64."""
    match = _MACOS_TAG.fullmatch(platform)
    if match is None:
        return ()
    floor = (int(match[1]), int(match[2]))
    floor = _MACOS_ARM if floor == _BIG_SUR_FOR_OLD_PROGRAMS else floor
    return max(floor, _MACOS_ARM) if arch.startswith(("aarch64", "arm64")) else floor


def is_musl(library: str) -> bool:
    """Whether a library is musl's."""
    return library == "libc.so" or library.startswith(("libc.musl-", "ld-musl-"))


def is_loaded_by_musl(package: Contents, image: Image) -> bool:
    """Whether musl loads an image: by what it links, or by the wheel's tag if it links no C library."""
    is_tagged = any(tag is not None and tag.libc == "musl" for tag in map(linux_tag, package.platforms))
    return image.libc == "musl" or (image.libc == "unknown" and is_tagged)


def symbol_limits(tag: LinuxTag) -> Mapping[str, Version]:
    """The highest version of each family of symbols that a manylinux tag promises: GLIBCXX, CXXABI, GCC, ZLIB, ...

    It promises none of a family that is left out.
    """
    rows = ((*key.partition(" "), limits) for key, limits in data().symbol_versions.items())
    limits = _choose_row(tag, ((floor, limits) for floor, _, arch, limits in rows if arch in ("", tag.arch)))
    return {family: numeric(limit) for family, limit in (limits or {}).items()}


@lru_cache(maxsize=256)  # asked for each library that a binary needs
def list_forbidden(tag: LinuxTag, library: str) -> frozenset[str]:
    """The symbols of an allowed library that some systems of a tag lack."""
    kind = "manylinux" if tag.libc == "glibc" else "musllinux"
    rows = ((key.split(" "), names) for key, names in data().forbidden_symbols.items())
    chosen = _choose_row(tag, ((floor, names) for (of, floor, name), names in rows if (of, name) == (kind, library)))
    return chosen or frozenset()


def _choose_row(tag: LinuxTag, rows: Iterable[tuple[str, _T]]) -> _T | None:
    """Of rows for floors, such as `2.17`, the last for the highest one that a tag promises."""
    by_floor = {numeric(floor): row for floor, row in rows if numeric(floor) <= tag.floor}
    return by_floor[max(by_floor)] if by_floor else None


@cache
def list_families() -> tuple[str, ...]:
    """The families of symbol versions that tags limit, besides glibc's own."""
    return tuple(sorted({family for limits in data().symbol_versions.values() for family in limits}))
