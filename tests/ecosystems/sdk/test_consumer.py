"""Programs in C and C++ that CMake or pkg-config finds an SDK archive for: passing, and failing where it is broken."""

import io
import shutil
import tarfile

import pytest

from tests.ecosystems.conftest import verify_one
from tests.support.client import pack_project
from tests.support.sdkclient import SDK, WITH_HEADER, write_sdk_client

pytestmark = pytest.mark.slow

CMAKE = """\
cmake_minimum_required(VERSION 3.20)
project(consumer LANGUAGES CXX)
find_package(tiny 1.2 CONFIG REQUIRED)
add_executable(consumer main.cpp)
target_link_libraries(consumer PRIVATE tiny::tiny)
"""
PROGRAM = """\
#include <tiny.h>

#include <fstream>

int main(int, char** words) {
  const bool right = tiny_add(2, 3) == EXPECTED;
  const char* wrong = R"({"failed": [{"name": "adds", "message": "is 5"}]})";
  std::ofstream(words[2]) << (right ? R"({"passed": ["adds"]})" : wrong);
  return right ? 0 : 1;
}
"""
EACH = pytest.mark.parametrize("consumer", ["sdk-cmake", "sdk-pkg-config"])


def write_program(folder, *, expected=5, cmake=CMAKE):
    folder.mkdir(exist_ok=True)
    (folder / "CMakeLists.txt").write_text(cmake, encoding="utf-8")
    (folder / "main.cpp").write_text(PROGRAM.replace("EXPECTED", str(expected)), encoding="utf-8")


def write_project(folder, cmake=WITH_HEADER, config=SDK):
    write_sdk_client(folder, cmake, f'{config}\n[verify]\nsdk = "program"\n')
    write_program(folder / "program")
    return folder


def run_verify(latebind, folder, consumer, *more):
    """How the test case ended, its reason and its summary."""
    outcome, text = verify_one(latebind, folder, *more, case=f"{consumer}/*")
    if text.startswith("no-compiler") and consumer == "sdk-pkg-config":
        pytest.skip(f"not run: {text}")
    return outcome, text


@EACH
def test_it_is_found_and_computes(project, latebind, consumer):
    assert run_verify(latebind, project, consumer) == ("passed", " 1 case passed")


@EACH
@pytest.mark.parametrize("libdir", ["lib64", "lib/x86_64-linux-gnu"])
def test_other_folders_of_libraries_are_searched(tmp_path, latebind, consumer, libdir):
    config = SDK.replace("[native]", f'[native]\ndefine = {{ CMAKE_INSTALL_LIBDIR = "{libdir}" }}')
    config = config.replace("sdk = true", "sdk = { soversion = 1 }")
    root = write_project(tmp_path / "tiny", f"include(GNUInstallDirs)\n{WITH_HEADER}", config)
    pack_project(root)
    assert run_verify(latebind, root, consumer) == ("passed", " 1 case passed")


@EACH
def test_a_wrong_number_fails_it(project, latebind, consumer):
    write_program(project / "program", expected=6)
    outcome, text = run_verify(latebind, project, consumer)
    assert (outcome, "adds: is 5" in text) == ("failed", True), text


@EACH
@pytest.mark.parametrize("lost", ["include/tiny.h", "lib/libtiny.so"])
def test_an_archive_that_lacks_a_file_fails_it(project, latebind, consumer, lost):
    path = project / "dist" / "tiny-1.2.3-linux-x64-sdk.tar.gz"
    shutil.unpack_archive(path, project / "unpacked", filter="data")
    (project / "unpacked" / "tiny-1.2.3-linux-x64-sdk" / lost).unlink()
    with tarfile.open(path, "w:gz") as archive:
        archive.add(project / "unpacked" / "tiny-1.2.3-linux-x64-sdk", "tiny-1.2.3-linux-x64-sdk")
    outcome, text = run_verify(latebind, project, consumer, "--dist", project / "dist")
    assert (outcome, "tiny" in text) == ("failed", True), text


def test_a_project_without_the_program_is_told(project, latebind):
    write_program(
        project / "program", cmake=CMAKE.replace("consumer main", "other main").replace("(consumer P", "(other P")
    )
    outcome, text = run_verify(latebind, project, "sdk-cmake")
    assert (outcome, "does not build a program named consumer" in text) == ("failed", True), text


def test_an_archive_that_leaves_its_folder_is_refused(project, latebind):
    with tarfile.open(project / "dist" / "tiny-1.2.3-linux-x64-sdk.tar.gz", "w:gz") as archive:
        archive.addfile(tarfile.TarInfo("../evil"), io.BytesIO())
    outcome, text = run_verify(latebind, project, "sdk-cmake", "--dist", project / "dist")
    assert (outcome, "cannot be unpacked" in text, (project.parent / "evil").exists()) == ("failed", True, False), text


def test_archives_of_another_version_are_refused(project, latebind):
    (path,) = (project / "dist").glob("*-sdk.tar.gz")
    path.rename(path.with_name(path.name.replace("1.2.3", "1.2.4")))
    ended = latebind("-C", project, "verify", "--target", "linux-x64", "--dist", project / "dist")
    assert (ended.returncode, "is not of version 1.2.3" in ended.stderr) == (2, True), ended.stderr
