"""What a key leaves out of latebind's own code cannot be reached from what the key is for."""

import grimp
import pytest

from latebind.build.native import ELSEWHERE as NOT_BUILDING
from latebind.fingerprint import LOADCHECK, PACKAGE
from latebind.pack.make import ELSEWHERE as NOT_PACKING
from latebind.registry import ECOSYSTEMS
from latebind.verify.run.remembered import ELSEWHERE as NOT_VERIFYING

ROOTS = {
    "verify": (("verify.run", "verify.cases"), ("consumer", "files", "config")),
    "pack": (("pack",), ("pack", "files", "config", "hatch")),
    "build": (("build.native",), ()),
}
"""Folders, and the modules of each ecosystem, which are imported by name."""


@pytest.fixture(scope="module")
def graph():
    return grimp.build_graph("latebind", "loadcheck", exclude_type_checking_imports=True, cache_dir=None)


def reachable(graph, folders, parts):
    """The top-level folders and modules that these import, also indirectly, as the lists name them."""
    names = [*folders, *(f"ecosystems.{ecosystem}.{part}" for ecosystem in ECOSYSTEMS for part in parts)]
    inside = tuple(f"latebind.{name}" for name in names)
    roots = {
        module for module in graph.modules if module in inside or module.startswith(tuple(f"{i}." for i in inside))
    }
    modules = roots.union(*(graph.find_upstream_modules(root) for root in roots))
    return {_name_top(*module.split(".")[:2]) for module in modules if "." in module}


def _name_top(package, top):
    folder = {"latebind": PACKAGE, "loadcheck": LOADCHECK}[package]
    name = top if (folder / top).is_dir() else f"{top}.py"
    return name if package == "latebind" else f"loadcheck/{name}"


LEFT_OUT = {"verify": NOT_VERIFYING, "pack": NOT_PACKING, "build": NOT_BUILDING}


@pytest.mark.parametrize(("what", "left_out"), LEFT_OUT.items())
def test_code_that_is_left_out_of_a_key_cannot_be_reached(graph, what, left_out):
    reached = reachable(graph, *ROOTS[what])
    assert {"backend", "build", "config"} <= reached
    assert not reached & set(left_out)


@pytest.mark.parametrize("left_out", LEFT_OUT.values())
def test_what_is_left_out_exists(left_out):
    folders = (PACKAGE, LOADCHECK.parent)  # `loadcheck/cli.py`
    assert [name for name in left_out if not any((folder / name).exists() for folder in folders)] == []


def test_test_cases_reach_parts_of_loadcheck_and_the_build(graph):
    assert {"loadcheck/binary", "build"} <= reachable(graph, *ROOTS["verify"])
