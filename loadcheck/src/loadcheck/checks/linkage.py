"""Check LB107: whether every library that a binary needs is available."""

from __future__ import annotations

import posixpath
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from loadcheck.engine import platforms
from loadcheck.engine.check import Hit, Hits, Skip, check
from loadcheck.engine.openedfirst import assume_opened, find_opened_first, is_opened_elsewhere
from loadcheck.engine.policy import fits_any
from loadcheck.engine.supply import dependencies, list_npm_platforms, list_unread, list_unread_extras, other_folder
from loadcheck.engine.wording import SYSTEMS, first, is_late, list_names, needs
from loadcheck.readers.places import is_for_android
from loadcheck.tables import pythonabi

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from loadcheck.binary import Image
    from loadcheck.engine.policy import Policy
    from loadcheck.readers.contents import Contents, File
    from loadcheck.readers.supplied import Supply

_OF_NODE = ("libgcc_s.so.1", "libstdc++.so.6")
"""What Node.js needs itself, so that an Alpine with Node.js has them (its package nodejs)."""
_TORCH = ("libtorch*.so", "libc10*.so", "libtorch*.dylib", "libc10*.dylib", "torch*.dll", "c10*.dll")
"""Libraries that `import torch` loads."""
_OF_NVIDIA: Mapping[str, tuple[str, ...]] = {
    "nvidia-cuda-runtime": ("libcudart.so.13", "cudart64_13.dll"),
    "nvidia-cuda-runtime-cu12": ("libcudart.so.12", "cudart64_12.dll"),
    "nvidia-cublas": ("libcublas.so.13", "libcublaslt.so.13", "cublas64_13.dll", "cublaslt64_13.dll"),
    "nvidia-cublas-cu12": ("libcublas.so.12", "libcublaslt.so.12", "cublas64_12.dll", "cublaslt64_12.dll"),
    "nvidia-cuda-nvrtc": ("libnvrtc.so.13", "nvrtc64_130_0.dll"),
    "nvidia-cuda-nvrtc-cu12": ("libnvrtc.so.12", "nvrtc64_120_0.dll"),
    "nvidia-nvjitlink": ("libnvjitlink.so.13", "nvjitlink_130_0.dll"),
    "nvidia-nvjitlink-cu12": ("libnvjitlink.so.12", "nvjitlink_120_0.dll"),
}
"""Libraries of CUDA, and the distributions on PyPI that have them. Importing one of these loads nothing."""
_FOR_MANY = frozenset({"", "abi3", "abi3t"})
"""The ABIs that a module's file name states if it is not for one CPython alone."""
_OF_THE_SYSTEM = "Document which system packages users have to install (apt, dnf), or add the library to the package."
_OF_A_TAG = (
    "Add the library to the package, where the loader searches (auditwheel repair does both), or link it statically."
)
_OF_OTHERS = "Put the library next to the file, with a search path that leads there, or link it statically."
_OF_A_PART = "Add the library to the package, or document what users have to install for this part."


