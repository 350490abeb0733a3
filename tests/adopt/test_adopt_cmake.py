"""`latebind adopt` says what CMake did with a project that makes no wheel, and plans one file, latebind.toml."""

import zipfile
from pathlib import Path

import pytest

from tests.support.client import copy_client, edit
from tests.support.running import assert_refused, assert_success

pytestmark = pytest.mark.builds

IMPORTED = """add_library(onnxruntime::onnxruntime SHARED IMPORTED)
set_target_properties(onnxruntime::onnxruntime PROPERTIES IMPORTED_LOCATION /opt/ort/libonnxruntime.so.1)
"""
FIND = "find_package(onnxruntime 1.20 REQUIRED)\n"
LINK = "target_link_libraries(voice PRIVATE onnxruntime::onnxruntime)"
NOTHING = "voice: CMake links none of these: LiteRT, ONNX Runtime, OpenVINO"
BY_NAME = "target_link_libraries(voice PRIVATE onnxruntime)"
INSTALL = "install(TARGETS voice LIBRARY DESTINATION lib)\n"


@pytest.fixture
def project(tmp_path):
    return copy_client("voice", tmp_path / "voice")


def state(root):
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_it_shows_facts_and_the_change_and_writes_nothing(latebind, project):
    before = state(project)
    ended = latebind("-v", "adopt", project)
    lines = assert_success(ended).splitlines()
    assert "runs the project's own build in a temporary folder" in ended.stderr
    assert lines[0].startswith("CMakeLists.txt:5: voice links ONNX Runtime (SHARED_LIBRARY, ")
    for line in ('name = "voice"', 'version = "2.1.0"', 'minimum = "1.20"', "drop_in = true"):
        assert f"latebind.toml: + {line}" in lines
    tried = "tried: latebind build makes libvoice.so, which binds ONNX Runtime late"
    assert lines[-2:] == [tried, f"next: latebind adopt {project} --apply"]
    assert len(assert_success(latebind("adopt", project)).splitlines()) == 10
    assert state(project) == before


def test_apply_writes_one_file_and_a_second_run_says_so(latebind, project):
    before = state(project)
    lines = assert_success(latebind("adopt", project, "--apply")).splitlines()
    assert (lines[-3], lines[-1]) == ("written: latebind.toml", f"next: latebind -C {project} pack")
    after = state(project)
    assert after.keys() - before.keys() == {"latebind.toml"}
    assert "latebind.toml is there already" in assert_success(latebind("adopt", project, "--apply"))
    assert state(project) == after


@pytest.mark.slow
def test_what_it_writes_packs_and_its_audit_is_clean(latebind, project):
    assert_success(latebind("adopt", project, "--apply"))
    assert_success(latebind("-C", project, "pack"))
    (package,) = (project / "dist").glob("*.nupkg")
    assert "runtimes/linux-x64/native/libvoice.so" in zipfile.ZipFile(package).namelist()
    assert ".nupkg: 0 errors, 0 warnings" in assert_success(latebind("-C", project, "audit"))


def test_a_component_of_the_projects_own_is_kept(latebind, project):
    edit(project / "CMakeLists.txt", "TARGETS voice ", "TARGETS voice COMPONENT ears ")
    shown = assert_success(latebind("-v", "adopt", project))
    assert 'latebind.toml: + [package."ears"]\nlatebind.toml: + component = "ears"\n' in shown
    assert "Unspecified" not in shown


def test_what_its_trial_could_not_compile_is_said(latebind, project):
    edit(project / "voice.c", "#include <stdint.h>", "#include <onnxruntime_c_api.h>")
    lines = assert_success(latebind("adopt", project, "--apply")).splitlines()
    said = "error: 'onnxruntime_c_api.h' file not found"
    assert any(line.startswith("left: latebind build fails: ") and said in line for line in lines)
    assert (project / "latebind.toml").is_file()


@pytest.mark.parametrize("version", ["", " VERSION", ' VERSION "${NOBODY_SETS_IT}"'])
def test_a_project_without_a_version_is_told_what_packages_lack(latebind, project, version):
    edit(project / "CMakeLists.txt", " VERSION 2.1.0", version)
    lines = assert_success(latebind("adopt", project, "--apply")).splitlines()
    assert 'latebind.toml: + version = "0.1.0" # project() has no VERSION' in lines
    assert "tried: latebind build makes libvoice.so, which binds ONNX Runtime late" in lines
    assert "left: latebind.toml: project() has no VERSION: write the version of your packages" in lines
    assert (project / "latebind.toml").is_file()


