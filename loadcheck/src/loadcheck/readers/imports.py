"""Follows what importing the packages of a distribution imports in any case, from the text of its Python code.

That are the import statements outside of functions, classes, conditions, loops and `try`: whatever runs a module runs
these.
"""

from __future__ import annotations

import ast
import posixpath
import re
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from loadcheck.archive import ZipReader
from loadcheck.errors import InputError
from loadcheck.readers.opened import parse_python

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

_LARGEST = 256 * 1024
"""Longer code is generated, and its syntax tree takes much memory."""
_MOST_MODULES = 2000
_IMPORTS = re.compile(rb"^[ \t]*(?:[^#\n]*[:;][ \t]*)?(import|from)[ \t]+([^#;\n]+)", re.MULTILINE)
_COMPUTES = re.compile(rb"import_module|__import__|\bexec\b")
_DATA = re.compile(r"[^/]+\.data/(?:purelib|platlib)/")


class _Imported(NamedTuple):
    """What one module imports in any case."""

    modules: tuple[str, ...]
    members: tuple[tuple[str, str], ...]
    """Names taken from modules: attributes, or modules inside them."""
    bound: frozenset[str]
    """The names that the module gives a value."""


def find_imported(path: Path, natives: Iterable[str]) -> Mapping[str, str]:
    """The extension modules of a wheel that importing one of its top-level names loads, each with that name.

    `natives` are the paths of its native files. A wheel that cannot be read has none.
    """
    try:
        with ZipReader(path) as archive:
            names = {member.name: member.size for member in archive.members if not member.is_folder}
            sources = {_DATA.sub("", name): name for name, size in names.items() if size <= _LARGEST}
            files = {_DATA.sub("", name): name for name in natives}
            return _Walk(files, sources, lambda name: archive.read(sources[name], _LARGEST)).find()
    except InputError:
        return {}


def find_installed_imports(folder: Path, natives: Iterable[str], sources: Iterable[str]) -> Mapping[str, str]:
    """The same of a distribution that is installed in a folder, with the names of its native files and its code."""
    return _Walk(
        {name: name for name in natives}, {name: name for name in sources}, lambda name: read_code(folder / name)
    ).find()


def find_outside_imports(path: Path) -> frozenset[str]:
    """The top-level names of other distributions that a wheel's Python code imports, also in functions.

    "*" is one of them if not all are known.
    """
    try:
        with ZipReader(path) as archive:
            sizes = {member.name: member.size for member in archive.members}
            sources = {name: size for name, size in sizes.items() if name.endswith(".py")}
            codes = (archive.read(name, _LARGEST) for name, size in sources.items() if size <= _LARGEST)
            computed = frozenset("*") if any(size > _LARGEST for size in sources.values()) else frozenset()
            return computed | list_outside_imports(codes, [_DATA.sub("", name) for name in sizes])
    except InputError:
        return frozenset("*")


def list_outside_imports(codes: Iterable[bytes], files: Iterable[str]) -> frozenset[str]:
    """The same of code, and of the names of the files of its distribution."""
    names = frozenset[str]().union(*map(_list_imports, codes))
    return names - {name.partition("/")[0].partition(".")[0] for name in files} - sys.stdlib_module_names


def _list_imports(code: bytes) -> set[str]:
    names = {"*"} if _COMPUTES.search(code) else set[str]()
    for match in _IMPORTS.finditer(code):
        parts = match[2].split(b",") if match[1] == b"import" else [match[2]]
        names |= {part.split()[0].partition(b".")[0].decode("ascii", "replace") for part in parts if part.strip()}
    return names - {""}  # of "from . import"


def read_code(path: Path) -> bytes:
    """The text of Python code; nothing of a file that is too large or cannot be read."""
    with suppress(OSError):
        return path.read_bytes() if path.stat().st_size <= _LARGEST else b""
    return b""


