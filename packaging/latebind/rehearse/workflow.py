"""Runs the jobs of a workflow of GitHub Actions on this machine, step by step.

Commands run as they stand, in bash. Of the actions only those have a meaning here that carry files from job to job.
Checkout, interpreters and caches are what this machine has. An expression or an action that is not known here is an
error, so that none is passed over in silence.
"""

from __future__ import annotations

import fnmatch
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from latebind.backend.programs import which
from latebind.backend.run import tail
from latebind.errors import LatebindError
from latebind.system.run import run

_EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
_LITERAL = re.compile(r"'((?:[^']|'')*)'|(true|false)")
_FUNCTION = re.compile(r"(fromJSON|toJSON)\((.*)\)")
_EQUAL = re.compile(r"(.+?)\s*(==|!=)\s*(.+)")
_ALWAYS = ("always()", "!cancelled()")
_NOTHING = ("actions/checkout", "actions/setup-python", "actions/setup-dotnet", "actions/setup-node", "actions/cache")
_BY_HAND = {"event_name": "workflow_dispatch", "ref_type": "branch", "repository": "", "token": "", "run_id": "1"}
_SECONDS = 5400.0
_LINES = 12


def read_workflow(file: Path) -> dict[str, Any]:
    """A workflow as data. Raises WorkflowError when it cannot be read."""
    try:
        return dict(yaml.safe_load(file.read_text("utf-8")))
    except (OSError, ValueError, TypeError, yaml.YAMLError) as error:
        raise WorkflowError(f"cannot be read: {error}", where=str(file), advice="Write it: latebind ci.") from error


class WorkflowError(LatebindError):
    """A job failed, or has something that cannot be run here."""

    exit_status = 1


