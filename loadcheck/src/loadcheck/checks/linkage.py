"""Check LB107: whether every library that a binary needs is available."""

from __future__ import annotations

import posixpath
from dataclasses import replace
from typing import TYPE_CHECKING

from loadcheck.engine import platforms
from loadcheck.engine.openedfirst import assume_opened, find_opened_first, is_opened_elsewhere
from loadcheck.engine.policy import fits_any
from loadcheck.engine.registry import EVERY_FORMAT, Hit, Skip, check
from loadcheck.engine.supply import other_folder, stops_all, supplier
from loadcheck.engine.wording import SYSTEMS, first, is_late, needs
from loadcheck.readers.places import is_for_android

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadcheck.binary import Format, Image
    from loadcheck.engine.policy import Policy
    from loadcheck.engine.supply import Supplier
    from loadcheck.readers.contents import Contents, File

_OF_THE_SYSTEM = "Document which system packages users have to install (apt, dnf), or add the library to the package."
_OF_A_TAG = "Add the library to the package (auditwheel repair does that), or link it statically."
_OF_A_PART = "Add the library to the package, or document what users have to install for this part."


@check(
    "LB107",
    "Needed library that is missing",
    "error",
    profiles=("loads",),
    because="Nothing in the package loads without the library. The finding is a warning if other modules of the "
    "package load, if a DLL is needed on first use only, or if the package's Python code opens the library at a path "
    "outside the package. It is a note if that code opens the package's copy first, if a dependency installs the "
    "library, or if manylinux allows it but slim containers lack it.",
    formats=EVERY_FORMAT,
    example="libspeech.so: NEEDED libopenblas.so.0",
    fix="Add the library to the package (auditwheel, delocate and delvewheel do that), or link it statically.",
)
def library_missing(package: Contents, file: File, image: Image, policy: Policy) -> Iterator[Hit | Skip]:
    """A binary fails to load if a needed library is neither in the package nor on every system that the tag covers.

    The check skips libraries in folders of Android's ABIs, such as arm64-v8a. System libraries are those that manylinux
    allows on Linux (PEP 600, as auditwheel applies it), those in `/usr/lib` and `/System` on macOS, and the DLLs that
    every Windows 10 has. macOS looks for a library with an absolute path only at that path, so a copy in the package
    does not help.

    The finding is a note if a dependency installs the library, or may install it, as the dependency's name or the
    search path suggests. It is also a note for libraries of drivers, which only machines with the hardware have, and
    for libraries of X11, OpenGL and GLib, which manylinux allows but slim containers lack. It is a warning if only an
    extra requires the dependency, if other modules of the package load without the library, if no platform tag covers
    the binary, or if desktop systems or all base systems have the library, but the manylinux tag does not allow it.
    """
    if is_for_android(file.folder):
        return
    yield from _judge_desktop(package, image)
    files = {packaged.base.lower() for packaged, _ in package.images}
    by_soname = {other.soname.lower(): packaged.base for packaged, other in package.images if other.soname}
    for name in image.needed:
        base = posixpath.basename(name).lower()
        if base in files and is_absolute(image, name):
            yield from _judge_absolute(package, file, image, name)
        if base in files or of_system(package, image, name):
            continue
        if inside := by_soname.get(name.lower()):  # loaders look for the file name
            opened = find_opened_first(package, file, image, name)
            yield Hit(
                cause=f"other name {name}",
                message=f"needs {name}, which the package has as {inside}: it is found only if already loaded",
                evidence=(needs(image, name),),
                fix=f"Rename the file to {posixpath.basename(name)}, or relink the files that need it, "
                f"so that they name {inside}.",
                severity="note" if opened else "warning",
                assumption=assume_opened(opened) if opened else "",
            )
            continue
        if any(fits_any(name, runtime.linked_globs) for runtime in policy.runtimes):
            continue  # LB101
        hit = _judge_missing_library(package, file, image, name)
        yield replace(hit, cause=f"{name} {hit.cause}", evidence=(needs(image, name),))


def _judge_desktop(package: Contents, image: Image) -> Iterator[Hit]:
    """Libraries of X11, OpenGL and GLib, which every tag for Linux allows, but slim containers lack."""
    if image.format != "elf":
        return
    names = [name for name in image.needed if platforms.is_desktop(name) and name.lower() not in package.bases]
    if names:
        yield Hit(
            cause=f"desktop {' '.join(names)}",
            message=f"needs {first(names)}, which desktop systems have, but slim containers lack",
            evidence=tuple(needs(image, name) for name in names),
            fix=_OF_THE_SYSTEM,
            severity="note",
        )


def is_absolute(image: Image, name: str) -> bool:
    """Whether macOS looks for a library at one path alone, which only the build machine has."""
    return image.format == "macho" and name.startswith("/") and not platforms.is_macos(name)


def _judge_absolute(package: Contents, file: File, image: Image, name: str) -> Iterator[Hit]:
    """A library at a path of the build machine, of which the package has a copy elsewhere."""
    copy = next(other for other in package.native if other.base.lower() == posixpath.basename(name).lower())
    if "DYLD_LIBRARY_PATH" in package.helpers:
        return
    is_sure = stops_all(package, file, image) and not any(other.soname == name for _, other in package.images)
    is_strong = image.link_kinds.get(name) not in ("weak", "delay")
    yield Hit(
        cause=f"absolute {name}",
        message=f"needs {name}; the package has a copy as {copy.name}, where the loader does not look",
        evidence=(needs(image, name), f"copy: {copy.name}"),
        fix=f"Make the path relative to the file: install_name_tool -change {name} @loader_path/... (or use delocate).",
        severity="error" if is_sure and is_strong else "warning",
    )


