"""`latebind init` asks CMake what its files mean: which commands run, what links what, and what is installed."""

import re
import zipfile

import pytest

from tests.client import copy_client, edit, read_client
from tests.programs import assert_success

FETCH = "include(FetchContent)\nFetchContent_Declare(fmt URL https://a.b/c.zip)\nFetchContent_MakeAvailable(fmt)\n"
CMAKE = read_client("voice", "CMakeLists.txt")


@pytest.fixture
def project(tmp_path):
    root = copy_client("voice", tmp_path / "voice")
    (root / "LICENSE").write_text("MIT License\n\nPermission is hereby granted, free of charge, to any person\n")
    return root


def list_hints(latebind, project, *options):
    """Each hint of `init` with its places, one item for each."""
    notes = re.findall(r"^by hand: (.+(?:\n    .+)*)", latebind("init", project, *options).stdout, re.MULTILINE)
    return [note for note in notes if "names no consumer" not in note]


def test_a_library_that_a_function_makes_is_packed(latebind, project):
    (project / "cmake").mkdir()
    (project / "cmake" / "add.cmake").write_text(
        "function(add_voice NAME)\n  add_library(${NAME} SHARED ${ARGN})\n"
        "  target_link_libraries(${NAME} PRIVATE ${RUNTIME_LIBRARIES})\nendfunction()\n"
    )
    (project / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(voice VERSION 2.1.0 LANGUAGES C)\ninclude(cmake/add.cmake)\n"
        "find_package(onnxruntime REQUIRED)\nset(RUNTIME_LIBRARIES m onnxruntime::onnxruntime)\n"
        "add_voice(voice voice.c)\n"
    )

    shown = latebind("init", project, "--yes", "--apply").stdout

    assert "cmake/add.cmake:3: voice links onnxruntime" in shown
    assert (
        "add_voice(voice voice.c)\ninstall(TARGETS voice COMPONENT voice)\n" in (project / "CMakeLists.txt").read_text()
    )
    assert_success(latebind("-C", project, "pack", "--target", "linux-x64"))
    (package,) = (project / "dist").glob("*.nupkg")
    assert "runtimes/linux-x64/native/libvoice.so" in zipfile.ZipFile(package).namelist()
    assert "no more files to write" in latebind("init", project).stdout
    text_alone = latebind("init", project, "--no-configure").stdout
    assert "no target links a runtime" in text_alone


def test_an_install_with_a_component_from_a_variable_stays(latebind, project):
    edit(
        project / "CMakeLists.txt",
        "install(TARGETS voice ",
        "set(PART sound)\ninstall(TARGETS voice COMPONENT ${PART} ",
    )
    before = (project / "CMakeLists.txt").read_text()
    assert_success(latebind("init", project, "--yes", "--apply"))
    assert (project / "CMakeLists.txt").read_text() == before
    assert 'component = "sound"' in (project / "latebind.toml").read_text()
    assert_success(latebind("-C", project, "build", "--target", "linux-x64"))


def test_branches_that_never_run_and_files_that_no_library_has_need_no_hint(latebind, project):
    edit(
        project / "CMakeLists.txt",
        "find_package(onnxruntime 1.20 REQUIRED)\n",
        'option(BUNDLED "" OFF)\nif(BUNDLED)\n  add_library(onnxruntime::onnxruntime SHARED IMPORTED)\nelse()\n'
        "  include(lookup.cmake)\nendif()\n",
    )
    (project / "lookup.cmake").write_text("set(P onnxruntime)\nfind_package(${P} REQUIRED)\n")
    (project / "old.cpp").write_text("Ort::SessionOptions options;\n")
    (hint_of_objects, hint_of_imported) = list_hints(latebind, project, "--no-configure")
    assert "while the library is loaded" in hint_of_objects
    assert "names a library of its own" in hint_of_imported
    assert list_hints(latebind, project) == []


def test_an_object_in_a_header_that_the_library_includes_is_listed(latebind, project):
    (project / "state.hpp").write_text("Ort::SessionOptions options;\n")
    assert list_hints(latebind, project) == []
    (project / "voice.c").write_text('#include "state.hpp"\n' + (project / "voice.c").read_text())
    assert "state.hpp:1: options" in "".join(list_hints(latebind, project))


