"""The loader on Windows x64 and arm64: built by zig, run under wine, with stand-ins."""

import os
import pathlib
import shutil
import tempfile

import pytest

from ci.machines import wine
from tests.loader import pe
from tests.loader.situations import (
    ENVIRONMENT,
    EXPLICIT,
    SITUATIONS,
    check_explicit,
    check_situation,
    outcomes,
    place,
)
from tests.support.emulated import WINDOWS, build_cross, cache, emulate_windows

pytestmark = [pytest.mark.emulated, pytest.mark.slow]
NAME = "onnxruntime.dll"


@pytest.fixture(scope="module", params=WINDOWS)
def windows(request, shared_folder):
    with emulate_windows(shared_folder, rid=request.param) as system:
        yield system


def test_units(windows):
    assert windows.run("unit").split() == [b"all", b"well"]


# ---- each sentence ----


@pytest.mark.parametrize("stand_in", EXPLICIT)
def test_explicit_file(windows, stand_in):
    check_explicit(windows, stand_in, "gone.dll (error 126)")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "the file is empty"),
        (b"version=1.19\n", "a text file, not a library"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "a Git LFS pointer"),
        (b"\x7fELF" + b"\0" * 200, "a Linux library"),
        (b"PK\x03\x04" + b"\0" * 200, "a zip archive"),
        (b"MZ" + b"\0" * 10, "truncated: it ends within its header"),
    ],
)
def test_a_file_that_is_no_library_is_told_by_its_kind(windows, tmp_path, content, says):
    path = tmp_path / NAME
    path.write_bytes(content)
    answer = windows.probe("--path", path)
    assert answer["outcome"] == "not-a-library"
    assert f"{wine.windows_path(path)} is not a usable library: {says}" in answer["report"]["message"]


def test_a_truncated_library_never_reaches_the_systems_loader(windows, tmp_path):
    path = tmp_path / NAME
    path.write_bytes(windows.stand_in("good").read_bytes()[:5000])
    answer = windows.probe("--path", path)
    assert answer["outcome"] == "not-a-library"
    assert "truncated: 5000 bytes of at least" in answer["report"]["message"]


def test_another_processors_library(windows, shared_folder, request):
    own = request.node.callspec.params["windows"]
    (other,) = set(WINDOWS) - {own}
    answer = windows.probe("--path", build_cross(shared_folder, other) / "stand-ins" / "good.dll")
    assert answer["outcome"] == "wrong-architecture"
    built = f"built for {other.removeprefix('win-')}, this process is {own.removeprefix('win-')}"
    assert f"is for another processor: {built}" in answer["report"]["message"]


@pytest.mark.parametrize("name", SITUATIONS)
def test_situation(windows, name, tmp_path):
    check_situation(windows, name, tmp_path)


def test_the_systems_own_search_comes_last_and_is_told(windows, tmp_path):
    answer = windows.probe("--dir", tmp_path)
    assert "nor by the system's own search; version 1.19 or newer is needed" in answer["report"]["message"]
    assert outcomes(answer)[-1] == ("system", "not-found")


def test_a_dependency_that_only_a_dependency_misses_is_named_with_both(windows, tmp_path):
    path = place(windows, "needs_needer", tmp_path)
    shutil.copy(windows.folder / "elsewhere" / "needer.dll", tmp_path)
    answer = windows.probe("--path", path)
    assert answer["outcome"] == "missing-dependency"
    assert "gone.dll, which its needer.dll needs (error 126)" in answer["report"]["message"]


def test_a_dependency_beside_the_runtime_is_found(windows, tmp_path):
    path = place(windows, "needs_gone", tmp_path)
    shutil.copy(windows.folder / "elsewhere" / "gone.dll", tmp_path)
    assert windows.probe("--path", path)["outcome"] == "bound"


def test_a_dependency_in_a_folder_that_was_added_is_found_and_what_it_lacks_is_named(windows, tmp_path):
    path = place(windows, "needs_needer", tmp_path / "runtime")
    (tmp_path / "added").mkdir()
    shutil.copy(windows.folder / "elsewhere" / "needer.dll", tmp_path / "added")
    # wine 8 looks for what is mapped as data on PATH alone, whatever the flags; Windows heeds them.
    data = {"WINEPATH": wine.windows_path(tmp_path / "added")}
    answer = windows.probe("--add-folder", tmp_path / "added", "--path", path, environment=data)
    assert answer["outcome"] == "missing-dependency"
    assert "gone.dll, which its needer.dll needs (error 126)" in answer["report"]["message"]
    shutil.copy(windows.folder / "elsewhere" / "gone.dll", tmp_path / "added")
    assert windows.probe("--add-folder", tmp_path / "added", "--path", path)["outcome"] == "bound"


