"""What a user sees when something is wrong: one clear error, a non-zero status, and earlier output as it was."""

import contextlib
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from latebind.cli import _parser
from latebind.commands.completion import _actions
from latebind.commands.parser import Parser
from latebind.pack.record import RECORD
from tests.support.client import CMAKE, CONFIG, SOURCE, edit, write_client
from tests.support.needs import require_programs
from tests.support.running import CLI, assert_refused, assert_success, run_checked, run_program


def snapshot(folder):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.rglob("*")
            if path.is_file() and path.name != RECORD}  # fmt: skip


def pack_tiny(latebind, tiny):
    """Pack a project; returns what is in dist/."""
    assert_success(latebind("-C", tiny, "pack"))
    packages = snapshot(tiny / "dist")
    assert set(packages) == {"Tiny.1.2.3.nupkg", "tiny-1.2.3-py3-none-manylinux_2_28_x86_64.whl", "tiny-1.2.3.tar.gz"}
    return packages


@pytest.mark.builds
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["pack", "--taget", "linux-x64"], "arguments: --taget linux-x64\nhelp: Did you mean --target?"),
        (["verify", "--lst"], "argument: --lst\nhelp: Did you mean --list?"),
        (["cibuildwheel", "a", "--json"], "argument: --json\nhelp: This command has no JSON output."),
        (["plan", "linux-x64"], "argument: linux-x64\nhelp: See latebind plan --help."),
    ],
)
def test_an_unknown_word_is_refused_with_the_nearest_option_of_the_command(latebind, arguments, message):
    result = latebind(*arguments)
    assert result.returncode == 2
    assert result.stderr == f"error: unrecognized {message}\n"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["pakc"], "error: 'pakc' is not a command\nhelp: Did you mean pack?"),
        (["--target", "linux-x64", "pack"], "\nhelp: Write the command first: latebind pack --target ..."),
        (["pack", "--format", "jsn"], "argument --format: 'jsn' is not a possible value\nhelp: Did you mean json?"),
        (
            ["completion", "xyz"],
            "'xyz' is not a possible value\nhelp: Choose one of: bash, zsh, fish, powershell, tcsh.",
        ),
    ],
)
def test_a_wrong_command_or_value_is_refused_with_the_nearest(latebind, arguments, error):
    result = latebind(*arguments)
    assert result.returncode == 2
    assert error in result.stderr


@pytest.mark.builds
@pytest.mark.parametrize("command", ["plan", "pack", "audit", "doctor", "verify"])
def test_a_project_that_is_not_there_is_not_the_one_around_it(latebind, tiny, command):
    assert_refused(latebind("-C", tiny / "nosuch", command), "there is no such folder", "Name the folder")
    assert_refused(latebind("-C", tiny / "latebind.toml", command), "is a file, not a folder", f"-C {tiny}")


@pytest.mark.builds
@pytest.mark.parametrize("target", ["", "linux-x64,", ",", " "])
def test_an_empty_target_is_refused(latebind, tiny, target):
    assert_refused(latebind("-C", tiny, "pack", "--target", target), "has an empty name")


@pytest.mark.builds
def test_help_and_version_are_found_as_words_and_as_options(latebind):
    version = assert_success(latebind("--version"))
    assert version == assert_success(latebind("-V")) == assert_success(latebind("version"))
    assert assert_success(latebind("help")) == assert_success(latebind("--help"))
    assert assert_success(latebind("help", "pack")) == assert_success(latebind("pack", "--help"))


def test_without_a_command_the_help_is_shown(latebind):
    ended = latebind()
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "make all packages of the project" in ended.stderr


@pytest.mark.builds
def test_a_wrong_option_without_a_command_is_named(latebind):
    assert_refused(latebind("--versoin"), "unrecognized argument: --versoin", "Did you mean --version?")


@pytest.mark.slow
def test_several_targets_may_be_separated_by_commas(latebind, tiny):
    write_client(tiny, latebind=CONFIG.replace('["linux-x64"]', '["linux-x64", "win-x64", "osx-arm64"]'))
    shown = json.loads(latebind("-C", tiny, "plan", "--json", "--target", "linux-x64,win-x64").stdout)
    wheels = {file["file"].rpartition("-")[2] for file in shown["files"] if file["kind"] == "wheel"}
    assert wheels == {"manylinux_2_28_x86_64.whl", "win_amd64.whl"}
    assert_refused(
        latebind("-C", tiny, "plan", "--target", "win-x46"), "win-x46 is not a target", "Did you mean win-x64?"
    )


