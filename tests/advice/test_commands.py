"""Advice of commands that need no build: what a message names is run or changed, and the command succeeds."""

from __future__ import annotations

import os
import shlex
import subprocess

import pytest

from tests.advice.following import list_commands, list_options, write_setting
from tests.conftest import ROOT
from tests.support.client import BOUND, CONFIG, edit, write_client, write_files
from tests.support.running import assert_success, run_checked

RUNTIME_FILE = ROOT / "examples/own-runtime/latebind.toml"


def is_gone(refused, again):
    """Whether the headline of a refusal is in the output of a second try."""
    headline = next(line for line in refused.stderr.splitlines() if line.startswith("error: ")).rpartition(": ")[2]
    return headline not in again.stderr


def without_option(words, option):
    at = words.index(option)
    return [*words[:at], *words[at + 2 :]]


@pytest.mark.advice("Name its folder: -C {}")
@pytest.mark.parametrize("named", ["latebind.toml", "../with space/latebind.toml", "python/tiny/pyproject.toml", "*"])
def test_a_file_in_the_place_of_the_project(tmp_path, start_in, advised, named):
    folder = write_client(tmp_path / "with space")
    named = str(folder / "latebind.toml") if named == "*" else named
    refused = start_in("-C", named, "plan", at=folder)
    assert refused.returncode == 2
    value = shlex.split(advised(refused).partition("-C ")[2])
    assert_success(start_in("-C", *value, "plan", at=folder))


@pytest.mark.advice("Name the folder that contains latebind.toml, or a folder below it.")
@pytest.mark.parametrize("below", ["", "native", "python/tiny"])
def test_no_folder(tiny, start_in, advised, below):
    refused = start_in("-C", "nosuch", "plan", at=tiny)
    assert advised(refused)
    assert_success(start_in("-C", tiny / below, "plan", at=tiny))


@pytest.mark.advice("Name the project's folder: latebind -C FOLDER ... For a new project: latebind new NAME.")
def test_no_project(tmp_path, tiny, start_in, advised):
    (tmp_path / "empty").mkdir()
    refused = start_in("plan", at=tmp_path / "empty")
    named, new = list_commands(advised(refused))
    assert named == ["latebind", "-C", "FOLDER"]
    assert_success(start_in("-C", tiny, "plan", at=tmp_path))
    assert new == ["latebind", "new", "NAME"]
    assert_success(start_in("new", "engine", at=tmp_path))
    assert_success(start_in("plan", at=tmp_path / "engine"))


@pytest.mark.skipif(os.name == "nt", reason="not run: Windows has no bit for all others")
@pytest.mark.advice("If you trust it, name its folder: latebind -C {} ...")
def test_a_configuration_that_others_may_change(tmp_path, start_in, advised):
    folder = write_client(tmp_path / "with space")
    (folder / "latebind.toml").chmod(0o666)
    refused = start_in("plan", at=folder / "native")
    [[_, *words]] = list_commands(advised(refused))
    assert_success(start_in(*words, "plan", at=folder / "native"))


@pytest.mark.parametrize(
    ("words", "option"),
    [
        pytest.param(
            ["--kind", "ep", "--language", "c++"], "--language", marks=pytest.mark.advice("Leave out --language.")
        ),
        pytest.param(
            ["--kind", "ep", "--module-name", "x"],
            "--module-name",
            marks=pytest.mark.advice("Leave out --module-name."),
        ),
    ],
)
def test_options_of_new(tmp_path, start_in, advised, words, option):
    refused = start_in("new", "engine", *words, at=tmp_path)
    assert list_options(advised(refused)) == [option]
    assert_success(start_in("new", "engine", *without_option(words, option), at=tmp_path))


@pytest.mark.parametrize("name", ["2fast", "os", "a.b", "class", "con"])
@pytest.mark.advice(
    "Choose a name of letters, digits and single hyphens that starts with a letter: latebind new my-engine."
)
def test_a_name_that_no_package_can_have(tmp_path, start_in, advised, name):
    refused = start_in("new", name, at=tmp_path)
    [[_, *words]] = list_commands(advised(refused))
    assert_success(start_in(*words, at=tmp_path))
    assert_success(start_in("plan", at=tmp_path / words[-1]))


