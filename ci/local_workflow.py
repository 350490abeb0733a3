"""Runs the jobs of a workflow here, step by step, as a runner of GitHub would, without GitHub.

    python -m ci.local_workflow packages build verify gate [--matrix target=linux-x64] [--files FOLDER]

Commands are run as they stand, in this checkout, in bash. Of actions only those have a meaning here that carry files
from job to job: they copy to and from FOLDER. Checkout, interpreters and caches are what this machine has. An
expression that is not understood ends the run, so that none is passed over in silence.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).resolve().parent.parent
_EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
_LITERAL = re.compile(r"'((?:[^']|'')*)'|(true|false)")
_FUNCTION = re.compile(r"(fromJSON|toJSON)\((.*)\)")
_EQUAL = re.compile(r"(.+?)\s*(==|!=)\s*(.+)")
_ALWAYS = ("always()", "!cancelled()")
_NOTHING = ("actions/checkout", "actions/setup-python", "actions/setup-dotnet", "actions/cache")
_BY_HAND = {"event_name": "workflow_dispatch", "ref_type": "branch", "repository": "", "token": ""}
_SECONDS = 5400


@dataclass
class Run:
    """One run of a workflow: where files go between jobs, and what jobs gave out."""

    workflow: Mapping[str, Any]
    files: Path
    checkout: Path = ROOT
    inputs: Mapping[str, str] = field(default_factory=dict)
    tag: str = ""
    """The tag that the run is for; "" for a run of a branch."""
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)

    def job(self, name: str, chosen: Mapping[str, str]) -> None:
        """Run every instance of a job whose matrix has the chosen values and whose runner is a Linux like this one."""
        job = self.workflow["jobs"][name]
        for index, values in enumerate(self._instances(job)):
            runner = str(self._fill_in(job["runs-on"], {"matrix": values}))
            if any(str(values.get(key, value)) != value for key, value in chosen.items()) or "ubuntu" not in runner:
                print(f"-- {name} {values}: not run here ({runner})", flush=True)
                continue
            self._instance(name, job, values, index)

    def _instances(self, job: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        matrix = job.get("strategy", {}).get("matrix", {})
        if isinstance(matrix, str):
            matrix = json.loads(self._value(_EXPRESSION.fullmatch(matrix)[1], {}))  # type: ignore[index]
        yield from matrix.get("include", [{}]) if isinstance(matrix, dict) else [{}]

    def _instance(self, name: str, job: Mapping[str, Any], matrix: Mapping[str, Any], index: int) -> None:
        steps: dict[str, dict[str, str]] = {}
        failed = False
        for step in job["steps"]:
            context = {"matrix": matrix, "strategy": {"job-index": index}, "steps": steps, "failed": failed}
            if not self._is_wanted(step, context):
                continue
            title = step.get("name") or step.get("run", step.get("uses"))
            print(f"-- {name} {dict(matrix) or ''}: {title}", flush=True)
            if "uses" in step:
                self._action(step, context)
            elif (ended := self._command(step, context, steps)) != 0:
                print(f"-- ended with {ended}", flush=True)
                failed = True
        self.outputs[name] = {
            key: str(self._fill_in(text, {"steps": steps})) for key, text in job.get("outputs", {}).items()
        }
        if failed:
            raise SystemExit(f"the job {name} failed")

    def _is_wanted(self, step: Mapping[str, Any], context: Mapping[str, Any]) -> bool:
        condition = str(step.get("if", "")).removeprefix("${{").removesuffix("}}").strip()
        if condition in _ALWAYS:
            return True
        return not context["failed"] and (not condition or self._holds(condition, context))

    def _command(self, step: Mapping[str, Any], context: Mapping[str, Any], steps: dict[str, dict[str, str]]) -> int:
        with tempfile.TemporaryDirectory() as folder:
            outputs = {name: Path(folder) / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_ENV")}
            for file in outputs.values():
                file.touch()
            variables = {**self.workflow.get("env", {}), **step.get("env", {})}
            env = {
                **os.environ,
                **{key: str(path) for key, path in outputs.items()},
                **{key: str(self._fill_in(str(text), context)) for key, text in variables.items()},
            }
            bash = shutil.which("bash") or "bash"
            argv = [bash, "--noprofile", "--norc", "-eo", "pipefail", "-c", str(self._fill_in(step["run"], context))]
            ended = subprocess.run(argv, cwd=self.checkout, env=env, check=False, timeout=_SECONDS)
            pairs = (line.partition("=") for line in outputs["GITHUB_OUTPUT"].read_text("utf-8").splitlines())
            steps[step.get("id", "")] = {"outputs": {key: value for key, _, value in pairs}}  # type: ignore[dict-item]
        return ended.returncode

    def _action(self, step: Mapping[str, Any], context: Mapping[str, Any]) -> None:
        action, inputs = step["uses"].partition("@")[0], step.get("with", {})
        if action in _NOTHING:
            return
        values = {key: str(self._fill_in(str(text), context)) for key, text in inputs.items()}
        if action == "actions/upload-artifact":
            self._upload(values["name"], values["path"])
        elif action == "actions/download-artifact":
            self._download(values)
        else:
            raise SystemExit(f"{action} cannot be run here")

    def _upload(self, name: str, path: str) -> None:
        target = self.files / name
        shutil.rmtree(target, ignore_errors=True)
        if path.endswith("/"):
            shutil.copytree(self.checkout / path, target)
            return
        files = sorted(self.checkout.glob(path))
        if not files:
            raise SystemExit(f"there is nothing to upload: {path}")
        target.mkdir(parents=True)
        for file in files:
            shutil.copy2(file, target)

    def _download(self, values: Mapping[str, str]) -> None:
        dest = self.checkout / values["path"]
        names = sorted(path.name for path in self.files.iterdir())
        if "name" in values:
            if values["name"] not in names:
                raise SystemExit(f"nobody uploaded {values['name']}")
            shutil.rmtree(dest, ignore_errors=True)
            shutil.copytree(self.files / values["name"], dest)
            return
        for name in fnmatch.filter(names, values["pattern"]):
            shutil.copytree(self.files / name, dest / name, dirs_exist_ok=True)

    def _fill_in(self, text: str, context: Mapping[str, Any]) -> str:
        return _EXPRESSION.sub(lambda match: self._value(match[1], context), str(text))

    def _holds(self, text: str, context: Mapping[str, Any]) -> bool:
        return self._value(text, context) not in ("", "false")

    def _value(self, text: str, context: Mapping[str, Any]) -> str:
        """The value of an expression, as a text."""
        if " && " in text:
            return str(all(self._holds(part, context) for part in text.split(" && "))).lower()
        if equal := _EQUAL.fullmatch(text):
            same = self._value(equal[1], context) == self._value(equal[3], context)
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
                raise SystemExit(f"the expression {path!r} has no value here")
            value = value[part]
        return value


def _defaults(document: Mapping[Any, Any]) -> dict[str, str]:
    """The inputs of its callers. YAML 1.1 reads the key `on` as true."""
    events = document.get(True)
    called = [entry or {} for entry in events.values()] if isinstance(events, dict) else []
    inputs = {name: entry.get("default", "") for event in called for name, entry in event.get("inputs", {}).items()}
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in inputs.items()}


def main(argv: list[str] | None = None) -> int:
    """Run some jobs in order."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workflow", help="a file's name in .github/workflows, without .yml")
    parser.add_argument("jobs", nargs="+")
    parser.add_argument("--matrix", action="append", default=[], metavar="KEY=VALUE", help="only these instances")
    parser.add_argument("--input", action="append", default=[], metavar="KEY=VALUE", help="of the workflow")
    parser.add_argument("--files", type=Path, help="what jobs hand on; by default .latebind/workflow")
    arguments = parser.parse_args(argv)
    chosen, inputs = (dict(text.split("=", 1) for text in texts) for texts in (arguments.matrix, arguments.input))
    files = arguments.files or ROOT / ".latebind" / "workflow"
    files.mkdir(parents=True, exist_ok=True)
    document = yaml.safe_load((ROOT / ".github/workflows" / f"{arguments.workflow}.yml").read_text("utf-8"))
    run = Run(document, files, inputs={**_defaults(document), **inputs})
    for job in arguments.jobs:
        run.job(job, chosen)
    return 0


if __name__ == "__main__":
    sys.exit(main())
