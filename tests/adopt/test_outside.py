"""What a cloned repository may not do: lead latebind init to other folders of the machine by a link."""

import pytest

from latebind.adopt.find import find
from tests.client import write_files
from tests.programs import CLI, assert_success, run_program

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


def test_a_name_is_no_command_of_a_workflow_and_steers_no_terminal(tmp_path):
    name = '"tiny\n::set-output name=a::b\x1b[31m"'
    text = LIBRARY.replace("(tiny ", f"({name} ")
    write_files(tmp_path, {"CMakeLists.txt": f"project(tiny C)\n{text}", "tiny.c": ""})
    ended = run_program(*CLI, "init", "--dry-run", "--no-configure", cwd=tmp_path)
    assert_success(ended)
    assert "set-output" in ended.stdout
    assert "\x1b" not in ended.stdout
    assert not [line for line in ended.stdout.splitlines() if line.lstrip().startswith("::")]