@check(
    "LB107",
    "Needed library that is missing",
    "error",
    because="Importing the package fails, or nothing in it loads. The finding is a warning if the import does not need "
    "the file and other modules load, if a DLL is needed on first use only, if the package's Python code opens the "
    "library at a path outside the package, if an extra brings the library, or if a wheel has no Python code, so that "
    "another distribution loads its files. It is a note if that code opens the package's copy first, or if manylinux "
    "allows it but slim containers lack it.",
    example="libspeech.so: NEEDED libopenblas.so.0",
    fix="Add the library to the package, where the loader searches (auditwheel, delocate and delvewheel do both), or "
    "link it statically.",
)
def library_missing(package: Contents, file: File, image: Image, policy: Policy) -> Hits:
    """A binary fails to load if a needed library is neither in the package nor on every system that the tag covers.

    The check skips libraries in folders of Android's ABIs, such as arm64-v8a. System libraries are those that manylinux
    allows on Linux (PEP 600, as auditwheel applies it), those in `/usr/lib` and `/System` on macOS, and the DLLs that
    every Windows 10 has. macOS looks for a library with an absolute path only at that path, so a copy in the package
    does not help.

    A library that a requirement installs is not missing. With `--resolve` the check reads from the package index what
    the requirements install. Without it, or where that cannot be read, it does not judge libraries that a requirement
    may install: the report names these requirements in its last line.

    The finding is a note for libraries of drivers, which only machines with the hardware have, and for libraries of
    X11, OpenGL and GLib, which manylinux allows but slim containers lack. It is a warning if an extra brings the
    library, if no platform tag covers the binary, or if desktop systems or all base systems have the library, but the
    manylinux tag does not allow it. It is a warning, too, if parts of the package load without the library: no import
    statement that always runs leads from a name that users import to the file, and some module for each CPython lacks
    no library.
    """
    if is_for_android(file.folder):
        return
    yield from _judge_desktop(package, image)
    for name in image.needed:
        base = posixpath.basename(name).lower()
        if base in package.own_libraries and is_absolute(image, name):
            yield from _judge_absolute(package, file, image, name, policy)
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
                libraries=(name,),
            )
            continue
        if is_supplied(package, image, name) or policy.judges_link(name):
            continue
        seen = _judge_missing_library(package, file, image, name, policy)
        if isinstance(seen, Hit):
            evidence = (needs(image, name), *seen.evidence)
            seen = replace(seen, cause=f"{name} {seen.cause}", evidence=evidence, libraries=(name,))
        yield seen


def _judge_desktop(package: Contents, image: Image) -> Hits:
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
            libraries=tuple(names),
        )


def is_absolute(image: Image, name: str) -> bool:
    """Whether macOS looks for a library at one path alone, which only the build machine has."""
    return image.format == "macho" and name.startswith("/") and not platforms.is_macos(name)


def _judge_absolute(package: Contents, file: File, image: Image, name: str, policy: Policy) -> Hits:
    """A library at a path of the build machine, of which the package has a copy elsewhere."""
    wanted = posixpath.basename(name).lower()
    copy = next(paths[0] for base, paths in package.paths.items() if base.lower() == wanted)
    if "DYLD_LIBRARY_PATH" in package.helpers:
        return
    is_known = any(other.soname == name for _, other in package.images)
    is_sure = not is_known and bool(_describe_loss(package, file, image, policy))
    yield Hit(
        cause=f"absolute {name}",
        message=f"needs {name}; the package has a copy as {copy}, where the loader does not look",
        evidence=(needs(image, name), f"copy: {copy}"),
        fix=f"Make the path relative to the file: install_name_tool -change {name} @loader_path/... (or use delocate).",
        severity="error" if is_sure and _is_strong(image, name) else "warning",
        libraries=(name,),
    )


def _judge_missing_library(package: Contents, file: File, image: Image, name: str, policy: Policy) -> Hit | Skip:
    """How bad the lack of a library is, and who can supply it."""
    if source := _judge_source(package, image, name, policy):
        return source
    late = " on first use" * is_late(image, name)
    requires = dependencies(package)
    are_read = package.supplied is not None and (requires.always or requires.by_extra)
    where = f", which is not in the package or on every {SYSTEMS[image.format]} system"
    why = f"needs {name}{late}{'; no requirement brings it' if are_read else where}"
    if late:
        return Hit(cause="late", message=f"{why}; the file loads without it", fix=_OF_A_PART, severity="warning")
    if is_opened_elsewhere(package, name):
        assumption = f"{assume_opened(name)}, outside the package"
        return Hit(cause="opened elsewhere", message=why, fix=_OF_A_PART, severity="warning", assumption=assumption)
    promised = _is_promised(package, image)
    loss = _describe_loss(package, file, image, policy)
    if promised and not loss:
        return Hit(cause="part", message=f"{why}; other parts load without it", fix=_OF_A_PART, severity="warning")
    assumption = _assume_absent(package, file) if promised else _assume_here(package, image)
    return Hit(
        cause="absent",
        message=f"{why}; {loss}" if promised else why,
        evidence=_list_similar(package, image, name),
        fix=_fix_missing(package, file, image, name, policy),
        severity="error" if promised and _is_strong(image, name) else "warning",
        assumption=assumption,
    )


