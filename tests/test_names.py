"""One noun, one meaning: public names of packaging/latebind are defined in one module each."""

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent / "packaging" / "latebind"
ALLOWED = {
    "main": "the entry point of each program",
    "find": "each module finds its own program or file, and is named with it: dotnet.find, mono.find",
}
"""Names that may be defined in several modules, each with the reason."""


def find_repeated():
    modules = defaultdict(list)
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and not node.name.startswith("_"):
                modules[node.name].append(path.relative_to(ROOT).as_posix())
    return {name: paths for name, paths in modules.items() if len(paths) > 1}


def test_a_public_name_has_one_meaning():
    assert {name: paths for name, paths in find_repeated().items() if name not in ALLOWED} == {}


def test_each_allowed_name_still_occurs_twice():
    assert set(ALLOWED) - set(find_repeated()) == set()
