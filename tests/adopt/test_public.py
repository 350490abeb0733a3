"""From a public project's sources to `verify`, by following every line `next:` and `by hand:` that is printed."""

from __future__ import annotations

import json
import os
import re
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.adopt.public import PROJECTS, unpack
from tests.needs import available, official_header
from tests.programs import run_program

pytestmark = pytest.mark.slow
_NEXT = re.compile(r"^next: (.*?)(?:  #.*)?$", re.MULTILINE)
_BY_HAND = re.compile(r"^by hand: (.*)$", re.MULTILINE)
_SECONDS = 900


class User:
    """Someone with a shell in the project's folder, who does what is printed and nothing else."""

    def __init__(self, project, root, headers):
        self.project, self.root, self.headers = project, root, headers
        tools = str(Path(sys.executable).parent)
        self.environment = {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
        self.done = []
        for name, value in project.environment.items():
            self.environment[name] = value.replace("$PWD", str(root))

    def adopt(self):
        """Run `init`, and what it prints, again from the build on where the audit asks for a change."""
        steps, building = ["latebind init --yes"], []
        while steps:
            command = steps.pop(0)
            is_audit = command == "latebind audit"
            ended = self.run(command, checked=not is_audit)
            for note in _BY_HAND.findall(ended.stdout):
                self.act(note)
            if follow := _NEXT.findall(ended.stdout):
                steps, building = follow, follow
            if is_audit and ended.returncode:
                self.act(ended.stdout)
                steps = building[:]

    def act(self, text):
        """Do what a line asks for; a line that the project's user has no answer to is a fault of ours."""
        answers = [answer for key, answer in self.project.by_hand.items() if key in text and answer not in self.done]
        assert answers, f"what should a user do here? {text}"
        for answer in answers:
            answer(self.root)
            self.done.append(answer)

    def run(self, command, *, checked=True):
        """Run a command in the shell; `export` lasts."""
        command = command.replace("FILE", self.project.library)
        for beginning, options in self.project.options.items():
            if command == beginning or command.startswith(f"{beginning} "):
                command = f"{command} {options}"
        if command.startswith("latebind headers onnxruntime"):
            command = command.replace("onnxruntime", "onnxruntime 1.21", 1) + f" --from {self.headers}"
        if command == "latebind verify":
            command = " ".join([command, *self.project.select])
        script = f"set -e\n{command}\nenv -0 > .environment\n"
        ended = run_program("/bin/sh", "-c", script, cwd=self.root, env=self.environment, timeout=_SECONDS)
        assert not checked or ended.returncode == 0, f"$ {command}\n{ended.stdout[-3000:]}{ended.stderr[-1500:]}"
        if ended.returncode == 0:
            pairs = (self.root / ".environment").read_text().split("\0")
            self.environment = dict(pair.split("=", 1) for pair in pairs if "=" in pair)
            (self.root / ".environment").unlink()
        return ended


@pytest.mark.parametrize("name", PROJECTS)
def test_every_printed_step_leads_on_to_verified_packages(name, tmp_path):
    project, root = PROJECTS[name], tmp_path / name
    available(unpack, project, root)
    user = User(project, root, official_header(tmp_path).parent)
    user.adopt()
    report = json.loads((root / "reports" / "verify.json").read_bytes())
    outcomes = Counter(case["outcome"] for case in report["cases"])
    assert outcomes["passed"] >= 2, outcomes
    assert not outcomes["failed"], outcomes
    assert len(user.done) == len(project.by_hand), "a line that was expected was not printed"
