"""Check LB404: whether a package has a library twice."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from loadcheck.engine.reader import promised_rid
from loadcheck.engine.registry import TWINS, Hit, Skip, check
from loadcheck.engine.wording import own_name
from loadcheck.text import plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from loadcheck.readers.contents import Contents, File

_VERSIONS = re.compile(r"\.(?:so|dylib|\d).*")
"""What libraries and their links differ by: libx.so, libx.so.1, libx.1.dylib."""


@check(
    "LB404",
    "Same library twice",
    "note",
    profiles=("loads",),
    because="The copy takes space. The finding is a warning if several different libraries have the same name, and "
    "another file needs a library of that name, because a process loads only the first of them.",
    kinds=TWINS,
    example="latenn/liblatenn.so and latenn/liblatenn.so.1 with the same bytes",
    fix="Keep one file: install the library only under the name by which it is opened. Packages cannot contain links.",
)
def library_twice(package: Contents) -> Iterator[Hit | Skip]:
    """The loader treats two files as two libraries: twice the size, and two sets of global state in one process.

    Most such duplicates were links in the build tree, such as those that CMake's VERSION and SOVERSION make. Archives
    store them as copies.
    """
    groups: dict[tuple[str, str, str], list[File]] = defaultdict(list)
    for file in package.native:
        rid = promised_rid(package, file)
        groups["sha256", file.sha256, rid].append(file)
        for image in file.images:
            if image.soname and image.format != "pe":  # Windows identifies a library by its file name only
                groups[own_name(image), f"{image.platform} {image.arch}", rid].append(file)
    users = _list_users(package)
    reported: set[tuple[str, ...]] = set()
    for (why, _, _), files in groups.items():
        names = tuple(file.name for file in files)
        if len(names) > 1 and names not in reported:
            reported.add(names)
            if why != "sha256":
                yield _shared_name(files, why, is_needed=_may_meet(package, files, users.get(files[0].own_name, [])))
            elif soname := _find_soname(files):
                yield _copied_links(files, soname)
            else:
                message = f"has the same bytes as another file: {names[0]}"
                yield Hit(cause="bytes", inner=names[1], message=message, evidence=names, severity="note")


def _list_users(package: Contents) -> dict[str, list[File]]:
    """The files that need a library, by its name."""
    users: dict[str, list[File]] = defaultdict(list)
    for file, image in package.images:
        for name in image.needed:
            users[name.rpartition("/")[2]].append(file)
    return users


def _may_meet(package: Contents, files: Sequence[File], users: Sequence[File]) -> bool:
    """Whether one process may need libraries that share a name.

    None does where each is in a folder with its own users, of which Python imports none: code chooses a folder, such as
    that of a distribution.
    """
    archs = {image.arch for file in files for image in file.images}
    users = [user for user in users if any(image.arch in archs for image in user.images)]
    folders = {file.folder for file in files}
    are_variants = len(folders) == len(files) and {user.folder for user in users} == folders
    return bool(users) and not (are_variants and package.modules.isdisjoint(user.name for user in users))


def _shared_name(files: Sequence[File], soname: str, *, is_needed: bool) -> Hit:
    """Of libraries that share a name, a process loads one for those that need it; the others are opened by path.

    Where only the versions in their file names differ, the others were links for linkers, whose copies a tool changed.
    """
    are_links = len({(file.folder, _VERSIONS.sub("", file.base)) for file in files}) == 1
    names = tuple(file.name for file in files)
    return Hit(
        cause="name",
        inner=names[1],
        message=f"has the name of another library: {names[0]}",
        evidence=(*names, soname),
        severity="warning" if is_needed and not are_links else "note",
    )


def _find_soname(files: Sequence[File]) -> str:
    """The SONAME of equal files when they are a library and its links, by their names: libx.so, libx.so.1."""
    names = {file.base for file in files}
    stems = {_VERSIONS.sub("", name) for name in names}
    is_linked = len(stems) == 1 and len(names) > 1
    return next((file.base for file in files if file.base == file.own_name and is_linked), "")


def _copied_links(files: Sequence[File], soname: str) -> Hit:
    copies = [file.name for file in files if file.base != soname]
    return Hit(
        cause="links",
        inner=copies[0],
        message=f"{plural(len(copies), 'link')} to {soname} became {'a copy' if len(copies) == 1 else 'copies'}",
        evidence=tuple(file.name for file in files),
        severity="note",
        fix=f"Keep {soname}, the library's own name, or remove VERSION and SOVERSION from its target in CMake.",
    )