@pytest.mark.advice("Choose another name. For an existing project: latebind adopt.")
def test_a_folder_that_is_not_empty(tmp_path, start_in, advised):
    project = tmp_path / "engine"
    (project / "src").mkdir(parents=True)
    (project / "Makefile").write_text("all:\n", encoding="utf-8")
    refused = start_in("new", "engine", at=tmp_path)
    [[_, *words]] = list_commands(advised(refused))
    assert_success(start_in(*words, at=project))
    assert_success(start_in("new", "other", at=tmp_path))


@pytest.mark.advice(
    "Name what to audit: latebind audit some.whl. Or name a project's folder: latebind -C FOLDER audit."
)
def test_nothing_to_audit(tmp_path, packed_once, start_in, advised):
    refused = start_in("audit", at=tmp_path)
    named, of_project = list_commands(advised(refused))
    wheel = next((packed_once / "dist").glob("*.whl"))
    assert named == ["latebind", "audit", "some.whl"]
    assert_success(start_in("audit", wheel, at=tmp_path))
    words = [str(packed_once) if word == "FOLDER" else word for word in of_project[1:]]
    assert_success(start_in(*words, at=tmp_path))


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.advice("To see what is out of date: latebind ci --check. To replace it: latebind ci --force.")
def test_a_workflow_that_is_there(tiny, start_in, follow, which):
    assert_success(start_in("ci", at=tiny))
    refused = start_in("ci", at=tiny)
    assert refused.returncode == 2
    assert_success(follow(refused, at=tiny, which=which))


def test_what_a_new_workflow_replaces_is_said_and_kept(tiny, start_in):
    """The file is kept where git does not have it."""
    assert_success(start_in("ci", at=tiny))
    file = tiny / ".github/workflows/latebind.yml"
    assert "went" not in assert_success(start_in("ci", "--force", at=tiny))
    edit(file, "cancel-in-progress:", "# mine\n  cancel-in-progress:")
    edited = file.read_text("utf-8")
    number = 1 + next(at for at, line in enumerate(edited.splitlines()) if line.strip() == "# mine")
    printed = assert_success(start_in("ci", "--force", at=tiny))
    said = "note: 1 line of the old file went, which may be edits of yours:"
    assert f"{said}\n  {number}: # mine" in printed
    kept = tiny / printed.partition("to see all: ")[2].split()[0]
    assert kept.read_text("utf-8") == edited
    git = ("git", "-C", tiny, "-c", "user.name=a", "-c", "user.email=a@b")
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "x"]):
        run_checked(*git, *words)
    kept.unlink()
    edit(file, "cancel-in-progress:", "# mine\n  cancel-in-progress:")
    run_checked(*git, "commit", "-qam", "y")
    assert "git diff .github/workflows/latebind.yml" in assert_success(start_in("ci", "--force", at=tiny))
    assert not kept.exists()


@pytest.mark.advice("  help: on a machine of the target, verify with a kit: latebind verify --kit DIR")
def test_a_target_without_a_runner(tiny, start_in, advised):
    edit(tiny / "latebind.toml", '"linux-x64"', '"linux-x64", "linux-musl-x64"')
    write_files(tiny, {"smoke.py": ""})
    (tiny / "latebind.toml").write_text((tiny / "latebind.toml").read_text("utf-8") + VERIFIED, encoding="utf-8")
    assert_success(start_in("ci", at=tiny))
    printed = assert_success(start_in("ci", "--check", at=tiny))
    assert "is up to date, but no job verifies linux-musl-x64, for which GitHub has no runner" in printed
    [[_, *words]] = list_commands(advised(printed))
    assert_success(start_in(*[word.replace("DIR", "kit") for word in words], at=tiny))
    assert list((tiny / "kit").rglob("*musllinux*.whl"))