def test_libraries_that_import_each_other_end_in_an_answer(windows, tmp_path):
    path = place(windows, "needs_needer", tmp_path)
    names = [f"d{number}.dll" for number in range(12)]
    # Of another processor, so none of them is loaded when the loader looks through what they import.
    for name in names:
        (tmp_path / name).write_bytes(pe.library(names, machine=pe.ARM64))
    (tmp_path / "needer.dll").write_bytes(pe.library(names))
    answer = windows.probe("--path", path)
    assert answer["outcome"] == "missing-dependency"
    assert "error 126: a library that it needs was not found" in answer["report"]["message"]


# ---- the system folder ----


@pytest.fixture
def decoy(windows):
    path = windows.emulator.system_folder() / NAME
    shutil.copy(windows.stand_in("good"), path)
    yield path
    path.unlink()


SYSTEM_COPY = r"C:\windows\system32\onnxruntime.dll"


@pytest.mark.parametrize("windows", ["win-x64"], indirect=True)  # wine for arm64 finds nothing there by its name
@pytest.mark.usefixtures("decoy")
def test_a_copy_in_the_system_folder_is_refused_and_said_so(windows):
    answer = windows.probe(environment={"PATH": "/usr/bin"})
    assert answer["outcome"] == "refused"
    assert ("system", "refused") in outcomes(answer)
    assert "it is in the system folder" in answer["report"]["message"]


def test_a_copy_in_the_system_folder_does_not_defeat_a_good_one(windows, decoy, tmp_path):
    place(windows, "good", tmp_path)
    answer = windows.probe("--dir", r"C:\windows\system32", "--dir", tmp_path)
    assert outcomes(answer) == [("host", "refused"), ("host", "bound")]


def test_a_copy_in_the_system_folder_is_refused_though_it_is_loaded(windows, decoy, tmp_path):
    place(windows, "good", tmp_path)
    answer = windows.probe("--preload", SYSTEM_COPY, "--dir", tmp_path)
    assert outcomes(answer) == [("loaded", "refused"), ("host", "bound")]
    assert "2 copies of ONNX Runtime are loaded" in answer["report"]["warning"]


def test_a_copy_in_the_system_folder_is_taken_when_its_file_is_named(windows, decoy):
    assert windows.probe("--path", SYSTEM_COPY)["outcome"] == "bound"
    assert windows.probe(environment={ENVIRONMENT: SYSTEM_COPY})["outcome"] == "bound"
    assert windows.probe("--path", r"C:\windows\system32")["outcome"] == "refused"


# ---- where it is looked for ----


def test_beside_the_program_and_by_path(windows, tmp_path):
    place(windows, "good", tmp_path / "beside")
    shutil.copy(windows.folder / "probe.exe", tmp_path / "beside")
    answer = windows.probe(program=tmp_path / "beside" / "probe.exe")
    assert outcomes(answer) == [("beside", "bound")]
    # Not below /tmp: Windows has no sticky folders, and every user could rename what is in it.
    with tempfile.TemporaryDirectory(dir=cache(), prefix="on path") as name:
        path = place(windows, "good", pathlib.Path(name))
        answer = windows.probe(environment={"WINEPATH": wine.windows_path(path.parent)})
    assert outcomes(answer)[-1] == ("system", "bound")
    assert answer["report"]["path"] == wine.windows_path(path)


def test_the_current_folder_is_not_searched(windows, tmp_path):
    place(windows, "good", tmp_path)
    assert windows.probe(cwd=tmp_path, environment={"WINEPATH": "."})["outcome"] == "not-found"
    assert windows.probe("--path", NAME, cwd=tmp_path)["outcome"] == "bound"  # named, it is a path


@pytest.mark.parametrize("folder", ["with space", "mit Umlaut äöü", "日本語", "deep/" * 60 + "ünïcode"])
def test_paths_in_any_script_and_of_any_length(windows, tmp_path, folder):
    path = place(windows, "good", tmp_path / folder)
    foreign_path = wine.windows_path(path)
    for arguments, environment in [
        (["--dir", path.parent], {}),
        (["--path", path], {}),
        ([], {ENVIRONMENT: foreign_path}),
    ]:
        answer = windows.probe(*arguments, environment=environment)
        assert answer["outcome"] == "bound", answer["report"]["message"]
        assert answer["report"]["path"] == foreign_path


