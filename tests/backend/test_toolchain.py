"""The programs of the build: the first that starts, next to this Python or on PATH; the advice without zig."""

import os
import sys
from pathlib import Path

import pytest

from latebind.backend import toolchain as module
from latebind.backend import zig
from latebind.backend.host import own_targets
from latebind.backend.targets import targets
from latebind.backend.toolchain import missing_requirements, program
from latebind.errors import NotRun

BROKEN = "#!/bin/sh\necho \"ModuleNotFoundError: No module named 'cmake'\" >&2\nexit 1\n"
"""What a wheel's script does in the isolated build of an installer."""
WORKS = "#!/bin/sh\necho version 4.0\n"


def write_program(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def python(tmp_path, monkeypatch):
    """An interpreter in a folder of its own, and no other program."""
    monkeypatch.setattr(sys, "executable", str(tmp_path / "env" / "python"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return tmp_path / "env" / "python"


@pytest.mark.skipif(os.name == "nt", reason="not run: the programs are scripts, which Windows does not start")
def test_a_program_that_does_not_start_is_passed_over(python, tmp_path, monkeypatch):
    write_program(python.with_name("cmake"), BROKEN)
    assert program("cmake") is None
    assert missing_requirements("host") == ["cmake>=3.30", "ninja>=1.10"]
    assert missing_requirements("zig") == ["cmake>=3.30", "ninja>=1.10"]
    monkeypatch.setattr(module, "find_zig", lambda: None)
    assert missing_requirements("zig")[2].startswith("ziglang==")

    path = write_program(tmp_path / "bin" / "cmake", WORKS)
    assert program("cmake") == path
    assert missing_requirements("host") == ["ninja>=1.10"]


@pytest.mark.skipif(os.name == "nt", reason="not run: the programs are scripts, which Windows does not start")
def test_the_program_next_to_python_comes_first(python, tmp_path):
    write_program(tmp_path / "bin" / "cmake", WORKS)
    sibling = write_program(python.with_name("cmake"), WORKS)
    assert program("cmake") == sibling


@pytest.mark.parametrize("rid", sorted(targets()))
def test_only_targets_of_the_own_compiler_are_advised_to_use_it(rid, monkeypatch):
    monkeypatch.setattr(zig, "find_zig", lambda: None)
    with pytest.raises(NotRun, match=f"which compiles for {rid}, is not installed") as caught:
        zig.zig_toolchain(targets()[rid])
    assert ('toolchain = "host"' in caught.value.advice) == (rid in own_targets())