def _assume_absent(package: Contents, file: File) -> str:
    """What it assumes that nobody brings a library."""
    unknown = [] if _list_roots(package, file) else list_unread_extras(package)
    if unknown:
        return f"no extra brings the library; {list_names(unknown)} {'were' if unknown[1:] else 'was'} not read"
    return "the distribution that loads the file does not bring the library" * _is_part(package)


def _assume_here(package: Contents, image: Image) -> str:
    """Why the lack of a library is no error for a wheel of this machine alone."""
    tags = [platform for platform in package.platforms if platforms.tag_format(platform) == image.format]
    return f"the wheel is for machines that have the library: its tag {tags[0]} promises no others" if tags else ""


def _judge_source(package: Contents, image: Image, name: str, policy: Policy) -> Hit | Skip | None:
    """Where a library should come from, or who may bring it; None if nobody does."""
    if hit := _judge_host(image, name) or _judge_common(package, image, name):
        return hit
    if is_absolute(image, name):
        return None
    if unread := list_unread(package, policy, name):
        return skip_unread(package, name, unread)
    extras = package.supplied.find_extras(name) if package.supplied else {}
    return _judge_extra(name, extras) if extras else None


def _judge_host(image: Image, name: str) -> Hit | None:
    """A library that comes with the program that loads the file, or with the hardware."""
    if image.format == "pe" and name.lower().endswith(".exe"):
        return Hit(
            cause="program",
            message=f"needs {name}, the program that loads the file",
            fix=f"Load the file only in {name}, not in other programs.",
            severity="note",
            assumption=f"{name} is the program that loads the file",
        )
    if platforms.is_driver(posixpath.basename(name).lower()):
        fix = "Open the library at run time if the package should load without the driver."
        return Hit(cause="driver", message=f"needs {name}, which is part of a driver", fix=fix, severity="note")
    return None


def skip_unread(package: Contents, library: str, unread: tuple[str, ...]) -> Skip:
    """That a library was not judged, since requirements that may install it were not read, and why they were not."""
    problems = package.supplied.unread if package.supplied else {}
    why = "".join(f"; {name}: {problems[name]}" for name in unread if name in problems)
    reason = f"{library} may come from {list_names(unread)}, which {'were' if unread[1:] else 'was'} not read{why}"
    return Skip(reason=reason, library=library, unread=unread)


def _judge_extra(name: str, extras: Mapping[str, Supply]) -> Hit:
    """A library that only extras bring: whoever installs the package without them lacks it."""
    listed = list_names([*extras])
    word = "the extras" if len(extras) > 1 else "the extra"
    return Hit(
        cause=f"extra {' '.join(extras)}",
        message=f"needs {name}, which only {word} {listed} {'bring' if len(extras) > 1 else 'brings'}",
        evidence=tuple(dict.fromkeys(f"{supply.source} has {supply.path}" for supply in extras.values())),
        fix=f"Install the package with [{next(iter(extras))}], or require what the extra requires in any case.",
        severity="warning",
    )


def is_supplied(package: Contents, image: Image, name: str) -> bool:
    """Whether a requirement installs a library."""
    return not is_absolute(image, name) and find_supply(package, image, name) is not None


def find_supply(package: Contents, image: Image, name: str) -> Supply | None:
    """The library of a requirement, on a platform that loads the image."""
    return package.supplied.find(name, list_npm_platforms(package, image)) if package.supplied else None


def _list_similar(package: Contents, image: Image, name: str) -> tuple[str, ...]:
    """Libraries of requirements that have the same name but for the version."""
    start = f"{posixpath.basename(name).lower().partition('.so')[0]}.so"
    supplies = package.supplied.list_always(list_npm_platforms(package, image)) if package.supplied else {}
    return tuple(f"{each.source} has {each.path}" for key, each in supplies.items() if key.startswith(start))


