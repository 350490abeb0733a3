"""Finds the oldest system that an image can run on, by the versions that it needs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from loadcheck.binary.image import Image

Version = tuple[int, ...]

_GLIBC = frozenset({
    *("libanl.so.1", "libatomic.so.1", "libc.so.6", "libdl.so.2", "libgcc_s.so.1", "libm.so.6", "libmvec.so.1"),
    *("libnsl.so.1", "libpthread.so.0", "libresolv.so.2", "librt.so.1", "libstdc++.so.6", "libutil.so.1"),
})  # fmt: skip
"""Every symbol of these has a version, so an unversioned import is not theirs."""
_DT_RELR = (2, 36)


def is_glibc(library: str) -> bool:
    """Whether a library belongs to glibc or the compiler's run-time libraries, whose symbols all have versions."""
    return library in _GLIBC or library.startswith(("ld-linux", "ld64.so", "ld-linux-"))


def glibc_versions(image: Image) -> tuple[str, ...]:
    """The symbol versions of glibc that an image needs."""
    return tuple(
        version
        for library, versions in image.version_needs.items()
        if is_glibc(library)
        for version in versions
        if version.startswith("GLIBC_")
    )


def needed_glibc(versions: Iterable[str]) -> tuple[Version, str]:
    """The highest glibc among symbol versions and the version string that needs it; ((), "") for none."""
    best: tuple[Version, str] = ((), "")
    for name in versions:
        numbers = _DT_RELR if name == "GLIBC_ABI_DT_RELR" else numeric(name.removeprefix("GLIBC_"))
        if name.startswith("GLIBC_") and numbers > best[0]:
            best = (numbers, name)
    return best


def find_newer(image: Image, family: str, limit: Version, own: Collection[str]) -> dict[str, Version]:
    """The symbol versions of a family above a limit, such as GLIBCXX, that an image needs.

    A library of the package itself, whose name in lower case is in `own`, has every version that it needs.
    """
    needed = (name for library, names in image.version_needs.items() if library.lower() not in own for name in names)
    numbers = {name: numeric(name.removeprefix(f"{family}_")) for name in needed if name.startswith(f"{family}_")}
    return {name: version for name, version in numbers.items() if version > limit}


def because(image: Image, version: str) -> tuple[str, ...]:
    """The symbols for which an image needs a symbol version; the version itself if no symbol has it."""
    return tuple(sorted(symbol.name for symbol in image.imports if symbol.version == version)) or (version,)


def needed_macos(image: Image) -> Version:
    """The oldest macOS that an image declares; () for none, and for other systems."""
    return numeric(image.min_os) if image.platform in ("", "macos") else ()


def numeric(text: str) -> Version:
    """`2.17` as numbers; () if it is not a version."""
    return tuple(int(part) for part in text.split(".")) if re.fullmatch(r"\d+(\.\d+)*", text) else ()


def version_text(numbers: Version) -> str:
    """Numbers as `2.17`."""
    return ".".join(str(number) for number in numbers)


def pad_version(version: Version) -> Version:
    """Three numbers, so that 11 and 11.0 are equal."""
    return (*version, 0, 0, 0)[:3]
