"""Advice of `latebind adopt`: the named command, file or option is given, and the project or the library is read."""

from __future__ import annotations

import os
import tarfile

import pytest

from tests.advice.following import list_commands, list_options
from tests.support.client import copy_client, write_files
from tests.support.needs import require_programs
from tests.support.running import assert_success, run_checked, run_program
from tests.support.thingclient import build_mine

pytestmark = pytest.mark.builds

PLAIN = """\
cmake_minimum_required(VERSION 3.20)
project(voice VERSION 2.1.0 LANGUAGES C)
add_library(voice SHARED voice.c)
"""
FETCHED = PLAIN + "include(FetchContent)\nFetchContent_Declare(three URL {})\nFetchContent_MakeAvailable(three)\n"


@pytest.fixture
def voice(tmp_path):
    """Copies a project in CMake, with another CMakeLists.txt."""
    return lambda text: copy_client("voice", tmp_path / "voice", cmakelists=text)


@pytest.fixture
def library(tmp_path):
    """A library that links another one, which latebind does not know."""
    return build_mine(tmp_path)


@pytest.mark.advice(
    "for another library, describe it, and name the description, too (--preset FILE.toml): {}/howto/stub.md"
)
def test_a_library_that_links_an_unknown_one(library, tmp_path, start_in, advised):
    [option] = list_options(advised(start_in("adopt", library, at=tmp_path)))
    assert 'next: eval "$(latebind stub' in assert_success(start_in("adopt", library, option, "mine.toml", at=tmp_path))


@pytest.mark.advice(
    "for another library, build the project, and name a library or program that comes out: latebind adopt FILE"
)
def test_a_project_that_links_nothing_known(voice, library, start_in, advised):
    project = voice(PLAIN)
    [[_, command, _]] = list_commands(advised(start_in("adopt", at=project)))
    assert "libuser.so: links libmine.so.3" in assert_success(start_in(command, library, at=project))


@pytest.mark.advice("build the project, and name a library or program that comes out: latebind adopt FILE")
def test_a_project_that_links_a_library_that_latebind_describes(voice, library, tmp_path, start_in, advised):
    (tmp_path / "p.c").write_text("int Pa_GetVersion(void) { return 1246720; }")
    file = tmp_path / "libportaudio.so.2"
    run_checked("cc", "-shared", "-fPIC", f"-Wl,-soname,{file.name}", tmp_path / "p.c", "-o", file)
    project = voice(f"{PLAIN}target_link_libraries(voice PRIVATE {file})\n")
    found = start_in("adopt", at=project)
    assert assert_success(found).startswith("CMakeLists.txt:4: voice links PortAudio\n")
    [[_, command, _]] = list_commands(advised(found))
    assert "libuser.so: links libmine.so.3" in assert_success(start_in(command, library, at=project))


@pytest.mark.parametrize("choice", ["install", "name"])
@pytest.mark.advice(
    "Install or set what CMake asks for, and run this again: it reads CMAKE_PREFIX_PATH and "
    "CMAKE_POLICY_VERSION_MINIMUM from the environment. Or build the project, and name what comes out: "
    "latebind adopt FILE"
)
def test_a_project_that_asks_for_something(voice, library, tmp_path, start_in, advised, choice):
    project = voice(f"{PLAIN}find_package(Nosuch CONFIG REQUIRED)\n")
    advice = advised(start_in("adopt", at=project))
    if choice == "install":
        write_files(tmp_path / "prefix", {"lib/cmake/Nosuch/NosuchConfig.cmake": ""})
        environment = {**os.environ, "CMAKE_PREFIX_PATH": str(tmp_path / "prefix")}
        assert_success(start_in("adopt", at=project, env=environment))
    else:
        [[_, command, _]] = list_commands(advice)
        assert_success(start_in(command, library, at=project))


