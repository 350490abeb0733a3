"""What npm's registry is asked, and how its answers become versions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from latebind.backend.targets import Rid
from latebind.ecosystems.npm.programs import answer, fitting, node_environment, npm_environment
from latebind.errors import NotRun
from latebind.verify.run.index import BELOW_FLOOR, EACH_MINOR, Question
from tests.support.running import not_run

LISTED = ("1.18.0", "1.19.0", "1.19.2", "1.20.1", "1.22.0-rev", "1.22.0", "1.24.0-dev.20260114-c343143a49", "other")


def question(entry, name="onnxruntime-node"):
    return Question(distribution=name, minimum="1.19", entry=entry, target=Rid("linux-x64"), python="3.11", npm=True)


@pytest.mark.parametrize(
    ("entry", "versions"),
    [
        ("minimum", ("1.19.2",)),
        ("latest", ("1.22.0",)),
        (BELOW_FLOOR, ("1.18.0",)),
        (EACH_MINOR, ("1.19.2", "1.20.1", "1.22.0")),
        ("1.19.0", ("1.19.0",)),
        ("1.21.0", ()),
    ],
)
def test_only_releases_answer_a_question(entry, versions):
    assert fitting(question(entry), LISTED) == versions


def test_the_minimum_is_the_first_version_that_there_is():
    assert fitting(replace(question("minimum"), minimum="1.21"), LISTED) == ("1.22.0",)
    assert fitting(replace(question("minimum"), minimum="1.23"), LISTED) == ()


def test_the_registry_knows_the_runtime_and_nothing_of_a_package_that_does_not_exist(tmp_path):
    try:
        assert answer(question("minimum"), tmp_path) == ("1.19.2",)
    except NotRun as error:
        pytest.skip(f"not run: {error.reason}: the npm registry cannot be asked here")
    with not_run("no-distribution"):
        answer(question("latest", "@latebind-tests/no-such-package"), tmp_path)


def test_a_registry_that_does_not_answer_is_named(tmp_path, monkeypatch):
    for key, value in {"registry": "http://127.0.0.1:9", "fetch_retries": "0", "prefer_offline": "false"}.items():
        monkeypatch.setenv(f"npm_config_{key}", value)
    with not_run("no-index"):
        answer(question("latest", "left-pad"), tmp_path)


def test_a_machine_without_npm_is_not_run(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with not_run("no-node"):
        answer(question("latest", "right-pad"), tmp_path)


def test_the_program_gets_nothing_of_npm_and_nothing_that_changes_where_libraries_are_found(tmp_path, monkeypatch):
    for name in ("LD_LIBRARY_PATH", "NODE_PATH", "NODE_OPTIONS", "npm_config_registry", "ONNXRUNTIME_LIB_PATH"):
        monkeypatch.setenv(name, "/elsewhere")
    assert not {"LD_LIBRARY_PATH", "NODE_PATH", "NODE_OPTIONS"} & set(npm_environment(tmp_path))
    assert set(node_environment(tmp_path)) <= {"PATH", "HOME", "TEMP", "TMP", "TMPDIR", "SYSTEMROOT"}