VERIFIED = '\n[verify]\npython = "smoke.py"\n'


@pytest.mark.advice("Write it: latebind ci.")
def test_no_workflow(tiny, start_in, follow):
    refused = start_in("ci", "--check", at=tiny)
    assert_success(follow(refused, at=tiny))
    assert_success(start_in("ci", "--check", at=tiny))


@pytest.mark.advice("Run latebind ci --force, or add the target to the job `native`.")
def test_a_target_that_no_job_builds(tiny, start_in, follow):
    assert_success(start_in("ci", at=tiny))
    write_setting(tiny / "latebind.toml", "targets.linux-x64", "toolchain", '"host"')
    refused = start_in("ci", "--check", at=tiny)
    assert refused.returncode == 1
    assert_success(follow(refused, at=tiny))
    assert_success(start_in("ci", "--check", at=tiny))


@pytest.mark.advice("Run latebind ci --force, or remove the job `release` if you publish elsewhere.")
def test_a_kind_of_package_that_no_job_publishes(tiny, start_in, follow):
    wheel = CONFIG.replace('nuget = { id = "Tiny" }\n', "")
    (tiny / "latebind.toml").write_text(wheel, encoding="utf-8")
    assert_success(start_in("ci", at=tiny))
    (tiny / "latebind.toml").write_text(CONFIG, encoding="utf-8")
    refused = start_in("ci", "--check", at=tiny)
    assert refused.returncode == 1
    assert_success(follow(refused, at=tiny))
    assert_success(start_in("ci", "--check", at=tiny))


def check_after(project, start_in, advised, change=None):
    """Holds that a workflow is out of date, and that it is not after the printed command or else a change to it."""
    refused = start_in("ci", "--check", at=project)
    assert refused.returncode == 1
    [[_, *words]] = {tuple(words) for words in list_commands(advised(refused))}
    if change is None:
        assert_success(start_in(*words, at=project))
    else:
        change(project / ".github/workflows/latebind.yml")
    assert_success(start_in("ci", "--check", at=project))


def without_job(name):
    def change(file):
        head, _, rest = file.read_text("utf-8").partition(f"\n  {name}:\n")
        lines = rest.splitlines(keepends=True)
        end = next(at for at, line in enumerate(lines) if line.startswith("  ") and line[2].isalpha())
        file.write_text(f"{head}\n{''.join(lines[end:])}", encoding="utf-8")

    return change


@pytest.mark.parametrize("change", [None, without_job("nuget")])
@pytest.mark.advice("Run latebind ci --force, or remove the job.")
def test_a_job_that_publishes_nothing(tiny, start_in, advised, change):
    assert_success(start_in("ci", at=tiny))
    edit(tiny / "latebind.toml", 'nuget = { id = "Tiny" }\n', "")
    check_after(tiny, start_in, advised, change)


ROW = "          - { target: linux-x64, runner: ubuntu-24.04 }\n"
ARM = "          - { target: linux-arm64, runner: ubuntu-24.04-arm }\n"


@pytest.mark.parametrize("rows", [None, ROW + ARM])
@pytest.mark.advice("Run latebind ci --force, or add {} to the job.")
def test_a_target_that_no_job_tests(tiny, start_in, advised, rows):
    write_files(tiny, {"tests/test_tiny.py": ""})
    assert_success(start_in("ci", at=tiny))
    edit(tiny / "latebind.toml", '"linux-x64"', '"linux-x64", "linux-arm64"')
    check_after(tiny, start_in, advised, rows and (lambda file: edit(file, ROW, rows)))


@pytest.mark.parametrize("rows", [None, ROW])
@pytest.mark.advice("Run latebind ci --force, or remove {} from the job.")
def test_a_job_for_a_target_that_is_gone(tiny, start_in, advised, rows):
    write_files(tiny, {"tests/test_tiny.py": ""})
    edit(tiny / "latebind.toml", '"linux-x64"', '"linux-x64", "linux-arm64"')
    assert_success(start_in("ci", at=tiny))
    edit(tiny / "latebind.toml", ', "linux-arm64"', "")
    check_after(tiny, start_in, advised, rows and (lambda file: edit(file, ROW + ARM, rows)))


