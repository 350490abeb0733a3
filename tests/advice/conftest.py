"""A trial of advice: `advised` finds the advice in what was printed, the test does what it says."""

from __future__ import annotations

import subprocess
import sys

import pytest
from audit.conftest import bench, compiler

from tests.advice.following import find_advice, list_commands
from tests.support.running import assert_success

__all__ = ["bench", "compiler"]


class Advised:
    """Finds the advice for which a test is marked."""

    def __init__(self, templates):
        self._templates = templates
        self.left = set(templates)

    def __call__(self, ended):
        """The advice in what a program printed."""
        printed = ended if isinstance(ended, str) else ended.stdout + ended.stderr
        found = {template: text for template in self._templates if (text := find_advice(template, printed))}
        assert found, printed
        self.left -= found.keys()
        return max(found.values(), key=len)


@pytest.fixture
def advised(request):
    """Reads printed advice; the test fails if what its mark names was not printed."""
    reader = Advised([template for mark in request.node.iter_markers("advice") for template in mark.args])
    yield reader
    assert not reader.left


@pytest.fixture
def follow(latebind, advised, tmp_path):
    """Runs the one command of latebind in a message, with words in the place of what the message leaves open."""

    def run(ended, *, at=tmp_path, which=0, **open_words):
        command = list_commands(advised(ended))[which]
        assert command[0] == "latebind", command
        words = [open_words.get(word, word) for word in command[1:]]
        return start(*words, at=at)

    return run


def start(*words, at, program="latebind.cli", **options):
    """Run latebind in a folder, as its user does."""
    command = [sys.executable, "-m", program, *map(str, words)]
    return subprocess.run(
        command, cwd=at, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=False, **options
    )


@pytest.fixture
def start_in():
    """Run latebind in a folder."""
    return start


@pytest.fixture
def succeeds():
    return assert_success
