"""The tests of a project need nothing of the projects that it does not know."""

import ast
import re

import pytest

from tests.conftest import ROOT

LATENN = re.compile(r"""(?:ROOT|\]) / ["']latenn["'/]|\blatenn_(?:here|packages|site)\b|\bLATENN\b""")
"""How a test reaches latenn's files or packages."""
OF_THE_REPOSITORY = {
    "test_borders.py": "this table",
    "advice/test_loader.py": "tries the advice of latenn's npm packages",
    "test_docs.py": "the pages of latenn are on the site",
    "ci/test_cibuildwheel.py": "builds latenn's wheels with cibuildwheel",
    "ci/test_first_page.py": "counts latenn's packages, as the first page does",
    "ci/test_reference.py": "the reference of latenn is on the site",
    "ci/test_workflows.py": "the workflow makes latenn",
    "support/latenn.py": "the packages of latenn, for its tests and those that break them",
    "support/broken/sabotage.py": "breaks latenn's packages",
    "test_sabotage.py": "breaks latenn's packages",
}
"""Modules about the whole repository, which has latenn."""
OF_LATEBIND = {
    "fuzz_customop.py": {"latebind.config.project", "latebind.pack.make", "latebind.backend.targets"},
    "npm/conftest.py": {"latebind.ecosystems.npm.pack"},  # the modules that every npm package of latebind has
    "npm/test_places.py": {"latebind.ecosystems.npm.pack"},
    "python/test_accelerator.py": {"latebind.compilers.interpreters"},
    "python/test_emulated.py": {"latebind.errors", "latebind.verify.run.installers"},
}
"""What latenn's tests import of latebind: all else, they use as any project does."""


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
    assert named == OF_THE_REPOSITORY.keys()


def test_latenns_tests_need_nothing_of_latebinds():
    folder = ROOT / "latenn/tests"
    imported = {path.relative_to(folder).as_posix(): list_imports(path) for path in folder.rglob("*.py")}
    foreign = {
        name: {module for module in modules if module.split(".")[0] in ("latebind", "loadcheck")}
        for name, modules in imported.items()
    }
    shared = {module for modules in imported.values() for module in modules if module.split(".")[0] == "tests"}
    assert {name: modules for name, modules in foreign.items() if modules} == OF_LATEBIND
    assert {module.split(".")[1] for module in shared} == {"support"}


@pytest.mark.parametrize("path", sorted((ROOT / "loadcheck/tests").rglob("*.py")), ids=lambda path: path.stem)
def test_loadchecks_tests_run_with_loadcheck_alone(path):
    assert not {module for module in list_imports(path) if module.split(".")[0] in ("latebind", "tests", "ci")}
