"""`latebind adopt` reads each build system at a project's top, and names those that it did not read."""

import pytest

from tests.support.client import copy_client
from tests.support.running import assert_refused, assert_success

pytestmark = pytest.mark.builds

BACKEND = """import os, zipfile

def build_wheel(folder, settings=None, metadata=None):
    {do}
    name = "pure-1.0-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(folder, name), "w") as wheel:
        wheel.writestr("pure.py", "")
        wheel.writestr("pure-1.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: pure\\nVersion: 1.0\\n")
    return name
"""
PYPROJECT = """[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "pure"
version = "1.0"
"""
NOTHING = "pure-1.0-py3-none-any.whl has no program, library or module"
TRACED = "--trace-expand --trace-format=json-v1"


def make_pure(folder, do="pass"):
    folder.mkdir(exist_ok=True)
    (folder / "pyproject.toml").write_text(PYPROJECT)
    (folder / "backend.py").write_text(BACKEND.format(do=do))
    return folder


def read(latebind, *arguments):
    return assert_success(latebind("-v", "adopt", *arguments)).splitlines()


def test_what_cmake_links_beside_a_python_package_is_said_and_planned(latebind, tmp_path):
    project = make_pure(copy_client("voice", tmp_path / "voice"))
    lines = read(latebind, project)
    assert lines[0] == NOTHING
    assert lines[1].startswith("CMakeLists.txt:5: voice links ONNX Runtime")
    assert "tried: latebind build makes libvoice.so, which binds ONNX Runtime late" in lines
    assert lines[-1] == f"next: latebind adopt {project} --apply"


def test_a_cmake_part_that_cannot_be_configured_is_a_line_and_no_end(latebind, tmp_path):
    project = make_pure(tmp_path / "project")
    (project / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(k C)\nmessage(FATAL_ERROR 5)\n"
    )
    lines = read(latebind, project)
    assert lines[0] == NOTHING
    assert any(line.startswith("CMakeLists.txt: CMake cannot configure the project") for line in lines)


@pytest.mark.parametrize(
    ("files", "named"),
    [
        (("Cargo.toml",), "Cargo.toml"),
        (("meson.build", "Makefile"), "meson.build, Makefile"),
        (("cpp/CMakeLists.txt",), "cpp/CMakeLists.txt"),
        (("bindings/setup.py", "rust/Cargo.toml"), "rust/Cargo.toml, bindings/setup.py"),
    ],
)
def test_a_build_system_that_was_not_read_is_named(latebind, tmp_path, files, named):
    project = make_pure(tmp_path / "project")
    for name in files:
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).touch()
    said = f"not looked at: {named}"
    assert read(latebind, project)[:2] == [NOTHING, said]


def test_projects_in_folders_are_named_where_the_top_has_none(latebind, tmp_path):
    make_pure(tmp_path / "python")
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv/pyvenv.cfg").touch()
    (tmp_path / ".venv/setup.py").touch()
    lines = read(latebind, tmp_path)
    assert "not looked at: python/pyproject.toml" in lines[1]


@pytest.mark.parametrize(
    "do",
    [
        "assert 'trace' not in os.environ.get('CMAKE_ARGS', '')",
        "assert not os.environ['PATH'].split(os.pathsep)[0].startswith('/tmp')",
        "assert 'SKBUILD_BUILD_DIR' not in os.environ",
    ],
)
def test_a_build_that_fails_when_it_is_watched_is_built_again_unwatched(latebind, tmp_path, do):
    if "PATH" in do:
        do = "import shutil; assert 'exec' not in open(shutil.which('cmake'), errors='replace').read(200)"
    lines = read(latebind, make_pure(tmp_path / "project", do))
    assert lines[0] == NOTHING
    assert lines[1] == "the build fails when it is asked what it does, so no line of it is named: AssertionError"


def test_a_build_that_always_fails_ends_with_its_own_error(latebind, tmp_path):
    ended = latebind("adopt", make_pure(tmp_path / "project", "raise SystemExit('no compiler today')"))
    assert_refused(ended, "backend cannot build the project", "no compiler today")


@pytest.mark.parametrize("options", [TRACED, "--trace", "--trace-redirect=own.json"])
def test_who_reads_a_trace_of_cmake_gets_the_one_that_was_asked_for(latebind, tmp_path, options):
    """As Meson does for dependency(method: 'cmake'): its options stay the only ones."""
    (tmp_path / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.20)\nproject(k NONE)\nmessage(here)\n")
    do = (
        f"import subprocess as s; p = s.run(['cmake', *{options.split()}, '-S', {str(tmp_path)!r}, '-B', 'b'], "
        "capture_output=True, text=True); f = 'own.json'\n"
        "    assert 'here' in p.stderr + (open(f).read() if os.path.exists(f) else '') and not p.returncode, p\n"
        "    assert 'message' in p.stderr + (open(f).read() if os.path.exists(f) else ''), p"
    )
    lines = read(latebind, make_pure(tmp_path / "project", do))
    assert lines == [NOTHING, *lines[1:]]
    assert not any("when it is asked" in line for line in lines)
