"""A rehearsal goes the whole way of a release."""

import json
import shutil
from pathlib import Path

import pytest

from latebind.commands.rehearse import summarize
from latebind.config.file import tables_of
from latebind.errors import InputError, NotRun
from latebind.rehearse.clone import limit_targets
from latebind.rehearse.steps import RehearsalError, Rehearsing, Step, rehearse
from tests.ecosystems.maven.test_consumer import PROGRAM as JAVA
from tests.ecosystems.maven.test_consumer import SOURCE
from tests.ecosystems.npm.test_node import PROGRAM as NODE
from tests.ecosystems.sdk.test_consumer import CMAKE as SDK_CMAKE
from tests.ecosystems.sdk.test_consumer import PROGRAM as SDK
from tests.rehearse.conftest import IGNORED, commit_all
from tests.support.client import CONFIG, copy_client, edit, write_files
from tests.support.running import assert_success, run_checked

STEPS = ["tag", "workflow", "check", "publish", "repeat", "install", "download", "verify"]


@pytest.mark.slow
def test_every_kind_of_package_is_published_installed_and_verified(latebind, tmp_path):
    root = commit_all(write_every_kind(tmp_path / "tiny"))
    results = json.loads(assert_success(latebind("-C", root, "rehearse", "--json", timeout=600)))
    assert list(dict.fromkeys(result["step"] for result in results)) == STEPS
    installed = {result["part"]: result["outcome"] for result in results if result["step"] == "install"}
    missing = {"npm": "node", "Maven": "javac"}
    assert installed == {
        title: "passed" if shutil.which(missing.get(title, "git")) else "not run"
        for title in ("PyPI", "NuGet", "npm", "Maven", "SDK download")
    }
    left = [result["part"] for result in results if result["outcome"] == "not run" and result["step"] != "install"]
    assert left[0].startswith("attest, pypi, nuget, npm, github")
    assert [part.split()[0] for part in left[1:]] == ["gh"]
    assert not run_checked("git", "status", "--porcelain", "--untracked-files=no", cwd=root)


@pytest.mark.slow
def test_a_dry_run_goes_on_with_a_release_that_may_not_be_published(latebind, tmp_path):
    root = write_every_kind(tmp_path / "tiny")
    edit(root / "latebind.toml", "[verify]", '[verify]\nrequired = ["wheel/linux-x64/python3.99/*"]')
    edit(root / "CHANGELOG.md", "[1.2.3]", "[Unreleased]")
    commit_all(root)
    results = json.loads(assert_success(latebind("-C", root, "rehearse", "--json", "--dry-run", timeout=600)))
    outcomes = {f"{result['step']} {result['part']}": (result["outcome"], result["detail"]) for result in results}
    assert outcomes["workflow gate"][0] == "not run"
    assert "the release may not be published" in outcomes["workflow gate"][1]
    assert "workflow release" not in outcomes
    assert outcomes["check folder"] == ("passed", "8 packages, 1 blocker")
    assert outcomes["install PyPI"][0] == "passed"


def test_what_this_machine_lacks_is_not_run_with_its_reason(config, tmp_path):
    def lack():
        raise NotRun("no-node", "there is no Node.js with npm on PATH")

    step = Step(name="install", meaning="users could not install it", parts=lambda _: iter([("npm", lack)]))
    results = rehearse(begin(config, tmp_path), lambda _: None, [step])
    assert [(row.outcome, row.detail) for row in results] == [("not run", "there is no Node.js with npm on PATH")]


def test_a_failure_ends_it_and_says_where_why_and_what_next(config, tmp_path):
    def fail():
        raise InputError("is damaged", where="a.whl", advice="Download it again.")

    steps = [Step(name=name, meaning="nobody could use it", parts=lambda _: iter([("x", fail)])) for name in "ab"]
    shown = []
    with pytest.raises(RehearsalError) as failure:
        rehearse(begin(config, tmp_path), shown.append, steps)
    assert [(row.step, row.outcome) for row in shown] == [("a", "FAILED")]
    error = failure.value
    assert error.message == "the rehearsal failed in the step a (x), so nobody could use it: is damaged"
    assert (error.where, error.advice) == ("a.whl", "Download it again.")


