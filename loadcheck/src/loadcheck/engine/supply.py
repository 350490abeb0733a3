"""Where a needed library that is not in the package comes from, and what fails without it.

Only METADATA, package.json and file names are read: a dependency itself is not downloaded.
"""

from __future__ import annotations

import contextlib
import posixpath
import re
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from packaging.markers import UndefinedEnvironmentName
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from loadcheck.engine import platforms
from loadcheck.errors import InputError
from loadcheck.readers.package_json import read_manifest
from loadcheck.readers.record import read_metadata
from loadcheck.tables import pythonabi

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from loadcheck.binary import Image
    from loadcheck.readers.contents import Contents, File, WheelName

_ORIGINS = ("${ORIGIN}", "$ORIGIN", "@loader_path")
_SYSTEMS = {
    "elf": ("linux", "Linux", "posix"),
    "macho": ("darwin", "Darwin", "posix"),
    "pe": ("win32", "Windows", "nt"),
}
_MACHINES = {"pe": {"x86_64": "AMD64", "i686": "x86", "aarch64": "ARM64"}, "macho": {"aarch64": "arm64"}}
_EXTRA = re.compile(r"""\bextra\s*==\s*["']([^"']+)["']""")
_NPM_KEYS = ("dependencies", "optionalDependencies", "peerDependencies")
_OLDEST_PYTHON = 9
_SHORTEST = 4
"""Shorter names of distributions occur in too many file names."""
_SHORT_WORD = 3
_COMMON_WORDS = frozenset({
    *("api", "base", "bin", "binding", "bindings", "common", "config", "core", "cpp", "cxx", "data", "dev", "dll"),
    *("dylib", "ext", "extension", "extensions", "lib", "libs", "main", "math", "module", "native", "plugin", "python"),
    *("runtime", "sdk", "shared", "static", "tool", "tools", "typing", "util", "utils", "wrapper"),
})  # fmt: skip
"""Words that occur in names of any distribution and library."""
_LIBRARY = re.compile(r"(?:lib)?(?P<stem>[a-z0-9_+-]+)")
_AFFIX = re.compile(r"libs?|py|python3?|bin|runtime|cu\d+")
"""Words in the names of distributions that their libraries do not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Supplier:
    """A distribution that is installed next to the package: always, or with an extra."""

    name: str
    extra: str = ""
    is_pinned: bool = False
    """Whether it must have the package's own version."""
    is_guess: bool = False
    """Whether its name alone speaks for it."""


def requirement_rows(package: Contents) -> tuple[tuple[str, Requirement], ...]:
    """The readable requirements, each with its text; LB502 reports the others."""
    return _requirements(package.texts.get(f"{package.dist_info}/METADATA", b""))


@lru_cache(maxsize=1)  # many files of one package ask in a row
def _requirements(metadata: bytes) -> tuple[tuple[str, Requirement], ...]:
    requirements: list[tuple[str, Requirement]] = []
    with contextlib.suppress(InputError):
        for text in read_metadata(metadata, "METADATA").get("requires_dist", ()):
            with contextlib.suppress(InvalidRequirement):
                requirements.append((text, Requirement(text)))
    return tuple(requirements)


def dependencies(package: Contents) -> tuple[Supplier, ...]:
    """What installers install with the package on any system that its tags cover."""
    if manifest := read_manifest(package):
        names = (name for key in _NPM_KEYS for name in manifest.table(key))
        return tuple(Supplier(name=name.rpartition("/")[2]) for name in names)
    metadata = package.texts.get(f"{package.dist_info}/METADATA", b"")
    return _dependencies(package.wheel, metadata) if package.wheel else ()


@lru_cache(maxsize=1)
def _dependencies(wheel: WheelName, metadata: bytes) -> tuple[Supplier, ...]:
    suppliers: list[Supplier] = []
    environments = list(_environments(wheel))
    for text, requirement in _requirements(metadata):
        extra = match[1] if (match := _EXTRA.search(text)) else ""
        if requirement.marker is None or any(
            _applies(requirement, {**environment, "extra": extra}) for environment in environments
        ):
            own_version = {"==": wheel.version, "~=": f"{wheel.version}.0"}
            pinned = any(part.version == own_version.get(part.operator) for part in requirement.specifier)
            suppliers.append(Supplier(name=canonicalize_name(requirement.name), extra=extra, is_pinned=pinned))
    return tuple(sorted(suppliers, key=lambda dependency: bool(dependency.extra)))