def _is_part(package: Contents) -> bool:
    """Whether a wheel has no Python code, so that another distribution loads what is in it."""
    return package.wheel is not None and not any(file.is_module or file.name.endswith(".py") for file in package.files)


def _describe_loss(package: Contents, file: File, image: Image, policy: Policy) -> str:
    """What fails where a file does not load; "" if parts of the package can be used."""
    if roots := _list_roots(package, file):
        return f"import {first(roots)} fails without it"
    return "nothing in the package loads without it" if _leaves_nothing(package, file, image, policy) else ""


def list_failing(package: Contents, file: File, image: Image, name: str) -> list[str]:
    """The names that surely cannot be imported where the loader does not find a library that a file needs."""
    return _list_roots(package, file) if _is_promised(package, image) and _is_strong(image, name) else []


def _is_promised(package: Contents, image: Image) -> bool:
    """Whether the tags of a wheel promise that a file loads."""
    if image.format == "elf":
        return any(map(platforms.linux_tag, package.platforms))
    return any(platforms.tag_format(platform) == image.format for platform in package.platforms)


def _fix_missing(package: Contents, file: File, image: Image, name: str, policy: Policy) -> str:
    """How to fix the lack of a library that another distribution has; "" if none is known to have it."""
    if package.kind != "wheel":
        return _OF_OTHERS
    for runtime in policy.runtimes:
        if runtime.distribution and fits_any(name, runtime.linked_globs):
            return (
                f"Require {runtime.distribution}, which supplies {runtime.name}. This file then loads only if that "
                f"distribution has a library of this name and has loaded it: otherwise open {runtime.name} at run time."
            )
    if fits_any(posixpath.basename(name), _TORCH):
        what = "a release of torch that has the library" if "torch" in dependencies(package).always else "torch"
        return f"Require {what}, and import it before this file is loaded: a process can use one copy only."
    if distribution := find_cuda(name):
        linked = ", or link with a search path that leads there from $ORIGIN" * (image.format == "elf")
        return (
            f"Require {distribution}, which has the library, and open it by its path before this file is loaded "
            f"(ctypes.CDLL){linked}."
        )
    if not (folder := other_folder(package, file, image)):
        return ""
    return (
        f"A search path leads to {folder}/ of another distribution: require the one that has the library, or add the "
        "library to the package."
    )


def find_cuda(name: str) -> str:
    """The distribution on PyPI that has a library of CUDA; "" for other libraries."""
    base = posixpath.basename(name)
    return next((each for each, globs in _OF_NVIDIA.items() if fits_any(base, globs)), "")


def _is_strong(image: Image, name: str) -> bool:
    return image.link_kinds.get(name) not in ("weak", "delay")


def _list_roots(package: Contents, file: File) -> list[str]:
    """The names that cannot be imported where a file does not load."""
    users = package.users_of(file.name)
    return sorted({package.imported[name] for name in users & package.imported.keys()})


def _leaves_nothing(package: Contents, file: File, image: Image, policy: Policy) -> bool:
    """Whether all that a Python could load of the package needs this file, or another that does not load, either."""
    users = package.users_of(file.name)
    names = {name for lacking in _list_lacking(package).values() for name in lacking}
    missing = frozenset(name for name in names if name.startswith("/") or not list_unread(package, policy, name))
    broken = _list_broken(package, missing)
    return any(group <= broken and group & users for group in _list_groups(package.entries[image.format]))


def _list_groups(entries: frozenset[str]) -> list[frozenset[str]]:
    """The files that users load, for each CPython for which some of them are."""
    abis = {name: pythonabi.module_abi(posixpath.basename(name)) for name in entries}
    pythons = set(abis.values()) - _FOR_MANY or {""}
    return [frozenset(name for name in entries if abis[name] in {*_FOR_MANY, python}) for python in pythons]


@lru_cache(maxsize=1)  # asked for each library that a package lacks
def _list_broken(package: Contents, missing: frozenset[str]) -> frozenset[str]:
    """The files that do not load, because they or what they need lack one of the libraries that are missing."""
    lacking = (name for name, needed in _list_lacking(package).items() if not missing.isdisjoint(needed))
    return frozenset().union(*map(package.users_of, lacking))


