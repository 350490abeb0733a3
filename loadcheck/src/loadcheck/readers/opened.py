"""Finds the libraries that Python code opens by their paths, as with ctypes, from its text."""

from __future__ import annotations

import ast
import posixpath
import re
import warnings
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import islice
from typing import TYPE_CHECKING, Literal, NamedTuple

from loadcheck.readers.atimport import find_at_import

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from loadcheck.readers.contents import File

_LARGEST = 256 * 1024
"""Longer code is generated, and its syntax tree takes much memory."""
_MOST_CALLS, _MOST_NODES = 100, 5000
"""Of a file, and of what one path is made of: code that is written to take long takes a second."""
_MOST_TEXTS, _LONGEST_TEXT = 100, 200
"""A path that may be made of more texts is not plain to see."""
_WORDS = (b"DLL", b"LoadLibrary", b"load_library", b"dlopen")
_CALL = re.compile(rb"\b(CDLL|PyDLL|WinDLL|OleDLL|LoadLibrary|load_library|dlopen)\b")
_ON_WINDOWS = frozenset({"WinDLL", "OleDLL", "windll", "oledll"})
_OPENS = frozenset({"CDLL", "PyDLL", "LoadLibrary", "load_library", "dlopen"}) | _ON_WINDOWS
_SCANS = frozenset({"listdir", "scandir", "walk", "iterdir", "glob", "rglob", "iglob"})
_OF_PACKAGE = frozenset({"__file__", "__path__", "files", "resource_filename", "getfile", "get_data"})
_OF_PATHS = frozenset({"join", "joinpath", "dirname", "abspath", "realpath", "resolve", "parent", "parents", "Path"})
_OF_SYSTEM = frozenset({"environ", "getenv", "expandvars"})
_ABSOLUTE = re.compile(r"/\w|[A-Za-z]:[\\/]|%\w+%")
_PLATFORMS = {
    **dict.fromkeys(("win32", "nt", "Windows", "win", "cygwin"), "pe"),
    **dict.fromkeys(("linux", "linux2", "Linux"), "elf"),
    **dict.fromkeys(("darwin", "Darwin"), "macho"),
}
"""What sys.platform, os.name and platform.system() are where Python code uses libraries of a format."""
_PLACEHOLDERS = re.compile(r"%s|\{\w*\}")
_ENDING = re.compile(r"(?:\.so(?:\.\d+)*|(?:\.\d+)*\.dylib|\.dll)$")
_SHORTEST = 3
"""Shorter names of libraries are parts of names."""
_OF_TESTS = frozenset({"test", "tests", "testing"})


@dataclass(frozen=True, slots=True)
class Opened:
    """The libraries that one call in Python code opens by their paths."""

    names: frozenset[str]
    """The texts that the path consists of: folders, names of files with or without endings, patterns."""
    system: Literal["elf", "macho", "pe", ""] = ""
    """The format of the only system on which the code runs; "" for any."""
    is_scan: bool = False
    """Whether it opens what it finds in a folder."""
    is_elsewhere: bool = False
    """Whether the path begins outside the package: at a path of the system, or one that users set."""
    line: int = 0
    """Where the call is; 0 inside a function, whose callers decide when it runs."""
    path: str = ""
    """The library from the folder of the code, if importing it opens just this one; else ""."""


Place = tuple[str, int]
"""A Python file, and the line of a call; 0 inside a function."""


class _Reach(NamedTuple):
    """What the value of an expression may consist of."""

    texts: set[str]
    words: set[str]
    """The names of variables, attributes and functions."""


def may_open(data: bytes) -> bool:
    """Whether Python code may open libraries, in whatever way: it has a word of those that do."""
    return any(word in data for word in (*_WORDS, b"ctypes", b"cffi"))


def find_opened(data: bytes) -> tuple[Opened, ...]:
    """The calls in Python code that open libraries by their paths; none in code that cannot be parsed."""
    may_call = any(word in data for word in _WORDS)  # four times as fast as the expression
    may_call = may_call and len(data) <= _LARGEST and _CALL.search(data) is not None
    tree = parse_python(data) if may_call else None
    if tree is None:
        return ()
    values = _list_values(tree)
    calls = list(islice(_list_calls(tree), _MOST_CALLS))
    paths = find_at_import(tree, {call for call, _, _ in calls})
    found = (_judge_call(call, system, line, values, paths.get(call, "")) for call, system, line in calls)
    return tuple(dict.fromkeys(opened for opened in found if opened))