@pytest.mark.builds
def test_a_byte_order_mark_is_no_error(latebind, tiny):
    text = (tiny / "latebind.toml").read_bytes()
    (tiny / "latebind.toml").write_bytes(b"\xef\xbb\xbf" + text)
    assert latebind("-C", tiny, "plan").returncode == 0


@pytest.mark.builds
def test_doctor_fails_where_nothing_can_be_built(latebind, tmp_path):
    assert latebind("doctor").returncode == 0
    blind = "import sys; sys.modules['ziglang'] = None; from latebind import cli; sys.exit(cli.main(['doctor']))"
    env = {**os.environ, "PATH": str(tmp_path)}
    ended = run_program(sys.executable, "-c", blind, env=env)
    assert ended.returncode == 1, ended.stdout
    assert "nothing can be built here" in ended.stderr


@pytest.mark.builds
def test_doctor_explains_a_message(latebind):
    message = "ImportError: libcuda.so.1: cannot open shared object file: No such file or directory"
    printed = assert_success(latebind("doctor", "--message", message))
    assert printed.startswith("libcuda.so.1: cannot open shared object file (no GPU, no driver)\n\nCause:\n")
    for heading in ("Cause:", "Users:", "Maintainers:", "See https://"):
        assert heading in printed
    section = json.loads(assert_success(latebind("doctor", "--json", "--message", message)))
    assert section["address"].endswith("/messages.md#libcudaso1-cannot-open-shared-object-file-no-gpu-no-driver")


def test_doctor_says_that_it_knows_no_such_message(latebind):
    ended = latebind("doctor", "--message", "the cat sat on the mat")
    assert ended.returncode == 1
    assert ended.stderr.startswith("error: no section explains this message\nhelp: ")
    assert "/howto/messages.md" in ended.stderr


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (["verify", "--format", "json", "--format=text"], "--format"),
        (["audit", "--output", "a", "--output", "a"], "--output"),
        (["-C", "a", "-C", "b", "plan"], "-C/--project"),
    ],
)
def test_an_option_of_one_value_that_is_given_twice_is_refused(latebind, arguments, option):
    result = latebind(*arguments)
    assert result.returncode == 2
    assert f"error: argument {option}: given twice, as '" in result.stderr
    assert result.stderr.endswith("'\nhelp: Leave one of them out.\n")


def test_no_option_keeps_its_last_value_alone():
    """Whatever takes a value refuses a second one or keeps both."""
    actions = [action for action in _actions(_parser()) if action.option_strings and action.nargs != 0]
    assert len(actions) > 30
    assert {type(action).__name__ for action in actions} == {"Once", "_AppendAction", "_ExtendAction"}


@pytest.mark.builds
def test_every_problem_of_a_configuration_is_told_at_once(latebind, tiny):
    write_client(tiny, latebind=CONFIG.replace("version", "verson").replace("name =", "nam ="))

    result = latebind("-C", tiny, "plan")

    assert_refused(result, "unknown key project.verson", "Did you mean version?", "unknown key project.nam")


@pytest.mark.builds
def test_a_misspelled_preset_is_one_problem(latebind, tmp_path):
    assert_success(latebind("new", tmp_path / "demo"))
    edit(tmp_path / "demo" / "latebind.toml", 'preset = "onnxruntime"', 'preset = "onnxrutime"')
    ended = latebind("-C", tmp_path / "demo", "plan")
    assert_refused(ended, "'onnxrutime' is not a known runtime", "Did you mean onnxruntime?")
    assert ended.stderr.count("latebind.toml:") == 1, ended.stderr


@pytest.mark.builds
@pytest.mark.parametrize("command", [["plan"], ["verify", "--list"]])
def test_a_scenario_that_does_not_exist_is_refused(latebind, tmp_path, command):
    assert_success(latebind("new", tmp_path / "demo"))
    edit(tmp_path / "demo" / "latebind.toml", '"absent"', '"abcent"')
    ended = latebind("-C", tmp_path / "demo", *command)
    assert_refused(ended, "'abcent' is not a scenario", "Did you mean absent?")


@pytest.mark.slow
def test_missing_source_folder(latebind, packed_tiny):
    before = pack_tiny(latebind, packed_tiny)
    shutil.rmtree(packed_tiny / "native")

    result = latebind("-C", packed_tiny, "build")

    assert_refused(result, "latebind.toml: native.source", "native/CMakeLists.txt does not exist", "Set native.source")
    assert snapshot(packed_tiny / "dist") == before


