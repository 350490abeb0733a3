"""What the jobs that publish do, with a runner's programs, when an index lacks a package, has it, or has another."""

from __future__ import annotations

import io
import json
import os
import shutil
import tarfile
import threading
import zipfile
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

import pytest
import yaml

from latebind.adopt.workflow import render_workflow
from tests.support.needs import require_programs
from tests.support.running import assert_success, run_program

pytestmark = [
    pytest.mark.skipif(os.name == "nt", reason="not run: the jobs that publish run on Linux"),
]
PACKAGES = {"package": {"demo": {"wheel": {"source": "demo"}, "nuget": {"id": "Demo"}, "npm": {"name": "demo"}}}}
JOBS = yaml.safe_load(render_workflow("demo", PACKAGES, branch="main"))["jobs"]


def run_step(job, name, folder, **variables):
    """Run one command of a workflow in a folder as GitHub does, and return how it ended."""
    (step,) = (step for step in JOBS[job]["steps"] if step["name"].startswith(name))
    (bash,) = require_programs("bash")
    given = {key: value for key, value in step.get("env", {}).items() if "${{" not in value}
    env = {**os.environ, "HOME": str(folder), **given, **variables}
    return run_program(bash, "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"], cwd=folder, env=env)


class Index(BaseHTTPRequestHandler):
    """Answers with files by path; npm's PUT adds the package."""

    def do_GET(self):
        files = self.server.files
        body = files.get(unquote(self.path))
        self.send_response(self.server.status or (404 if body is None else 200))
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body or b"{}")

    def do_PUT(self):
        document = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        (version,) = document["versions"]
        self.server.published.append(f"{document['name']}@{version}")
        self.server.tags.update(document["dist-tags"])
        self.server.files[unquote(self.path)] = json.dumps(document).encode()
        self.send_response(201)
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        pass


@pytest.fixture
def index():
    with run_index() as server:
        yield server


@contextmanager
def run_index():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Index)
    server.files, server.published, server.tags, server.status = {}, [], {}, 0
    server.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


# ---- npm -----------------------------------------------------------------------------------------------------------


def write_tarball(path, text="1", **manifest):
    path.parent.mkdir(parents=True, exist_ok=True)
    entries = {"package.json": json.dumps({"version": "1.0.0", **manifest}), "index.js": f"module.exports = {text}\n"}
    with tarfile.open(path, "w:gz") as archive:
        for name, content in entries.items():
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content.encode()))


@pytest.fixture
def publish_npm(tmp_path, index):
    require_programs("npm", "jq", "openssl")
    (tmp_path / ".npmrc").write_text(f"//127.0.0.1:{index.server_port}/:_authToken=x\n", "utf-8")
    settings = {"npm_config_registry": index.url, "npm_config_fetch_retry_mintimeout": "1"}
    return lambda: run_step("npm", "Publish the npm packages", tmp_path, **settings)


@pytest.mark.builds
def test_npm_packages_are_published_once_in_the_order_of_their_requirements(tmp_path, index, publish_npm):
    packages = tmp_path / "release/packages"
    write_tarball(packages / "a.tgz", name="a-needs-demo", optionalDependencies={}, peerDependencies={"demo": "1"})
    write_tarball(packages / "demo-1.0.0.tgz", name="demo", optionalDependencies={"demo-linux-x64": "1.0.0"})
    write_tarball(packages / "demo-linux.tgz", name="demo-linux-x64")
    assert_success(run_step("check", "Collect the npm packages", tmp_path))
    shutil.move(tmp_path / "upload/npm", tmp_path / "carried")
    shutil.rmtree(tmp_path / "upload")
    (tmp_path / "carried").rename(tmp_path / "upload")

    assert_success(publish_npm())
    assert index.published == ["demo-linux-x64@1.0.0", "demo@1.0.0", "a-needs-demo@1.0.0"]

    again = publish_npm()
    assert assert_success(again).count("already, with the same bytes") == 3
    assert len(index.published) == 3


@pytest.mark.builds
def test_an_npm_package_with_other_bytes_is_an_error(tmp_path, index, publish_npm):
    write_tarball(tmp_path / "upload/000-demo.tgz", name="demo")
    assert_success(publish_npm())
    write_tarball(tmp_path / "upload/000-demo.tgz", name="demo", text="2")
    ended = publish_npm()
    assert ended.returncode == 1
    assert "::error::The registry has demo@1.0.0 with other bytes" in ended.stdout
    assert index.published == ["demo@1.0.0"]


@pytest.mark.builds
def test_a_registry_that_is_down_is_an_error_and_nothing_is_published(tmp_path, index, publish_npm):
    write_tarball(tmp_path / "upload/000-demo.tgz", name="demo")
    index.status = 503
    ended = publish_npm()
    assert ended.returncode == 1
    assert "::error::The registry did not answer (E503)" in ended.stdout
    assert index.published == []