def test_a_missing_dependency_in_a_long_path_is_named(windows, tmp_path):
    path = place(windows, "needs_gone", tmp_path / ("deep/" * 60 + "ünïcode"))
    assert "missing or broken: gone.dll" in windows.probe("--path", path)["report"]["message"]


@pytest.mark.parametrize("value", ["x" * 10_000, "a\\" * 5_000, "%s%n", '"<>|', "NUL", "C:", "\\\\?\\", "\\\\gone\\x"])
def test_hostile_environment_variables_end_in_an_answer(windows, value):
    assert windows.probe(environment={ENVIRONMENT: value})["outcome"] in {"not-found", "not-a-library", "refused"}


# ---- memory ----


@pytest.mark.parametrize(("stand_in", "bound"), [("good", True), ("old", False), ("needs_gone", False)])
def test_memory_that_runs_out_at_any_point_ends_in_an_answer(windows, stand_in, bound):
    answer = windows.probe("--path", windows.stand_in(stand_in), "--exhaust", program="probe_memory")
    assert answer["failed_allocations"] > 10
    assert (answer["bound"] > 0) == bound


# ---- places where other users may write: wine gives files the owner and the rights that they have below ----

FOREIGN = "FOREIGN CODE RUNS"


def serve(windows, program):
    """What the program with a stub prints, whether it finds a runtime or not."""
    done = windows.emulator.run(program, env={}, cwd=None, feed=b"")
    windows.skip_if_lost(done)
    return done.stdout.decode()


@pytest.fixture
def installed_service(windows, tmp_path):
    folder = tmp_path / "site-packages" / "pkg"
    folder.mkdir(parents=True)
    capi = tmp_path / "site-packages" / "onnxruntime" / "capi"
    return shutil.copy(windows.folder / "service.exe", folder / "service.exe"), capi


def test_packages_around_a_stub_are_found(windows, installed_service):
    program, capi = installed_service
    path = place(windows, "good", capi)
    assert serve(windows, program).startswith(wine.windows_path(path).split(":", 1)[0])
    assert "bound" in serve(windows, program)


@pytest.mark.parametrize("kind", ["file", "folder", "owner", "link"])
def test_what_every_user_may_change_is_refused(windows, installed_service, tmp_path, kind):
    program, capi = installed_service
    if kind == "link":
        place(windows, "foreign", tmp_path / "theirs")
        (tmp_path / "theirs").chmod(0o777)
        capi.parent.mkdir()
        capi.symlink_to(tmp_path / "theirs")
    else:
        path = place(windows, "foreign", capi)
        if kind == "owner":
            os.chown(path, 12345, 12345)
        else:
            (path if kind == "file" else capi).chmod(0o777)
    printed = serve(windows, program)
    assert FOREIGN not in printed
    assert ("another user owns" if kind == "owner" else "every user may write to") in printed


@pytest.mark.parametrize("theirs", ["onnxruntime/capi", "node_modules/onnxruntime-node/bin/napi-v6/win32/{arch}"])
def test_folders_above_the_application_are_judged_like_all(windows, tmp_path, theirs):
    arch = "arm64" if "arm64" in windows.folder.name else "x64"
    path = place(windows, "foreign", tmp_path / theirs.format(arch=arch))
    for part in (path, *path.parents):
        if part.is_relative_to(tmp_path) and part != tmp_path:
            os.chown(part, 12345, 12345)
    (tmp_path / "Vendor").mkdir()
    program = shutil.copy(windows.folder / "service.exe", tmp_path / "Vendor" / "service.exe")
    printed = serve(windows, program)
    assert FOREIGN not in printed
    assert "another user owns" in printed


def test_folders_of_path_that_every_user_may_change_are_refused(windows, tmp_path):
    folder = place(windows, "foreign", tmp_path / "tools").parent
    folder.chmod(0o777)
    program = shutil.copy(windows.folder / "service.exe", tmp_path / "service.exe")
    done = windows.emulator.run(program, env={"WINEPATH": wine.windows_path(folder)}, cwd=None, feed=b"")
    printed = done.stdout.decode()
    assert FOREIGN not in printed
    assert "every user may write to" in printed
