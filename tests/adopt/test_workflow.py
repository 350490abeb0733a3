"""`latebind ci`: a workflow that linters accept and that can be edited, and what is out of date in one."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from latebind.adopt.new import project_files
from latebind.adopt.workflow import (
    DEPENDABOT,
    WORKFLOW,
    find_tests,
    list_outdated,
    list_publishers,
    pin_latebind,
    render_workflow,
)
from latebind.tables.actions import actions
from tests.conftest import ROOT
from tests.support.client import edit
from tests.support.needs import require_programs
from tests.support.rights import has_rights, list_violations
from tests.support.running import assert_refused, assert_success, run_checked, run_program

KINDS = {
    "wheel": {"wheel": {"source": "python"}},
    "nuget": {"nuget": {"id": "Demo"}},
    "npm": {"npm": {"name": "demo"}},
    "ep": {"ep": {"id": "demo", "names": ["Demo"]}},
    "vendor": {"ep": {"id": "demo", "names": ["Demo"], "vendor": "Acme"}},
    "sdk": {"sdk": True},
}
JOBS = {
    "wheel": ["pypi"], "nuget": ["nuget"], "npm": ["npm"], "ep": ["pypi"], "vendor": ["pypi", "nuget"], "sdk": [],
}  # fmt: skip
TABLES = {
    "targets": {
        "include": ["linux-x64", "win-x64", "linux-riscv64"],
        "win-x64": {"toolchain": "host"},
        "linux-riscv64": {"toolchain": "host"},
    },
    "package": {name: package for name, package in KINDS.items() if name != "vendor"},
}


def run_step(text, job, name, folder, **variables):
    """Run one command of a workflow as GitHub does, in a folder, and return how it ended."""
    (step,) = (step for step in yaml.safe_load(text)["jobs"][job]["steps"] if step["name"].startswith(name))
    env = {**os.environ, **{key: value for key, value in step.get("env", {}).items() if "${{" not in value}}
    bash = require_programs("bash")[0]
    return run_program(
        bash, "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"], cwd=folder, env={**env, **variables}
    )


CHECKOUT = actions()["actions/checkout"]


@pytest.fixture(scope="module")
def text():
    return render_workflow("demo", TABLES, branch="trunk", project="native")


@pytest.mark.parametrize("name", KINDS)
def test_the_kinds_in_use_are_published(name):
    tables = {"package": {"demo": KINDS[name]}}
    assert [publisher.job for publisher in list_publishers(tables)] == JOBS[name]
    jobs = yaml.safe_load(render_workflow("demo", tables, branch="main"))["jobs"]
    assert set(JOBS[name]) == set(jobs) & {"pypi", "nuget", "npm"}
    assert jobs["github"]["needs"] == ["attest", *JOBS[name]]
    assert jobs["attest"]["steps"][-1]["with"] == {"subject-path": "release/SHA256SUMS\nrelease/packages/**\n"}


def test_the_release_is_made_for_the_tag_of_the_run(text):
    (step,) = (
        step for step in yaml.safe_load(text)["jobs"]["release"]["steps"] if " release --output" in step.get("run", "")
    )
    assert '--tag "$TAG"' in step["run"]
    assert step["env"]["TAG"] == "${{ github.ref_name }}"


def test_a_job_that_publishes_has_an_environment_with_the_page_of_the_package(text):
    environments = {
        name: job["environment"] for name, job in yaml.safe_load(text)["jobs"].items() if "environment" in job
    }
    assert environments == {
        "pypi": {"name": "pypi", "url": "https://pypi.org/project/python/"},
        "nuget": {"name": "nuget", "url": "https://www.nuget.org/packages/Demo"},
        "npm": {"name": "npm", "url": "https://www.npmjs.com/package/demo"},
    }
    jobs = yaml.safe_load(render_workflow("demo", {"package": {"demo": KINDS["vendor"]}}, branch="main"))["jobs"]
    assert jobs["pypi"]["environment"]["url"] == "https://pypi.org/project/onnxruntime-ep-demo/"
    assert jobs["nuget"]["environment"]["url"] == "https://www.nuget.org/packages/Acme.ML.OnnxRuntime.EP.Demo"


def test_every_file_in_the_checksums_is_published(text):
    step = yaml.safe_load(text)["jobs"]["github"]["steps"][-1]
    assert "find release -type f ! -path 'release/reports/logs/*'" in step["run"]


def test_every_step_has_a_name_and_every_action_a_commit(text):
    document = yaml.safe_load(text)
    assert document["permissions"] == {}
    assert document[True]["push"]["branches"] == ["trunk"]  # YAML 1.1 reads `on` as true
    for job in document["jobs"].values():
        assert job["permissions"].keys() <= {"actions", "attestations", "contents", "id-token", "issues"}
        for step in job["steps"]:
            assert step["name"]
            # Without it, a job that runs again could not upload what an earlier attempt uploaded.
            assert "upload-artifact" not in step.get("uses", "") or step["with"]["overwrite"]
            assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", step.get("uses", f"a/b@{'0' * 40}"))
    assert "secrets." not in text


def test_targets_with_the_systems_compiler_have_a_machine_of_their_own(text):
    job = yaml.safe_load(text)["jobs"]["native"]
    assert job["strategy"]["matrix"]["include"] == [{"target": "win-x64", "runner": "windows-2025"}]
    assert "# linux-riscv64 is built with the system's compiler" in text
    assert "native" not in yaml.safe_load(render_workflow("demo", {}, branch="main"))["jobs"]


WITH_TESTS = {
    "runtime": [{"preset": "onnxruntime"}],
    "targets": {"include": ["linux-x64", "linux-musl-x64", "linux-riscv64", "win-arm64", "osx-arm64"]},
    "package": {"core": {"wheel": {"source": "python/demo_core"}}, "tiny": {"wheel": {"source": ".", "name": "tiny"}}},
}


@pytest.mark.parametrize("reusable", [False, True])
def test_a_projects_own_tests_run_with_its_wheels_on_each_system(reusable):
    text = render_workflow("demo", WITH_TESTS, branch="main", project="a/b", tests="tests", reusable=reusable)
    jobs = yaml.safe_load(text)["jobs"]
    matrix = jobs["tests"]["strategy"]["matrix"]["include"]
    assert [entry["target"] for entry in matrix] == ["linux-x64", "win-arm64", "osx-arm64"]
    install, run = (step["run"] for step in jobs["tests"]["steps"] if "run" in step)
    assert install.splitlines() == [
        "python -m pip install --quiet --no-index --no-deps --find-links dist demo-core tiny",
        "python -m pip install --quiet demo-core tiny onnxruntime pytest",
    ]
    assert run == "python -m pytest a/b/tests"
    assert "tests" in jobs["newest"]["needs"]
    assert reusable or jobs["release"]["needs"] == ["gate", "tests"]


def test_a_project_without_tests_or_wheels_has_no_job_for_them(tmp_path):
    assert find_tests(tmp_path) == ""
    (tmp_path / "test/unit").mkdir(parents=True)
    (tmp_path / "test/unit/test_demo.py").touch()
    assert find_tests(tmp_path) == "test"
    for tables, tests in ((WITH_TESTS, ""), ({**WITH_TESTS, "package": {"demo": {"npm": {"name": "demo"}}}}, "test")):
        jobs = yaml.safe_load(render_workflow("demo", tables, branch="main", tests=tests))["jobs"]
        assert "tests" not in jobs
        assert jobs["release"]["needs"] == ["gate"]


def test_new_projects_run_their_tests_and_renew_their_actions():
    files = project_files("demo", "c", "")
    assert "tests" in yaml.safe_load(files[WORKFLOW])["jobs"]
    (update,) = yaml.safe_load(files[DEPENDABOT])["updates"]
    assert update["package-ecosystem"] == "github-actions"


def test_a_scheduled_run_has_the_newest_prereleases_and_ends_with_one_issue(text, tmp_path):
    document = yaml.safe_load(text)
    ((cron,),) = (entry.values() for entry in document[True]["schedule"])
    assert re.fullmatch(r"\d{1,2} 4 \* \* \*", cron)
    job = document["jobs"]["newest"]
    assert job["permissions"] == {"issues": "write"}
    assert [*job["steps"][0]] == ["name", "run", "env"]
    assert {"native", "packages", "verify", "gate"} <= {*job["needs"]}
    (tmp_path / "latebind").write_text('#!/bin/sh\necho "$@"\n', "utf-8")
    (tmp_path / "latebind").chmod(0o755)
    texts = {"ARGUMENTS": "verify --all", "PROJECT": ".", "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    for event, option in (("schedule", " --prereleases"), ("push", "")):
        ended = run_step(text, "verify", "Install and run", tmp_path, GITHUB_EVENT_NAME=event, **texts)
        assert assert_success(ended) == f"-C . --workdir . verify --all{option} --dist dist\n"


def test_no_job_with_rights_runs_code(text):
    jobs = yaml.safe_load(text)["jobs"]
    assert {name for name, job in jobs.items() if has_rights(job)} == {
        *("attest", "pypi", "nuget", "npm", "github", "newest")
    }
    short = yaml.safe_load(render_workflow("demo", TABLES, branch="main", reusable=True))["jobs"]
    for job in (*jobs.values(), *short.values()):
        assert not has_rights(job) or [*list_violations(job)] == []
    assert {"actions/setup-python", "pip", "latebind"} <= {*list_violations(jobs["check"])}


@pytest.mark.parametrize(
    "step",
    [
        {"uses": "actions/checkout@0"},
        {"uses": "actions/setup-python@0"},
        {"run": 'python -m pip install --quiet "$LATEBIND"'},
        {"run": "uv pip install latebind"},
        {"run": "npm ci"},
        {"run": "latebind release --check release --publishable"},
        {"run": "python ci/github.py publish release"},
        {"run": "dotnet run"},
        {"run": "./build.sh"},
    ],
    ids=str,
)
def test_code_next_to_rights_is_found(step):
    job = {"permissions": {"id-token": "write"}, "steps": [step]}
    assert has_rights(job)
    assert [*list_violations(job)] != []


@pytest.mark.parametrize("sdists", [("tiny-1.0.tar.gz",), ()], ids=["an sdist", "an execution provider has none"])
def test_the_index_for_python_gets_wheels_and_sdists_alone(text, tmp_path, sdists):
    folder = tmp_path / "release/packages"
    (folder / "symbols").mkdir(parents=True)
    named = ("tiny-1.0-py3-none-any.whl", *sdists)
    others = ("tiny-1.0-linux-x64-sdk.tar.gz", "tiny-1.0-win-x64-sdk.zip", "tiny-1.0.tgz", "Tiny.1.0.0.nupkg")
    for name in (*named, *others):
        (folder / name).touch()
    run_step(text, "check", "Collect the wheels and sdists", tmp_path)
    assert {path.name for path in (tmp_path / "upload/pypi").iterdir()} == {*named}


@pytest.mark.parametrize("reusable", [False, True])
def test_zizmor_finds_nothing(tmp_path, reusable):
    folder = tmp_path / ".github/workflows"
    folder.mkdir(parents=True)
    text = render_workflow("demo", TABLES, branch="main", reusable=reusable)
    if reusable:  # known only where latebind was installed from its repository
        text = re.sub(r"(adopter\.yml)@v\S+", rf"\1@{'0' * 40}", text)
    (folder / "latebind.yml").write_text(text, "utf-8")
    program = shutil.which("zizmor", path=str(Path(sys.executable).parent))
    assert program, "the group `lint` of pyproject.toml has zizmor"
    checked = subprocess.run(
        [program, "--offline", "--quiet", "--persona", "auditor", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize("reusable", [False, True])
def test_actionlint_finds_nothing(tmp_path, reusable):
    if (program := shutil.which("actionlint")) is None:
        pytest.skip("not run: there is no actionlint here: brew install actionlint")
    file = tmp_path / "latebind.yml"
    tables = {**TABLES, "runtime": [{"preset": "onnxruntime"}]}
    file.write_text(render_workflow("demo", tables, branch="main", tests="tests", reusable=reusable), "utf-8")
    run_checked(program, file)


def test_the_short_form_passes_inputs_that_the_called_workflow_has():
    called = yaml.safe_load((ROOT / ".github/workflows/adopter.yml").read_text("utf-8"))[True]["workflow_call"]
    job = yaml.safe_load(render_workflow("demo", TABLES, branch="main", reusable=True))["jobs"]["packages"]
    assert job["with"].keys() <= called["inputs"].keys()
    assert job["with"]["native"] == '["win-x64"]'


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (f"{CHECKOUT.commit} # {CHECKOUT.version}", "0" * 40 + " # v1.0.0", "v1.0.0 is older than"),
        (f"{CHECKOUT.commit} # {CHECKOUT.version}", "0" * 40, "is older than"),
        (f"{CHECKOUT.commit} # {CHECKOUT.version}", "v7", "is not pinned to a commit"),
        (pin_latebind(), "latebind[native,verify]==0.0.1", "installs latebind"),
        ("target: win-x64", "target: win-arm64", "no job builds it"),
        ("target: win-x64", "target: win-arm64", "`native` has a row for win-arm64, but the project does not have"),
        ('python-version: "3.12"', 'python-version: "3.9"', "`native` runs Python 3.9, which is older than 3.12"),
        ("  npm:\n", "  registry:\n", "has no job `npm` to publish"),
    ],
)
def test_what_is_out_of_date_is_reported_with_its_line(text, before, after, message):
    assert list_outdated(text, TABLES) == []
    old = text.replace(before, after, 1)
    (problem,) = (problem for problem in list_outdated(old, TABLES) if message in problem.message)
    line = old.splitlines()[problem.line - 1]
    assert after.strip() in line or line.strip() in ("native:", "release:")


TESTED = {
    "targets": {"include": ["linux-x64", "linux-arm64", "osx-arm64"], "osx-arm64": {"toolchain": "host"}},
    "package": {name: KINDS[name] for name in ("wheel", "nuget", "npm")},
}


@pytest.mark.parametrize("reusable", [False, True])
@pytest.mark.parametrize(
    ("change", "messages"),
    [
        (
            {"targets": {"include": ["linux-x64"]}},
            [
                "`native` has a row for osx-arm64",
                "`tests` has a row for linux-arm64",
                "`tests` has a row for osx-arm64",
            ],
        ),
        ({"targets": {"include": ["linux-x64", "linux-arm64", "osx-arm64"]}}, ["`native` has a row for osx-arm64"]),
        (
            {"targets": {**TESTED["targets"], "include": [*TESTED["targets"]["include"], "win-x64"]}},
            ["`tests` has no row for win-x64"],
        ),
        ({"package": {"wheel": KINDS["wheel"]}}, ["`nuget` publishes on", "`npm` publishes on"]),
        (
            {"package": {"nuget": KINDS["nuget"]}},
            ["`tests` has a row for", "`pypi` publishes on PyPI", "`npm` publishes on"],
        ),
    ],
    ids=["fewer-targets", "other-toolchain", "more-targets", "fewer-kinds", "no-wheel"],
)
def test_a_workflow_is_compared_with_the_one_of_the_present_configuration(change, messages, reusable):
    old = render_workflow("demo", TESTED, branch="main", tests="tests", reusable=reusable)
    assert list_outdated(old, TESTED, "tests") == []
    tables = {**TESTED, **change}
    problems = [problem.message for problem in list_outdated(old, tables, "tests")]
    publishers = [message for message in messages if "publishes" in message]
    for message in messages:
        is_expected = not reusable or message not in publishers
        message = message.replace("`native`", "`packages`") if reusable else message  # noqa: PLW2901
        assert any(message in problem for problem in problems) == is_expected, problems
    now = render_workflow("demo", tables, branch="main", tests="tests", reusable=reusable)
    assert list_outdated(now, tables, "tests") == []


def test_a_job_of_the_projects_own_may_have_rows_for_its_targets_alone():
    job = "  gpu:\n    strategy: {{ matrix: {{ include: [{{ target: {} }}] }} }}\n"
    text = render_workflow("demo", TESTED, branch="main")
    assert list_outdated(text + job.format("linux-x64"), TESTED) == []
    (problem,) = list_outdated(text + job.format("win-x64"), TESTED)
    assert "the job `gpu` has a row for win-x64, but the project does not have this target" in problem.message


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"{CHECKOUT.commit} # {CHECKOUT.version}", "0" * 40 + " # v99.0.0"),
        ("timeout-minutes: 60", "timeout-minutes: 5"),
        ("  release:\n", "  made-elsewhere:\n"),
    ],
)
def test_newer_actions_and_edits_are_the_projects_own(text, before, after):
    assert before in text
    tables = {**TABLES, "package": {}} if "release" in before else TABLES
    assert list_outdated(text.replace(before, after), tables) == []


def test_the_log_of_a_failed_gate_says_what_the_summary_says(text):
    adopter = (ROOT / ".github/workflows/adopter.yml").read_text("utf-8")
    for workflow in (text, adopter):
        assert 'gate --format markdown | tee -a "$GITHUB_STEP_SUMMARY"' in workflow
        assert yaml.safe_load(workflow)["defaults"]["run"]["shell"] == "bash"  # with pipefail, so that the gate counts


def test_the_workflow_of_a_project_in_a_subfolder_is_at_the_top(latebind, tmp_path):
    run_checked("git", "init", "--quiet", "--initial-branch=trunk", tmp_path)
    assert_success(latebind("-C", tmp_path, "new", "demo"))
    project = tmp_path / "demo"
    assert_refused(latebind("-C", project, "ci", "--check"), "does not exist", "latebind ci")
    assert_success(latebind("-C", project, "ci"))
    text = (tmp_path / WORKFLOW).read_text("utf-8")
    assert 'PROJECT: "demo"' in text
    assert 'branches: ["trunk"]' in text
    assert "is up to date" in assert_success(latebind("-C", project, "ci", "--check"))
    assert_refused(latebind("-C", project, "ci"), "already exists", "--force")
    assert_success(latebind("-C", project, "ci", "--force", "--reusable"))
    assert "adopter.yml@" in (tmp_path / WORKFLOW).read_text("utf-8")
    assert_success(latebind("-C", project, "ci", "--check"))


def test_a_check_in_github_actions_annotates_the_file(latebind, tmp_path, monkeypatch):
    assert_success(latebind("-C", tmp_path, "new", "demo"))
    project = tmp_path / "demo"
    edit(project / WORKFLOW, f"@{CHECKOUT.commit} # {CHECKOUT.version}", "@v1", count=1)
    number = 1 + (project / WORKFLOW).read_text("utf-8").splitlines().index("        uses: actions/checkout@v1")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    checked = latebind("-C", project, "ci", "--check")
    assert checked.returncode == 1
    assert f"::error file={WORKFLOW},line={number}::actions/checkout@v1 is not pinned" in checked.stdout

    edit(project / "latebind.toml", "[project]", "[project]\nnmae = 1")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    refused = latebind("-C", project, "plan")
    assert refused.returncode == 2
    assert re.search(r"^::error file=demo/latebind\.toml::.*nmae", refused.stderr, re.MULTILINE)
