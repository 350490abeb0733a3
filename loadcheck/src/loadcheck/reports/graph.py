"""Arranges what files need as a graph that a person can look at: equal files are one node, and dull ones are folded.

Nothing is decided here: who supplies a library, and what is missing, is what the audit says (`Need`).
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Literal, TypeVar

from loadcheck.model import SEVERITIES
from loadcheck.text import plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from loadcheck.model import AuditReport, Need, Severity

NodeKind = Literal["file", "files", "requirement", "system", "missing", "unread", "unjudged"]
MOST_NODES = 60
"""A screen has no room for more."""
_FIRST_NAMES = 2
_TAG = re.compile(r"\.(?:cpython-|cp3|abi3|pypy)[\w-]*\.(?:so|pyd)$")
"""What the name of a module says after the module's own name."""

_T = TypeVar("_T")
_Path = tuple[str, str]
"""A file: its package, and the path in it."""
_Key = tuple[NodeKind, str, str]
"""What tells a node from others: its kind, the package in whose frame it is, and what it is about."""


class _Fold(IntEnum):
    """What is not drawn by itself. Each also folds what the ones before it fold."""

    EQUAL = 0
    """Files that need the same and that nobody needs are one node."""
    PACKAGES = 1
    """Packages that ask nobody but the system, and that have no findings, are left out."""
    SYSTEM = 2
    """The libraries of the system are left out."""
    FILES = 3
    """Files of the other packages are left out, too, if they ask nobody but the package itself and the system."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A file, several files, or what is in no package that was read."""

    kind: NodeKind
    owner: str = ""
    """The package in whose frame it is; "" for none."""
    label: str
    detail: str = ""
    """A second line."""
    names: tuple[str, ...] = ()
    """The files or libraries that it stands for."""
    severity: Severity | None = None
    """The worst error or warning on these files, of any check, or on the missing library."""
    copy: str = ""
    """Which copy it is of a library that works only once in a process: `OpenMP 1 of 3`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """What one node needs of another; both are indexes of nodes."""

    user: int
    source: int
    is_missing: bool
    """Whether the loader does not find it there."""
    libraries: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """What is drawn."""

    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()
    omitted: tuple[str, ...] = ()
    """The packages that are not drawn."""
    files_omitted: int = 0
    """How many files of the others are not drawn."""
    has_system: bool = True
    """Whether what the system supplies is drawn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Facts:
    """What a report says about files."""

    needs: Mapping[_Path, Sequence[Need]]
    severities: Mapping[_Path, Severity]
    copies: Mapping[_Path, str]
    """Which copies files are, of libraries that work only once in a process."""
    sources: frozenset[_Path]
    """The files that others need."""
    shown: frozenset[_Path]
    """What people look for: files with findings, ends of needs between packages, and copies with what needs them."""
    lively: frozenset[str]
    """The packages that have some of these files."""


def draw_graph(report: AuditReport) -> Graph:
    """The graph of a report, with as little left out as fits."""
    facts = _gather(report)
    files = sorted(facts.needs, key=lambda path: _rank(facts, path))
    is_alone = not facts.lively or {owner for owner, _ in files} == facts.lively
    for fold in [fold for fold in _Fold if fold or is_alone]:
        graph = _draw(facts, [path for path in files if _draws(facts, path, fold)], fold)
        if graph.nodes and len(graph.nodes) <= MOST_NODES:
            return graph
    return _draw_first(facts, [path for path in files if path in facts.shown] or files)


def _rank(facts: _Facts, path: _Path) -> tuple[int, bool]:
    """The files with the worst findings come first, then those that have to do with other packages."""
    severity = facts.severities.get(path)
    return SEVERITIES.index(severity) if severity else len(SEVERITIES), path not in facts.shown


def _draws(facts: _Facts, path: _Path, fold: _Fold) -> bool:
    if fold >= _Fold.FILES:
        return path in facts.shown
    return fold < _Fold.PACKAGES or path[0] in facts.lively