@pytest.mark.advice("To let the project download its dependencies: latebind adopt --download")
def test_a_project_that_downloads(voice, tmp_path, start_in, follow):
    write_files(tmp_path / "three", {"CMakeLists.txt": "add_library(three INTERFACE)\n"})
    with tarfile.open(tmp_path / "three.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "three", "three")
    project = voice(FETCHED.format((tmp_path / "three.tar.gz").as_uri()))
    refused = start_in("adopt", at=project)
    assert refused.returncode == 2
    assert_success(follow(refused, at=project))


@pytest.mark.slow
@pytest.mark.advice("Build it as you usually do, and name the wheel: latebind adopt FILE.whl. With -v: all output.")
def test_a_project_whose_build_fails(packed_once, tmp_path, start_in, advised):
    write_files(tmp_path, {"setup.py": "raise SystemExit('not this way')\n"})
    refused = start_in("adopt", at=tmp_path)
    advice = advised(refused)
    [[_, command, _]] = list_commands(advice)
    [wheel] = (packed_once / "dist").glob("*.whl")
    assert_success(start_in(command, wheel, at=tmp_path))
    assert "not this way" in start_in("-v", "adopt", at=tmp_path).stderr


@pytest.fixture
def addon(tmp_path):
    """A project with a Node.js add-on that links PortAudio by its name."""
    require_programs("npm", "cc", "make")
    (tmp_path / "p.c").write_text("int Pa_GetVersion(void) { return 1246720; }")
    run_checked(
        "cc", "-shared", "-fPIC", "-Wl,-soname,libportaudio.so.2", tmp_path / "p.c", "-o", tmp_path / "libportaudio.so"
    )
    source = "int Pa_GetVersion(void); int addon(void) { return Pa_GetVersion(); }\n"
    target = '{ "target_name": "addon", "sources": ["addon.c"], "libraries": ["-lportaudio"] }'
    return write_files(
        tmp_path / "addon",
        {
            "addon.c": source,
            "binding.gyp": f'{{ "targets": [{target}] }}\n',
            "package.json": '{"name": "addon", "version": "1.0.0", "gypfile": true}',
        },
    )


@pytest.mark.advice("then: npm install --build-from-source")
def test_an_add_on_that_binds_late(addon, tmp_path, start_in, advised):
    environment = {**os.environ, "LIBRARY_PATH": str(tmp_path)}
    found = start_in("adopt", at=addon, env=environment)
    stub = next(line.removeprefix("next: ") for line in found.stdout.splitlines() if line.startswith("next: "))
    command = advised(found).partition("then: ")[2].splitlines()[0]
    run_checked("bash", "-ec", f"{stub}\n{command}", cwd=addon, env={**os.environ, "npm_config_nodedir": "/usr"})
    assert "binds PortAudio late" in assert_success(start_in("adopt", addon / "build/Release/addon.node", at=addon))


@pytest.mark.advice(
    "Build it as you usually do, and name what comes out: latebind adopt FILE.node",
    "Install Node.js with npm. Or build it as you usually do, and name what comes out: latebind adopt FILE.node",
)
def test_an_add_on_that_npm_does_not_build(addon, tmp_path, start_in, advised):
    text = (addon / "addon.c").read_text("utf-8")
    (addon / "addon.c").write_text("#error does not build\n", "utf-8")
    refused = start_in("adopt", at=addon)
    (addon / "addon.c").write_text(text, "utf-8")
    without = start_in("adopt", at=addon, env={**os.environ, "PATH": str(tmp_path)})
    built = addon / "FILE.node"
    run_checked("cc", "-shared", "-fPIC", addon / "addon.c", f"-L{tmp_path}", "-lportaudio", "-o", built)
    for ended in (refused, without):
        assert ended.returncode == 2
        [[_, command, *rest]] = list_commands(advised(ended))
        assert "FILE.node: links libportaudio.so.2" in assert_success(start_in(command, *rest, at=addon))


@pytest.mark.advice("not tried: {} has a space, at which many builds split: name another folder for --output")
def test_a_build_that_splits_the_folder_of_stubs_at_a_space(tmp_path, start_in, advised):
    """As gyp splits what pkg-config prints; a shell without quotes does the same."""
    root = tmp_path / "my project"
    root.mkdir()
    (tmp_path / "p.c").write_text("int Pa_GetVersion(void) { return 1246720; }")
    (root / "user.c").write_text("int Pa_GetVersion(void); int main(void) { return Pa_GetVersion() == 0; }")
    run_checked("cc", "-shared", "-fPIC", "-Wl,-soname,libportaudio.so.2", "p.c", "-o", "libp.so", cwd=tmp_path)
    run_checked("cc", "user.c", tmp_path / "libp.so", "-o", "user", cwd=root)
    shown = start_in("adopt", "user", at=root)
    assert list_options(advised(shown)) == ["--output"]
    (command,) = (line.removeprefix("next: ") for line in shown.stdout.splitlines() if line.startswith("next: "))
    build = "cc user.c $LDFLAGS -lportaudio -ldl -lpthread -o bound"
    assert run_program("bash", "-ec", f"{command}\n{build}", cwd=root).returncode != 0
    elsewhere = command.replace("--output stubs", f"--output {tmp_path}/stubs")
    run_checked("bash", "-ec", f"{elsewhere}\n{build}", cwd=root)
    assert "libportaudio" not in run_checked("readelf", "-d", root / "bound")
