"""Check LB107: whether every library that a binary needs is available."""

from __future__ import annotations

import posixpath
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from loadcheck.engine import platforms
from loadcheck.engine.openedfirst import assume_opened, find_opened_first, is_opened_elsewhere
from loadcheck.engine.policy import fits_any
from loadcheck.engine.registry import EVERY_FORMAT, Hit, Skip, check
from loadcheck.engine.supply import other_folder, supplier
from loadcheck.engine.wording import SYSTEMS, first, is_late, needs
from loadcheck.readers.places import is_for_android
from loadcheck.tables import pythonabi

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadcheck.binary import Format, Image
    from loadcheck.engine.policy import Policy
    from loadcheck.engine.supply import Supplier
    from loadcheck.readers.contents import Contents, File

_FOR_MANY = frozenset({"", "abi3", "abi3t"})
"""The ABIs that a module's file name states if it is not for one CPython alone."""
_OF_THE_SYSTEM = "Document which system packages users have to install (apt, dnf), or add the library to the package."
_OF_A_TAG = "Add the library to the package (auditwheel repair does that), or link it statically."
_OF_A_PART = "Add the library to the package, or document what users have to install for this part."


@check(
    "LB107",
    "Needed library that is missing",
    "error",
    profiles=("loads",),
    because="Importing the package fails, or nothing in it loads. The finding is a warning if the import does not need "
    "the file and other modules load, if a DLL is needed on first use only, or if the package's Python code opens the "
    "library at a path outside the package. It is a note if that code opens the package's copy first, if a dependency "
    "installs the library, or if manylinux allows it but slim containers lack it.",
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
    extra requires the dependency, if no platform tag covers the binary, or if desktop systems or all base systems have
    the library, but the manylinux tag does not allow it. It is a warning, too, if parts of the package load without the
    library: no import statement that always runs leads from a name that users import to the file, and some module for
    each CPython lacks no library.
    """
    if is_for_android(file.folder):
        return
    yield from _judge_desktop(package, image)
    for name in image.needed:
        base = posixpath.basename(name).lower()
        if base in package.own_libraries and is_absolute(image, name):
            yield from _judge_absolute(package, file, image, name)
        if base in package.own_libraries or of_system(package, image, name):
            continue
        if inside := package.by_soname.get(name.lower()):  # loaders look for the file name
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
    if image.format != "elf" or libc_of(package, image) == "musl":
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
    is_known = any(other.soname == name for _, other in package.images)
    is_sure = not is_known and bool(_describe_loss(package, file, image))
    yield Hit(
        cause=f"absolute {name}",
        message=f"needs {name}; the package has a copy as {copy.name}, where the loader does not look",
        evidence=(needs(image, name), f"copy: {copy.name}"),
        fix=f"Make the path relative to the file: install_name_tool -change {name} @loader_path/... (or use delocate).",
        severity="error" if is_sure and _is_strong(image, name) else "warning",
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
    promised = _is_promised(package, image)
    loss = _describe_loss(package, file, image)
    if promised and not loss:
        return Hit(cause="part", message=f"{why}; other parts load without it", fix=_OF_A_PART, severity="warning")
    return Hit(
        cause="absent",
        message=f"{why}; {loss}" if promised else why,
        fix=_fix_missing(package, file, image),
        severity="error" if promised and _is_strong(image, name) else "warning",
    )


def _judge_extra(package: Contents, file: File, image: Image, name: str, provider: Supplier) -> Hit:
    """A library that only an extra brings: an error where importing the package needs it."""
    message = f"needs {name}, expected from {provider.name}, which only the extra {provider.extra} requires"
    loss = _describe_loss(package, file, image)
    if loss and _is_promised(package, image) and _is_strong(image, name) and not is_late(image, name):
        fix = f"Require {provider.name} in any case, or load {name} at run time, when it is there."
        return Hit(cause=f"extra {provider.name}", message=f"{message}; {loss}", fix=fix)
    return Hit(
        cause=f"extra {provider.name}",
        message=message,
        fix=f"Install the package with [{provider.extra}].",
        severity="warning",
    )


def _describe_loss(package: Contents, file: File, image: Image) -> str:
    """What fails where a file does not load; "" if parts of the package can be used."""
    if roots := _list_roots(package, file):
        return f"import {first(roots)} fails without it"
    return "nothing in the package loads without it" if _leaves_nothing(package, file, image) else ""


def _is_promised(package: Contents, image: Image) -> bool:
    """Whether the tags of a wheel promise that a file loads."""
    tags = package.wheel.platforms if package.wheel is not None else ()
    return any(_promises(image.format, platform) for platform in tags)


def _fix_missing(package: Contents, file: File, image: Image) -> str:
    """How to fix a search path that leads to a distribution that is not required; "" for none."""
    folder = other_folder(package, file, image)
    return (
        f"A search path leads to {folder}/ of another distribution, which the package does not require: require it if "
        "it has the library, or add the library to the package."
        if folder
        else ""
    )


def _is_strong(image: Image, name: str) -> bool:
    return image.link_kinds.get(name) not in ("weak", "delay")


def _list_roots(package: Contents, file: File) -> list[str]:
    """The names that cannot be imported where a file does not load."""
    users = package.users_of(file.name)
    return sorted({package.imported[name] for name in users & package.imported.keys()})


def _leaves_nothing(package: Contents, file: File, image: Image) -> bool:
    """Whether all that a Python could load of the package needs this file, or another that does not load, either."""
    users = package.users_of(file.name)
    broken = _list_broken(package)
    return any(group <= broken and group & users for group in _list_groups(package.entries[image.format]))


def _list_groups(entries: frozenset[str]) -> list[frozenset[str]]:
    """The files that users load, for each CPython for which some of them are."""
    abis = {name: pythonabi.module_abi(posixpath.basename(name)) for name in entries}
    pythons = set(abis.values()) - _FOR_MANY or {""}
    return [frozenset(name for name in entries if abis[name] in {*_FOR_MANY, python}) for python in pythons]


@lru_cache(maxsize=1)  # asked for each library that a package lacks
def _list_broken(package: Contents) -> frozenset[str]:
    """The files that do not load, because they or what they need lack a library that nothing installs."""
    lacking = [
        file.name
        for file, image in package.images
        if image.is_linked and not is_for_android(file.folder) and any(_lacks(package, file, image))
    ]
    return frozenset().union(*(package.users_of(name) for name in lacking))


def _lacks(package: Contents, file: File, image: Image) -> Iterator[bool]:
    """For each library that an image needs to load, whether it is certain to be missing."""
    for name in image.needed:
        base = posixpath.basename(name).lower()
        if not _is_strong(image, name) or is_late(image, name):
            continue
        if base in package.own_libraries:
            yield is_absolute(image, name) and "DYLD_LIBRARY_PATH" not in package.helpers
        elif not of_system(package, image, name) and name.lower() not in package.by_soname:
            is_known = base.endswith(".exe") or is_opened_elsewhere(package, name)
            provider = _find_supplier(package, file, image, name)
            is_optional = provider is not None and bool(provider.extra)
            yield not is_known and (is_optional or _find_expected_source(package, file, image, name) is None)


def _find_expected_source(package: Contents, file: File, image: Image, name: str) -> Hit | None:
    """Where a library should come from, if that is known."""
    base = posixpath.basename(name).lower()
    if platforms.is_driver(base):
        fix = "Open the library at run time if the package should load without the driver."
        return Hit(cause="driver", message=f"needs {name}, which is part of a driver", fix=fix, severity="note")
    if provider := _find_supplier(package, file, image, name):
        optional = provider.extra and not provider.is_guess
        return _judge_extra(package, file, image, name, provider) if optional else _judge_supplier(provider, name)
    return _judge_common(package, name) if libc_of(package, image) != "musl" else None


def _find_supplier(package: Contents, file: File, image: Image, name: str) -> Supplier | None:
    """The dependency that installs a library, as far as names and search paths tell."""
    is_driver = platforms.is_driver(posixpath.basename(name).lower())
    return None if is_driver or is_absolute(image, name) else supplier(package, file, image, name)


def _judge_common(package: Contents, name: str) -> Hit | None:
    """A library that most systems have, though no tag promises it."""
    base = posixpath.basename(name).lower()
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
        return platforms.is_system(posixpath.basename(name), libc_of(package, image))
    if platforms.is_vc_runtime(name):
        return True  # LB111 and LB112
    in_python = platforms.is_python(name) and bool(package.modules)
    return in_python or platforms.is_windows(name, image.arch) or name.lower() == "node.exe"


def libc_of(package: Contents, image: Image) -> str:
    """The C library that loads an image: what it links, or what the wheel's tag says; "unknown" for neither."""
    return "musl" if platforms.is_loaded_by_musl(package, image) else image.libc


def _promises(format_: Format, platform: str) -> bool:
    """Whether the tag promises that binaries of the format load on its systems."""
    if format_ == "elf":
        return platforms.linux_tag(platform) is not None
    return platforms.tag_format(platform) == format_


def provided_libraries(package: Contents) -> set[str]:
    """The file names and own names of the package's libraries; "" for one without a name of its own."""
    return {name for file, image in package.images for name in (file.base, image.soname)}