@dataclass
class WorkflowRun:
    """One run of a workflow: where files go between jobs, and what jobs gave out."""

    workflow: Mapping[str, Any]
    files: Path
    checkout: Path
    inputs: Mapping[str, str] = field(default_factory=dict)
    tag: str = ""
    """The tag that the run is for; "" for a run of a branch."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """What replaces variables of this process and of the workflow."""
    skipped: str = ""
    """Words of a command that is not run, because this machine has what it would install."""
    runners: tuple[str, ...] = ("ubuntu",)
    """Parts of the names of runners whose jobs this machine can run."""
    say: Callable[[str], None] = print
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)

    def is_wanted(self, job: str) -> bool:
        """Whether the condition of a job holds."""
        return self._holds_condition(self.workflow["jobs"][job].get("if", ""), failed=False, context={})

    def run_job(self, name: str, chosen: Mapping[str, str] | None = None) -> None:
        """Run every instance of a job whose matrix has the chosen values and whose runner is like this machine.

        Raises WorkflowError with the step that failed and the end of its output.
        """
        job = self.workflow["jobs"][name]
        for index, values in enumerate(self._list_instances(job)):
            runner = str(self._fill_in(job["runs-on"], {"matrix": values}))
            is_other = any(str(values.get(key, value)) != value for key, value in (chosen or {}).items())
            if is_other or not any(part in runner for part in self.runners):
                self.say(f"-- {name} {values}: not run here ({runner})")
                continue
            self._run_instance(name, job, values, index)

    def _list_instances(self, job: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        matrix = job.get("strategy", {}).get("matrix", {})
        if isinstance(matrix, str):
            matrix = json.loads(self._evaluate(_EXPRESSION.fullmatch(matrix)[1], {}))  # type: ignore[index]
        yield from matrix.get("include", [{}]) if isinstance(matrix, dict) else [{}]

    def _run_instance(self, name: str, job: Mapping[str, Any], matrix: Mapping[str, Any], index: int) -> None:
        steps: dict[str, dict[str, Any]] = {}
        failure: WorkflowError | None = None
        for step in job["steps"]:
            context = {"matrix": matrix, "strategy": {"job-index": index}, "steps": steps}
            if not self._holds_condition(step.get("if", ""), failed=failure is not None, context=context):
                continue
            title = step.get("name") or step.get("run", step.get("uses"))
            self.say(f"-- {name} {dict(matrix) or ''}: {title}")
            if "uses" in step:
                self._run_action(step, context)
                continue
            status, output = self._run_command(step, context, steps)
            if status != 0:
                self.say(f"-- ended with {status}")
                text = f'the job {name} failed in the step "{title}", with status {status}:\n{tail(output, _LINES)}'
                failure = failure or WorkflowError(text)
        if failure is not None:
            raise failure
        self.outputs[name] = {
            key: str(self._fill_in(text, {"steps": steps})) for key, text in job.get("outputs", {}).items()
        }

    def _holds_condition(self, text: str, *, failed: bool, context: Mapping[str, Any]) -> bool:
        condition = str(text).removeprefix("${{").removesuffix("}}").strip()
        if condition in _ALWAYS:
            return True
        return not failed and (not condition or self._holds(condition, context))

    def _run_command(
        self, step: Mapping[str, Any], context: Mapping[str, Any], steps: dict[str, dict[str, Any]]
    ) -> tuple[int, str]:
        command = str(self._fill_in(step["run"], context))
        if self.skipped and self.skipped in command:
            return 0, ""
        with tempfile.TemporaryDirectory() as folder:
            outputs = {name: Path(folder) / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_ENV")}
            for file in outputs.values():
                file.touch()
            variables = {**self.workflow.get("env", {}), **step.get("env", {})}
            env = {
                **os.environ,
                **{key: str(path) for key, path in outputs.items()},
                **{key: str(self._fill_in(str(text), context)) for key, text in variables.items()},
                **self.environment,
            }
            bash = which("bash")
            if bash is None:
                raise WorkflowError("there is no bash, which runs the steps of a workflow", advice="Install bash.")
            argv: list[str | Path] = [bash, "--noprofile", "--norc", "-eo", "pipefail", "-c", command]
            ended = run(argv, cwd=self.checkout, env=env, check=False, timeout=_SECONDS)
            self.say(ended.output.rstrip())
            pairs = (line.partition("=") for line in outputs["GITHUB_OUTPUT"].read_text("utf-8").splitlines())
            steps[step.get("id", "")] = {"outputs": {key: value for key, _, value in pairs}}
        return ended.returncode, ended.output

    def _run_action(self, step: Mapping[str, Any], context: Mapping[str, Any]) -> None:
        action, inputs = step["uses"].partition("@")[0], step.get("with", {})
        if action in _NOTHING:
            return
        values = {key: str(self._fill_in(str(text), context)) for key, text in inputs.items()}
        if action == "actions/upload-artifact":
            self._upload(values["name"], values["path"], hidden=values.get("include-hidden-files") in ("true", "True"))
        elif action == "actions/download-artifact":
            self._download(values)
        else:
            raise WorkflowError(f"{action} cannot be run here")

    def _upload(self, name: str, path: str, *, hidden: bool) -> None:
        """Like the action, without hidden files unless they are asked for."""
        target, ignore = self.files / name, None if hidden else shutil.ignore_patterns(".*")
        shutil.rmtree(target, ignore_errors=True)
        if path.endswith("/"):
            if not (self.checkout / path).is_dir():
                raise WorkflowError(f"there is nothing to upload: {path}")
            shutil.copytree(self.checkout / path, target, ignore=ignore)
            return
        files = sorted(self.checkout.glob(path))
        if not files:
            raise WorkflowError(f"there is nothing to upload: {path}")
        target.mkdir(parents=True)
        for file in files:
            shutil.copy2(file, target)

    def _download(self, values: Mapping[str, str]) -> None:
        folder = self.checkout / values["path"]
        names = sorted(path.name for path in self.files.iterdir())
        if "name" in values:
            if values["name"] not in names:
                raise WorkflowError(f"no job uploaded {values['name']}")
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(self.files / values["name"], folder)
            return
        for name in fnmatch.filter(names, values["pattern"]):
            shutil.copytree(self.files / name, folder / name, dirs_exist_ok=True)

    def _fill_in(self, text: str, context: Mapping[str, Any]) -> str:
        return _EXPRESSION.sub(lambda match: self._evaluate(match[1], context), str(text))

    def _holds(self, text: str, context: Mapping[str, Any]) -> bool:
        return self._evaluate(text, context) not in ("", "false")

    def _evaluate(self, text: str, context: Mapping[str, Any]) -> str:
        """The value of an expression, as a text."""
        if text in _ALWAYS:
            return "true"
        if " && " in text:
            return str(all(self._holds(part, context) for part in text.split(" && "))).lower()
        if equal := _EQUAL.fullmatch(text):
            same = self._evaluate(equal[1], context) == self._evaluate(equal[3], context)
            return str(same == (equal[2] == "==")).lower()
        if literal := _LITERAL.fullmatch(text):
            return literal[2] or literal[1].replace("''", "'")
        if function := _FUNCTION.fullmatch(text):
            value = self._look_up(function[2], context)
            return json.dumps(value) if function[1] == "toJSON" else str(value)
        value = self._look_up(text, context)
        return value if isinstance(value, str) else str(value)

    def _look_up(self, path: str, context: Mapping[str, Any]) -> Any:  # JSON
        """What a name with dots stands for."""
        needs = {name: {"outputs": values, "result": "success"} for name, values in self.outputs.items()}
        machine = {"os": "Linux", "arch": "X64", "temp": tempfile.gettempdir()}
        github = {**_BY_HAND, **({"ref_type": "tag", "ref_name": self.tag} if self.tag else {})}
        value: Any = {**context, "needs": needs, "runner": machine, "inputs": self.inputs, "github": github}
        for part in path.split("."):
            if not isinstance(value, dict) or part not in value:
                raise WorkflowError(f"the expression {path!r} has no value here")
            value = value[part]
        return value