def parse_python(code: bytes) -> ast.Module | None:
    """The syntax tree of code; None if it cannot be parsed. Callers limit its size, which decides about the time."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in texts
            return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _name(node: ast.AST) -> str:
    """The last word of a name: `CDLL` of `ctypes.CDLL`."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _variable(node: ast.AST) -> str:
    """The name of a variable, or of an attribute of `self`; "" for anything else."""
    is_own = isinstance(node, ast.Attribute) and _name(node.value) in ("self", "cls")
    return _name(node) if is_own or isinstance(node, ast.Name) else ""


def _list_calls(tree: ast.AST) -> Iterator[tuple[ast.Call, str, int]]:
    """Each call that opens a library, with the system on which alone it runs, and its line outside of functions."""
    waiting: list[tuple[ast.AST, str, bool]] = [(tree, "", False)]
    while waiting:
        node, system, is_inside = waiting.pop()
        is_inside |= isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        if isinstance(node, ast.Call) and _name(node.func) in _OPENS:
            is_of_windows = {_name(node.func), *map(_name, _parts(node.func))} & _ON_WINDOWS
            yield node, "pe" if is_of_windows else system, 0 if is_inside else node.lineno
        if isinstance(node, ast.If):
            inside = _find_system(node.test) or system
            waiting += [(node.test, system, is_inside), *((each, inside, is_inside) for each in node.body)]
            waiting += [(each, system, is_inside) for each in node.orelse]
        else:
            waiting += [(each, system, is_inside) for each in ast.iter_child_nodes(node)]


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    while isinstance(node, ast.Attribute):
        node = node.value
        yield node


def _find_system(test: ast.expr) -> str:
    """The format of the only system for which a condition holds, as far as it says so plainly; else ""."""
    nodes = list(ast.walk(test))
    if any(isinstance(node, (ast.NotEq, ast.NotIn, ast.Not, ast.Or)) for node in nodes):
        return ""
    texts = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    systems = {_PLATFORMS.get(text, "") for text in texts}
    return systems.pop() if len(systems) == 1 else ""


def _list_values(tree: ast.AST) -> Mapping[str, list[ast.expr]]:
    """The expressions whose values each variable, parameter, attribute or function may have."""
    values: dict[str, list[ast.expr]] = {}
    parameters: dict[str, list[str]] = {}
    calls: list[ast.Call] = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            parameters[node.name] = [each.arg for each in (*node.args.posonlyargs, *node.args.args)]
            returned = (each.value for each in ast.walk(node) if isinstance(each, (ast.Return, ast.Yield)))
            values.setdefault(node.name, []).extend(value for value in returned if value)
        elif isinstance(node, ast.Call):
            calls.append(node)
        else:
            for target, value in _list_bindings(node):
                values.setdefault(target, []).append(value)
    for call in calls:
        name, names = _name(call.func), parameters.get(_name(call.func), [])
        pairs = [*zip(names[names[:1] == ["self"] :], call.args, strict=False)] if name in parameters else []
        pairs += [(each.arg, each.value) for each in call.keywords if each.arg and name in parameters]
        if isinstance(call.func, ast.Attribute) and name in ("append", "extend", "insert", "add"):
            pairs = [(_variable(call.func.value), each) for each in call.args]
        for parameter, value in pairs:
            values.setdefault(parameter, []).append(value)
    return values


