"""Check LB303: for which systems a wheel for any platform has native code."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from loadcheck.binary import floors
from loadcheck.engine.check import Hit, Hits, check
from loadcheck.engine.wording import SYSTEMS, join_names, name_platform

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from loadcheck.binary import Format
    from loadcheck.readers.contents import Contents, WheelName

_SHOWN = 8
_COMMON: Mapping[Format, tuple[str, ...]] = {
    "elf": ("x86_64", "aarch64", "armv7l"),
    "macho": ("x86_64", "aarch64"),
    "pe": ("x86_64",),
}
"""The processors of each system for which people install wheels; on others, nobody misses native code."""
_PROCESSORS = {"armv7l": "32-bit ARM", "i686": "32-bit x86"}
_OF_SYSTEM = re.compile(
    r"(?i)[-_.](win(dows|32|64)?|darwin|mac(os)?|osx|linux)([-_.]?(x?(86[-_.])?64|x86|amd64|arm64|aarch64))?$"
)
"""How the name of a package for one system ends: `tiny-win-x64`."""
_OLDEST_GLIBC: floors.Version = (2, 17)
"""That of manylinux2014, which most projects promise."""


@check(
    "LB303",
    "Native code in a package for any platform",
    "warning",
    because="The package fails on platforms for which it has no code. The finding is a note if only Root-Is-Purelib "
    "is wrong, if the files are for all common systems and processors, or if the package's name ends with the name of "
    "a system.",
    example="latenn-1.0-py3-none-any.whl has native code for Linux on x64 (glibc 2.29 or newer)",
    fix="Make a wheel for each platform, tagged with the platform of its binaries, and set Root-Is-Purelib: false.",
)
def native_in_any(package: Contents, wheel: WheelName) -> Hits:
    """Installers install a wheel tagged `any` on every system.

    If a wheel has Root-Is-Purelib: true, they put its files into purelib, the folder for packages without native code.

    The finding lists the systems and processors of the binaries, with the glibc or macOS version that they need. It
    also lists the common systems without a binary. Common systems are Linux on x64, arm64 and 32-bit ARM, with glibc
    2.17 or newer and with musl, macOS on x64 and arm64, and Windows on x64. If a package's name ends with the name of a
    system, another package usually requires it, with a marker for that system.
    """
    native = [file.name for file in package.native]
    if not native:
        return
    if "any" in wheel.platforms:
        missing = _list_missing(package)
        served = join_names(_list_served(package)) or "no known system"
        message = f"has native code for {served} only"
        message += f", but the tag any also admits {join_names(missing)}" if missing else ", in a wheel tagged any"
        yield Hit(
            cause="tag",
            message=message,
            evidence=tuple(native[:_SHOWN]),
            severity="warning" if missing and not _OF_SYSTEM.search(wheel.project) else "note",
        )
    for name, text in package.texts.items():
        if name.endswith("/WHEEL") and b"root-is-purelib: true" in text.lower():
            yield Hit(
                cause="purelib",
                inner=name,
                message="has Root-Is-Purelib: true, but the wheel contains native code",
                evidence=("Root-Is-Purelib: true", *native[:_SHOWN]),
                severity="note",
            )


def _list_served(package: Contents) -> list[str]:
    """Each system with its processors, and the glibc or macOS that the most demanding file needs there."""
    served: list[str] = []
    for form in SYSTEMS:
        archs = [arch for arch in _list_archs(package, form) if not arch.startswith("unknown")]
        if archs:
            limit = _name_limit(package, form)
            served.append(_name(form, archs) + (f" ({limit})" if limit else ""))
    return served


def _list_missing(package: Contents) -> list[str]:
    """The common systems and processors for which the wheel has no binary, and older systems of those that it has."""
    missing = [
        _name(form, lacking)
        for form, common in _COMMON.items()
        if (lacking := [arch for arch in common if arch not in _list_archs(package, form)])
    ]
    libcs = {image.libc for _, image in package.images if image.format == "elf"} - {"unknown"}
    if len(libcs) == 1:
        missing.append("Linux with " + ("musl" if "glibc" in libcs else "glibc"))
    glibc = _find_glibc(package)
    if glibc > _OLDEST_GLIBC:
        missing.append(f"Linux with an older glibc than {floors.version_text(glibc)}")
    return missing


def _list_archs(package: Contents, form: Format) -> list[str]:
    """The processors of the files of one format; code for one of arm64's variants counts as arm64."""
    seen = {image.arch for _, image in package.images if image.format == form and image.is_linked}
    return sorted({"aarch64" if arch.startswith("arm64") else arch for arch in seen}, key=_rank)


def _rank(arch: str) -> tuple[bool, str]:
    return arch != "x86_64", arch


def _name_limit(package: Contents, form: Format) -> str:
    if form == "elf":
        glibc = _find_glibc(package)
        return f"glibc {floors.version_text(glibc)} or newer" if glibc else ""
    if form == "macho":
        macos = max((floors.needed_macos(image) for _, image in package.images if image.format == form), default=())
        return f"{floors.version_text(macos)} or newer" if macos else ""
    return ""


def _find_glibc(package: Contents) -> floors.Version:
    """The glibc that the package needs at least: of the files of one name, which are variants, the least counts."""
    needed: dict[str, floors.Version] = {}
    for file, image in package.images:
        if image.libc == "glibc":
            version, _ = floors.needed_glibc(floors.glibc_versions(image))
            needed[file.base] = min(needed.get(file.base, version), version)
    return max(needed.values(), default=())


def _name(form: Format, archs: Iterable[str]) -> str:
    """`Linux on x64, arm64 and 32-bit ARM`."""
    processors = [_PROCESSORS.get(arch) or name_platform("", [arch]) for arch in archs]
    return f"{SYSTEMS[form]} on {join_names(processors)}"
