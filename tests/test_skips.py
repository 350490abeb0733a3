"""With LATEBIND_STRICT_SKIPS=1 a skip fails the run unless tests/skips.toml expects it."""

import ast
import os
import sys
from fnmatch import fnmatch

import pytest

from tests.conftest import ROOT
from tests.support.plugin import unexpected_skips
from tests.support.running import run_program

TOGETHER = ("tests", "loadcheck/tests")
FOLDERS = (*TOGETHER, "latenn/tests")
TEST = """import pytest
def test_none():
    pass
@pytest.mark.skipif(True, reason={reason!r})
def test_one():
    pass
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reason", "status", "workers"),
    [
        ("the machine is lazy", 1, "0"),
        ("the machine is lazy", 1, "1"),
        ("not run: PyTorch is not installed; install it", 0, "1"),
    ],
)
def test_an_unexpected_skip_fails_the_run(tmp_path, reason, status, workers):
    folder = tmp_path / "tests"
    folder.mkdir()
    (folder / "conftest.py").write_text('pytest_plugins = ["tests.support.plugin"]\n', encoding="utf-8")
    (folder / "test_it.py").write_text(TEST.format(reason=reason), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-n", workers, "--rootdir", tmp_path, folder]
    env = {**os.environ, "LATEBIND_STRICT_SKIPS": "1", "PYTHONPATH": str(ROOT)}
    ended = run_program(*command, env=env, cwd=tmp_path)
    assert ended.returncode == status, ended.stdout + ended.stderr
    assert ("not in tests/skips.toml" in ended.stderr) == bool(status)


def test_a_reason_must_match_as_a_whole():
    table = ROOT / "tests" / "skips.toml"
    assert unexpected_skips([("a", "a: not run: PyTorch is not installed; install it")], table)


def list_reasons(source):
    """The reasons that are written in calls of skip(), skipif() and importorskip(), "" where there is none."""
    for node in ast.walk(ast.parse(source)):
        name = getattr(node.func, "attr", "") if isinstance(node, ast.Call) else ""
        if name in ("skip", "skipif", "importorskip"):
            given = node.args[:1] if name == "skip" else [word.value for word in node.keywords if word.arg == "reason"]
            text = given[0].values[0] if given and isinstance(given[0], ast.JoinedStr) else given[0] if given else None
            if text is None or isinstance(text, ast.Constant):
                yield text.value if text is not None else ""


def test_a_reason_that_does_not_begin_as_all_do_is_found():
    source = 'pytest.skip(f"not run: {it}")\npytest.skip("no gcc")\npytest.importorskip("lief")\npytest.skip(REASON)\n'
    assert list(list_reasons(source)) == ["not run: ", "no gcc", ""]


def test_every_reason_begins_alike():
    """After that it says what is missing and, for what can be installed, how."""
    sources = {path: path.read_text("utf-8") for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")}
    reasons = {(path, reason) for path, source in sources.items() for reason in list_reasons(source)}
    assert len(reasons) > 100
    assert {(path, reason) for path, reason in reasons if not reason.startswith("not run: ")} == set()


def test_every_folder_of_tests_is_collected(pytestconfig):
    """pytest's own list of folders to pass over has names that folders of tests may have, such as build."""
    passed_over = pytestconfig.getini("norecursedirs")
    modules = [path.relative_to(ROOT) for folder in TOGETHER for path in (ROOT / folder).rglob("test_*.py")]
    folders = {part for path in modules for part in path.parts[:-1]}
    assert "native" in folders
    assert not [name for name in folders if any(fnmatch(name, pattern) for pattern in passed_over)]
