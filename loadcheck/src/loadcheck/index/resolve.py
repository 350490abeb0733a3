"""Finds what the requirements of a wheel install: the newest versions that they admit, and what those require."""

from __future__ import annotations

import posixpath
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from typing import TYPE_CHECKING

from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name, parse_wheel_filename
from packaging.version import Version

from loadcheck.engine import platforms
from loadcheck.engine.supply import admits, list_environments, requirement_rows, zip_requirements
from loadcheck.errors import InputError
from loadcheck.readers.record import read_fields, read_metadata
from loadcheck.readers.supplied import Libraries, Supplied, Unsatisfied, find_library, gather_libraries
from loadcheck.tables import pythonabi

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from packaging.requirements import Requirement

    from loadcheck.index.index import Index
    from loadcheck.index.pages import IndexFile
    from loadcheck.readers.contents import Contents, WheelName

_CONNECTIONS = 4
_MOST_PROJECTS = 200
"""More are not read: a package that requires more is rare, and an index is to be spared."""
_FOREIGN = "has no wheel for the package's platforms and Pythons"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Release:
    """What one distribution installs and requires."""

    name: str
    version: str
    file: IndexFile | None = None
    paths: tuple[str, ...] = ()
    requirements: tuple[Requirement, ...] = ()
    problem: str = ""
    """Why it is not known what it installs; "" if it is."""


@dataclass(slots=True)
class _Tree:
    """The distributions that some requirements lead to."""

    releases: dict[str, _Release] = field(default_factory=dict)
    done: set[tuple[str, str]] = field(default_factory=set)
    """The distributions and extras whose requirements were followed."""


