"""What a cloned repository may not do: lead latebind init to other folders of the machine by a link."""

import pytest
from latebind.adopt.find import find

from tests.client import write_files

TOP = "cmake_minimum_required(VERSION 3.20)\nproject(tiny C)\nadd_subdirectory(linked)\n"
LIBRARY = (
    "find_package(onnxruntime REQUIRED)\nadd_library(tiny SHARED tiny.c)\n"
    "target_link_libraries(tiny PRIVATE onnxruntime::onnxruntime)\n"
)


@pytest.fixture
def clone(tmp_path):
    write_files(tmp_path / "other", {"CMakeLists.txt": LIBRARY, "tiny.c": ""})
    write_files(tmp_path / "clone", {"CMakeLists.txt": TOP, ".git/HEAD": "", "inside/CMakeLists.txt": LIBRARY})
    return tmp_path / "clone"


def test_a_link_to_another_project_is_not_followed(clone):
    (clone / "linked").symlink_to(clone.parent / "other")
    found = find(clone)
    assert {path.parent.name for path in found.files} == {"clone", "inside"}


def test_a_link_to_a_folder_of_the_repository_is_followed(clone):
    project = clone / "project"
    write_files(project, {"CMakeLists.txt": TOP})
    (project / "linked").symlink_to(clone / "inside")
    assert {path.parent.name for path in find(project).files} == {"project", "linked"}