@pytest.mark.builds
def test_outside_of_a_project_audit_says_that_it_takes_packages(latebind, tmp_path):
    assert_refused(latebind("-C", tmp_path, "audit"), "no latebind.toml", "latebind audit some.whl", "-C FOLDER")


@pytest.mark.builds
def test_stage_says_that_nothing_is_built(latebind, tiny):
    listed = latebind("-C", tiny, "stage")
    assert (listed.returncode, listed.stdout) == (0, "")
    assert listed.stderr == "nothing is built yet\n  To build: latebind build\n"


@pytest.mark.builds
def test_no_configuration(latebind, tmp_path):
    assert_refused(latebind("-C", tmp_path, "build"), "no latebind.toml", "latebind -C FOLDER")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"cmakelists": CMAKE.replace("add_library", "add_libary")}, "add_libary"),
        ({"tiny": SOURCE.replace("a + b", "a + c")}, "undeclared identifier 'c'"),
        ({"cmakelists": CMAKE.replace("COMPONENT tiny", "COMPONENT other")},
         "help: The CMake project installs: other. Name one of these, or write"),
        ({"cmakelists": CMAKE.replace("COMPONENT tiny", "")},
         "help: Add one: write install(TARGETS mylib COMPONENT tiny)."),
    ],
    ids=["configure", "compile", "install", "no component"],
)  # fmt: skip
def test_a_failed_native_build_shows_what_cmake_said_and_keeps_earlier_output(latebind, packed_tiny, changed, message):
    before = pack_tiny(latebind, packed_tiny), snapshot(packed_tiny / "stage")
    write_client(packed_tiny, **changed)

    result = latebind("-C", packed_tiny, "pack")

    assert_refused(result, message)
    assert (packed_tiny / "build" / "linux-x64.log").is_file()
    assert (snapshot(packed_tiny / "dist"), snapshot(packed_tiny / "stage")) == before


@pytest.mark.slow
def test_missing_compiler(latebind, packed_tiny, tmp_path):
    before = pack_tiny(latebind, packed_tiny)
    write_client(packed_tiny, latebind=CONFIG + '\n[targets.linux-x64]\ntoolchain = "host"\n')
    (packed_tiny / "native" / "tiny.c").write_text(SOURCE + "\n/* changed */\n", encoding="utf-8")

    result = latebind("-C", packed_tiny, "build", env={"PATH": str(tmp_path), "CC": ""})

    assert_refused(result, "no C compiler (cc, gcc, clang) is on PATH", 'toolchain = "zig"')
    assert snapshot(packed_tiny / "dist") == before


@pytest.fixture
def small_disk(tmp_path):
    """Mounts a small file system; skips with the reason where that is not allowed."""
    mount, umount = require_programs("mount", "umount")
    disk = tmp_path / "disk"
    disk.mkdir()

    def mount_disk(kilobytes):
        if run_program(mount, "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", disk).returncode != 0:
            pytest.skip("not run: only root can mount a small tmpfs")
        return disk

    yield mount_disk
    run_program(umount, "-l", disk)


@pytest.mark.slow
@pytest.mark.parametrize("kilobytes", [4, 24, 200], ids=["at-once", "in-the-build", "later"])
def test_full_disk(latebind, packed_tiny, small_disk, kilobytes):
    before = pack_tiny(latebind, packed_tiny)
    disk = small_disk(kilobytes)
    assert_refused(latebind("-C", packed_tiny, "--workdir", disk, "pack"), "The disk is full")
    assert not [path for path in disk.rglob("*.whl") if not path.name.startswith(".")]
    assert snapshot(packed_tiny / "dist") == before


@pytest.mark.slow
def test_full_disk_while_packing_keeps_the_earlier_packages(latebind, tiny, small_disk):
    disk = small_disk(64_000)
    assert_success(latebind("-C", tiny, "--workdir", disk, "pack"))
    before = snapshot(disk / "dist")
    with (disk / "filler").open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(b"\0" * 4096)
    (tiny / "python" / "tiny" / "src" / "tiny" / "more.py").write_text("x = 1\n" * 5000, encoding="utf-8")

    result = latebind("-C", tiny, "--workdir", disk, "pack")

    assert result.returncode == 2, result.stdout + result.stderr
    assert "Traceback (most recent call last)" not in result.stderr.splitlines()[0]
    assert "No space left" in result.stderr or "disk is full" in result.stderr
    assert snapshot(disk / "dist") == before