@pytest.mark.builds
def test_an_npm_prerelease_is_not_the_latest_version(tmp_path, index, publish_npm):
    write_tarball(tmp_path / "upload/000-demo.tgz", name="demo", version="1.0.0-rc.1")
    assert_success(publish_npm())
    assert index.tags == {"next": "1.0.0-rc.1"}


# ---- NuGet ---------------------------------------------------------------------------------------------------------


def write_nupkg(path, text="1", **more):
    path.parent.mkdir(parents=True, exist_ok=True)
    nuspec = "<package><metadata><id>Demo</id><version>1.0.0-RC1</version></metadata></package>"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in {"Demo.nuspec": nuspec, "lib/demo.txt": text, **more}.items():
            archive.writestr(name, content)
    return path


@pytest.fixture
def compare_nuget(tmp_path, index):
    require_programs("curl", "jq", "unzip", "diff")
    resources = [{"@type": "PackageBaseAddress/3.0.0", "@id": f"{index.url}/flat/"}]
    index.files["/index.json"] = json.dumps({"resources": resources}).encode()
    write_nupkg(tmp_path / "upload/Demo.1.0.0-RC1.nupkg")
    return lambda: run_step("nuget", "Compare", tmp_path, NUGET_SOURCE=f"{index.url}/index.json")


IN_INDEX = "/flat/demo/1.0.0-rc1/demo.1.0.0-rc1.nupkg"


@pytest.mark.parametrize("signed", [{}, {".signature.p7s": "of the index"}, None], ids=["same", "signed", "absent"])
def test_a_nuget_package_that_the_index_lacks_or_has_is_accepted(tmp_path, index, compare_nuget, signed):
    if signed is not None:
        index.files[IN_INDEX] = write_nupkg(tmp_path / "theirs.nupkg", **signed).read_bytes()
    assert_success(compare_nuget())


def test_a_nuget_package_with_other_files_is_an_error(tmp_path, index, compare_nuget):
    index.files[IN_INDEX] = write_nupkg(tmp_path / "theirs.nupkg", text="2").read_bytes()
    ended = compare_nuget()
    assert ended.returncode == 1
    assert "::error::The index has Demo 1.0.0-RC1 with other files" in ended.stdout


def test_an_index_for_nuget_that_is_down_is_an_error(index, compare_nuget):
    index.status = 403
    assert compare_nuget().returncode != 0


@pytest.mark.parametrize(("failures", "status"), [(0, 0), (2, 0), (3, 1)])
def test_a_nuget_index_that_fails_is_asked_again(tmp_path, failures, status):
    programs = {
        "dotnet": f'echo "$@" >> calls\n[ "$(wc -l < calls)" -gt {failures} ]\n',
        "sleep": 'echo "$1" >> pauses\n',
    }
    for name, text in programs.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}", "utf-8")
        (tmp_path / name).chmod(0o755)
    path = os.pathsep.join([str(tmp_path), os.environ["PATH"]])
    ended = run_step("nuget", "Publish", tmp_path, PATH=path, NUGET_SOURCE="https://example.com", NUGET_KEY="key")
    assert ended.returncode == status
    calls = (tmp_path / "calls").read_text("utf-8").splitlines()
    assert len(calls) == min(failures + 1, 3)
    assert set(calls) == {"nuget push upload/*.nupkg --source https://example.com --api-key key --skip-duplicate"}


def test_nuget_packages_go_to_nuget_org_by_default():
    sources = [step["env"]["NUGET_SOURCE"] for step in JOBS["nuget"]["steps"] if "NUGET_SOURCE" in step.get("env", {})]
    assert sources == ["${{ vars.NUGET_SOURCE || 'https://api.nuget.org/v3/index.json' }}"] * 2


# ---- PyPI ----------------------------------------------------------------------------------------------------------


def test_pypi_itself_compares_the_bytes():
    """PyPI accepts a file that it has and refuses other bytes; twine's --skip-existing would hide the difference."""
    step = JOBS["pypi"]["steps"][-1]
    assert step["with"] == {"packages-dir": "upload/"}


# ---- GitHub --------------------------------------------------------------------------------------------------------

GH = """#!/usr/bin/env bash
# GitHub: a release in the folder `state`, issues in state/issues.json, artifacts in state/artifacts.json.
set -eu
echo "$*" >> state/calls
filter="$(for ((i = 1; i < $#; i++)); do if [ "${!i}" = --jq ]; then j=$((i + 1)); echo "${!j}"; fi; done)"
case "$1 $2" in
  "release view") [ -e state/isDraft ] || exit 1; cat state/isDraft ;;
  "release download") mkdir -p published; cp state/SHA256SUMS published ;;
  "release create") echo true > state/isDraft ;;
  "release edit") echo false > state/isDraft ;;
  "run download") cp -r "state/run-$3" release ;;
  "issue list") jq -r "$filter" state/issues.json ;;
  "api --method") jq -r "$filter" state/artifacts.json ;;
esac
"""