def _draw_first(facts: _Facts, files: Sequence[_Path]) -> Graph:
    """The graph of the first files: as many as fit."""
    fits, too_many = 1, len(files)
    while too_many - fits > 1:
        middle = (fits + too_many) // 2
        is_fine = len(_draw(facts, files[:middle], _Fold.FILES).nodes) <= MOST_NODES
        fits, too_many = (middle, too_many) if is_fine else (fits, middle)
    graph = _draw(facts, files[:fits], _Fold.FILES)
    edges = tuple(
        edge for edge in graph.edges if max(edge.user, edge.source) < MOST_NODES
    )  # one file may need thousands
    return replace(graph, nodes=graph.nodes[:MOST_NODES], edges=edges)


def _draw(facts: _Facts, files: Sequence[_Path], fold: _Fold) -> Graph:
    """The graph of some files, and how much is not in it."""
    drawn = dict.fromkeys(owner for owner, _ in files)
    rest = [path for path in facts.needs.keys() - set(files) if path[0] in drawn]
    omitted = dict.fromkeys(owner for owner, _ in facts.needs if owner not in drawn)
    graph = _Drawing(facts, fold).draw(files)
    return replace(graph, files_omitted=len(rest), omitted=tuple(omitted), has_system=fold < _Fold.SYSTEM)


def _gather(report: AuditReport) -> _Facts:
    needs: dict[_Path, list[Need]] = defaultdict(list)
    paths: dict[str, _Path] = {}
    shown: set[_Path] = set()
    for need in report.needs:
        path = need.owner, need.file
        needs[path].append(need)
        paths[need.subject] = path
        if _is_outside(need):
            shown |= {path, (need.source, need.path)} if need.path else {path}
    severities: dict[_Path, Severity] = {}
    for finding in report.findings:
        if finding.subject in paths and finding.severity != "note":
            _worsen(severities, paths[finding.subject], finding.severity)
    copies = number_copies(report)
    shown |= {path for path, rows in needs.items() if any((need.source, need.path) in copies for need in rows)}
    shown |= severities.keys() | copies.keys()
    return _Facts(
        needs=needs,
        severities=severities,
        copies=copies,
        sources=frozenset((need.source, need.path) for need in report.needs if need.path),
        shown=frozenset(shown),
        lively=frozenset(owner for owner, _ in shown),
    )


def number_copies(report: AuditReport) -> dict[tuple[str, str], str]:
    """`OpenMP 1 of 3` for each copy, by its distribution and file. What a process takes for one copy has one number."""
    names: dict[str, list[str]] = defaultdict(list)
    for copy in report.copies:
        names[copy.family] += [copy.name] * (copy.name not in names[copy.family])
    return {
        (copy.owner, copy.file): f"{copy.family} {every.index(copy.name) + 1} of {len(every)}"
        for copy in report.copies
        for every in [names[copy.family]]
    }


def _is_outside(need: Need) -> bool:
    """Whether something else than the package itself and the system has to supply a library."""
    return need.supply != "system" and (need.supply != "package" or need.source != need.owner)


def _worsen(severities: dict[_T, Severity], key: _T, severity: Severity) -> None:
    severities[key] = min(severities.get(key, severity), severity, key=SEVERITIES.index)