@pytest.mark.slow
@pytest.mark.parametrize("after", [0.2, 0.6, 1.0, 1.6])
def test_interrupted_midway(latebind, packed_tiny, after):
    before = pack_tiny(latebind, packed_tiny), snapshot(packed_tiny / "stage")
    (packed_tiny / "native" / "tiny.c").write_text(SOURCE + "\n/* changed */\n", encoding="utf-8")
    (packed_tiny / "native" / "CMakeLists.txt").write_text(
        CMAKE + "execute_process(COMMAND ${CMAKE_COMMAND} -E sleep 30)\n", encoding="utf-8"
    )
    process = subprocess.Popen(
        [*CLI, "-C", str(packed_tiny), "pack"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    time.sleep(after)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)

    assert process.returncode == -signal.SIGINT
    if "Traceback" not in errors:  # it has one when the signal came before the command began
        assert "interrupted; earlier output is unchanged" in errors
    assert (snapshot(packed_tiny / "dist"), snapshot(packed_tiny / "stage")) == before
    assert not list(packed_tiny.rglob("*.part"))


@pytest.mark.builds
def test_each_command_is_in_one_group_of_the_help(latebind):
    shown = assert_success(latebind("--help"))
    listed = re.findall(r"^      ([a-z-]+)(?:  |$)", shown, re.MULTILINE)
    (choices,) = [action.choices for action in _parser()._actions if isinstance(action.choices, dict)]
    assert sorted(listed) == sorted(choices)
    assert "  check them:" in shown


@pytest.mark.builds
def test_doctor_tells_what_is_there_and_what_is_not(latebind, tmp_path):
    printed = assert_success(latebind("doctor", env={"PATH": str(tmp_path)}))
    works, missing = printed.split("missing:\n")
    assert re.search(r"^  runs +linux-x64: built here by zig; its packages run here$", works, re.MULTILINE)
    assert re.search(r"^  builds for +linux-x64, linux-arm64, ", works, re.MULTILINE)
    assert re.search(r"^  dotnet +without it, .*\n +Install a \.NET SDK", missing, re.MULTILINE)
    assert re.search(r"^  mono ", missing, re.MULTILINE)
    assert "clone of latebind" not in printed


@pytest.mark.builds
def test_doctor_names_the_machines_of_other_targets(latebind, tmp_path):
    alone = latebind("doctor").stdout.split("targets whose packages do not run here:\n")[1]
    assert re.search(
        r"^  linux-arm64, .*win-x64\n +Verify them on a machine of the target, or here with .*/verify\.md#machines$",
        alone,
        re.MULTILINE,
    )
    file = tmp_path / "win-x64.toml"
    machine = {"rid": "win-x64", "title": "a wine", "command": ["wine"], "python": sys.executable}
    machine |= {"python_version": "3.11.9", "platforms": ["win_amd64"]}
    file.write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in machine.items()), encoding="utf-8")
    result = latebind("doctor", "--machines", tmp_path)
    assert re.search(r"  runs +win-x64: built here by zig; its packages run here with a wine", result.stdout)
    file.write_text("rid = 1\n", encoding="utf-8")
    result = latebind("doctor", env={"LATEBIND_MACHINES": str(tmp_path)})
    assert result.returncode == 2
    assert f"{file}: not a machine file: Expected `str`, got `int` - at `$.rid`" in result.stderr


def test_help_is_quick_to_import():
    code = "import sys, latebind.cli; print(sorted({'lief', 'rich', 'jinja2', 'msgspec'} & set(sys.modules)))"
    assert run_checked(sys.executable, "-c", code).strip() == "[]"


