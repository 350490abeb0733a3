"""Advice of loadcheck's own messages: the named command is run, or the named option given."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.advice.following import list_commands, list_options
from tests.support.running import assert_success, run_program

LOADCHECK = (sys.executable, "-m", "loadcheck")


@pytest.fixture
def wheel(packed_once):
    return next((packed_once / "dist").glob("*.whl"))


def check(*words, at):
    return run_program(*LOADCHECK, *words, cwd=at)


@pytest.mark.parametrize("text", ["", "[]", '{"loadcheck_baseline": 99, "findings": []}', None])
@pytest.mark.advice("Write a new one with the same packages and the option --write-baseline {}")
def test_no_baseline(wheel, tmp_path, advised, text):
    if text is not None:
        (tmp_path / "base line.json").write_text(text, encoding="utf-8")
    words = (wheel, "--baseline", "base line.json")
    refused = check(*words, at=tmp_path)
    assert refused.returncode == 2
    assert list_options(advised(refused)) == ["--write-baseline"]
    option = advised(refused).partition("the option ")[2]
    [program, *rest] = list_commands(f"loadcheck {option}")[0]
    assert (program, rest) == ("loadcheck", ["--write-baseline", "base line.json"])
    assert_success(check(wheel, *rest, at=tmp_path))
    assert_success(check(*words, at=tmp_path))


@pytest.mark.parametrize("code", ["LB1077", "XX1", "zz"])
@pytest.mark.advice("Did you mean {}{}? loadcheck --explain LB107 explains a check.")
def test_a_code_that_no_check_has(wheel, tmp_path, advised, code):
    refused = check(wheel, "--ignore", code, at=tmp_path)
    advice = advised(refused)
    near = advice.partition("Did you mean ")[2].partition("?")[0].partition(",")[0]
    assert_success(check(wheel, "--ignore", near, at=tmp_path))
    [[_, *words]] = list_commands(advice)
    assert "LB107" in assert_success(check(*words, at=tmp_path))


@pytest.mark.parametrize("named", ["nosuch", "."])
@pytest.mark.advice("Name a virtual environment, its Python or a site-packages folder: loadcheck env .venv")
def test_no_environment(tmp_path, advised, named):
    refused = check("env", named, at=tmp_path)
    [[_, *words]] = list_commands(advised(refused))
    assert_success(run_program(sys.executable, "-m", "uv", "venv", tmp_path / ".venv"))
    assert_success(check(*words, at=tmp_path))


@pytest.mark.parametrize(
    ("line", "key", "value"),
    [
        ("resolv = false", "resolve", "false"),
        ("strickt = false", "strict", "false"),
        ('fail-on = "never"', "fail_on", '"never"'),
    ],
)
@pytest.mark.advice("{}The keys are {}. Each table of waive has code, reason and subject.")
def test_a_key_that_is_almost_right(wheel, tmp_path, advised, line, key, value):
    file = tmp_path / "loadcheck.toml"
    file.write_text(f"{line}\n", encoding="utf-8")
    refused = check(wheel, at=tmp_path)
    assert refused.returncode == 2
    advice = advised(refused)
    assert advice.startswith(f"Did you mean {key}? ")
    assert key in advice.partition("The keys are ")[2].partition(".")[0].split(", ")
    file.write_text(f"{key} = {value}\n", encoding="utf-8")
    assert_success(check(wheel, at=tmp_path))


@pytest.mark.parametrize("text", ["[", "\0", "profile = loads"])
@pytest.mark.advice("Correct the file.")
def test_a_configuration_that_is_not_toml(wheel, tmp_path, advised, text):
    (tmp_path / "loadcheck.toml").write_text(text, encoding="utf-8")
    refused = check(wheel, at=tmp_path)
    assert (refused.returncode, advised(refused)) == (2, "Correct the file.")
    (tmp_path / "loadcheck.toml").write_text('profile = "loads"', encoding="utf-8")
    assert_success(check(wheel, at=tmp_path))


BROKEN = "import nosuch_module\n"
TAKEN = """
from loadcheck.api import check

@check("ACME001", "{name}", "warning", scope="package", example="x", fix="Remove it.")
def find(package):
    'Why.'
    yield from ()
"""


@pytest.mark.slow
@pytest.mark.builds
@pytest.mark.parametrize(
    "code",
    [
        pytest.param(BROKEN, marks=pytest.mark.advice("Update or uninstall {}: python -m pip uninstall {}")),
        pytest.param(TAKEN, marks=pytest.mark.advice("Uninstall one of them: python -m pip uninstall {}")),
    ],
)
def test_checks_of_a_distribution(links, wheel, tmp_path, advised, code):
    environment = tmp_path / "environment"
    sources = [tmp_path / "acme_one", tmp_path / "acme_two"][: 1 + (code is TAKEN)]
    for source in sources:
        source.mkdir()
        (source / f"{source.name}.py").write_text(code.replace("{name}", source.name), encoding="utf-8")
        (source / "pyproject.toml").write_text(PLUGIN.replace("NAME", source.name), encoding="utf-8")
    install = ["pip", "install", "--python", environment, "--find-links", links, "loadcheck", *sources]
    for words in (["venv", "--seed", environment], install):
        assert_success(run_program(sys.executable, "-m", "uv", *words))
    refused = run_program(environment / "bin/loadcheck", wheel, cwd=tmp_path)
    assert refused.returncode == 2, refused.stdout
    [[_, *words]] = list_commands(advised(refused))
    environ = {**os.environ, "PATH": f"{environment}/bin:{os.environ['PATH']}"}
    uninstall = [environment / "bin/python", "-m", "pip", *words]
    subprocess.run(uninstall, input="y\n", text=True, check=True, env=environ, capture_output=True)
    assert_success(run_program(environment / "bin/loadcheck", wheel, cwd=tmp_path))


PLUGIN = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "NAME"
version = "1"
entry-points."loadcheck.checks".NAME = "NAME"

[tool.hatch.build.targets.wheel]
only-include = ["NAME.py"]
"""