def _judge_missing_library(package: Contents, file: File, image: Image, name: str) -> Hit:
    """How bad the lack of a library is, where it comes from, and who can supply it."""
    if image.format == "pe" and name.lower().endswith(".exe"):
        message = f"needs {name}, the program that loads the file"
        return Hit(
            cause="program",
            message=message,
            fix=f"Load the file only in {name}, not in other programs.",
            severity="note",
            assumption=f"{name} is the program that loads the file",
        )
    if (expected_hit := _find_expected_source(package, file, image, name)) is not None:
        return expected_hit
    late = " on first use" * is_late(image, name)
    why = f"needs {name}{late}, which is not in the package or on every {SYSTEMS[image.format]} system"
    if late:
        return Hit(cause="late", message=f"{why}; the file loads without it", fix=_OF_A_PART, severity="warning")
    if is_opened_elsewhere(package, name):
        assumption = f"{assume_opened(name)}, outside the package"
        return Hit(cause="opened elsewhere", message=why, fix=_OF_A_PART, severity="warning", assumption=assumption)
    promised = package.wheel is not None and any(
        _promises(image.format, platform) for platform in package.wheel.platforms
    )
    if promised and not stops_all(package, file, image):
        return Hit(cause="part", message=f"{why}; other parts load without it", fix=_OF_A_PART, severity="warning")
    is_strong = image.link_kinds.get(name) not in ("weak", "delay")
    return Hit(cause="absent", message=why, severity="error" if promised and is_strong else "warning")


def _find_expected_source(package: Contents, file: File, image: Image, name: str) -> Hit | None:
    """Where a library should come from, if that is known."""
    base = posixpath.basename(name).lower()
    if platforms.is_driver(base):
        fix = "Open the library at run time if the package should load without the driver."
        return Hit(cause="driver", message=f"needs {name}, which is part of a driver", fix=fix, severity="note")
    if not is_absolute(image, name) and (provider := supplier(package, file, image, name)):
        return _judge_supplier(provider, name)
    if folder := other_folder(package, file, image):
        message = f"needs {name}, expected in {folder}/ of another distribution, which the package does not require"
        fix = f"Require the distribution that installs {folder}/."
        return Hit(cause=f"folder {folder}", message=message, fix=fix, severity="warning")
    if platforms.is_essential(base):
        return _judge_essential(package, name)
    if platforms.is_common(base):
        message = f"needs {name}, which desktop systems have, but many containers lack"
        return Hit(cause="common", message=message, fix=_OF_THE_SYSTEM, severity="warning")
    return None


def _judge_essential(package: Contents, name: str) -> Hit:
    """A library of the base systems. A manylinux tag promises that the wheel has it, unless it is a part of glibc."""
    message = f"needs {name}, which the base systems of Linux distributions have"
    tags = map(platforms.linux_tag, package.wheel.platforms) if package.wheel else ()
    if not any(tags) or name.startswith("libnss_"):
        return Hit(cause="essential", message=message, fix=_OF_THE_SYSTEM, severity="note")
    return Hit(
        cause="essential, not in tag",
        message=f"{message}, but no manylinux tag allows",
        fix=_OF_A_TAG,
        severity="warning",
    )


def _judge_supplier(provider: Supplier, name: str) -> Hit:
    """How sure it is that a dependency installs a library."""
    text = f"needs {name}, expected from {provider.name}"
    if provider.is_guess:
        message = f"needs {name}, which is not in the package; the dependency {provider.name} may install it"
        assumption = f"{provider.name} installs the library, as the name or version of {provider.name} suggests"
        fix = f"Check that {provider.name} installs the library."
        return Hit(cause=f"maybe {provider.name}", message=message, fix=fix, severity="note", assumption=assumption)
    if provider.extra:
        message = f"{text}, which only the extra {provider.extra} requires"
        return Hit(
            cause=f"extra {provider.name}",
            message=message,
            fix=f"Install the package with [{provider.extra}].",
            severity="warning",
        )
    fix = f"Check that each version of {provider.name} that the package allows installs the library."
    assumption = f"{provider.name} installs the library, as its name or the search path suggests"
    return Hit(
        cause=provider.name,
        message=f"{text}, which the package requires",
        fix=fix,
        severity="note",
        assumption=assumption,
    )


def of_system(package: Contents, image: Image, name: str) -> bool:
    """Whether every system of the image's format has the library, or Python does, or another check judges it."""
    if image.format == "macho":
        return platforms.is_macos(name)
    if image.format == "elf":
        return platforms.is_system(posixpath.basename(name))
    if platforms.is_vc_runtime(name):
        return True  # LB111 and LB112
    in_python = platforms.is_python(name) and bool(package.modules)
    return in_python or platforms.is_windows(name) or name.lower() == "node.exe"


def _promises(format_: Format, platform: str) -> bool:
    """Whether the tag promises that binaries of the format load on its systems."""
    if format_ == "elf":
        return platforms.linux_tag(platform) is not None
    return platforms.tag_format(platform) == format_


def provided_libraries(package: Contents) -> set[str]:
    """The file names and own names of the package's libraries; "" for one without a name of its own."""
    return {name for file, image in package.images for name in (file.base, image.soname)}