@pytest.fixture
def github(tmp_path, monkeypatch):
    """A folder with a release folder, and a program `gh` that keeps its state in a folder and lists its calls."""
    require_programs("jq")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/gh").write_text(GH, "utf-8")
    (tmp_path / "bin/gh").chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path / "bin"), os.environ["PATH"]]))
    (tmp_path / "state").mkdir()
    (tmp_path / "release").mkdir()
    (tmp_path / "release/SHA256SUMS").write_text("1  a.whl\n", "utf-8")

    def calls():
        file = tmp_path / "state/calls"
        return [" ".join(line.split()[:2]) for line in file.read_text("utf-8").splitlines()] if file.exists() else []

    return tmp_path, calls


def test_a_github_release_is_published_last_and_once(github):
    folder, calls = github
    assert_success(run_step("github", "Publish the packages", folder, TAG="v1"))
    assert calls() == ["release view", "release create", "release upload", "release edit"]
    (folder / "state/SHA256SUMS").write_text("1  a.whl\n", "utf-8")
    assert_success(run_step("github", "Publish the packages", folder, TAG="v1"))
    assert calls()[4:] == ["release view", "release download"]


def test_a_draft_is_completed(github):
    folder, calls = github
    (folder / "state/isDraft").write_text("true\n", "utf-8")
    assert_success(run_step("github", "Publish the packages", folder, TAG="v1"))
    assert calls() == ["release view", "release upload", "release edit"]


def test_a_github_release_with_other_files_is_an_error(github):
    folder, calls = github
    (folder / "state/isDraft").write_text("false\n", "utf-8")
    (folder / "state/SHA256SUMS").write_text("2  a.whl\n", "utf-8")
    ended = run_step("github", "Publish the packages", folder, TAG="v1")
    assert ended.returncode == 1
    assert "::error::The release v1 exists, with other files" in ended.stdout
    assert "release upload" not in calls()


RUN = {"GITHUB_SHA": "abc", "GITHUB_REF_NAME": "v1", "GITHUB_REPOSITORY": "acme/demo"}
EARLIER = {"id": 7, "head_sha": "abc", "head_branch": "v1", "head_repository_id": 1, "repository_id": 1}


def use_earlier(folder, *runs, expired=False):
    artifacts = [{"name": "release", "expired": expired, "workflow_run": {**EARLIER, **run}} for run in runs]
    (folder / "state/artifacts.json").write_text(json.dumps({"artifacts": artifacts}), "utf-8")
    (folder / "state/run-7").mkdir()
    (folder / "state/run-7/SHA256SUMS").write_text("of run 7\n", "utf-8")
    summary = {"GITHUB_STEP_SUMMARY": str(folder / "summary.md")}
    assert_success(run_step("release", "If an earlier run", folder, **RUN, **summary))
    return (folder / "release/SHA256SUMS").read_text("utf-8") == "of run 7\n"


def test_a_new_run_for_a_tag_publishes_the_bytes_of_the_earlier_run(github):
    assert use_earlier(github[0], {})


def test_a_new_attempt_publishes_the_bytes_of_the_earlier_one(github):
    assert use_earlier(github[0], {"head_sha": "other", "id": 6}, {"id": 7})


@pytest.mark.parametrize(
    "run",
    [{"head_sha": "other"}, {"head_branch": "main"}, {"head_repository_id": 2}],
    ids=["another commit", "a branch", "a fork"],
)
def test_no_other_runs_files_are_published(github, run):
    assert not use_earlier(github[0], run)


def test_a_folder_that_is_no_longer_there_is_made_again(github):
    assert not use_earlier(github[0], {}, expired=True)


# ---- the newest runtimes -------------------------------------------------------------------------------------------

TITLE = JOBS["newest"]["steps"][0]["env"]["TITLE"]


@pytest.mark.parametrize(
    ("failed", "issues", "expected"),
    [
        ("true", [], ["issue list", "issue create"]),
        ("true", [(3, TITLE, True)], ["issue list", "issue edit"]),
        ("true", [(3, TITLE, False), (4, "Other", True)], ["issue list", "issue create"]),
        ("false", [(3, TITLE, True)], ["issue list", "issue close"]),
        ("false", [(3, TITLE, False)], ["issue list"]),
        ("false", [], ["issue list"]),
    ],
)
def test_one_issue_says_whether_the_newest_runtimes_work(github, failed, issues, expected):
    folder, calls = github
    listed = [{"number": number, "title": title, "author": {"is_bot": bot}} for number, title, bot in issues]
    (folder / "state/issues.json").write_text(json.dumps(listed), "utf-8")
    texts = {"FAILED": failed, "BODY": "see the run", "RUN": "https://example.com/run"}
    assert_success(run_step("newest", "Open, update or close", folder, **texts))
    assert calls() == expected
