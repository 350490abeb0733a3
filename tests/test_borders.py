"""The tests of a project need nothing of the projects that it does not know."""

import ast
import re

import pytest

from tests.conftest import ROOT

LATENN = re.compile(r"""(?:ROOT|\]) / ["']latenn["'/]|\blatenn_(?:here|packages|site)\b|\bLATENN\b""")
"""How a test reaches latenn's files or packages."""
OF_THE_REPOSITORY = {
    "plugin.py": "makes latenn's packages, for latenn's tests",
    "dotnet_support.py": "the same",
    "test_borders.py": "this table",
    "test_docs.py": "the pages of latenn are on the site",
    "ci/test_docs_site.py": "the pages of latenn are on the site",
    "ci/test_reference.py": "the reference of latenn is on the site",
    "ci/test_workflows.py": "the workflow makes latenn",
    "research/test_sabotage.py": "breaks latenn's packages",
}
"""Modules about the whole repository, which has latenn."""
NOT_YET = {
    "ecosystems/nuget/test_consumed.py",
    "ecosystems/nuget/test_managed.py",
    "emulated/test_machines.py",
    "native/test_ort_api.py",
    "verify/run/conftest.py",
    "verify/run/test_nupkg.py",
}
"""Modules that should use a project of tests/clients/ instead, or move to latenn/tests/."""


def list_imports(path):
    nodes = list(ast.walk(ast.parse(path.read_bytes())))
    modules = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    return {*modules, *(alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names)}


def test_latebinds_tests_use_their_own_clients():
    named = {
        path.relative_to(ROOT / "tests").as_posix()
        for path in (ROOT / "tests").rglob("*.py")
        if LATENN.search(re.sub(r'"""(?:.|\n)*?"""|#.*', "", path.read_text("utf-8")))
    }
    assert named == OF_THE_REPOSITORY.keys() | NOT_YET


@pytest.mark.parametrize("path", sorted((ROOT / "loadcheck/tests").rglob("*.py")), ids=lambda path: path.stem)
def test_loadchecks_tests_run_with_loadcheck_alone(path):
    own = {folder.name for folder in (ROOT / "loadcheck/tests").iterdir()} | {"processes"}
    outside = {
        module
        for module in list_imports(path)
        if module.split(".")[0] in ("latebind", "machines", "research", "ci")
        or (module.startswith("tests.") and module.split(".")[1] not in own)
    }
    assert outside == set()