def test_a_definition_in_latebind_toml_counts(latebind, project):
    edit(project / "CMakeLists.txt", "add_library(voice SHARED", "if(WITH_VOICE)\nadd_library(voice SHARED")
    with (project / "CMakeLists.txt").open("a") as file:
        file.write("endif()\n")
    shown = assert_success(latebind("init", project, "--yes", "--apply"))
    assert "because with its default options CMake makes no library that links a runtime" in shown
    edit(project / "latebind.toml", 'source = "."', 'source = "."\ndefine = { WITH_VOICE = true }')
    again = assert_success(latebind("init", project))
    assert "no more files to write" in again
    assert "note: " not in again


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('message(FATAL_ERROR "needs a GPU")', "CMakeLists.txt:3: error: needs a GPU"),
        (
            f"{FETCH}message(FATAL_ERROR stop)",
            "the project would download fmt\n  Allow the download with --download",
        ),
        (
            (
                f"{FETCH}message(FATAL_ERROR stop)\nFetchContent_Declare(${{name}} URL x)\n"
                "FetchContent_Declare(json URL x)\n"
                'if(WITH_CPM)\nCPMAddPackage(NAME asio URL x)\nCPMAddPackage("gh:a/b#1")\nendif()'
            ),
            "CMake stopped at this download. The CMake files also declare the downloads asio, json.",
        ),
    ],
)
def test_a_project_that_cannot_be_configured_is_read_as_text(latebind, project, line, said):
    edit(project / "CMakeLists.txt", "find_package(", f"{line}\nfind_package(")
    shown = assert_success(latebind("init", project))
    (note,) = re.findall(r"^note: .* because CMake cannot configure it: .*(?:\n  .+)*", shown, re.MULTILINE)
    assert said in note
    assert "install(TARGETS voice COMPONENT voice" in shown


def test_a_module_in_a_folder_of_a_variable_is_for_the_cpython_that_runs_latebind(latebind, project):
    """Without an answer, pybind11 takes the newest `python3` of PATH, which may be a shim that does not run."""
    with (project / "CMakeLists.txt").open("a") as file:
        file.write('set(PARTS ${PROJECT_SOURCE_DIR})\nadd_subdirectory("${PARTS}/python")\n')
    (project / "python").mkdir()
    (project / "python" / "CMakeLists.txt").write_text(
        "if(NOT TARGET voice)\n  project(module LANGUAGES C)\nendif()\n"
        "foreach(name IN ITEMS Python_EXECUTABLE Python3_EXECUTABLE PYTHON_EXECUTABLE)\n"
        '  if(NOT EXISTS "${${name}}")\n    message(FATAL_ERROR "no ${name}")\n  endif()\nendforeach()\n'
        "function(pybind11_add_module NAME)\n  add_library(${NAME} MODULE ${ARGN})\nendfunction()\n"
        "pybind11_add_module(_voice voice.c)\ntarget_link_libraries(_voice PRIVATE onnxruntime::onnxruntime)\n"
    )
    (project / "python" / "voice.c").touch()
    shown = assert_success(latebind("init", project))
    assert "note: " not in shown
    assert "python/CMakeLists.txt:13: _voice links onnxruntime" in shown
    assert "+install(TARGETS _voice COMPONENT voice LIBRARY DESTINATION lib)" in shown


def test_headers_that_no_command_installs_here_are_not_packed(latebind, project):
    with (project / "CMakeLists.txt").open("a") as file:
        file.write("option(APART OFF)\nif(APART)\n  install(FILES other.h DESTINATION include)\nendif()\n")
        file.write("install(FILES voice.h DESTINATION include)\n")
    shown = assert_success(latebind("init", project))
    assert "+install(FILES voice.h DESTINATION include COMPONENT voice)" in shown
    assert "install(FILES other.h DESTINATION include COMPONENT" not in shown
    assert "install(FILES other.h DESTINATION include COMPONENT" in latebind("init", project, "--no-configure").stdout


def test_code_that_opens_the_runtime_itself_is_named(latebind, project):
    edit(project / "CMakeLists.txt", "target_link_libraries(", "if(WIN32)\ntarget_link_libraries(")
    edit(project / "CMakeLists.txt", "install(", "endif()\ninstall(")
    assert "If the project has an option" in latebind("init", project).stdout
    (project / "open.c").write_text('void *open(void) { return dlopen("libonnxruntime.so.1", 1); }\n')
    shown = latebind("init", project).stdout
    assert "open.c opens ONNX Runtime itself: such code needs no stub" in shown
    assert "If the project has an option" not in shown


def test_what_a_project_downloads_is_downloaded_when_allowed(latebind, project, tmp_path):
    with zipfile.ZipFile(tmp_path / "fmt.zip", "w") as archive:
        archive.writestr("fmt/CMakeLists.txt", "add_library(fmt INTERFACE)\n")
    url = (tmp_path / "fmt.zip").as_uri()
    lines = f"include(FetchContent)\nFetchContent_Declare(fmt URL {url})\nFetchContent_MakeAvailable(fmt)\n"
    edit(project / "CMakeLists.txt", "find_package(", f"{lines}find_package(")
    assert "without its downloads (fmt)" in latebind("init", project).stdout
    shown = assert_success(latebind("init", project, "--download"))
    assert "note: " not in shown
    assert "voice links onnxruntime" in shown


def test_it_leaves_nothing_behind(latebind, project):
    before = set(project.rglob("*"))
    latebind("init", project)
    assert set(project.rglob("*")) == before