class _Walk:
    """Goes from module to module, as far as statements lead that run in any case."""

    def __init__(self, files: Mapping[str, str], sources: Mapping[str, str], read: Callable[[str], bytes]) -> None:
        self._files, self._sources, self._read = files, sources, read
        self._extensions: dict[str, list[str]] = {}
        for name in files:
            folder, base = posixpath.split(name)
            if base.endswith((".so", ".pyd")):
                self._extensions.setdefault(posixpath.join(folder, base.partition(".")[0]), []).append(name)
        self._seen: dict[str, _Imported] = {}

    def find(self) -> Mapping[str, str]:
        found: dict[str, str] = {}
        for root in self._list_roots():
            for name in self._follow(root.replace("/", ".")):
                found.setdefault(self._files[name], root.replace("/", "."))
        return found

    def _list_roots(self) -> Iterator[str]:
        """The names that users import: packages that are in no other package, and modules at the top."""
        packages = {posixpath.dirname(name) for name in self._sources if name.endswith("/__init__.py")}
        for folder in sorted(packages):
            parents = folder.split("/")[:-1]
            inside = any("/".join(parents[: end + 1]) in packages for end in range(len(parents)))
            if not inside and all(map(_is_public, folder.split("/"))):
                yield folder
        tops = {name.removesuffix(".py") for name in self._sources if name.endswith(".py")} | {*self._extensions}
        yield from (name for name in sorted(tops) if "/" not in name and _is_public(name))

    def _follow(self, root: str) -> Iterator[str]:
        """The files of extension modules that importing a name loads."""
        waiting, done = [root], set[str]()
        while waiting and len(done) < _MOST_MODULES:
            name = waiting.pop()
            if name in done:
                continue
            done.add(name)
            parent = name.rpartition(".")[0]
            waiting += [parent] if parent else []
            place = name.replace(".", "/")
            is_package = f"{place}/__init__.py" in self._sources
            if compiled := self._extensions.get(f"{place}/__init__" if is_package else place):
                yield from compiled
                continue
            imported = self._imported(name, f"{place}/__init__.py" if is_package else f"{place}.py")
            waiting += imported.modules
            waiting += [f"{holder}.{member}" for holder, member in imported.members if self._is_inside(holder, member)]

    def _is_inside(self, holder: str, member: str) -> bool:
        """Whether a name taken from a package is a module: it is, unless the package's own code gives it a value."""
        folder = holder.replace(".", "/")
        if f"{folder}/__init__.py" not in self._sources:
            return False
        return member not in self._imported(holder, f"{folder}/__init__.py").bound

    def _imported(self, name: str, file: str) -> _Imported:
        if file not in self._seen:
            tree = parse_python(self._read(file)) if file in self._sources else None
            package = name if file.endswith("/__init__.py") else name.rpartition(".")[0]
            self._seen[file] = _list_imported(tree, package) if tree else _Imported((), (), frozenset())
        return self._seen[file]


def _is_public(name: str) -> bool:
    """Whether other code may import a name: PEP 8 keeps those with a leading underscore for the package's own code."""
    return name.isidentifier() and not name.startswith("_")


def _list_imported(tree: ast.Module, package: str) -> _Imported:
    modules: list[str] = []
    members: list[tuple[str, str]] = []
    for statement in tree.body:
        match statement:
            case ast.Import(names=names):
                modules += [each.name for each in names]
            case ast.ImportFrom(module=module, names=names, level=level):
                parents = package.split(".")
                base = ".".join(parents[: len(parents) - level + 1]) if level else ""
                holder = ".".join(filter(None, (base, module or "")))
                modules.append(holder)
                members += [(holder, each.name) for each in names if each.name != "*"]
            case ast.Try(body=body, handlers=[]):
                inner = _list_imported(ast.Module(body=body, type_ignores=[]), package)
                modules += inner.modules
                members += inner.members
    return _Imported(tuple(modules), tuple(members), frozenset(_list_bound(tree, package)))


def _list_bound(tree: ast.Module, package: str) -> Iterator[str]:
    """The names that a module gives a value: not those that it takes from its own folder, which may be modules."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.Import(names=names):
                yield from (each.asname for each in names if each.asname)
            case ast.ImportFrom(module=module, names=names, level=level):
                is_own = (level == 1 and not module) or (level == 0 and module == package)
                yield from (each.asname or each.name for each in names if not is_own)
