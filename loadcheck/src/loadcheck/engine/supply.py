"""What a package requires, by its METADATA or package.json, and what fails where a file does not load."""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from packaging.markers import UndefinedEnvironmentName
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from loadcheck.engine import platforms
from loadcheck.readers.package_json import admits as field_admits
from loadcheck.readers.package_json import read_manifest
from loadcheck.readers.places import resolve_from
from loadcheck.tables import pythonabi
from loadcheck.tables.rids import Platform

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from loadcheck.binary import Image
    from loadcheck.engine.policy import Policy
    from loadcheck.readers.contents import Contents, File, WheelName

_SYSTEMS = {
    "elf": ("linux", "Linux", "posix"),
    "macho": ("darwin", "Darwin", "posix"),
    "pe": ("win32", "Windows", "nt"),
}
_MACHINES = {"pe": {"x86_64": "AMD64", "i686": "x86", "aarch64": "ARM64"}, "macho": {"aarch64": "arm64"}}
_EXTRA = re.compile(r"""\bextra\s*==\s*["']([^"']+)["']""")
NPM_KEYS = ("dependencies", "optionalDependencies", "peerDependencies")
"""What npm installs with a package."""
_OLDEST_PYTHON = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirements:
    """The names of what installers install with a package."""

    always: tuple[str, ...] = ()
    by_extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def requirement_rows(package: Contents) -> tuple[tuple[str, Requirement], ...]:
    """The readable requirements, each with its text; LB502 reports the others."""
    return _read_rows((package.metadata or {}).get("requires_dist", ()))


@lru_cache(maxsize=1)  # many files of one package ask in a row
def _read_rows(texts: tuple[str, ...]) -> tuple[tuple[str, Requirement], ...]:
    return tuple(zip_requirements(texts))


def zip_requirements(texts: Iterable[str]) -> Iterator[tuple[str, Requirement]]:
    """Each text with the requirement that it is; without those that are none."""
    for text in texts:
        with contextlib.suppress(ValueError):
            yield text, Requirement(text)


def dependencies(package: Contents) -> Requirements:
    """What installers install with the package on any system that its tags cover."""
    if manifest := read_manifest(package):
        names = (name for key in NPM_KEYS for name in manifest.table(key))
        return Requirements(always=tuple(dict.fromkeys(name.rpartition("/")[2] for name in names)))
    texts = (package.metadata or {}).get("requires_dist", ())
    return _dependencies(package.wheel, texts) if package.wheel else Requirements()


@lru_cache(maxsize=1)
def _dependencies(wheel: WheelName, texts: tuple[str, ...]) -> Requirements:
    names: dict[str, dict[str, None]] = {"": {}}
    environments = list(list_environments(wheel))
    for text, requirement in _read_rows(texts):
        extra = _find_extra(text)
        if any(admits(requirement, {**environment, "extra": extra}) for environment in environments):
            names.setdefault(extra, {})[canonicalize_name(requirement.name)] = None
    always = tuple(names.pop(""))
    return Requirements(always=always, by_extra={extra: tuple(rows) for extra, rows in names.items()})


def _find_extra(text: str) -> str:
    """The extra that a requirement is for; "" for none."""
    match = _EXTRA.search(text)
    return match[1] if match else ""


def list_unread(package: Contents, policy: Policy, library: str) -> tuple[str, ...]:
    """The requirements that may install a library, as long as nobody has read what they install."""
    return tuple(each for each in list_all_unread(package) if policy.may_bring(each, library))


def list_all_unread(package: Contents) -> tuple[str, ...]:
    """The requirements that may install any libraries, as long as nobody has read what they install."""
    if package.supplied is not None:
        return tuple(sorted(package.supplied.unread_always))
    return tuple(name for name in dependencies(package).always if name not in platforms.data().without_libraries)


def list_unread_extras(package: Contents) -> tuple[str, ...]:
    """The extras whose requirements were not read."""
    supplied = package.supplied
    return supplied.unread_extras if supplied is not None else tuple(dependencies(package).by_extra)


def list_npm_platforms(package: Contents, image: Image) -> tuple[Platform, ...]:
    """The platforms on which npm installs a package and the image may load; none for other packages."""
    manifest = read_manifest(package)
    cpu = platforms.npm_cpu(image.arch)
    if manifest is None or not cpu:
        return ()
    fields = manifest.read_values("os")
    os = next((each for each in platforms.npm_systems(image.format) if field_admits(fields, each)), "")
    unknown = (each for each in ("glibc", "musl") if field_admits(manifest.read_values("libc"), each))
    libcs = tuple(unknown) if image.libc == "unknown" else (image.libc,)
    return tuple(Platform(os, cpu, libc) for libc in (libcs if os == "linux" else ("",)) if os)


def list_ranges(package: Contents, project: str) -> Mapping[int, SpecifierSet]:
    """The versions of a project that the package requires with each minor version of CPython 3 that its tags admit.

    Where a project is required with an extra alone, they are those of the extra. CPythons with which the package does
    not require it are left out.
    """
    if package.wheel is None:
        return {}
    rows = [row for row in requirement_rows(package) if canonicalize_name(row[1].name) == project]
    requirements = [(_find_extra(text), requirement) for text, requirement in rows]
    ranges: dict[int, SpecifierSet] = {}
    for environment in list_environments(package.wheel):
        minor = int(environment["python_version"].partition(".")[2])
        applying = [(extra, each) for extra, each in requirements if admits(each, {**environment, "extra": extra})]
        always = [each for extra, each in applying if not extra] or [each for _, each in applying]
        if always and minor not in ranges:
            ranges[minor] = SpecifierSet(",".join(str(each.specifier) for each in always))
    return ranges


def admits(requirement: Requirement, environment: Mapping[str, str]) -> bool:
    """Whether a requirement holds in an environment (PEP 508)."""
    try:
        return requirement.marker is None or requirement.marker.evaluate(dict(environment))
    except (UndefinedEnvironmentName, ValueError):  # versions that cannot be compared
        return True


def list_environments(wheel: WheelName) -> Iterator[Mapping[str, str]]:
    """The environments of the wheel's tags (PEP 508), for each CPython that it may be installed for."""
    floors = [floor for name in wheel.pythons if (floor := pythonabi.floor_of(name))]
    is_for_many = not floors or not {"abi3", "abi3t"}.isdisjoint(wheel.abis)
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
    """The folder of site-packages to which a search path leads and which is not the package's, or ""."""
    own_tops = package.tops | {".", ""}
    paths = (*image.rpath, *image.runpath, *image.needed)
    tops = (resolve_from(file.folder, path).partition("/")[0] for path in paths)
    return next((top for top in tops if top not in own_tops), "")


def must_load(package: Contents, file: File, image: Image) -> bool:
    """Whether the file is a Python module, a module loads it, or nothing of the package works without it."""
    users = package.users_of(file.name)
    return bool(users & package.modules) or package.entries[image.format] <= users


def comparable_version(text: str) -> Version | str:
    """A version that compares by value, or the text itself if it is not a version."""
    try:
        return Version(text)
    except ValueError:
        return text
