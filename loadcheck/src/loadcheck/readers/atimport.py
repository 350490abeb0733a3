"""Follows the plain paths of libraries that Python code opens as soon as it is imported, whatever the system is."""

from __future__ import annotations

import ast
import posixpath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

_FOLDER = "/0/1/2/3/4/5"
"""In place of the folder of the code, with as many above it as such paths climb."""
_MOST_STEPS, _LONGEST_TEXT = 100, 200
_SAME = frozenset({"abspath", "realpath", "normpath", "fspath", "str", "Path", "PurePath", "resolve", "absolute"})


def find_at_import(tree: ast.Module, calls: Collection[ast.Call]) -> Mapping[ast.Call, str]:
    """Those calls that are outside of functions, conditions and loops, each with its first argument.

    That is a path from the folder of the code. Calls whose argument is not plainly such a path are left out.
    """
    values: dict[str, ast.expr] = {}
    paths: dict[ast.Call, str] = {}
    for statement in tree.body:
        if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.Expr)) and statement.value is not None:
            for call in _list_calls(statement.value, calls):
                path = _Paths(values).follow(call.args[0]) if call.args else None
                if path is not None and path.startswith("/0/"):
                    paths[call] = posixpath.relpath(path, _FOLDER)
        for name in _list_bound(statement):
            values.pop(name, None)
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                values[name] = value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                values[name] = value
    return paths


def _list_calls(value: ast.expr, calls: Collection[ast.Call]) -> Iterator[ast.Call]:
    """The calls of a statement that are not inside a function or a choice."""
    waiting: list[ast.AST] = [value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Call) and node in calls:
            yield node
        if not isinstance(node, (ast.Lambda, ast.IfExp, ast.BoolOp, ast.comprehension)):
            waiting += ast.iter_child_nodes(node)


def _list_bound(statement: ast.stmt) -> Iterator[str]:
    """The variables to which a statement may give a value."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id


class _Paths:
    """Computes paths that are made of texts and the place of the code itself, in a limited number of steps."""

    def __init__(self, values: Mapping[str, ast.expr]) -> None:
        self._values = values
        self._steps = 0

    def follow(self, node: ast.expr) -> str | None:
        """The value of an expression; None for what is not plain."""
        self._steps += 1
        result: str | None = None
        match node:
            case _ if self._steps > _MOST_STEPS:
                pass
            case ast.Constant(value=str() as text) if len(text) <= _LONGEST_TEXT:
                result = text
            case ast.Name(id="__file__"):
                result = f"{_FOLDER}/code"
            case ast.Name(id=name) if name in self._values:
                result = self.follow(self._values[name])
            case ast.Attribute(value=inner, attr="parent"):
                result = self._climb(inner)
            case ast.FormattedValue(value=inner):
                result = self.follow(inner)
            case ast.JoinedStr(values=parts):
                result = self._join("", *parts)
            case ast.BinOp(left=left, op=operator, right=right):
                result = self._join("/" if isinstance(operator, ast.Div) else "", left, right)
            case ast.Call():
                result = self._call(node)
        return result

    def _climb(self, node: ast.expr) -> str | None:
        path = self.follow(node)
        return posixpath.dirname(path) if path is not None else None

    def _join(self, between: str, *nodes: ast.expr) -> str | None:
        parts = [self.follow(node) for node in nodes]
        return None if None in parts else between.join(filter(None, parts))

    def _call(self, call: ast.Call) -> str | None:
        result: str | None = None
        match call:
            case ast.Call(func=ast.Attribute(attr="dirname") | ast.Name(id="dirname"), args=[inner]):
                result = self._climb(inner)
            case ast.Call(func=ast.Attribute(attr="join") | ast.Name(id="join"), args=[_, *_]):
                result = self._join("/", *call.args)
            case ast.Call(func=ast.Attribute(value=inner, attr="joinpath")):
                result = self._join("/", inner, *call.args)
            case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name), args=[inner]) if name in _SAME:
                result = self.follow(inner)
            case ast.Call(func=ast.Attribute(value=inner, attr=name), args=[]) if name in _SAME:
                result = self.follow(inner)
        return result
