"""Check LB510: whether type checkers read the type hints of a wheel."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from loadcheck.engine.registry import Hit, Skip, check
from loadcheck.engine.wording import some
from loadcheck.readers.python import parse_python

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadcheck.readers.contents import Contents

_STUBS = "-stubs"
"""How a package that only has type hints ends (PEP 561)."""


@check(
    "LB510",
    "Type hints without py.typed",
    "note",
    profiles=("all",),
    because="The package works, but type checkers ignore its type hints, and report its import as untyped.",
    kinds=("wheel",),
    example="tiny/__init__.py has annotated functions, and there is no tiny/py.typed",
    fix="Add an empty file py.typed next to __init__.py.",
)
def hints_without_marker(package: Contents) -> Iterator[Hit | Skip]:
    """Type checkers read the hints of an installed package only if it has a file py.typed (PEP 561)."""
    names = {file.name for file in package.files}
    for top in sorted(
        {name.partition("/")[0] for name in names if name.count("/") == 1 and name.endswith("/__init__.py")}
    ):
        if f"{top}/py.typed" in names or top.endswith(_STUBS):
            continue
        found = sorted(name for name in names if name.startswith(f"{top}/") and name.endswith(".pyi"))
        found += _list_annotated(package.texts.get(f"{top}/__init__.py", b""))
        if found:
            text = f"{top} has type hints, but no py.typed"
            yield Hit(inner=f"{top}/__init__.py", message=text, evidence=some(found))


def _list_annotated(code: bytes) -> list[str]:
    """The public functions of a module that have annotations, as they are written."""
    tree = parse_python(code)
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)] if tree is not None else []
    return [
        f"def {function.name}"
        for function in functions
        if not function.name.startswith("_") and _is_annotated(function)
    ]


def _is_annotated(function: ast.FunctionDef) -> bool:
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return function.returns is not None or any(argument.annotation is not None for argument in arguments)
