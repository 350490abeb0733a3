"""The workflows: pinned, in step with the sessions that they call, and run here as far as this machine goes."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys

import pytest
import yaml

from ci import local_workflow
from ci.gen import actions as own_actions
from latebind.adopt.workflow import render_workflow
from latebind.backend.targets import targets
from latebind.config.file import load, standalone_text, tables_of
from latebind.installation import list_requirements
from latebind.rehearse.workflow import WorkflowError, WorkflowRun
from tests.conftest import ROOT
from tests.support.rights import has_rights, list_violations
from tests.support.running import assert_success, run_checked

FILES = sorted((ROOT / ".github/workflows").glob("*.yml"))
IDENTITY = ("-c", "user.name=A Person", "-c", "user.email=a.person@example.com")
SESSION = re.compile(r"noxfile\.py -s ([a-z -]*?[a-z])(?: -- |$|\))")


def steps():
    for file in FILES:
        for name, job in yaml.safe_load(file.read_text("utf-8"))["jobs"].items():
            for step in job.get("steps", ()):
                yield file.stem, name, step


def test_an_action_has_the_same_commit_everywhere():
    lines = {line.partition("uses: ")[2] for file in FILES for line in file.read_text("utf-8").splitlines()}
    actions = [match for line in lines if (match := re.fullmatch(r"([\w/.-]+)@([0-9a-f]{40}) # v[\d.]+", line))]
    used = {step["uses"] for _, _, step in steps() if "uses" in step}
    assert used == {f"{match[1]}@{match[2]}" for match in actions}
    assert len(used) == len({action.partition("@")[0] for action in used})


def test_a_job_that_runs_again_can_upload_again():
    uploads = [step for _, _, step in steps() if "actions/upload-artifact@" in step.get("uses", "")]
    assert uploads
    assert all(step["with"]["overwrite"] for step in uploads)


def test_the_table_of_actions_is_made_from_the_workflows(tmp_path):
    assert own_actions.TABLE.read_text("utf-8") == own_actions.table()
    old = "uses: actions/cache@0057852bfaa89a56745cba8c7296529d2fc39830 # v4.3.0\n"
    (tmp_path / "a.yml").write_text(old.replace("4.3.0", "5.0.5"), "utf-8")
    (tmp_path / "b.yml").write_text(old, "utf-8")
    with pytest.raises(ValueError, match=r"b\.yml has actions/cache v4\.3\.0, another workflow v5\.0\.5"):
        own_actions.list_pins([tmp_path / "a.yml", tmp_path / "b.yml"])


def test_the_runners_are_those_of_the_targets():
    runners = {rid: properties.runner for rid, properties in targets().items() if properties.runner}
    texts = {file.stem: file.read_text("utf-8") for file in FILES}
    (listed,) = re.findall(r"fromJSON\('(\{.*?\})'\)", texts["adopter"])
    assert json.loads(listed) == runners
    for text in texts.values():
        assert set(re.findall(r"(?:runs-on|runner): ([a-z][\w.-]+)$", text, re.MULTILINE)) <= set(runners.values())
    wheels = yaml.safe_load(texts["wheels"])["jobs"]
    includes = next(job["strategy"]["matrix"]["include"] for job in wheels.values() if "strategy" in job)
    assert {entry["runner"] for entry in includes} == {
        properties.runner for properties in targets().values() if properties.runner and properties.libc != "musl"
    }


def test_every_session_that_a_workflow_calls_is_there():
    text = (ROOT / "noxfile.py").read_text("utf-8")
    listed = {name.replace("_", "-") for name in re.findall(r"^def (\w+)\(session", text, re.MULTILINE)}
    runs = [line for _, _, step in steps() for line in step.get("run", "").splitlines()]
    called = {name for line in runs for match in SESSION.finditer(line) for name in match[1].split()}
    assert called
    assert called <= listed


def test_every_program_of_ours_that_a_workflow_calls_is_there():
    programs = {part for _, _, step in steps() for part in step.get("run", "").split() if part.startswith("ci/")}
    assert programs == {"ci/github.py"}
    assert all((ROOT / name).is_file() for name in programs)


def test_packages_are_handed_on_with_their_record():
    uploads = [step for _, _, step in steps() if "actions/upload-artifact" in step.get("uses", "")]
    assert any(step["with"]["name"] == "dist" for step in uploads)
    for step in uploads:
        assert step["with"].get("include-hidden-files", False) == (step["with"]["name"] == "dist")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_rights_are_given_job_by_job_and_no_secret_is_named(file):
    text = file.read_text("utf-8")
    document = yaml.safe_load(text)
    assert document["permissions"] == {}
    assert all("permissions" in job for job in document["jobs"].values())
    assert "secrets." not in text


def test_only_the_jobs_that_publish_may_write():
    writing = {
        (file.stem, name)
        for file in FILES
        for name, job in yaml.safe_load(file.read_text("utf-8"))["jobs"].items()
        if "write" in job["permissions"].values()
    }
    publishing = {("release", name) for name in ("attest", "pypi", "nuget", "npm", "github")}
    assert writing == {*publishing, ("docs", "deploy"), ("newest", "newest")}


def test_publishing_waits_for_the_gate():
    jobs = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text("utf-8"))["jobs"]
    assert jobs["pypi"]["needs"] == jobs["nuget"]["needs"] == jobs["npm"]["needs"] == "attest"
    assert jobs["attest"]["needs"] == "check"
    assert any("--check release --publishable" in step.get("run", "") for step in jobs["check"]["steps"])
    assert jobs["check"]["needs"] == "folder"
    assert jobs["folder"]["needs"] == "packages"


def test_a_release_is_published_by_the_jobs_that_latebind_writes():
    config = load(ROOT / "latenn/latebind.toml")
    text = render_workflow("latenn", tables_of(standalone_text(config)), branch="main", project="latenn")
    written, ours = (
        yaml.safe_load(each)["jobs"] for each in (text, (ROOT / ".github/workflows/release.yml").read_text("utf-8"))
    )
    for name in ("attest", "pypi", "nuget", "npm"):
        assert ours[name] == written[name]
    assert ours["github"] == {**written["github"], "if": "github.ref_type == 'tag'"}
    assert ours["check"]["steps"][4:] == written["check"]["steps"][4:]  # the packages for each index


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_no_job_with_rights_runs_code(file):
    for job in yaml.safe_load(file.read_text("utf-8"))["jobs"].values():
        assert not has_rights(job) or [*list_violations(job)] == []


WORKFLOW = {
    "env": {"WHERE": "here"},
    "jobs": {
        "make": {
            "runs-on": "ubuntu-24.04",
            "outputs": {"matrix": "${{ steps.plan.outputs.matrix }}"},
            "steps": [
                {"uses": "actions/checkout@0"},
                {"uses": "actions/cache@0", "with": {"key": "${{ hashFiles('x') }}"}},
                {"run": "mkdir -p made && echo $WHERE > made/file"},
                {"id": "plan", "run": "echo 'matrix={\"include\": [{\"n\": \"1\", \"runner\": \"ubuntu\"}, "
                 "{\"n\": \"2\", \"runner\": \"windows\"}]}' >> $GITHUB_OUTPUT"},
                {"uses": "actions/upload-artifact@0", "with": {"name": "made", "path": "made/"}},
            ],
        },
        "use": {
            "runs-on": "${{ matrix.runner }}",
            "strategy": {"matrix": "${{ fromJSON(needs.make.outputs.matrix) }}"},
            "steps": [
                {"uses": "actions/download-artifact@0", "with": {"name": "made", "path": "got/"}},
                {"run": "cat got/file > seen-$N", "env": {"N": "${{ matrix.n }}"}},
                {"if": "runner.os == 'Windows'", "run": "exit 9"},
                {"if": "${{ matrix.n != '2' }}", "run": "touch equal"},
            ],
        },
        "fail": {
            "runs-on": "ubuntu-24.04",
            "steps": [{"run": "exit 3"}, {"run": "touch never"}, {"if": "always()", "run": "touch always"}],
        },
        "odd": {"runs-on": "ubuntu-24.04", "steps": [{"run": "echo ${{ github.event.x }}"}]},
        "action": {"runs-on": "ubuntu-24.04", "steps": [{"uses": "some/other@0"}]},
    },
}  # fmt: skip


@pytest.fixture
def run(tmp_path):
    (tmp_path / "files").mkdir()
    (tmp_path / "checkout").mkdir()
    return WorkflowRun(WORKFLOW, tmp_path / "files", tmp_path / "checkout")


@pytest.mark.skipif(not shutil.which("bash"), reason="not run: there is no bash here")
def test_jobs_hand_files_and_outputs_on(run, capfd):
    run.run_job("make")
    run.run_job("use")
    names = {path.name for path in run.checkout.iterdir()}
    assert names == {"made", "got", "seen-1", "equal"}
    assert (run.checkout / "seen-1").read_text("utf-8") == "here\n"
    assert "not run here (windows)" in capfd.readouterr().out


@pytest.mark.skipif(not shutil.which("bash"), reason="not run: there is no bash here")
def test_a_step_that_fails_ends_the_job_but_for_what_is_always_done(run):
    with pytest.raises(WorkflowError, match='the job fail failed in the step "exit 3"'):
        run.run_job("fail")
    assert {path.name for path in run.checkout.iterdir()} == {"always"}


def test_a_reusable_workflow_has_its_inputs(tmp_path):
    text = "on:\n  workflow_call:\n    inputs:\n      project: {default: .}\n      native: {type: string}\n"
    assert local_workflow.read_defaults(yaml.safe_load(text)) == {"project": ".", "native": ""}
    assert local_workflow.read_defaults(yaml.safe_load("on: push")) == {}
    text = "on:\n  push:\n  workflow_dispatch:\n    inputs:\n      dry_run: {type: boolean, default: true}\n"
    assert local_workflow.read_defaults(yaml.safe_load(text)) == {"dry_run": "true"}
    run = WorkflowRun({}, tmp_path, tmp_path, inputs={"project": "a"})
    assert run._fill_in("-C ${{ inputs.project }}", {}) == "-C a"
    by_hand = "${{ github.event_name == 'workflow_dispatch' && inputs.project }}"
    assert run._fill_in(by_hand, {}) == "true"
    assert run._fill_in(by_hand.replace("dispatch", "call"), {}) == "false"


@pytest.mark.parametrize(("job", "why"), [("odd", "'github.event.x' has no value"), ("action", "some/other cannot be")])
def test_what_is_not_understood_ends_the_run(run, job, why):
    with pytest.raises(WorkflowError, match=why):
        run.run_job(job)


@pytest.mark.workflows
def test_the_linux_jobs_run_in_a_fresh_clone_and_make_what_nox_makes(tmp_path):
    clone = tmp_path / "clone"
    git = shutil.which("git")
    run_checked(git, "clone", "--quiet", ROOT, clone)
    script = [sys.executable, "-m", "ci.local_workflow", "--files", str(tmp_path / "files")]
    run_checked(*script, "ci", "lint", cwd=clone)
    here = ["--matrix", "target=linux-x64"]
    subprocess.run([*script, "packages", "build", "verify", "gate", *here], cwd=clone, check=False)  # the gate fails
    report = json.loads((tmp_path / "files/reports/verify.json").read_bytes())
    assert not [cell["id"] for cell in report["cases"] if cell["outcome"] == "failed"]
    assert len([cell for cell in report["cases"] if cell["outcome"] == "passed"]) >= 50

    (tmp_path / "gh").write_text("#!/bin/sh\necho '[]'\n")  # GitHub, where there was no release yet
    (tmp_path / "gh").chmod(0o755)
    path = os.pathsep.join([str(tmp_path), os.environ["PATH"]])
    run_checked(*script, "release", "folder", cwd=clone, env={**os.environ, "PATH": path})
    check = ("-s", "latenn", "--", "release", "--check", tmp_path / "files/dry-run")
    run_checked(sys.executable, "noxfile.py", *check, cwd=clone)

    other = tmp_path / "other"
    run_checked(git, "clone", "--quiet", ROOT, other)
    run_checked(sys.executable, "noxfile.py", "-s", "latenn", "--", "pack", "--target", "all", cwd=other)
    expected = {path.relative_to(other): path.read_bytes() for path in (other / "dist").rglob("*") if path.is_file()}
    files = {path.relative_to(clone): path.read_bytes() for path in (clone / "dist").rglob("*") if path.is_file()}
    assert files == expected


@pytest.mark.workflows
def test_the_jobs_for_other_projects_run_on_an_example(tmp_path):
    clone, files = tmp_path / "clone", tmp_path / "files"
    run_checked(shutil.which("git"), "clone", "--quiet", ROOT, clone)
    run_checked(sys.executable, "-m", "venv", tmp_path / "venv")  # setup-python's
    path = os.pathsep.join([str(tmp_path / "venv/bin"), os.environ["PATH"]])
    requirements = f"{clone}/loadcheck {clone}[native,verify]"
    inputs = ["--input", "project=examples/own-runtime", "--input", f"latebind={requirements}"]
    here = ["--matrix", "target=linux-x64", "--files", str(files)]
    script = [sys.executable, "-m", "ci.local_workflow", "adopter", "build", "verify", "gate", *inputs, *here]
    ended = subprocess.run(script, cwd=clone, env={**os.environ, "PATH": path}, stderr=subprocess.PIPE, check=False)
    gate = 'the job gate failed in the step "Check that every required test case passed"'  # other targets need machines
    assert ended.stderr.decode().startswith(gate)
    report = json.loads((files / "reports/verify.json").read_bytes())
    outcomes = [cell["outcome"] for cell in report["cases"]]
    assert "failed" not in outcomes
    assert outcomes.count("passed") >= 25
    assert list((files / "dist").glob("zsolve-1.0.0-*-manylinux_2_28_x86_64.whl"))


@pytest.mark.workflows
def test_the_jobs_of_a_new_project_end_with_a_release(latebind, tmp_path, monkeypatch):
    assert_success(latebind("-C", tmp_path, "new", "demo"))
    project, files = tmp_path / "demo", tmp_path / "files"
    settings = project / "latebind.toml"
    text = re.sub(r"^include = .*", 'include = ["linux-x64"]', settings.read_text("utf-8"), flags=re.MULTILINE)
    settings.write_text(re.sub(r"^(nuget|c) = .*\n", "", text, flags=re.MULTILINE), "utf-8")
    git = shutil.which("git")
    run_checked(git, "-C", project, "init", "--quiet")
    assert_success(latebind("-C", project, "ci", "--force"))
    run_checked(git, "-C", project, "add", "--all")
    run_checked(git, "-C", project, *IDENTITY, "commit", "--quiet", "--message", "Start")

    run_checked(sys.executable, "-m", "venv", tmp_path / "venv")  # setup-python's
    (tmp_path / "venv/bin/gh").write_text("#!/bin/sh\n", "utf-8")  # GitHub, where there is no release yet
    (tmp_path / "venv/bin/gh").chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path / "venv/bin"), os.environ["PATH"]]))
    document = yaml.safe_load((project / ".github/workflows/latebind.yml").read_text("utf-8"))
    pin = document["env"]["LATEBIND"]
    files.mkdir()
    run = WorkflowRun(document, files, project, tag="v0.1.0")
    document["env"]["LATEBIND"] = f"{ROOT}/loadcheck {ROOT}[native,verify]"
    for job in ("packages", "tests", "verify", "gate", "release", "check"):
        run.run_job(job)
    assert pin.split() == list(list_requirements("native", "verify"))
    assert [path.name for path in (files / "release/packages").glob("*.whl")] == [
        "demo-0.1.0-py3-none-manylinux_2_28_x86_64.whl"
    ]
    uploaded = {path.suffix for path in (files / "upload-pypi").iterdir()}
    assert uploaded == {".whl", ".gz"}