def list_ranges(package: Contents, project: str) -> Mapping[int, SpecifierSet]:
    """The versions of a project that the package requires with each minor version of CPython 3 that its tags admit.

    Where a project is required with an extra alone, they are those of the extra. CPythons with which the package does
    not require it are left out.
    """
    if package.wheel is None:
        return {}
    requirements = [
        (match[1] if (match := _EXTRA.search(text)) else "", requirement)
        for text, requirement in requirement_rows(package)
        if canonicalize_name(requirement.name) == project
    ]
    ranges: dict[int, SpecifierSet] = {}
    for environment in _environments(package.wheel):
        minor = int(environment["python_version"].partition(".")[2])
        applying = [(extra, each) for extra, each in requirements if _applies(each, {**environment, "extra": extra})]
        always = [each for extra, each in applying if not extra] or [each for _, each in applying]
        if always and minor not in ranges:
            ranges[minor] = SpecifierSet(",".join(str(each.specifier) for each in always))
    return ranges


def _applies(requirement: Requirement, environment: Mapping[str, str]) -> bool:
    try:
        return requirement.marker is None or requirement.marker.evaluate(dict(environment))
    except UndefinedEnvironmentName:
        return True


def _environments(wheel: WheelName) -> Iterator[Mapping[str, str]]:
    """The environments of the wheel's tags (PEP 508), for each CPython that it may be installed for."""
    floors = [floor for name in wheel.pythons if (floor := pythonabi.floor_of(name))]
    is_for_many = not floors or not {"abi3", "abi3t", "none"}.isdisjoint(wheel.abis)
    oldest = min((minor for _, minor in floors), default=_OLDEST_PYTHON)
    pythons = [(3, minor) for minor in range(oldest, 16)] if is_for_many else floors
    for platform in wheel.platforms:
        system = platforms.tag_format(platform)
        name, title, kind = _SYSTEMS.get(system, _SYSTEMS["elf"])
        for arch in platforms.tag_archs(platform) or ("x86_64",):
            for major, minor in pythons:
                yield {
                    "sys_platform": name,
                    "platform_system": title,
                    "os_name": kind,
                    "platform_machine": _MACHINES.get(system, {}).get(arch, arch),
                    "python_version": f"{major}.{minor}",
                    "python_full_version": f"{major}.{minor}.0",
                    "implementation_name": "cpython",
                    "platform_python_implementation": "CPython",
                    "implementation_version": f"{major}.{minor}.0",
                    "platform_release": "",
                    "platform_version": "",
                }


def other_folder(package: Contents, file: File, image: Image) -> str:
    """The folder of a distribution that is not required, to which a search path leads, or ""."""
    names = [dependency.name for dependency in dependencies(package)]
    tops = _other_tops(package, file, image)
    return next((top for top in tops if not any(_is_folder_of(plain_letters(top), name) for name in names)), "")


def supplier(package: Contents, file: File, image: Image, name: str) -> Supplier | None:
    """The dependency that installs a needed library, by its name, its project or the search path; None for none.

    Where only the first word of its name speaks for it, it is a guess.
    """
    base = posixpath.basename(name).lower()
    tops = {plain_letters(top) for top in _other_tops(package, file, image)}
    installed = dependencies(package)
    for dependency in installed:
        by_path = any(_is_folder_of(top, dependency.name) for top in tops)
        if _supplies(dependency.name, base) or (by_path and dependency.name not in _list_known()):
            return dependency
    siblings = [
        dependency
        for dependency in installed
        if _is_sibling(package, dependency) and dependency.name not in _list_known()
    ]
    if platforms.is_common(base):
        return None
    if namesake := _find_namesake(installed, base):
        return namesake
    if not siblings:
        return None
    if named := [sibling for sibling in siblings if _is_named_after(sibling, package, base)]:
        return named[0]
    pinned = (dependency for dependency in siblings if dependency.is_pinned)
    return next(pinned, None) or replace(siblings[0], is_guess=True)


