"""Finds what the dependencies of an npm package install on each platform that its native files are for."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from loadcheck.engine.supply import NPM_KEYS, list_npm_platforms
from loadcheck.errors import InputError
from loadcheck.index.semver import find_admitted
from loadcheck.readers.package_json import ON_INSTALL, Manifest, admits
from loadcheck.readers.supplied import Libraries, Supplied, gather_libraries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from loadcheck.index.npmregistry import NpmProject, NpmRegistry, NpmRelease
    from loadcheck.readers.contents import Contents
    from loadcheck.tables.rids import Platform

_CONNECTIONS = 4
_MOST_PACKAGES = 200
"""More are not read: a registry is to be spared."""
_Wish = tuple[str, str]
"""The name of a package, and the range in which its version has to be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Package:
    """What one dependency installs and requires; `problem` says why that is not known, or not all of it."""

    name: str
    manifest: Manifest = field(default_factory=lambda: Manifest(inner="", fields={}))
    paths: tuple[str, ...] = ()
    problem: str = ""


class NpmResolver:
    """Follows the dependencies of one npm package, as npm installs them by default.

    Each is the newest version that its range admits, or the one tagged `latest`. A package whose fields `os`, `cpu` and
    `libc` do not admit a platform is not installed there. Optional peers count as installed.
    """

    def __init__(
        self, package: Contents, manifest: Manifest, registry: NpmRegistry, report: Callable[[], None]
    ) -> None:
        """`report` is called now and then, to show that the work goes on."""
        self._package, self._manifest, self._registry, self._report = package, manifest, registry, report
        self._chosen: dict[_Wish, _Package | NpmRelease] = {}
        self._read: dict[_Wish, _Package] = {}

    def find(self) -> Supplied:
        """What is installed with the package on each platform for which it has native files."""
        images = (image for _, image in self._package.images)
        platforms = dict.fromkeys(each for image in images for each in list_npm_platforms(self._package, image))
        trees = {platform: self._follow(platform) for platform in platforms}
        unread = {each.name: each.problem for tree in trees.values() for each in tree if each.problem}
        return Supplied(
            by_platform={platform: _list_libraries(tree) for platform, tree in trees.items()},
            unread=unread,
            unread_always=frozenset(unread),
        )

    def _follow(self, platform: Platform) -> list[_Package]:
        """The packages that are installed on a platform, level by level."""
        tree: list[_Package] = []
        done: set[_Wish] = set()
        level = [*_list_wishes(self._manifest)]
        while fresh := [*dict.fromkeys(wish for wish in level if wish not in done)]:
            done.update(fresh)
            room = max(_MOST_PACKAGES - len(tree), 0)
            tree += (_Package(name=name, problem="is one of too many dependencies") for name, _ in fresh[room:])
            installed = [each for each in self._install(fresh[:room], platform) if each]
            tree += installed
            level = [wish for each in installed for wish in _list_wishes(each.manifest)]
        return tree

    def _install(self, wishes: list[_Wish], platform: Platform) -> Iterator[_Package | None]:
        """What becomes of each wish on a platform; None for a package that is not installed there."""
        self._report()
        with ThreadPoolExecutor(_CONNECTIONS) as pool:
            yield from pool.map(lambda wish: self._install_one(wish, platform), wishes)

    def _install_one(self, wish: _Wish, platform: Platform) -> _Package | None:
        if wish not in self._chosen:
            self._chosen[wish] = self._choose(*wish)
        chosen = self._chosen[wish]
        if isinstance(chosen, _Package):
            return chosen
        if not _is_for(chosen.manifest, platform):
            return None
        if wish not in self._read:
            self._read[wish] = self._load(wish[0], chosen)
        package = self._read[wish]
        return package if _is_for(package.manifest, platform) else None

    def _choose(self, name: str, text: str) -> NpmRelease | _Package:
        try:
            name, range_ = _read_wish(name, text)
            return _pick(self._registry.find_project(name), range_)
        except InputError as error:
            return _Package(name=name, problem=str(error))

    def _load(self, name: str, release: NpmRelease) -> _Package:
        try:
            facts = self._registry.read_tarball(release)
        except InputError as error:
            return _Package(name=name, manifest=release.manifest, problem=str(error))
        manifest = Manifest(inner="", fields={**release.fields, **facts.fields})
        runs = not manifest.table("scripts").keys().isdisjoint(ON_INSTALL) or "binding.gyp" in facts.names
        problem = "runs a script when it is installed, which may get libraries" if runs else ""
        return _Package(name=name, manifest=manifest, paths=facts.names, problem=problem)


def _list_wishes(manifest: Manifest) -> Iterator[_Wish]:
    for key in NPM_KEYS:
        for name, range_ in manifest.table(key).items():
            if isinstance(range_, str):
                yield name, range_


def _read_wish(name: str, text: str) -> _Wish:
    """The package in a registry for a dependency, which may have another name here: `npm:@acme/odd@^1.0`.

    Raises InputError for an address.
    """
    text = text.strip()
    if text.startswith("npm:"):
        real, at, range_ = text[4:].rpartition("@")
        name, text = (real, range_) if at and real else (text[4:], "")
    if ":" in text or "/" in text:
        raise InputError("is required by an address")
    return name, text


def _pick(project: NpmProject, range_: str) -> NpmRelease:
    """The version that npm installs (npm-pick-manifest). Raises InputError if there is none."""
    if tagged := project.releases.get(project.tags.get(range_ or "latest", "")):
        return tagged
    try:
        admitted = find_admitted(project.releases, range_)
    except ValueError:
        admitted = []
    if not admitted:
        raise InputError(f"the registry has no version for {range_ or 'the tag latest'}")
    if (latest := project.tags.get("latest", "")) in admitted:
        return project.releases[latest]
    current = [each for each in admitted if not project.releases[each].fields.get("deprecated")]
    return project.releases[(current or admitted)[-1]]


def _is_for(manifest: Manifest, platform: Platform) -> bool:
    """Whether npm installs a package on a platform (npm-install-checks); `libc` admits no other system than Linux."""
    libc = manifest.read_values("libc")
    return (
        admits(manifest.read_values("os"), platform.os)
        and admits(manifest.read_values("cpu"), platform.cpu)
        and (not libc or (bool(platform.libc) and admits(libc, platform.libc)))
    )


def _list_libraries(tree: Iterable[_Package]) -> Libraries:
    names = ((each.manifest.text("name") or each.name, each) for each in tree)
    return gather_libraries((f"{name} {each.manifest.text('version')}", each.paths) for name, each in names)
