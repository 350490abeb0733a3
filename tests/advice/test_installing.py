"""Advice to install something: in an environment that has latebind alone, the printed command is run."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.advice.following import list_commands, list_settings, write_setting
from tests.client import write_client
from tests.programs import assert_success, run_program

pytestmark = [pytest.mark.slow, pytest.mark.builds]


class Bare:
    """An environment of pip, latebind and loadcheck, without their extras."""

    def __init__(self, folder, links):
        self.programs = folder / "bin"
        self._links = links
        for words in (
            ["venv", "--seed", folder],
            ["pip", "install", "--python", folder, "--find-links", links, "latebind"],
        ):
            assert_success(run_program(sys.executable, "-m", "uv", *words))

    def run(self, *words, at, path=""):
        """Run a program, as in a shell that has activated the environment; `path` are more folders of programs."""
        environment = {
            key: value for key, value in os.environ.items() if not key.startswith(("LATEBIND_", "ZIG_", "PYTHON"))
        }
        environment |= {"PATH": f"{self.programs}:{path}", "PIP_FIND_LINKS": str(self._links), "NO_COLOR": "1"}
        return subprocess.run(
            [self.programs / words[0], *words[1:]], env=environment, cwd=at, capture_output=True, text=True,
            timeout=600, check=False,
        )  # fmt: skip

    def follow(self, advice, *, at):
        """Run all commands of pip in a message."""
        commands = [words for words in list_commands(advice) if words[0] == "pip"]
        assert commands
        for words in commands:
            assert_success(self.run(*words, at=at))


@pytest.fixture
def bare(links, tmp_path):
    return Bare(tmp_path / "environment", links)


@pytest.mark.advice(
    'Run: pip install "latebind[native]"', 'Run: pip install "latebind[verify]"', 'Run: pip install "{}"'
)
def test_what_doctor_says_is_missing(bare, tmp_path, advised):
    examined = bare.run("latebind", "doctor", at=tmp_path)
    assert examined.returncode == 1
    advised(examined)
    for line in (examined.stdout + examined.stderr).splitlines():
        if "Run: " in line:
            bare.follow(line, at=tmp_path)
    again = assert_success(bare.run("latebind", "doctor", at=tmp_path))
    assert "Run: " not in again
    project = write_client(tmp_path / "tiny")
    assert_success(bare.run("latebind", "build", at=project))


@pytest.mark.parametrize("words", [("verify",), ("rehearse",), ("verify", "--list")])
@pytest.mark.advice('Run: pip install "latebind[verify]"')
def test_verify_without_its_extra(bare, tmp_path, advised, words):
    assert_success(bare.run("latebind", "new", "engine", at=tmp_path))
    project = tmp_path / "engine"
    refused = bare.run("latebind", *words, at=project, path="/usr/bin:/bin")
    assert refused.returncode == 2
    bare.follow(advised(refused), at=project)
    assert (
        "is not installed" not in bare.run("latebind", *words, "-k", "nosuch", at=project, path="/usr/bin:/bin").stderr
    )


@pytest.mark.advice("Install latebind again, with its extra: pip install 'latebind[verify]'.")
def test_a_kit_without_virtualenv(bare, tmp_path, advised):
    assert_success(bare.run("pip", "install", "latebind[native,verify]", at=tmp_path))
    assert_success(bare.run("latebind", "new", "engine", at=tmp_path))
    assert_success(bare.run("pip", "uninstall", "--yes", "virtualenv", at=tmp_path))
    words = ("latebind", "verify", "--target", "linux-x64", "--kit", "kit")
    refused = bare.run(*words, at=tmp_path / "engine")
    assert refused.returncode == 2, refused.stdout
    bare.follow(advised(refused), at=tmp_path)
    assert_success(bare.run(*words, at=tmp_path / "engine"))


@pytest.mark.advice('Run: pip install "{}"')
def test_an_old_uv(bare, tmp_path, advised):
    assert_success(bare.run("latebind", "new", "engine", at=tmp_path))
    assert_success(bare.run("pip", "install", "latebind[verify]", at=tmp_path))
    assert_success(bare.run("pip", "install", "uv==0.8.0", at=tmp_path))
    refused = bare.run("latebind", "verify", "--list", at=tmp_path / "engine")
    bare.follow(advised(refused), at=tmp_path)
    assert_success(bare.run("latebind", "verify", "--list", at=tmp_path / "engine"))


@pytest.mark.advice('Run: pip install "{}"{}', '; or write toolchain = "host" below [targets.{}].')
@pytest.mark.parametrize("choice", ["zig", "host"])
def test_a_build_without_zig(bare, tmp_path, advised, choice):
    project = write_client(tmp_path / "tiny")
    refused = bare.run("latebind", "build", at=project, path="/usr/bin:/bin")
    advice = advised(refused)
    if choice == "zig":
        bare.follow(advice, at=project)
    else:
        write_setting(project / "latebind.toml", "targets.linux-x64", "toolchain", list_settings(advice)["toolchain"])
    assert_success(bare.run("latebind", "build", at=project, path="/usr/bin:/bin"))


@pytest.mark.advice('pip install "{}"')
def test_a_header_without_zig(bare, tmp_path, advised):
    (tmp_path / "thing.h").write_text("int thing_open(void);\n", encoding="utf-8")
    (tmp_path / "thing.toml").write_text(THING, encoding="utf-8")
    words = ("latebind", "stub", "thing.toml", "--source", "--functions", "thing.h", "--output", "out")
    refused = bare.run(*words, at=tmp_path)
    bare.follow(advised(refused), at=tmp_path)
    assert_success(bare.run(*words, at=tmp_path))


THING = """
name = "thing"
title = "Thing"
entry = "thing_open"
version = "none"
files.linux = ["libthing.so"]
advice = "Ask Joe"
[stub]
functions = ["thing_open"]
"""


@pytest.mark.advice("Run: pip install {}")
def test_requirements_of_a_build(bare, tmp_path, advised):
    project = write_client(tmp_path / "tiny")
    assert_success(bare.run("pip", "install", "latebind[native]", at=tmp_path))
    file = project / "python/tiny/pyproject.toml"
    file.write_text(
        file.read_text("utf-8").replace('["hatchling",', '["hatchling", "hatch-vcs>=0.4", '), encoding="utf-8"
    )
    refused = bare.run("latebind", "pack", at=project)
    bare.follow(advised(refused), at=tmp_path)
    assert_success(bare.run("latebind", "pack", at=project))