def _find_namesake(installed: tuple[Supplier, ...], base: str) -> Supplier | None:
    """The dependency whose words a library's name has: libtvm_ffi.so of `apache-tvm-ffi`. With some, it is a guess."""
    library = _LIBRARY.match(base)
    of_library = _words(library["stem"]) if library else set()
    candidates = [dependency for dependency in installed if dependency.name not in _list_known()]
    for dependency in candidates:
        if of_library and len("".join(of_library)) >= _SHORTEST and of_library <= _words(dependency.name):
            return dependency
    for dependency in candidates:
        of_dependency = {word for word in _words(dependency.name) if len(word) >= _SHORTEST}
        letters = plain_letters(base).removeprefix("lib")
        if of_dependency & of_library or any(letters.startswith(word) for word in of_dependency):
            return replace(dependency, is_guess=True)
    return None


def _words(name: str) -> set[str]:
    """The words of a name that say more than that it is a library."""
    return {word for word in re.split(r"[^a-z]+", name.lower()) if len(word) >= _SHORT_WORD} - _COMMON_WORDS


def _supplies(distribution: str, base: str) -> bool:
    """Whether a library is one that a distribution is known to install, or has its name."""
    for globs, names in platforms.data().distributions.items():
        if any(fnmatchcase(base, glob) for glob in globs.split()) and any(
            fnmatchcase(distribution, glob) for glob in names
        ):
            return True
    letters, stem = plain_letters(distribution), _stem(distribution)
    library = plain_letters(base).removeprefix("lib")
    by_stem = len(stem) >= _SHORTEST and library.startswith(stem)
    return by_stem or (len(letters) >= _SHORTEST and letters in plain_letters(base))


@cache
def _list_known() -> frozenset[str]:
    """The distributions whose libraries are all known: other ones come from elsewhere."""
    return frozenset(name for names in platforms.data().distributions.values() for name in names if "*" not in name)


def _stem(distribution: str) -> str:
    """What the libraries of a distribution are called after: `eckit` of `eckitlib`."""
    words = [word for word in distribution.split("-") if not _AFFIX.fullmatch(word)]
    return plain_letters("".join(words)).removeprefix("lib").removesuffix("lib")


def _is_sibling(package: Contents, dependency: Supplier) -> bool:
    """Whether a dependency is of the same project: pinned to the same version, with the same first word."""
    first = package.project.partition("-")[0]
    return dependency.name != package.project and (dependency.is_pinned or dependency.name.partition("-")[0] == first)


def _is_named_after(sibling: Supplier, package: Contents, base: str) -> bool:
    """Whether a library has the name of a sibling without the project's: libtbb.so of `pxr-tbb` for `pxr-pcp`."""
    own = plain_letters(sibling.name.removeprefix(f"{package.project.partition('-')[0]}-"))
    library = re.match(r"(?:lib)?([a-z0-9_+-]*[a-z])", base)
    return library is not None and len(own) >= _SHORTEST - 1 and plain_letters(library[1]) == own


def _other_tops(package: Contents, file: File, image: Image) -> Iterator[str]:
    """The folders of site-packages to which a search path leads and which are not the package's."""
    own_tops = {file.name.partition("/")[0] for file in package.files}
    for path in (*image.rpath, *image.runpath, *image.needed):
        origin = next((start for start in _ORIGINS if path.startswith(start)), None)
        if origin:
            leads = posixpath.normpath(posixpath.join(file.folder, path[len(origin) :].lstrip("/")))
            top = leads.partition("/")[0]
            if top not in own_tops and top not in ("..", "."):
                yield top


def _is_folder_of(top: str, distribution: str) -> bool:
    letters = plain_letters(distribution)
    return bool(top) and (letters.startswith(top) or top.startswith(letters))


def plain_letters(text: str) -> str:
    """A name without case, hyphens and dots: what a project's names on different feeds have in common."""
    return "".join(character for character in text.lower() if character.isalnum())


def must_load(package: Contents, file: File, image: Image) -> bool:
    """Whether the file is a Python module, a module loads it, or nothing of the package works without it."""
    users = package.users_of(file.name)
    return bool(users & package.modules) or package.entries[image.format] <= users


def comparable_version(text: str) -> Version | str:
    """A version that compares by value, or the text itself if it is not a version."""
    try:
        return Version(text)
    except InvalidVersion:
        return text
