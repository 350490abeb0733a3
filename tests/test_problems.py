"""How problems are printed: `error:` and `help:`; in color on a terminal alone."""

import sys

import pytest

from latebind.commands.problems import print_error, print_problems
from latebind.errors import LatebindError
from tests.support.running import run_program


def test_a_wrong_key_is_shown_with_its_file_and_help(tmp_path):
    (tmp_path / "latebind.toml").write_text('[project]\nname = "tiny"\nversoin = "1.0"\n', encoding="utf-8")
    ended = run_program(sys.executable, "-m", "latebind", "-C", tmp_path, "plan")
    assert ended.returncode == 2
    assert ended.stderr.splitlines() == [
        "error: latebind.toml: unknown key project.versoin",
        "help: Did you mean version?",
        "error: latebind.toml: targets is missing",
        "help: Targets, and the oldest systems that they support.",
        "error: latebind.toml: package is missing",
        "help: [package.<name>]: a package to make.",
    ]


@pytest.mark.parametrize(
    ("is_terminal", "variables", "colored"),
    [
        (True, {}, True),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"NO_COLOR": ""}, True),
        (True, {"TERM": "dumb"}, False),
        (False, {}, False),
    ],
)
def test_color_is_for_terminals_that_want_it(monkeypatch, capsys, is_terminal, variables, colored):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal)
    print_error("it failed", "Try again.")
    assert ("\033[1;31merror:\033[0m it failed" in capsys.readouterr().err) == colored


def test_help_of_two_lines_is_indented_as_one(capsys):
    print_error("it failed", "Do this,\nthen that.")
    assert capsys.readouterr().err == "error: it failed\nhelp: Do this,\n      then that.\n"


def test_a_problem_with_a_line_is_an_annotation_in_github_actions_alone(monkeypatch, tmp_path, capsys):
    problem = LatebindError("is wrong", where="latebind.toml:3", advice="Correct it.")
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    print_problems(problem, tmp_path)
    assert "::error" not in capsys.readouterr().err
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    print_problems(problem, tmp_path)
    assert "::error file=latebind.toml,line=3::is wrong Correct it." in capsys.readouterr().err
    (tmp_path / "latebind.toml").touch()
    print_problems(LatebindError("is wrong", where="latebind.toml"), tmp_path)
    assert "::error file=latebind.toml::is wrong" in capsys.readouterr().err


def test_the_name_of_a_hostile_file_steers_neither_a_terminal_nor_a_workflow(capsys, tmp_path):
    name = "a\n::set-output name=x::y\x1b]0;t\x07.whl"
    print_problems(LatebindError(f"{name} is wrong", where=name, advice=f"Remove {name}."), tmp_path)
    printed = capsys.readouterr().err
    assert "\x1b" not in printed
    assert not [line for line in printed.splitlines() if line.lstrip().startswith("::")]
    assert printed.startswith("error: a\\n::set-output")


def test_tables_of_a_compiler_keep_their_columns(capsys):
    print_error("cc failed\n\tint x;")
    assert capsys.readouterr().err == "error: cc failed\n    int x;\n"
