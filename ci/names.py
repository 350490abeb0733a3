"""Checks how the code names things: no vague names, no functions named by a participle, no kinds compared outside.

    python -m ci.names

A value is called by what it holds, and a function by what it does: `made` and `row` say neither. A folder may have a
few where they are right, such as `left` for a direction. What is about one kind of packages is in its folder below
`ecosystems/`, so nothing else compares the name of a kind (docs/decisions/0088-registry.md). A module has one idea, for
which 300 lines are enough.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from latebind.formats import package_formats

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
MODULES = ("packaging", "ci", "machines", "research")
"""Where no module is long. A test module has all tests of what it is named after."""
LONGEST = 300
FOLDERS = ("packaging", "ci", "machines", "research", "tests", "latenn")
MOST = 0.01
"""The largest share of vague names, and of functions named by a participle, in a folder."""
_WORDS = msgspec.toml.decode(Path(__file__).with_name("names.toml").read_bytes())
VAGUE = frozenset(_WORDS["vague"])
_PARTICIPLE = re.compile(rf"[a-z]+ed|{'|'.join(_WORDS['participles'])}")


def find_bindings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Each name that a module binds as a variable or an argument, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg


def find_functions(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Each function with its line, but for tests, properties and special methods."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith(("__", "test")):
            decorators = "".join(map(ast.dump, node.decorator_list))
            if "property" not in decorators:
                yield node.lineno, node.name


def find_comparisons(tree: ast.AST, kinds: frozenset[str]) -> Iterator[int]:
    """The lines on which something is compared with the name of a kind."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = (node.left, *node.comparators)
            literals = {part.value for side in sides for part in ast.walk(side) if isinstance(part, ast.Constant)}
            if literals & kinds:
                yield node.lineno


def check_folder(folder: Path) -> list[str]:
    """What is wrong with the names of a folder: each vague one, if they are too many."""
    modules = {path: ast.parse(path.read_bytes()) for path in sorted(folder.rglob("*.py"))}
    bindings = [(path, line, name) for path, tree in modules.items() for line, name in find_bindings(tree)]
    functions = [(path, line, name) for path, tree in modules.items() for line, name in find_functions(tree)]
    vague = [binding for binding in bindings if binding[2].strip("_") in VAGUE]
    participles = [function for function in functions if _PARTICIPLE.fullmatch(function[2].strip("_"))]
    return [
        f"{path.relative_to(folder.parent)}:{line}: {name!r} {why}"
        for every, bad, why in (
            (bindings, vague, "does not say what it holds"),
            (functions, participles, "does not say what it does"),
        )
        if len(bad) > MOST * len(every)
        for path, line, name in bad
    ]


def check_kinds(package: Path) -> list[str]:
    """Each comparison with the name of a kind outside `ecosystems/`."""
    kinds = frozenset(form.kind for form in package_formats()) | {"nuget", "ep"}
    return [
        f"{path.relative_to(package)}:{line}: compares the name of a kind; ask the ecosystem (registry.py)"
        for path in sorted(package.rglob("*.py"))
        if "ecosystems" not in path.relative_to(package).parts
        for line in find_comparisons(ast.parse(path.read_bytes()), kinds)
    ]


def check_lengths(folder: Path) -> list[str]:
    """Each module of a folder that is too long."""
    lengths = {path: path.read_bytes().count(b"\n") for path in sorted(folder.rglob("*.py"))}
    return [
        f"{path.relative_to(folder.parent)}: has {length} lines, more than {LONGEST}; move one of its ideas elsewhere"
        for path, length in lengths.items()
        if length > LONGEST
    ]


def main() -> int:
    """Print each problem; 1 when there is one."""
    problems = [problem for name in FOLDERS for problem in check_folder(ROOT / name)]
    problems += [problem for name in MODULES for problem in check_lengths(ROOT / name)]
    problems += check_kinds(ROOT / "packaging" / "latebind")
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
