"""Follows symbolic links by the names of a package's files. Nothing outside the package is looked at."""

from __future__ import annotations

from bisect import bisect_left
from itertools import islice
from typing import TYPE_CHECKING

from loadcheck.archive import MAX_MEMBERS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

_MOST_HOPS = 40
"""The most links that Linux follows one after another (path_resolution(7))."""
_LONGEST_PATH = 4096


def find_aliases(links: Mapping[str, str], names: Collection[str]) -> dict[str, str]:
    """The further names that links give to files, each with the name under which the file is stored.

    `links` maps each link to its target, as a path from the root of the package. A link whose target is missing or
    outside, or contains the link itself, gives none.
    """
    leads = {link: place for link in links if (place := _resolve(links[link], links)) and link not in names}
    aliases = {link: place for link, place in leads.items() if place in names}
    real = sorted({*names, *aliases})
    folders = {link: place for link, place in leads.items() if not link.startswith(f"{place}/")}
    below = ((link + name.removeprefix(place), name) for link, place in folders.items() for name in _below(place, real))
    for alias, name in islice(below, MAX_MEMBERS):
        if alias not in names:
            aliases.setdefault(alias, aliases.get(name, name))
    return aliases


def list_unfollowed(links: Mapping[str, str], aliases: Collection[str]) -> tuple[str, ...]:
    """The links that lead to no file, nor to a folder that has one."""
    real = sorted(aliases)
    return tuple(link for link in sorted(links) if link not in aliases and not any(_below(link, real)))


def _resolve(path: str, links: Mapping[str, str]) -> str:
    """The place to which a path leads; "" for the root, a place outside, or a chain of links that is too long."""
    parts, hops = path.split("/")[::-1], 0
    at: list[str] = []
    while parts:
        part = parts.pop()
        if part == ".." and not at:
            return ""
        if part == "..":
            at.pop()
        elif part not in ("", "."):
            at.append(part)
        place = "/".join(at)
        if place in links:
            hops += 1
            if hops >= _MOST_HOPS or not 0 < len(links[place]) <= _LONGEST_PATH:
                return ""
            parts += links[place].split("/")[::-1]
            at = []
    return "/".join(at)


def _below(folder: str, names: list[str]) -> Iterator[str]:
    """Of sorted names, those below a folder."""
    start = f"{folder}/"
    for index in range(bisect_left(names, start), len(names)):
        if not names[index].startswith(start):
            return
        yield names[index]
