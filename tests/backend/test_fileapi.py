"""What CMake's file API says of a build tree, by CMake itself."""

import pytest

from latebind.backend.fileapi import list_installed_targets, request_replies
from tests.support.running import run_checked

PROJECT = """\
cmake_minimum_required(VERSION 3.25)
project(parts LANGUAGES C)
file(WRITE ${CMAKE_BINARY_DIR}/empty.c "int parts;")
foreach(name base one two)
  add_library(${name} STATIC ${CMAKE_BINARY_DIR}/empty.c)
endforeach()
target_link_libraries(one PRIVATE base)
install(TARGETS one COMPONENT one)
install(FILES one.h COMPONENT one DESTINATION include)
install(TARGETS two COMPONENT two)
"""


@pytest.mark.parametrize(
    ("rule", "targets"),
    [
        ("", ["one"]),
        ("install(FILES ${CMAKE_BINARY_DIR}/made.h COMPONENT two DESTINATION include)", ["one"]),
        ("install(TARGETS base COMPONENT one)", ["base", "one"]),
        ("install(FILES ${CMAKE_BINARY_DIR}/made.h COMPONENT one DESTINATION include)", []),
        ("install(DIRECTORY ${CMAKE_BINARY_DIR}/made COMPONENT one DESTINATION include)", []),
        ('install(CODE "message(x)" COMPONENT one)', []),
    ],
)
def test_the_targets_of_a_component_are_those_that_it_installs(tmp_path, rule, targets):
    tree = tmp_path / "build"  # in the sources, as many have it
    (tmp_path / "CMakeLists.txt").write_text(PROJECT + rule, "utf-8")
    request_replies(tree)
    run_checked("cmake", "-G", "Ninja", "-S", tmp_path, "-B", tree)
    assert list_installed_targets(tree, "one") == targets