class Resolver:
    """Follows the requirements of one wheel."""

    def __init__(self, package: Contents, wheel: WheelName, index: Index, report: Callable[[], None]) -> None:
        """`report` is called now and then, to show that the work goes on."""
        self._package, self._wheel, self._index, self._report = package, wheel, index, report
        self._environments = list(list_environments(wheel))
        self._minors = {int(each["python_version"].partition(".")[2]) for each in self._environments}
        self._rows = [(text, each) for text, each in requirement_rows(package) if _can_compare(each)]
        self._pages: dict[str, tuple[IndexFile, ...] | InputError] = {}
        self._chosen: dict[tuple[str, str], _Release] = {}

    def find(self, wanted: Iterable[str], *, reads_exports: bool) -> Supplied:
        """What is installed with the wheel; of extras only what brings libraries that are still missing."""
        groups = self._group()
        self._load_pages({canonicalize_name(each.name) for rows in groups.values() for each in rows})
        base = self._follow(groups.pop(""), _Tree())
        always = _list_libraries(base)
        missing = [name for name in wanted if not find_library(always, name)]
        by_extra: dict[str, Libraries] = {}
        unread_extras: list[str] = []
        unread = {name: each.problem for name, each in base.releases.items() if each.problem}
        unread_always = frozenset(unread)
        unsatisfied = tuple(self._list_unsatisfied())
        impossible = {each.extra for each in unsatisfied}
        for extra, requirements in groups.items() if missing else ():
            if extra in impossible or impossible & self._list_own(extra):
                continue
            tree = self._follow(requirements, _Tree({**base.releases}, {*base.done}))
            libraries = _list_libraries(tree)
            by_extra[extra] = {name: supply for name, supply in libraries.items() if name not in always}
            fresh = {name: each.problem for name, each in tree.releases.items() if each.problem and name not in unread}
            unread_extras += [extra] if fresh else []
            unread |= fresh
        for extra, libraries in by_extra.items():  # another extra that it requires is enough
            enough = {name for own in self._list_own(extra) for name in by_extra.get(own, ())}
            by_extra[extra] = {name: supply for name, supply in libraries.items() if name not in enough}
        exports = self._read_exports(base, always, wanted) if reads_exports else {}
        return Supplied(
            always=always, by_extra=by_extra, unsatisfied=unsatisfied, unread=unread, unread_always=unread_always,
            unread_extras=tuple(unread_extras),
            exports=exports,
        )  # fmt: skip

    def _group(self) -> dict[str, list[Requirement]]:
        """The requirements by extra, those without one under "". An extra of the package itself is taken apart."""
        own: dict[str, list[Requirement]] = {extra: [] for extra in ("", *self._list_extras())}
        for _, requirement in self._rows:
            is_general = self._applies(requirement, "")
            for extra, rows in own.items():
                if not extra if is_general else self._applies(requirement, extra):
                    rows.append(requirement)
        groups: dict[str, list[Requirement]] = {}
        for extra in own:
            reached = {extra, *self._list_own(extra)}
            rows = [each for name in reached for each in own.get(name, ())]
            groups[extra] = [each for each in rows if canonicalize_name(each.name) != self._wheel.project]
        return groups

    def _list_extras(self) -> list[str]:
        metadata = self._package.texts.get(f"{self._package.dist_info}/METADATA", b"")
        with suppress(InputError):
            return [*dict.fromkeys(map(canonicalize_name, read_metadata(metadata, "").get("provides_extra", ())))]
        return []

    def _list_own(self, extra: str) -> set[str]:
        """The other extras of the package that an extra requires."""
        found, waiting = set[str](), [extra]
        while waiting:
            name = waiting.pop()
            for _, requirement in self._rows:
                is_own = canonicalize_name(requirement.name) == self._wheel.project
                if is_own and name and self._applies(requirement, name):
                    fresh = {*map(canonicalize_name, requirement.extras)} - found
                    found |= fresh
                    waiting += fresh
        return found - {extra}

    def _applies(self, requirement: Requirement, extra: str) -> bool:
        return any(admits(requirement, {**each, "extra": extra}) for each in self._environments)

    def _list_unsatisfied(self) -> Iterator[Unsatisfied]:
        """The package's own requirements that no version in the index satisfies."""
        for extra in ("", *self._list_extras()):
            for text, requirement in self._rows:
                files = self._pages.get(canonicalize_name(requirement.name))
                if requirement.url or not isinstance(files, tuple) or not self._applies(requirement, extra):
                    continue
                if extra and self._applies(requirement, ""):
                    continue
                versions = {_version(file.version) for file in files}
                if not any(requirement.specifier.contains(each, prereleases=True) for each in versions):
                    newest = str(max(versions)) if versions else ""
                    yield Unsatisfied(requirement=text.partition(";")[0].strip(), extra=extra, newest=newest)

    def _follow(self, requirements: Iterable[Requirement], tree: _Tree) -> _Tree:
        """Add what requirements lead to, level by level."""
        level = list(requirements)
        while level:
            self._load_pages({canonicalize_name(each.name) for each in level})
            fresh = {canonicalize_name(each.name): each for each in level}
            fresh = {name: each for name, each in fresh.items() if name not in tree.releases}
            for release in self._map(self._choose, [*fresh.values()][: max(_MOST_PROJECTS - len(tree.releases), 0)]):
                tree.releases[release.name] = release
            for name in fresh.keys() - tree.releases.keys():
                tree.releases[name] = _Release(name=name, version="", problem="is one of too many requirements")
            level = [inner for each in level for inner in self._list_inner(each, tree)]
        return tree

    def _list_inner(self, requirement: Requirement, tree: _Tree) -> Iterator[Requirement]:
        name = canonicalize_name(requirement.name)
        for extra in ("", *map(canonicalize_name, requirement.extras)):
            if (name, extra) not in tree.done:
                tree.done.add((name, extra))
                yield from (each for each in tree.releases[name].requirements if self._applies(each, extra))

    def _load_pages(self, projects: set[str]) -> None:
        names = sorted(projects - self._pages.keys())[: max(_MOST_PROJECTS * 2 - len(self._pages), 0)]
        self._pages.update(zip(names, self._map(self._load_page, names), strict=True))

    def _load_page(self, project: str) -> tuple[IndexFile, ...] | InputError:
        try:
            return self._index.list_files(project)
        except InputError as error:
            return error

    def _map(self, function: Callable, values: list) -> list:  # type: ignore[type-arg]
        """The results for some values, which are asked for in parallel, but not all at once."""
        self._report()
        if len(values) < 2:  # noqa: PLR2004  # a thread takes longer than the cache
            return [function(value) for value in values]
        with ThreadPoolExecutor(_CONNECTIONS) as pool:
            return list(pool.map(function, values))

    def _choose(self, requirement: Requirement) -> _Release:
        """The newest version that a requirement admits and that suits the wheel, or the one that is installed here."""
        key = (canonicalize_name(requirement.name), str(requirement.specifier))
        if key not in self._chosen:
            self._chosen[key] = self._choose_anew(requirement)
        return self._chosen[key]

    def _choose_anew(self, requirement: Requirement) -> _Release:
        name = canonicalize_name(requirement.name)
        files = self._pages.get(name, ())
        if requirement.url:
            return _Release(name=name, version="", problem="is required by an address")
        if isinstance(files, InputError):
            return _find_installed(requirement) or _Release(name=name, version="", problem=str(files))
        try:
            return self._read(name, self._find_newest(requirement, files))
        except InputError as error:
            return _find_installed(requirement) or _Release(name=name, version="", problem=str(error))

    def _find_newest(self, requirement: Requirement, files: tuple[IndexFile, ...]) -> IndexFile:
        """The wheel of the newest version. Raises InputError if it has none that suits."""
        is_exact = any(each.operator in ("==", "===") for each in requirement.specifier)
        by_version: dict[str, list[IndexFile]] = {}
        for file in files:
            if is_exact or not file.is_yanked:
                by_version.setdefault(file.version, []).append(file)
        admitted = requirement.specifier.filter(map(_version, by_version))
        for version in sorted(admitted, reverse=True):
            own = [file for file in by_version[str(version)] if self._suits_python(file.requires_python)]
            wheels = [file for file in own if file.is_wheel and self._suits(file)]
            if wheels or any(not file.is_wheel for file in own):
                if wheels:
                    return wheels[0]
                raise InputError("is built from an sdist")
        raise InputError(_FOREIGN)

    def _suits_python(self, requires_python: str) -> bool:
        return not requires_python or any(_admits_python(requires_python, minor) for minor in self._minors)

    def _suits(self, file: IndexFile) -> bool:
        """Whether a wheel is for a system, a processor and a Python of the package."""
        for tag in parse_wheel_filename(file.name)[3]:
            is_there = any(_is_same_platform(tag.platform, own) for own in self._wheel.platforms)
            floor = pythonabi.floor_of(tag.interpreter)
            if tag.interpreter.startswith("py"):
                suits = True
            elif floor is None:
                suits = False
            elif tag.abi in ("abi3", "none"):
                suits = any(minor >= floor[1] for minor in self._minors)
            else:
                suits = floor[1] in self._minors
            if is_there and suits:
                return True
        return False

    def _read(self, name: str, file: IndexFile) -> _Release:
        facts = self._index.read_wheel(file)
        fields = read_fields(self._index.read_metadata(file)) or {}
        requirements = _read_requirements(fields.get("requires_dist", ()))
        return _Release(name=name, version=file.version, file=file, paths=facts.names, requirements=requirements)

    def _read_exports(self, tree: _Tree, always: Libraries, wanted: Iterable[str]) -> dict[str, frozenset[str]]:
        """What needed libraries of requirements export, with those that they load. Others stay unknown."""
        files = {f"{each.name} {each.version}": each.file for each in tree.releases.values()}
        found: dict[str, frozenset[str]] = {}
        for name in wanted:
            names, seen, waiting = set[str](), set[str](), [name]
            while waiting:
                supply = find_library(always, waiting.pop())
                if supply is None or (file := files.get(supply.source)) is None:
                    break
                if supply.path in seen:
                    continue
                seen.add(supply.path)
                self._report()
                try:
                    facts = self._index.read_library(file, supply.path)
                except InputError:
                    break
                names |= facts.exports
                waiting += [each for each in facts.needed if not platforms.is_system(each, "")]
            else:
                found[posixpath.basename(name).lower()] = frozenset(names)
        return found


