"""`latebind init` configures a project without what it would download, and knows as much about the rest."""

import re

import pytest

from latebind.adopt.absent import _make_missing
from tests.client import copy_client, edit
from tests.programs import assert_success

FETCH = (
    "include(FetchContent)\nFetchContent_Declare(fmt URL https://a.b/fmt.zip)\nFetchContent_MakeAvailable(fmt)\n"
    "if(WITH_NET)\n  FetchContent_Declare(asio URL https://a.b/asio.zip)\nendif()\n"
)
WITHOUT = "note: CMake configured the project without its downloads (fmt), which `latebind build` needs."


@pytest.fixture
def project(tmp_path):
    root = copy_client("voice", tmp_path / "voice")
    (root / "LICENSE").write_text("MIT License\n\nPermission is hereby granted, free of charge, to any person\n")
    edit(root / "CMakeLists.txt", "find_package(", f"{FETCH}find_package(")
    return root


def init(latebind, project, more):
    """What `init` shows for the project with these lines at its end."""
    with (project / "CMakeLists.txt").open("a") as file:
        file.write(more)
    return assert_success(latebind("init", project))


def test_only_downloads_whose_declaration_ran_are_named(latebind, project):
    shown = init(latebind, project, "")
    assert WITHOUT in shown
    assert "cannot configure" not in shown
    assert "+install(TARGETS voice COMPONENT voice" in shown.replace("+  install", "+install")


@pytest.mark.parametrize(
    "lines",
    [
        "target_link_libraries(voice PRIVATE fmt::fmt fmt::fmt-header-only)",
        'target_compile_definitions(fmt PUBLIC A="" B=1)\ntarget_include_directories(fmt INTERFACE a)',
        'set_target_properties(fmt voice PROPERTIES FOLDER "" OUTPUT_NAME voice)',
        "set_property(TARGET fmt PROPERTY CXX_STANDARD 17)\nset_property(GLOBAL PROPERTY USE_FOLDERS ON)",
        "get_target_property(type fmt TYPE)\nif(type)\n  message(FATAL_ERROR ${type})\nendif()",
        "add_dependencies(voice fmt)",
        "install(TARGETS fmt DESTINATION lib)\ninstall(TARGETS fmt EXPORT all DESTINATION lib)",
        "add_library(voice_fmt ALIAS fmt)",
        "add_library(copy STATIC ${fmt_SOURCE_DIR}/src/format.c)",
        "include(${fmt_SOURCE_DIR}/support/cmake/more.cmake)\nadd_subdirectory(${fmt_SOURCE_DIR}/test test)",
        'set(H ${fmt_SOURCE_DIR}/include/fmt.h)\nif(NOT EXISTS ${H})\n  message(FATAL_ERROR "no ${H}.")\nendif()',
        "pybind11_add_module(_voice MODULE THIN_LTO voice.c)",
    ],
)
def test_what_a_project_does_with_a_dependency_is_passed_over(latebind, project, lines):
    assert WITHOUT in init(latebind, project, f"{lines}\n")


def test_a_module_that_pybind11_would_make_is_found(latebind, project):
    linked = "target_link_libraries(_voice PRIVATE onnxruntime::onnxruntime)"
    shown = init(latebind, project, f"pybind11_add_module(_voice NO_EXTRAS voice.c)\n{linked}\n")
    assert "_voice links onnxruntime" in shown
    assert "+install(TARGETS _voice COMPONENT voice LIBRARY DESTINATION lib)" in shown


def test_a_dependencys_header_is_not_the_projects(latebind, project):
    lines = (
        "install(FILES ${fmt_SOURCE_DIR}/include/fmt.h DESTINATION include)\n"
        "install(FILES ${PROJECT_SOURCE_DIR}/voice.h DESTINATION include)\n"
    )
    shown = init(latebind, project, lines)
    assert "+install(FILES ${PROJECT_SOURCE_DIR}/voice.h DESTINATION include COMPONENT voice)" in shown
    assert "fmt.h DESTINATION include COMPONENT" not in shown


def test_where_cmake_stops_only_what_it_did_not_pass_is_listed(latebind, project):
    """Of an if() that it passed, nothing is listed; what functions and later commands may do, is."""
    imported = "add_library(onnxruntime SHARED IMPORTED)\n"
    edit(
        project / "CMakeLists.txt",
        FETCH,
        f"if(IOS)\n{imported}endif()\nfunction(add)\n{imported}endfunction()\n{FETCH}"
        f'message(FATAL_ERROR "it needs fmt")\n{imported}',
    )
    edit(project / "CMakeLists.txt", "find_package(onnxruntime 1.20 REQUIRED)\n", "")
    shown = init(latebind, project, "")
    (note,) = re.findall(r"^note: .* because CMake cannot configure it: .*", shown, re.MULTILINE)
    assert note.endswith("the project would download fmt")
    (hint,) = re.findall(r"^by hand: this imported target names.*(?:\n    .+)*", shown, re.MULTILINE)
    lines = (project / "CMakeLists.txt").read_text().splitlines()
    named = [lines[int(line) - 2] for line in re.findall(r"CMakeLists\.txt:(\d+): onnxruntime", hint)]
    assert named == ["function(add)", 'message(FATAL_ERROR "it needs fmt")']


def test_operators_with_a_test_that_links_the_runtime_need_no_stub(latebind, project):
    (project / "voice.c").write_text("int RegisterCustomOps(void *options, const void *base)\n{\n  return 0;\n}\n")
    text = (project / "CMakeLists.txt").read_text()
    library = re.sub(r"target_link_libraries\(voice [^)]*\)", "", text)
    (project / "CMakeLists.txt").write_text(library)
    lines = "add_executable(try voice.c)\ntarget_link_libraries(try PRIVATE onnxruntime::onnxruntime)\n"
    shown = init(latebind, project, lines)
    assert '+exports = ["RegisterCustomOps"]' in shown
    assert "drop_in" not in shown


def test_nothing_is_made_outside_of_the_folder(tmp_path):
    folder = tmp_path / "absent"
    folder.mkdir()
    assert not _make_missing(f"cannot find {folder}/../outside.txt", folder)
    assert _make_missing(f'no "{folder}/a/b.cmake" and {folder}/sub.', folder)
    made = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file())
    assert made == ["absent/a/b.cmake", "absent/sub/CMakeLists.txt"]
    assert not _make_missing(f'no "{folder}/a/b.cmake"', folder)