@pytest.mark.parametrize(("place", "message"), [("rehearsal/release", "which each rehearsal empties"), ("x", "folder")])
def test_a_release_that_is_not_there_or_would_be_removed_is_refused(config, tmp_path, place, message):
    (tmp_path / "rehearsal/release").mkdir(parents=True)
    state = begin(config, tmp_path)
    state.release = tmp_path / place
    with pytest.raises(InputError, match=message):
        rehearse(state, lambda _: None, [])
    assert (tmp_path / "rehearsal/release").is_dir()


def test_the_end_says_what_was_not_tried_and_what_to_do_next(config, tmp_path):
    state = begin(config, tmp_path)
    lines = list(summarize(state, ["win-x64"]))
    assert lines[0] == f"The downloads are in {state.downloads}, the logs in {state.folder}."
    assert lines[1].startswith("Not rehearsed: win-x64.")
    assert lines[2] == "Next: git tag v1.2.3 && git push origin v1.2.3"
    state.is_blocked = True
    assert "may not be published" in list(summarize(state, []))[-1]


def begin(config, tmp_path):
    return Rehearsing(config=config, folder=tmp_path / "rehearsal", rids=("linux-x64",), tag="v1.2.3")


@pytest.mark.parametrize(
    "text",
    [
        '[targets]\ninclude = ["linux-x64", "win-x64"]\n',
        '[targets]\nglibc = "2.28"\ninclude = [\n  "win-x64",\n  "linux-x64",\n]\n[x]\n',
        '[tool.latebind.targets]\ninclude=["osx-arm64"]\n',
        '[project]\nname = "tiny"\n',
    ],
)
def test_the_clone_has_this_machines_targets_only(text):
    limited = tables_of(limit_targets(text, ["linux-x64"]))
    assert limited.get("tool", {}).get("latebind", limited)["targets"]["include"] == ["linux-x64"]


TABLES = """
npm = { name = "@acme/tiny", dependencies = { koffi = "^3" } }
maven = { group = "io.github.acme", name = "tiny" }
sdk = true

[verify]
python = "verify/python/smoke.py"
node = "verify/node"
java = "verify/java"
c = "verify/c"
sdk = "verify/sdk"
"""
PYTHON = """\
import ctypes
import json
import pathlib
import sys

import tiny

library = str(next(pathlib.Path(tiny.__file__).parent.glob("*tiny.*so*")))
right = ctypes.CDLL(library).tiny_add(2, 3) == 5
result = {"passed": ["adds"] if right else [], "libraries": [library]}
pathlib.Path(sys.argv[sys.argv.index("--out") + 1]).write_text(json.dumps(result))
sys.exit(not right)
"""
NUGET_CMAKE = """\
cmake_minimum_required(VERSION 3.20)
project(consumer LANGUAGES CXX)
find_path(INCLUDE tiny.h PATHS "${PACKAGES}/tiny/build/native/include" NO_DEFAULT_PATH REQUIRED)
find_library(LIBRARY tiny PATHS "${PACKAGES}/tiny/runtimes/${RID}/native" NO_DEFAULT_PATH REQUIRED)
add_executable(consumer main.cpp)
target_include_directories(consumer PRIVATE "${INCLUDE}")
target_link_libraries(consumer PRIVATE "${LIBRARY}")
"""


def write_every_kind(folder: Path) -> Path:
    """Write the project below `folder`."""
    config = CONFIG.replace('exports = ["tiny_*"]', 'exports = ["tiny_*", "Java_*"]')
    config = config.replace('license = "MIT"', 'license = "MIT"\nlicense_file = "LICENSE"')
    config = config.rstrip() + TABLES
    copy_client("sdk", folder, latebind=config, tiny=SOURCE)
    return write_files(
        folder,
        {
            ".gitignore": IGNORED,
            "CHANGELOG.md": "# Changelog\n\n## [1.2.3] - 2026-11-20\n\n- Adds numbers.\n",
            "LICENSE": "MIT\n",
            "verify/python/smoke.py": PYTHON,
            "verify/node/package.json": '{"main": "smoke.mjs", "dependencies": {"koffi": "^3"}}',
            "verify/node/smoke.mjs": NODE.replace("EXPECTED", "5"),
            "verify/java/Main.java": JAVA.replace("EXPECTED", "5"),
            "verify/c/CMakeLists.txt": NUGET_CMAKE,
            "verify/c/main.cpp": SDK.replace("EXPECTED", "5"),
            "verify/sdk/CMakeLists.txt": SDK_CMAKE,
            "verify/sdk/main.cpp": SDK.replace("EXPECTED", "5"),
        },
    )