_version = cache(Version)
"""Versions of one project are asked for again and again."""


@cache
def _admits_python(requires_python: str, minor: int) -> bool:
    """Whether the last release of a CPython is admitted; a text that says nothing admits all."""
    try:
        return SpecifierSet(requires_python).contains(f"3.{minor}.99")
    except ValueError:
        return True


def _is_same_platform(theirs: str, own: str) -> bool:
    """Whether two platform tags are for one system and processor, however old."""
    if "any" in (theirs, own):
        return True
    a, b = platforms.linux_tag(theirs), platforms.linux_tag(own)
    if a and b and a.libc != b.libc:
        return False
    is_same_system = platforms.tag_format(theirs) == platforms.tag_format(own)
    return is_same_system and not {*platforms.tag_archs(theirs)}.isdisjoint(platforms.tag_archs(own))


def _read_requirements(texts: Iterable[str]) -> tuple[Requirement, ...]:
    return tuple(each for _, each in zip_requirements(texts) if _can_compare(each))


def _can_compare(requirement: Requirement) -> bool:
    """Whether versions can be compared with those of a requirement: not with numbers of thousands of digits."""
    try:
        requirement.specifier.contains("1")
    except ValueError:
        return False
    return True


def _find_installed(requirement: Requirement) -> _Release | None:
    """The version of a requirement that is installed for this Python, if the requirement admits it."""
    with suppress(metadata.PackageNotFoundError):
        distribution = metadata.distribution(requirement.name)
        if requirement.specifier.contains(distribution.version, prereleases=True):
            return _Release(
                name=canonicalize_name(requirement.name),
                version=distribution.version,
                paths=tuple(map(str, distribution.files or ())),
                requirements=_read_requirements(distribution.requires or ()),
            )
    return None


def _list_libraries(tree: _Tree) -> Libraries:
    return gather_libraries((f"{each.name} {each.version}", each.paths) for each in tree.releases.values())