@pytest.mark.builds
@pytest.mark.skipif(sys.platform == "win32", reason="not run: pipes of Windows end otherwise")
def test_a_reader_that_goes_away_is_a_status_and_no_noise(tmp_path):
    (tmp_path / "a.whl").write_text("no zip")
    command = [*CLI, "audit", str(tmp_path / "a.whl")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 141


@pytest.mark.slow
def test_a_piped_pack_shows_each_step_once_and_with_quiet_none(latebind, tiny):
    shown = latebind("-C", tiny, "pack").stderr
    assert re.search(r"^building linux-x64 with \S.* …\nbuilt linux-x64 in \d", shown, re.MULTILINE)
    assert re.search(r"^packed wheel tiny linux-x64 in \d", shown, re.MULTILINE)
    assert latebind("-C", tiny, "pack").stderr == ""
    shutil.rmtree(tiny / "dist")
    assert latebind("-q", "-C", tiny, "pack").stderr == ""


SMOKE = """\
import argparse, json, pathlib
parser = argparse.ArgumentParser()
for name in ("--cases", "--out"):
    parser.add_argument(name)
expected = pathlib.Path(__file__).with_name("expected.txt").read_text()
result = {"passed": ["one"] if expected == "good" else [], "libraries": []}
pathlib.Path(parser.parse_args().out).write_text(json.dumps(result))
"""


@pytest.mark.slow
def test_a_pass_is_remembered_until_anything_beside_the_consumer_changes(latebind, tiny):
    write_client(tiny, latebind=CONFIG + '\n[verify]\npython = "verify/smoke.py"\n')
    (tiny / "verify").mkdir()
    (tiny / "verify" / "smoke.py").write_text(SMOKE, encoding="utf-8")
    (tiny / "verify" / "expected.txt").write_text("good", encoding="utf-8")
    first, second = latebind("-C", tiny, "verify"), latebind("-C", tiny, "verify")
    assert (first.returncode, second.returncode) == (0, 0), first.stdout + first.stderr
    assert "cached" not in first.stdout
    assert "passed (2 cached)" in second.stdout  # from the wheel, and from the sdist

    for file in (tiny / "build" / "verify" / "passed").iterdir():
        file.write_text("{}", encoding="utf-8")
    assert "cached" not in latebind("-C", tiny, "verify").stdout

    (tiny / "verify" / "expected.txt").write_text("bad", encoding="utf-8")
    assert latebind("-C", tiny, "verify").returncode == 1


@pytest.mark.slow
def test_a_script_that_is_not_there_is_told_before_anything_is_installed(latebind, tiny):
    write_client(tiny, latebind=CONFIG + '\n[verify]\npython = "verify/nope.py"\n')
    assert_refused(latebind("-C", tiny, "verify"), "verify.python: there is no file or folder 'verify/nope.py'")
    assert not (tiny / "dist").exists()


@pytest.mark.builds
def test_a_pattern_without_test_cases_is_refused_before_anything_is_built(latebind, tiny):
    (tiny / "verify").mkdir()
    (tiny / "verify" / "smoke.py").write_text(SMOKE, encoding="utf-8")
    write_client(tiny, latebind=CONFIG + '\n[verify]\npython = "verify/smoke.py"\n')
    assert_refused(latebind("-C", tiny, "verify", "-k", "openvin0"), "no test case matches 'openvin0'")
    assert not (tiny / "dist").exists()


@pytest.mark.parametrize("count", ["0", "-3", "many"])
def test_a_number_of_jobs_is_a_number(latebind, tiny, count):
    result = latebind("-C", tiny, "verify", "--jobs", count)
    assert (result.returncode, "Traceback" in result.stderr) == (2, False)


@pytest.mark.slow
def test_a_target_that_is_named_twice_is_built_once(latebind, tiny):
    assert latebind("-C", tiny, "pack", "--target", "linux-x64", "--target", "linux-x64").returncode == 0


@pytest.mark.slow
def test_quiet_and_verbose_stand_before_or_after_the_command(latebind, tiny):
    assert "packing wheel" in latebind("-C", tiny, "pack", "-v").stderr
    assert "up to date" in latebind("-v", "-C", tiny, "pack").stderr


@pytest.mark.parametrize("command", ["audit", "verify", "release", "headers", "sbom x.whl", "stub thing"])
def test_no_file_takes_the_place_of_an_output_folder(latebind, tiny, command):
    """It is refused before any work: nothing was packed here."""
    here = tiny / "latebind.toml"
    assert_refused(latebind("-C", tiny, *command.split(), "--output", here), "is a file", "name a folder")
    assert_refused(latebind("-C", tiny, *command.split(), "--output", tiny / "a.json"), "like a file", "name a folder")


def test_options_stand_between_paths():
    parser = Parser()
    parser.add_argument("paths", type=Path, nargs="*")
    parser.add_argument("--strict", action="store_true")
    known, rest = parser.parse_known_args(["a.whl", "--strict", "b.whl", "c.whl", "--strct"])
    assert (known.strict, known.paths) == (True, [Path("a.whl"), Path("b.whl"), Path("c.whl")])
    assert rest == ["--strct"]
