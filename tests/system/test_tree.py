"""Which files below a folder count as sources."""

from __future__ import annotations

from latebind.system.tree import list_tree
from tests.support.client import write_files


def test_environments_and_build_trees_are_not_sources(tmp_path):
    made = {
        "venv/pyvenv.cfg": "",
        "venv/lib/a.py": "",
        "cmake-build-debug/CMakeCache.txt": "",
        "out/x/CMakeCache.txt": "",
    }
    root = write_files(tmp_path, {"a.c": "", "b/pyvenv.txt": "", **made, "out/x/b.o": "", "out/c.c": ""})
    assert [path.relative_to(root).as_posix() for path in list_tree(root)] == ["a.c", "b/pyvenv.txt", "out/c.c"]


def test_sources_that_are_built_in_their_own_folder_stay_sources(tmp_path):
    root = write_files(tmp_path, {"cpp/CMakeLists.txt": "", "cpp/CMakeCache.txt": "", "cpp/a.c": ""})
    assert root / "cpp" / "a.c" in list_tree(root)


def test_a_folder_that_is_itself_a_build_tree_is_listed(tmp_path):
    root = write_files(tmp_path, {"CMakeCache.txt": "", "a.c": ""})
    assert [path.name for path in list_tree(root)] == ["CMakeCache.txt", "a.c"]