@lru_cache(maxsize=1)  # as above
def _list_lacking(package: Contents) -> Mapping[str, frozenset[str]]:
    """The libraries that each file lacks, unless a requirement that was not read brings them."""
    lacking: dict[str, frozenset[str]] = {}
    for file, image in package.images:
        if not image.unjudged and not is_for_android(file.folder):
            lacking[file.name] = lacking.get(file.name, frozenset()).union(_list_needed(package, image))
    return lacking


def _list_needed(package: Contents, image: Image) -> Iterator[str]:
    """The libraries that an image needs to load, and that nothing has which was read."""
    for name in image.needed:
        base = posixpath.basename(name).lower()
        if not _is_strong(image, name) or is_late(image, name):
            continue
        if base in package.own_libraries:
            is_missing = is_absolute(image, name) and "DYLD_LIBRARY_PATH" not in package.helpers
        elif of_system(package, image, name) or name.lower() in package.by_soname:
            is_missing = False
        else:
            is_known = bool(_judge_host(image, name) or _judge_common(package, image, name))
            is_missing = not (is_known or is_supplied(package, image, name) or is_opened_elsewhere(package, name))
        if is_missing:
            yield name


def list_outside(package: Contents) -> tuple[str, ...]:
    """The libraries that a requirement would have to install: needed ones that neither package nor system have."""
    names: dict[str, None] = {}
    for file, image in package.images:
        for name in image.needed if not image.unjudged and not is_for_android(file.folder) else ():
            base = posixpath.basename(name).lower()
            is_known = base in package.own_libraries or of_system(package, image, name) or platforms.is_driver(base)
            if not is_known and not is_absolute(image, name):
                names[posixpath.basename(name)] = None
    return tuple(names)


def _judge_common(package: Contents, image: Image, name: str) -> Hit | None:
    """A library that most systems with glibc have. A manylinux tag promises that the wheel has it."""
    base = posixpath.basename(name).lower()
    if libc_of(package, image) == "musl":
        return None
    if platforms.is_essential(base):
        message = f"needs {name}, which the base systems of Linux distributions have"
        if name.startswith("libnss_") or not any(map(platforms.linux_tag, package.platforms)):  # a part of glibc
            return Hit(cause="essential", message=message, fix=_OF_THE_SYSTEM, severity="note")
        message += ", but no manylinux tag allows"
        return Hit(cause="essential, not in tag", message=message, fix=_OF_A_TAG, severity="warning")
    if platforms.is_common(base):
        message = f"needs {name}, which desktop systems have, but many containers lack"
        return Hit(cause="common", message=message, fix=_OF_THE_SYSTEM, severity="warning")
    return None


def of_system(package: Contents, image: Image, name: str) -> bool:
    """Whether every system of the image's format has the library, or Python does, or another check judges it."""
    if image.format == "macho":
        return platforms.is_macos(name)
    if image.format == "elf":
        libc, base = libc_of(package, image), posixpath.basename(name)
        return platforms.is_system(base, libc) or (package.kind == "npm" and libc == "musl" and base in _OF_NODE)
    if platforms.is_vc_runtime(name):
        return True  # LB111 and LB112
    in_python = platforms.is_python(name) and bool(package.modules)
    return in_python or platforms.is_windows(name, image.arch) or name.lower() == "node.exe"


def libc_of(package: Contents, image: Image) -> str:
    """The C library that loads an image: what it links, or what the wheel's tag says; "unknown" for neither."""
    return "musl" if platforms.is_loaded_by_musl(package, image) else image.libc


def provided_libraries(package: Contents) -> set[str]:
    """The file names and own names of the package's libraries; "" for one without a name of its own."""
    names = {name for file, image in package.images for name in (file.base, image.soname)}
    links = (link for file, _ in package.images for link in package.other_names.get(file.name, ()))
    return names.union(map(posixpath.basename, links))