@pytest.mark.advice(
    "note: {}: package.{}.component: no CMake file names {}\n  help: latebind pack fails if no install() rule has "
    "COMPONENT {}"
)
def test_a_component_that_no_cmake_file_names(tiny, start_in, advised):
    edit(tiny / "latebind.toml", '"tiny"', '"tyni"')
    noted = start_in("plan", at=tiny)
    word = advised(noted).split()[-1]
    failed = start_in("pack", at=tiny)
    assert failed.returncode == 2
    assert word in failed.stderr
    edit(tiny / "native/CMakeLists.txt", "COMPONENT tiny", f"COMPONENT {word}")
    assert "note" not in start_in("plan", at=tiny).stderr


@pytest.mark.parametrize(
    ("config", "rids"), [('"linux-arm64"', 1), ('"linux-arm64", "osx-arm64"', 1), ('"win-x64"', 1)]
)
@pytest.mark.advice("Name one: --target {}")
def test_a_machine_that_is_no_target(tiny, start_in, advised, config, rids):
    edit(tiny / "latebind.toml", '"linux-x64"', config)
    refused = start_in("plan", at=tiny)
    words = shlex.split(advised(refused).partition(": ")[2])
    assert_success(start_in("plan", *words, at=tiny))


@pytest.mark.parametrize(
    ("words", "option"),
    [
        pytest.param(
            ["--functions", "f"],
            "--functions",
            marks=pytest.mark.advice("Leave --functions out; it is for a runtime that a file describes."),
        ),
        pytest.param(
            ["--called-by", "/bin/sh"],
            "--called-by",
            marks=pytest.mark.advice("Leave --called-by out; it is for a runtime that a file describes."),
        ),
        pytest.param(
            ["--headers", "."],
            "--headers",
            marks=pytest.mark.advice(
                "Leave --headers out, and name the folder of the headers to the compiler: -I FOLDER."
            ),
        ),
        pytest.param(
            ["--export"],
            "--export",
            marks=pytest.mark.advice("Leave --export out; it is for the static library of one target."),
        ),
    ],
)
def test_options_of_stub(tmp_path, start_in, advised, words, option):
    refused = start_in("stub", "onnxruntime", "--source", "--output", "out", *words, at=tmp_path)
    assert list_options(advised(refused))[:1] == [option]
    assert_success(
        start_in("stub", "onnxruntime", "--source", "--output", "out", *without_option(words, option), at=tmp_path)
    )


@pytest.mark.advice("Name a program or library that is linked with the library, or leave --called-by out.")
def test_a_program_that_calls_nothing_of_it(tmp_path, start_in, advised):
    words = ["stub", RUNTIME_FILE, "--source", "--output", "out"]
    described = tmp_path / "z3.toml"
    described.write_text(Z3, encoding="utf-8")
    words[1] = described
    refused = start_in(*words, "--called-by", "/bin/true", at=tmp_path)
    assert list_options(advised(refused)) == ["--called-by"]
    assert_success(start_in(*words, at=tmp_path))


Z3 = """
name = "z3"
title = "Z3"
entry = "Z3_get_version"
version = "four-numbers"
built = "5.4"
minimum = "5.0"
files.linux = ["libz3.so", "libz3.so.*"]
python = { folder = "z3/lib", extras = { solver = "z3-solver" } }
[stub]
functions = ["Z3_mk_config"]
"""


