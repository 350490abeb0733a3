"""What every command has: examples that are true, completion, results as JSON."""

import json
import shlex
import shutil

import pytest

from latebind.cli import _parser, main
from latebind.commands.completion import SHELLS
from latebind.commands.examples import EXAMPLES
from tests.support.running import run_checked


def commands():
    return next(action.choices for action in _parser()._actions if action.dest != "help" and action.choices)


def test_every_command_teaches_by_an_example_and_no_other_has_one():
    assert set(EXAMPLES) == set(commands())


@pytest.mark.parametrize(
    "line", [line for examples in EXAMPLES.values() for line, _ in examples if line.startswith("latebind")]
)
def test_every_example_is_a_line_that_is_understood(line):
    arguments = shlex.split(line.partition(" > ")[0])
    assert arguments[0] == "latebind"
    assert _parser().parse_args(arguments[1:]).command


def test_help_ends_with_the_examples(capsys):
    with pytest.raises(SystemExit):
        main(["gate", "--help"])
    assert capsys.readouterr().out.endswith("examples:\n  latebind gate  check reports/verify.json\n")


@pytest.mark.parametrize("shell", SHELLS)
def test_a_completion_is_a_script_that_knows_the_commands(shell, capsys):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "reproduce" in script
    assert "explain" in script


@pytest.mark.skipif(not shutil.which("bash"), reason="not run: there is no bash here")
def test_bash_completes_a_command_and_an_option(latebind, tmp_path):
    script = tmp_path / "completion.bash"
    script.write_text(latebind("completion", "bash").stdout, encoding="utf-8")
    ask = (
        f"source {script}; f=$(complete -p latebind | sed 's/.*-F \\([^ ]*\\).*/\\1/');"
        "COMP_WORDS=(latebind rep); COMP_CWORD=1; $f; echo ${COMPREPLY[@]};"
        "COMP_WORDS=(latebind audit --exp); COMP_CWORD=2; $f; echo ${COMPREPLY[@]}"
    )
    printed = run_checked(shutil.which("bash"), "-c", ask)
    assert printed.split() == ["reproduce", "--explain"]


@pytest.mark.slow
def test_results_are_json_where_that_is_asked_for(tiny, latebind):
    results = json.loads(latebind("-C", tiny, "doctor", "--format", "json").stdout)
    assert results[0]["what"] == "python"
    files = json.loads(latebind("-C", tiny, "plan", "--format", "json").stdout)["files"]
    assert {file["kind"] for file in files} == {"wheel", "sdist", "nupkg"}
    packed = latebind("-q", "-C", tiny, "pack", "--format", "json")
    assert {package["file"] for package in json.loads(packed.stdout)["packages"]} == {file["file"] for file in files}
    (stage,) = json.loads(latebind("-C", tiny, "stage", "--format", "json").stdout)
    assert stage["rid"] == "linux-x64"
    assert [file["path"] for file in stage["files"]] == ["tiny/lib/libtiny.so"]


@pytest.mark.slow
def test_two_packs_are_compared_as_json(tiny, latebind):
    result = json.loads(latebind("-C", tiny, "reproduce", "--format", "json").stdout)
    assert result["equal"]
    assert result["differences"] == []