def _list_bindings(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The names that a statement gives a value, each with the expression."""
    bound: list[tuple[ast.expr, ast.expr | None]] = []
    if isinstance(node, ast.Assign):
        bound = [(target, node.value) for target in node.targets]
    elif isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)):
        bound = [(node.target, node.value)]
    elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
        bound = [(node.target, node.iter)]
    elif isinstance(node, ast.withitem) and node.optional_vars:
        bound = [(node.optional_vars, node.context_expr)]
    for target, value in bound:
        for each in target.elts if isinstance(target, (ast.Tuple, ast.List)) else (target,):
            if value is not None and (name := _variable(each)):
                yield name, value


def _judge_call(
    call: ast.Call, system: str, line: int, values: Mapping[str, list[ast.expr]], path: str
) -> Opened | None:
    """What a call opens by a path; None for a name alone, which loaders look for in the system's folders."""
    is_of_numpy = _name(call.func) == "load_library"  # takes a name and a folder
    arguments = call.args if is_of_numpy else call.args[:1]
    arguments = [*arguments, *(each.value for each in call.keywords if each.arg in ("name", "libname", "loader_path"))]
    reach = _follow(arguments, values)
    if reach is None or len(reach.texts) > _MOST_TEXTS:
        return None
    if not reach.words & (_OF_PACKAGE | _OF_PATHS | _SCANS | _OF_SYSTEM):
        return None
    in_package = bool(reach.words & _OF_PACKAGE)
    begins_outside = reach.words & _OF_SYSTEM or any(_ABSOLUTE.match(text) for text in reach.texts)
    return Opened(
        names=frozenset(text for text in reach.texts if len(text) <= _LONGEST_TEXT),
        system=next((each for each in ("elf", "macho", "pe") if each == system), ""),
        is_scan=bool(reach.words & _SCANS),
        is_elsewhere=bool(begins_outside) and not in_package,
        line=line,
        path=path,
    )


def _follow(start: Iterable[ast.expr], values: Mapping[str, list[ast.expr]]) -> _Reach | None:
    """The texts and names from which expressions are made, through the variables and functions of the same file.

    None if they are made of too much to be plain to see.
    """
    reach = _Reach(set(), set())
    waiting: list[ast.AST] = [*start]
    followed: set[str] = set()
    for _ in range(_MOST_NODES):
        if not waiting:
            return reach
        node = waiting.pop()
        if isinstance(node, ast.Constant):
            _take_text(reach, node)
        elif isinstance(node, ast.JoinedStr):
            waiting += _take_parts(reach, node.values)
        elif isinstance(node, ast.BinOp):
            waiting += _take_parts(reach, [node.left, node.right])
            reach.words.update(["joinpath"] * isinstance(node.op, ast.Div))
        elif not isinstance(node, ast.Call) or _name(node.func) != "find_library":  # that looks in the system's folders
            variable = _variable(node)
            if variable not in followed:
                waiting += values.get(variable, ())
            followed.add(variable)
            reach.words.add(_name(node))
            waiting += ast.iter_child_nodes(node)
    return None


def _take_parts(reach: _Reach, parts: Sequence[ast.expr]) -> Iterator[ast.expr]:
    """The parts of a text, without those that are written out and do not begin it, which are taken."""
    for index, part in enumerate(parts):
        if index and isinstance(part, ast.Constant):
            _take_text(reach, part, begins=False)
        else:
            yield part


def _take_text(reach: _Reach, constant: ast.Constant, *, begins: bool = True) -> None:
    """Take the parts of a text between its placeholders. What follows one does not begin a path."""
    if not isinstance(constant.value, str):
        return
    start, *others = _PLACEHOLDERS.split(("" if begins else "{}") + constant.value)
    reach.texts.update(part for part in (start, *(other.lstrip("/\\") for other in others)) if part)
    if "/" in constant.value or "\\" in constant.value:
        reach.words.add("joinpath")


def list_opened(files: Iterable[File]) -> Mapping[str, frozenset[Place]]:
    """The names of native files of a package that its Python code opens by their paths, and where it does."""
    files = tuple(files)
    scripts = [file for file in files if file.opened and _OF_TESTS.isdisjoint(file.folder.split("/"))]
    by_name: dict[str, list[File]] = {}
    by_folder: dict[str, list[File]] = {}
    for file in (file for file in files if file.is_native) if scripts else ():
        stem = _ENDING.sub("", file.base)
        for name in {file.base, stem, stem.removeprefix("lib")}:
            by_name.setdefault(name if len(name) >= _SHORTEST else "", []).append(file)
        for folder in {file.folder, posixpath.basename(file.folder)}:
            by_folder.setdefault(folder, []).append(file)
    found: dict[str, set[Place]] = {}
    for script in scripts:
        for opened in script.opened:
            for file in () if opened.is_elsewhere else _list_matches(opened, script, by_name, by_folder):
                if opened.system in ("", file.format):
                    found.setdefault(file.name, set()).add((script.name, opened.line))
    return {name: frozenset(places) for name, places in found.items()}


def _list_matches(
    opened: Opened, script: File, by_name: Mapping[str, list[File]], by_folder: Mapping[str, list[File]]
) -> Iterator[File]:
    """The files that a call opens, by their names or because they are in folders that the call searches."""
    paths = [name.replace("\\", "/") for name in opened.names]
    bases = {posixpath.basename(path).rstrip(".") for path in paths} - {""}
    for base in bases:
        yield from by_name.get(base, ())
    if not opened.is_scan:
        return
    patterns = {base for base in bases if "*" in base or "?" in base}
    folders = {part for path in paths for part in posixpath.dirname(path).split("/")} | (bases - patterns)
    for folder in folders - {""} | {script.folder}:
        for file in by_folder.get(folder, ()):
            if not patterns or any(fnmatchcase(file.base, pattern) for pattern in patterns):
                yield file


def list_elsewhere(files: Iterable[File]) -> frozenset[str]:
    """The names of files outside the package that its Python code opens by their paths."""
    return frozenset(
        posixpath.basename(name.replace("\\", "/")).lower()
        for file in files
        for opened in file.opened
        if opened.is_elsewhere
        for name in opened.names
    )
