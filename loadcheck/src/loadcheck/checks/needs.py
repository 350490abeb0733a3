"""Lists what each file of a package or environment needs, and who supplies it, as the checks judged it."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from loadcheck.checks.environments import find_copies, is_of_system, list_owned, name_loaded
from loadcheck.checks.linkage import find_supply, is_absolute, of_system
from loadcheck.checks.searchpaths import list_folders
from loadcheck.checks.tags import unjudged_platform
from loadcheck.checks.windows import list_with_python
from loadcheck.engine import platforms
from loadcheck.engine.wording import list_names
from loadcheck.model import SEVERITIES, Copy, Finding, Need, Skipped, SupplyKind
from loadcheck.readers.places import is_for_android

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from loadcheck.binary import Image
    from loadcheck.readers.contents import Contents, File


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """Who supplies a library, and where it has it."""

    kind: SupplyKind
    name: str = ""
    path: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """What is known of a package and of the libraries that its files need."""

    package: Contents
    findings: Mapping[tuple[str, str], Finding]
    """The worst finding on a needed library, by file and library."""
    unread: Mapping[tuple[str, str], tuple[str, ...]]
    """The requirements that were not read and may install a library."""
    holders: Mapping[str, Sequence[tuple[File, Image]]]
    """Who has a name, in lower case: a file name, or in an environment a library's own name."""
    owners: Mapping[str, str]
    """The distributions of an environment by their files, each with its version."""


def list_needs(package: Contents, judgements: Iterable[Finding | Skipped]) -> tuple[Need, ...]:
    """Each library that a file needs, and who supplies it: none if a judgement on it is an error or a warning."""
    known = _gather(package, judgements)
    needs: dict[tuple[str, str], Need] = {}
    for file, image in package.images:
        if image.unjudged or is_for_android(file.folder) or unjudged_platform(package, file):
            continue
        for name in image.needed:
            if (file.name, name) not in needs:
                needs[file.name, name] = _describe(known, file, image, name)
    return tuple(needs.values())


def list_copies(package: Contents) -> tuple[Copy, ...]:
    """The copies of libraries of which LB119 reports that several distributions of an environment have them."""
    return tuple(
        Copy(family=family, owner=owner, file=file.name, name=name_loaded(file, image))
        for family, copies in (find_copies(package) if package.environment else {}).items()
        for owner, rows in copies.items()
        for file, image in rows
    )


def _gather(package: Contents, judgements: Iterable[Finding | Skipped]) -> _Known:
    findings: dict[tuple[str, str], Finding] = {}
    unread: dict[tuple[str, str], tuple[str, ...]] = {}
    for judgement in judgements:
        if isinstance(judgement, Skipped):
            if judgement.library:
                unread[judgement.subject, judgement.library] = judgement.unread
            continue
        for library in judgement.libraries:
            worst = findings.setdefault((judgement.subject, library), judgement)
            findings[judgement.subject, library] = min(worst, judgement, key=_rank)
    holders: dict[str, list[tuple[File, Image]]] = defaultdict(list)
    for file, image in package.images:
        own = {image.soname.lower()} if package.environment else set()  # in a package, LB107 judges such names
        for name in package.bases_of(file) | own:
            holders[name].append((file, image))
    owned = list_owned(package) if package.environment else ()
    owners = {file.name: str(installed) for installed, file, _ in owned}
    return _Known(package=package, findings=findings, unread=unread, holders=holders, owners=owners)


def _rank(finding: Finding) -> int:
    return SEVERITIES.index(finding.severity)


def _describe(known: _Known, file: File, image: Image, name: str) -> Need:
    subject = known.package.subject(file.name)
    finding = known.findings.get((subject, name))
    find = _find_installed if known.package.environment else _find_packed
    source = find(known, file, image, name)
    if finding and finding.severity != "note":
        source = replace(source, kind="missing")
    elif unread := _list_unread(known, subject, name):
        source = _Source(kind="unread", name=list_names(unread))
    elif finding and source.kind == "unjudged":  # a driver, or the program that loads the file
        source = _Source(kind="system")
    return Need(
        subject=subject,
        owner=known.owners.get(file.name) or known.package.subject(),
        file=file.name,
        library=name,
        supply=source.kind,
        source=source.name,
        path=source.path,
        severity=finding.severity if finding else None,
        message=finding.message if finding else "",
    )


def _list_unread(known: _Known, subject: str, name: str) -> tuple[str, ...]:
    """The requirements of which a check says that they may install a library. LB111 names one of several DLLs."""
    if not platforms.is_vc_runtime(name) or name.lower() in list_with_python(known.package):
        return known.unread.get((subject, name), ())
    of_file = (row for (user, other), row in known.unread.items() if user == subject and platforms.is_vc_runtime(other))
    return next(of_file, ())


def _find_packed(known: _Known, file: File, image: Image, name: str) -> _Source:
    """Who has a library that a file of a package needs."""
    package = known.package
    own = package.subject()
    if path := _choose(known, file, image, name):
        return _Source(kind="package", name=own, path=path)
    supply = find_supply(package, image, name)
    if of_system(package, image, name) and not (supply and platforms.is_vc_runtime(name)):
        return _Source(kind="system")
    if supply and not is_absolute(image, name):
        return _Source(kind="requirement", name=supply.source, path=supply.path)
    if paths := package.paths.get(package.by_soname.get(name.lower(), "")):
        return _Source(kind="package", name=own, path=paths[0])
    return _Source(kind="unjudged")


def _find_installed(known: _Known, file: File, image: Image, name: str) -> _Source:
    """Who has a library that a file of an environment needs: what a search path leads to comes before the system."""
    package, base = known.package, posixpath.basename(name).lower()
    environment = package.environment
    path = "" if is_absolute(image, name) else _choose(known, file, image, name)
    of_loader = environment is not None and base in environment.of_loader | environment.searched
    of_machine = of_loader or is_of_system(package, image, name)
    if path and (not of_machine or _folder(path) in list_folders(package, file, image, name)):
        return _Source(kind="package", name=known.owners.get(path, ""), path=path)
    if of_machine or platforms.is_driver(base) or platforms.is_common(base):
        return _Source(kind="system")
    return _Source(kind="unjudged")


def _choose(known: _Known, file: File, image: Image, name: str) -> str:
    """The file that a loader takes, of those with a name; "" for none.

    One in a folder that it searches comes first, then one of the same distribution, then the one next to the file.
    """
    rows = known.holders.get(posixpath.basename(name).lower(), ())
    fitting = [other.name for other, its in rows if (its.format, its.arch) == (image.format, image.arch)]
    paths = fitting or [other.name for other, _ in rows]
    if len(paths) <= 1:
        return next(iter(paths), "")
    searched, owner = list_folders(known.package, file, image, name), known.owners.get(file.name)

    def rank(path: str) -> tuple[bool, bool, bool, str]:
        folder = _folder(path)
        return folder not in searched, known.owners.get(path) != owner, folder != (file.folder or "."), path

    return min(paths, key=rank)


def _folder(path: str) -> str:
    return posixpath.dirname(path) or "."
