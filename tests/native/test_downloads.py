"""Dependencies that CMake would download: from native.sources, refused by name, or reported."""

import importlib.metadata
import tarfile

import pytest
from packaging.version import Version

from latebind.config.project import read_project
from latebind.errors import BuildError
from latebind.native.nativerecipe import hash_sources
from tests.support.client import CMAKE, CONFIG, SOURCE, edit, stage_project, write_client

FETCHED = """
include(FetchContent)
FetchContent_Declare(Three URL https://sources.invalid/three-1.0.tar.gz)
FetchContent_MakeAvailable(Three)
target_link_libraries(tiny PRIVATE three)
"""
EXTERNAL = """
include(ExternalProject)
ExternalProject_Add(four
  GIT_REPOSITORY https://sources.invalid/four.git
  GIT_TAG 0123456789abcdef
  CONFIGURE_COMMAND "" BUILD_COMMAND "" INSTALL_COMMAND "")
ExternalProject_Get_Property(four SOURCE_DIR)
target_include_directories(tiny PRIVATE "${SOURCE_DIR}")
add_dependencies(tiny four)
"""
DOWNLOADED = """
file(DOWNLOAD https://sources.invalid/five "${CMAKE_BINARY_DIR}/five" STATUS five)
if(NOT five MATCHES "^0")
  message(FATAL_ERROR "${five}")
endif()
"""
THREE = "add_library(three INTERFACE)\ntarget_include_directories(three INTERFACE ${CMAKE_CURRENT_SOURCE_DIR})\n"


def write_project(folder, commands, sources, header):
    write_client(
        folder,
        cmakelists=CMAKE + commands,
        tiny=f'#include "{header}"\n{SOURCE}',
        latebind=CONFIG.replace("[package", f"{sources}\n[package", 1),
    )
    return folder


def write_archive(path, value=3):
    """An archive as a forge makes it: with one top folder."""
    folder = path.parent / "three-1.0"
    folder.mkdir(parents=True)
    (folder / "CMakeLists.txt").write_text(THREE, encoding="utf-8")
    (folder / "three.h").write_text(f"#define THREE {value}\n", encoding="utf-8")
    with tarfile.open(path, "w:gz") as archive:
        archive.add(folder, folder.name)
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()


def test_fetchcontent_takes_an_archive(tmp_path):
    project = write_project(tmp_path, FETCHED, '[native.sources]\nThree = "three-1.0.tar.gz"\n', "three.h")
    write_archive(project / "native" / "three-1.0.tar.gz")
    first = stage_project(project)
    write_archive(project / "native" / "three-1.0.tar.gz", value=4)
    assert stage_project(project).manifest.key != first.manifest.key


@pytest.mark.parametrize(("patch", "is_named"), [("", False), ("PATCH_COMMAND sed -i s/3/4/ three.h", True)])
def test_a_patch_that_fetchcontent_does_not_apply_is_named(tmp_path, capsys, patch, is_named):
    commands = FETCHED.replace("1.0.tar.gz)", f"1.0.tar.gz {patch})")
    project = write_project(tmp_path / "tiny", commands, '[native.sources]\nThree = "deps/three.tar.gz"\n', "three.h")
    write_archive(project / "native" / "deps" / "three.tar.gz")
    stage_project(project)
    assert ("CMake does not run the PATCH_COMMAND of Three" in capsys.readouterr().err) is is_named


def test_externalproject_takes_a_folder_instead_of_a_repository(tmp_path):
    project = write_project(tmp_path, EXTERNAL, '[native.sources]\nfour = "third_party/four"\n', "four.h")
    (project / "native" / "third_party" / "four").mkdir(parents=True)
    (project / "native" / "third_party" / "four" / "four.h").write_text("#define FOUR 4\n", encoding="utf-8")
    assert stage_project(project).manifest.files


def test_a_source_that_the_sdist_leaves_out_counts_all_the_same(tmp_path):
    project = write_project(tmp_path, FETCHED, '[native.sources]\nThree = "three-1.0.tar.gz"\n', "three.h")
    edit(project / "latebind.toml", 'source = "native"', 'source = "native"\nexclude = ["*.tar.gz"]')
    hashes = set()
    for value in (3, 4):
        write_archive(project / "native" / "three-1.0.tar.gz", value)
        hashes.add(hash_sources(read_project(project / "latebind.toml", project)))
    assert len(hashes) == 2


@pytest.mark.parametrize(
    ("commands", "name"),
    [
        pytest.param(
            FETCHED,
            "Three",
            marks=pytest.mark.skipif(
                Version(importlib.metadata.version("cmake")) < Version("3.30"),
                reason="not run: CMake before 3.30 goes on without the dependency",
            ),
        ),
        (EXTERNAL, "four"),
        (DOWNLOADED, "NAME"),
    ],
)
def test_what_the_table_does_not_name_is_not_downloaded(tmp_path, commands, name):
    project = write_project(tmp_path, commands, '[native.sources]\nother = "other"\n', "stddef.h")
    (project / "native" / "other").mkdir()
    with pytest.raises(BuildError) as caught:
        stage_project(project)
    assert f'name it in that table: {name} = "third_party/' in caught.value.advice


def test_a_download_without_the_table_is_reported(tmp_path, capsys):
    project = write_project(tmp_path, FETCHED, "", "three.h")
    write_archive(tmp_path / "elsewhere" / "three-1.0.tar.gz")
    url = (tmp_path / "elsewhere" / "three-1.0.tar.gz").as_uri()
    edit(project / "native" / "CMakeLists.txt", "https://sources.invalid/three-1.0.tar.gz", url)
    stage_project(project)
    assert "note: linux-x64: CMake downloaded three, which latebind does not hash." in capsys.readouterr().err


def test_a_missing_source_is_refused_with_its_line(latebind, tmp_path):
    project = write_project(tmp_path, FETCHED, '[native.sources]\nThree = "gone.tar.gz"\n', "three.h")
    ended = latebind("-C", project, "pack", "--target", "linux-x64")
    assert ended.returncode == 2
    assert "native.sources.Three: there is no file or folder 'native/gone.tar.gz'" in ended.stderr