def test_what_the_linker_finds_by_its_name_is_tried(latebind, project, tmp_path):
    edit(project / "CMakeLists.txt", FIND, "")
    edit(project / "CMakeLists.txt", LINK, f"target_link_directories(voice PRIVATE {tmp_path})\n{BY_NAME}")
    shown = assert_success(latebind("adopt", project))
    assert "tried: latebind build makes libvoice.so, which binds ONNX Runtime late" in shown


def test_a_comment_or_a_branch_that_does_not_run_is_no_fact(latebind, project):
    edit(project / "CMakeLists.txt", LINK, f"# {LINK}\nif(NOT UNIX)\n{LINK}\nendif()")
    shown = assert_success(latebind("adopt", project))
    assert shown.startswith(NOTHING)


def test_a_described_library_is_looked_for_in_what_was_built(latebind, project):
    edit(project / "CMakeLists.txt", LINK, "")
    assert "for another library, build the project, and name" in assert_success(latebind("adopt", project))
    shown = assert_success(latebind("adopt", "--preset", "portaudio", project))
    assert "latebind adopt --preset portaudio FILE" in shown


def test_what_a_variable_and_a_function_hide_is_a_fact(latebind, project):
    hidden = (
        "set(kind onnxruntime)\nfunction(attach item)\n  target_link_libraries(voice PRIVATE ${item})\nendfunction()\n"
    )
    edit(project / "CMakeLists.txt", LINK, f"{hidden}attach(${{kind}}::${{kind}})")
    assert "CMakeLists.txt:7: voice links ONNX Runtime" in assert_success(latebind("adopt", project))


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
        ("voice.c", "../voice.c", "/voice.c: is compiled, but is outside of the project's folder"),
    ],
    ids=["imported", "bundled", "static", "uninstalled", "outside"],
)
def test_what_cannot_bind_late_is_said_and_nothing_else_is_planned(latebind, project, old, new, says):
    (project.parent / "voice.c").write_bytes((project / "voice.c").read_bytes())
    edit(project / "CMakeLists.txt", old, new)
    lines = assert_success(latebind("adopt", project, "--apply")).splitlines()
    if says == "nothing":  # the link line of an archive is that of what links the archive
        assert lines[0].startswith(NOTHING)
    else:
        assert lines[0] == "cannot bind late as it is:"
        assert any(says in line for line in lines[1:])
    assert not (project / "latebind.toml").exists()
    assert len(lines) <= 5


@pytest.mark.parametrize(
    ("by", "is_late"),
    [(LINK, True), (BY_NAME, True), ("target_link_libraries(voice PRIVATE ort_absent)", False)],
)
def test_a_program_is_built_with_the_stub_as_the_advice_says(latebind, project, by, is_late):
    edit(project / "CMakeLists.txt", "add_library(voice SHARED", "add_executable(voice")
    edit(project / "CMakeLists.txt", LINK, f"{LINK}\n{by}")
    with (project / "voice.c").open("a") as file:
        file.write("int main(void) { return 0; }\n")
    before = state(project)
    lines = assert_success(latebind("adopt", project, "--apply")).splitlines()
    assert "cannot bind late as it is:" not in lines
    if is_late:
        assert lines[-4:-1] == [
            "tried: voice binds ONNX Runtime late",
            'next: eval "$(latebind stub onnxruntime --output stubs --export)"',
            "then build again from scratch",
        ]
    else:
        assert lines[-3].startswith("left: with the stub in its place the build fails: ")
        assert "ort_absent" in lines[-3]
    assert lines[-1] == "--apply: nothing to write"
    assert state(project) == before


def test_a_download_is_named_with_its_line_and_cmakes_own_error(latebind, project):
    """A file that the top one includes downloads the runtime, for an interface that the library links."""
    (project / "ort.cmake").write_text(
        "file(DOWNLOAD https://localhost:9/onnxruntime.tgz fetched.tgz STATUS status)\n"
        'list(GET status 0 code)\nif(code)\n  message(FATAL_ERROR "cannot get ONNX Runtime")\nendif()\n'
    )
    edit(project / "CMakeLists.txt", FIND, "include(ort.cmake)\n")
    ended = latebind("adopt", project, "--apply")
    download = "ort.cmake:1: downloads https://localhost:9/onnxruntime.tgz"
    assert_refused(ended, "CMake cannot configure", download, "CMake Error at ort.cmake:4", "cannot get ONNX Runtime")
    assert not (project / "latebind.toml").exists()
    assert not Path("fetched.tgz").exists()


def test_a_missing_dependency_ends_with_cmakes_own_words(latebind, project):
    edit(project / "CMakeLists.txt", FIND, f"{FIND}find_package(Absent REQUIRED)\n")
    assert_refused(
        latebind("adopt", project), "CMake Error at CMakeLists.txt:4 (find_package)", "Absent", "CMAKE_PREFIX_PATH"
    )
