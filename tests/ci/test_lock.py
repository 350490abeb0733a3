"""What action.yml installs is locked: every distribution with its hashes, in a release that pyproject.toml allows."""

import re
import sys

import pytest
import yaml

from ci.gen import lock
from tests.conftest import ROOT
from tests.support.running import run_program

ENTRY = re.compile(r"[\w.-]+==[\w.]+(?: ; [^\\]+)? \\(?:\n    --hash=sha256:[0-9a-f]{64}(?: \\)?)+\n")


def check_lock():
    """The status of --check; skip where the index does not answer."""
    ended = run_program(sys.executable, "-m", "ci.gen.lock", "--check", cwd=ROOT)
    if "CalledProcessError" in ended.stderr:
        pytest.skip(f"not run: the package index cannot be asked: {ended.stderr[-300:]}")
    return ended.returncode


def test_every_distribution_has_its_hashes():
    head, _, entries = lock.LOCK.read_text("utf-8").partition("\n")
    assert head.startswith("# Written by ci/gen/lock.py")
    assert ENTRY.sub("", entries) == ""
    assert len(ENTRY.findall(entries)) >= 15


def test_the_lock_fits_what_latebind_requires():
    assert check_lock() == 0


@pytest.mark.parametrize(("before", "after"), [(r"^rich==.*\n(    .*\n)+", ""), (r"^jinja2==\S+", "jinja2==3.0.0")])
def test_a_lock_that_lacks_a_requirement_or_has_an_old_one_is_found(tmp_path, monkeypatch, before, after):
    other = tmp_path / lock.LOCK.name
    other.write_text(re.sub(before, after, lock.LOCK.read_text("utf-8"), flags=re.MULTILINE), "utf-8")
    assert other.read_text("utf-8") != lock.LOCK.read_text("utf-8")
    monkeypatch.setattr(lock, "LOCK", other)
    monkeypatch.setattr(sys, "argv", ["lock", "--check"])
    try:
        assert lock.main() == 1
    except lock.subprocess.CalledProcessError as error:
        pytest.skip(f"not run: the package index cannot be asked: {error}")


def test_the_action_installs_nothing_else():
    steps = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))["runs"]["steps"]
    assert re.fullmatch(r"actions/setup-python@[0-9a-f]{40}", steps[0]["uses"])
    assert steps[0]["with"]["python-version"] == lock.python_version()
    installed = [line.strip() for line in steps[1]["run"].splitlines() if " pip install " in line]
    assert [line.split(" pip install ")[1] for line in installed] == [
        f'--quiet --require-hashes -r "$GITHUB_ACTION_PATH/{lock.LOCK.relative_to(ROOT).as_posix()}"',
        '--quiet --no-deps --no-build-isolation "$GITHUB_ACTION_PATH/loadcheck" "$GITHUB_ACTION_PATH"',
    ]