class _Drawing:
    """A graph in the making."""

    def __init__(self, facts: _Facts, fold: _Fold) -> None:
        self._facts = facts
        self._fold = fold
        self._names: dict[_Key, dict[str, None]] = defaultdict(dict)
        """What each node stands for."""
        self._severities: dict[_Key, Severity] = {}
        self._edges: dict[tuple[_Key, _Key, bool], dict[str, None]] = defaultdict(dict)

    def draw(self, files: Iterable[_Path]) -> Graph:
        """The graph of some files, and of what supplies them."""
        for path in files:
            user = self._place_file(path)
            for need in self._facts.needs[path]:
                self._connect(user, need)
        indexes = {key: index for index, key in enumerate(self._names)}
        edges = tuple(
            Edge(user=indexes[user], source=indexes[source], is_missing=is_missing, libraries=tuple(libraries))
            for (user, source, is_missing), libraries in self._edges.items()
        )
        nodes = _frame([self._describe(key, tuple(names)) for key, names in self._names.items()], edges)
        return Graph(nodes=nodes, edges=edges)

    def _place_file(self, path: _Path) -> _Key:
        """The node of a file."""
        owner, name = path
        severity = self._facts.severities.get(path)
        key: _Key
        if path in self._facts.sources or path in self._facts.copies:
            key = "file", owner, name
        else:
            key = "files", owner, repr((_list_sources(self._facts.needs.get(path, ())), severity))
        self._names[key][name] = None
        if severity:
            _worsen(self._severities, key, severity)
        return key

    def _connect(self, user: _Key, need: Need) -> None:
        """Draw a need, unless it is met inside the node."""
        source: _Key
        if need.path and need.supply == "requirement":
            source = self._place_other("requirement", need.source, need.path, need.path)
        elif need.path and self._fold >= _Fold.FILES and (need.source, need.path) not in self._facts.shown:
            return
        elif need.path:
            source = self._place_file((need.source, need.path))
        elif need.supply == "system" and self._fold < _Fold.SYSTEM:
            source = self._place_other("system", "", need.owner, need.library)
        elif need.supply == "unread":
            source = self._place_other("unread", "", need.source, need.library)
        elif need.supply in ("missing", "unjudged"):
            source = self._place_other(need.supply, "", need.library, need.library)
            if need.supply == "missing" and need.severity:
                _worsen(self._severities, source, need.severity)
        else:
            return
        if source != user:
            self._edges[user, source, need.supply == "missing"][need.library] = None

    def _place_other(self, kind: NodeKind, owner: str, about: str, name: str) -> _Key:
        key = kind, owner, about
        self._names[key][name] = None
        return key

    def _describe(self, key: _Key, names: tuple[str, ...]) -> Node:
        kind, owner, about = key
        label, detail = _name(kind, about), ""
        if kind == "files" and len(names) == 1:
            kind, label = "file", _shorten(names[0]) or posixpath.basename(owner)
        elif kind == "files":
            label, detail = plural(len(names), "file"), _list_first(names)
        elif kind in ("system", "unread"):
            detail = _list_first(names)
        elif kind in ("missing", "unjudged"):
            detail = "missing" if kind == "missing" else "not judged"
        return Node(
            kind=kind,
            owner=owner,
            label=label,
            detail=detail,
            names=names,
            severity=self._severities.get(key),
            copy=self._facts.copies.get((owner, about), ""),
        )


def _frame(nodes: Sequence[Node], edges: Iterable[Edge]) -> tuple[Node, ...]:
    """The nodes in the frames where they are drawn: what only one package lacks is next to what lacks it."""
    users: dict[int, set[str]] = defaultdict(set)
    for edge in edges:
        users[edge.source].add(nodes[edge.user].owner)
    framed = [
        replace(node, owner=next(iter(users[index]))) if node.kind == "missing" and len(users[index]) == 1 else node
        for index, node in enumerate(nodes)
    ]
    counts = Counter(node.owner for node in framed)
    return tuple(_take_out(node) if counts[node.owner] == 1 else node for node in framed)


def _take_out(node: Node) -> Node:
    """A node that is alone in its frame, with the package's name in place of the frame."""
    detail = " · ".join(filter(None, (node.copy, node.owner)))
    return node if node.detail or not node.owner else replace(node, owner="", detail=detail)


def _name(kind: NodeKind, about: str) -> str:
    if kind == "system":
        return "system"
    if kind == "unread":
        return f"{about}: not read"
    return _shorten(about) or about


def _list_sources(needs: Iterable[Need]) -> list[tuple[str, str, str]]:
    """What tells files apart that nobody needs: what they need, but for the system's libraries."""
    return sorted((need.supply, need.source, need.path or need.library) for need in needs if need.supply != "system")


def _list_first(paths: Sequence[str]) -> str:
    """`_arpack, _dsolve + 12`: the first names, and how many more there are."""
    names = [_shorten(path) for path in paths[:_FIRST_NAMES]]
    more = len(paths) - len(names)
    return ", ".join(names) + (f" + {more}" if more else "")


def _shorten(path: str) -> str:
    """A file name without folders; of a module of Python, the module's name."""
    return _TAG.sub("", posixpath.basename(path))
