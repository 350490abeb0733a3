"""`[tool.loadcheck]` of pyproject.toml, and the option `--resolve`."""

import argparse

import pytest

from loadcheck.cli import choose_checks, declare_audit, main
from loadcheck.configuration import read_configuration
from loadcheck.engine.policy import Policy
from loadcheck.errors import InputError


@pytest.fixture
def project(tmp_path, monkeypatch):
    (tmp_path / ".git").mkdir()
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    return tmp_path / "pyproject.toml"


@pytest.mark.parametrize(
    ("text", "resolves"),
    [
        ("", False),
        ("[tool.other]\nx = 1\n", False),
        ("[tool.loadcheck]\nresolve = true\n", True),
        ("[tool.loadcheck]\nresolve = false\n", False),
    ],
)
@pytest.mark.parametrize("option", [[], ["--resolve"]])
def test_the_table_and_the_option_decide(project, text, resolves, option):
    project.write_text(text)
    parser = argparse.ArgumentParser()
    declare_audit(parser)

    assert choose_checks(Policy(), parser.parse_args(option)).resolve is (resolves or bool(option))


def test_a_file_above_the_repository_does_not_count(project):
    (project.parent.parent / "pyproject.toml").write_text("[tool.loadcheck]\nresolve = true\n")

    assert not read_configuration(project.parent / "below").resolve


@pytest.mark.parametrize(
    "text", ["[tool.loadcheck]\nresolv = true\n", "[tool.loadcheck]\nresolve = 1\n", "tool = 1\n", "[", "\0"]
)
def test_a_table_that_is_not_valid_is_a_mistake_of_the_user(project, text, capsys):
    project.write_text(text)

    with pytest.raises(InputError, match=r"pyproject\.toml"):
        read_configuration(project.parent)
    assert main([str(project)]) == 2
    assert "resolve = true" in capsys.readouterr().err
