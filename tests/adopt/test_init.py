"""`latebind init` says what CMake did with real projects, and writes one file, latebind.toml, with --apply alone."""

import zipfile

import pytest

from tests.client import copy_client, edit
from tests.programs import assert_refused, assert_success

IMPORTED = """add_library(onnxruntime::onnxruntime SHARED IMPORTED)
set_target_properties(onnxruntime::onnxruntime PROPERTIES IMPORTED_LOCATION /opt/ort/libonnxruntime.so.1)
"""
FIND = "find_package(onnxruntime 1.20 REQUIRED)\n"
LINK = "target_link_libraries(voice PRIVATE onnxruntime::onnxruntime)"
INSTALL = "install(TARGETS voice LIBRARY DESTINATION lib)\n"


@pytest.fixture
def project(tmp_path):
    return copy_client("voice", tmp_path / "voice")


def state(root):
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_it_shows_facts_and_the_change_and_writes_nothing(latebind, project):
    before = state(project)
    lines = assert_success(latebind("init", project)).splitlines()
    assert lines[0] == "runs the project's own CMake code in a temporary folder, for at most 10 minutes"
    assert lines[1].startswith("CMakeLists.txt:5: voice links ONNX Runtime (SHARED_LIBRARY, ")
    assert lines[2:4] == ["--- /dev/null", "+++ b/latebind.toml"]
    for line in ('name = "voice"', 'version = "2.1.0"', 'minimum = "1.20"', "drop_in = true"):
        assert f"+{line}" in lines
    assert lines[-1] == f"next: latebind -C {project} init --apply  # writes this file"
    assert state(project) == before


def test_apply_writes_one_file_and_a_second_run_says_so(latebind, project):
    before = state(project)
    assert f"written: latebind.toml\nnext: latebind -C {project} pack\n" in assert_success(
        latebind("init", project, "--apply")
    )
    after = state(project)
    assert after.keys() - before.keys() == {"latebind.toml"}
    assert "latebind.toml is there already" in assert_success(latebind("init", project, "--apply"))
    assert state(project) == after


@pytest.mark.slow
def test_what_it_writes_packs_and_its_audit_is_clean(latebind, project):
    assert_success(latebind("init", project, "--apply"))
    assert_success(latebind("-C", project, "pack"))
    (package,) = (project / "dist").glob("*.nupkg")
    assert "runtimes/linux-x64/native/libvoice.so" in zipfile.ZipFile(package).namelist()
    assert ".nupkg: 0 errors, 0 warnings" in assert_success(latebind("-C", project, "audit"))


def test_a_component_of_the_projects_own_is_kept(latebind, project):
    edit(project / "CMakeLists.txt", "TARGETS voice ", "TARGETS voice COMPONENT ears ")
    shown = assert_success(latebind("init", project))
    assert '+[package."ears"]\n+component = "ears"\n' in shown
    assert "Unspecified" not in shown


def test_a_comment_or_a_branch_that_does_not_run_is_no_fact(latebind, project):
    edit(project / "CMakeLists.txt", LINK, f"# {LINK}\nif(NOT UNIX)\n{LINK}\nendif()")
    shown = assert_success(latebind("init", project))
    assert shown.endswith("no target links a runtime that latebind knows, so there is nothing to bind late\n")


def test_what_a_variable_and_a_function_hide_is_a_fact(latebind, project):
    hidden = (
        "set(kind onnxruntime)\nfunction(attach item)\n  target_link_libraries(voice PRIVATE ${item})\nendfunction()\n"
    )
    edit(project / "CMakeLists.txt", LINK, f"{hidden}attach(${{kind}}::${{kind}})")
    assert "CMakeLists.txt:7: voice links ONNX Runtime" in assert_success(latebind("init", project))


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            FIND,
            IMPORTED,
            "CMakeLists.txt:6: voice links /opt/ort/libonnxruntime.so.1, which the stub does not replace",
        ),
        (
            INSTALL,
            f"{INSTALL}install(FILES /opt/ort/libonnxruntime.so.1 DESTINATION k)\n",
            "CMakeLists.txt:7: installs libonnxruntime.so.1, a copy of the runtime: remove this install()",
        ),
        ("SHARED", "STATIC", "nothing"),
        (INSTALL, "", "CMakeLists.txt:5: nothing installs voice: add install(TARGETS voice COMPONENT NAME)"),
        (" VERSION 2.1.0", "", "CMakeLists.txt: project() has no VERSION"),
        ("voice.c", "../voice.c", "/voice.c: is compiled, but is outside of the project's folder"),
    ],
    ids=["imported", "bundled", "static", "uninstalled", "unversioned", "outside"],
)
def test_what_cannot_bind_late_is_said_and_nothing_else_is_planned(latebind, project, old, new, says):
    (project.parent / "voice.c").write_bytes((project / "voice.c").read_bytes())
    edit(project / "CMakeLists.txt", old, new)
    lines = assert_success(latebind("init", project, "--apply")).splitlines()
    if says == "nothing":  # the link line of an archive is that of what links the archive
        assert lines[1].startswith("no target links a runtime")
    else:
        assert lines[1] == "cannot bind late as it is:"
        assert any(says in line for line in lines[2:])
    assert not (project / "latebind.toml").exists()
    assert len(lines) <= 5


def test_a_download_is_named_with_its_line_and_cmakes_own_error(latebind, project):
    """A file that the top one includes downloads the runtime, for an interface that the library links."""
    (project / "ort.cmake").write_text(
        "file(DOWNLOAD https://localhost:9/onnxruntime.tgz ort.tgz STATUS status)\n"
        'list(GET status 0 code)\nif(code)\n  message(FATAL_ERROR "cannot get ONNX Runtime")\nendif()\n'
    )
    edit(project / "CMakeLists.txt", FIND, "include(ort.cmake)\n")
    ended = latebind("init", project, "--apply")
    assert "ort.cmake:1: downloads https://localhost:9/onnxruntime.tgz" in ended.stdout
    assert_refused(ended, "CMake cannot configure the project", "CMake Error at ort.cmake:4", "cannot get ONNX Runtime")
    assert not (project / "latebind.toml").exists()


def test_a_missing_dependency_ends_with_cmakes_own_words(latebind, project):
    edit(project / "CMakeLists.txt", FIND, f"{FIND}find_package(Absent REQUIRED)\n")
    assert_refused(
        latebind("init", project), "CMake Error at CMakeLists.txt:4 (find_package)", "Absent", "Install what"
    )


@pytest.mark.parametrize(
    ("file", "says"),
    [("meson.build", "builds with Meson, which"), ("setup.py", "builds with setuptools"), ("a.txt", "has no")],
)
def test_another_build_system_is_named_with_the_page_to_read(latebind, tmp_path, file, says):
    (tmp_path / file).touch()
    (line,) = assert_success(latebind("init", tmp_path)).splitlines()
    assert says in line
    assert line.endswith("howto/other-builds.md")