@pytest.mark.advice("Describe one below [[runtime]] and [runtime.describe]; see examples/own-runtime.")
def test_no_described_runtime(tmp_path, start_in, advised):
    folder = write_client(tmp_path / "tiny", latebind=BOUND)
    refused = start_in("loader-source", "out", at=folder)
    assert "examples/own-runtime" in advised(refused)
    described = RUNTIME_FILE.read_text("utf-8").partition("[[runtime]]")[2].partition("[targets]")[0]
    (folder / "latebind.toml").write_text(
        BOUND.replace('runtime = "onnxruntime"', 'runtime = "z3"').partition("[[runtime]]")[0]
        + "[[runtime]]"
        + described,
        encoding="utf-8",
    )
    assert_success(start_in("loader-source", "out", at=folder))


@pytest.mark.advice("Add --single; CMake has the presets already.")
def test_presets_are_for_one_file(tmp_path, start_in, advised):
    words = ["loader-source", "out", "--runtime", "onnxruntime"]
    refused = start_in(*words, at=tmp_path)
    assert_success(start_in(*words, *list_options(advised(refused)), at=tmp_path))


@pytest.mark.advice("To use these headers, name their version: latebind headers {} {} ...")
def test_headers_of_another_version(tmp_path, start_in, advised):
    given = tmp_path / "given"
    given.mkdir()
    (given / "onnxruntime_c_api.h").write_text("#define ORT_API_VERSION 20\n", encoding="utf-8")
    options = ("--from", given, "--output", "out")
    refused = start_in("headers", "onnxruntime", "1.19", *options, at=tmp_path)
    [[_, *words]] = list_commands(advised(refused))
    assert is_gone(refused, start_in(*words, *options, at=tmp_path))


@pytest.mark.advice("Set it to `git log -1 --format=%ct`.")
@pytest.mark.parametrize("value", ["yesterday", "-1", "99999999999999"])
def test_a_date_that_is_none(packed_tiny, start_in, advised, value):
    (packed_tiny / "dist").rename(packed_tiny / "old")
    refused = start_in("pack", at=packed_tiny, env={**os.environ, "SOURCE_DATE_EPOCH": value})
    assert refused.returncode == 2, refused.stdout
    [command] = list_commands(advised(refused))
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert_success(start_in("pack", at=packed_tiny, env={**os.environ, "SOURCE_DATE_EPOCH": printed.strip()}))


@pytest.mark.advice("See {} --help.")
@pytest.mark.parametrize("words", [("plan", "x"), ("pack", "--target"), ("verify", "--jobs", "x")])
def test_wrong_words(tiny, start_in, advised, words):
    refused = start_in(*words, at=tiny)
    [[_, *asked]] = [advised(refused).partition("See ")[2].rstrip(".").split()]
    assert "usage: latebind" in assert_success(start_in(*asked, at=tiny))


@pytest.mark.parametrize("left", ["--target", "--python"])
@pytest.mark.advice("Make several matrices: name fewer targets with --target, or fewer Pythons with --python.")
def test_a_matrix_of_too_many_jobs(tmp_path, start_in, advised, left):
    folder = write_client(tmp_path / "tiny", latebind=CONFIG + '\n[verify]\npython = "native/tiny.c"\n')
    edit(folder / "latebind.toml", '"linux-x64"', '"linux-x64", "linux-arm64"')
    given = {"--target": ["linux-x64", "linux-arm64"], "--python": ["3.11"]}
    if left == "--python":
        given = {"--target": ["linux-x64"], "--python": ["3.11", "3.12"]}

    def make(at):
        words = [word for option, values in given.items() for value in values[:at] for word in (option, value)]
        return start_in("matrix", "--max-jobs", "1", *words, at=folder)

    assert left in list_options(advised(make(2)))
    assert_success(make(1))


@pytest.mark.advice("List its functions below [runtime.describe.stub].")
def test_a_description_without_functions(tmp_path, start_in, advised):
    described = tmp_path / "z3.toml"
    described.write_text(Z3.partition("[stub]")[0], encoding="utf-8")
    words = ("stub", described, "--source", "--output", "out")
    assert advised(start_in(*words, at=tmp_path))
    described.write_text(Z3, encoding="utf-8")
    assert_success(start_in(*words, at=tmp_path))
