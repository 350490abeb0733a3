"""Each place that names versions of CPython names those of pyproject.toml, and each version is tried."""

import re
import sys

import msgspec
import pytest
import yaml

from ci import bootstrap, pythons, tutorial
from ci.pythons import NEXT, describe, find_python, list_supported
from latebind.backend.targets import Target
from latebind.compilers.interpreters import own_interpreter
from tests.conftest import ROOT

SUPPORTED = list_supported()
OLDEST = SUPPORTED[0]
WORKFLOW = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text("utf-8"))["jobs"]


@pytest.mark.parametrize("project", [ROOT, ROOT / "loadcheck"], ids=["latebind", "loadcheck"])
def test_the_oldest_classifier_is_the_required_python(project):
    table = msgspec.toml.decode((project / "pyproject.toml").read_bytes())["project"]
    assert list_supported(project) == SUPPORTED
    assert table["requires-python"] == f">={OLDEST}"


def test_latebind_knows_the_versions():
    assert Target.__dataclass_fields__["pythons"].default == SUPPORTED
    assert ".".join(map(str, bootstrap.MINIMUM)) == OLDEST
    assert f'# requires-python = ">={OLDEST}"\n' in (ROOT / "noxfile.py").read_text("utf-8")


@pytest.mark.parametrize(
    "name",
    ["README.md", "CONTRIBUTING.md", "docs/tutorial.md", "docs/gate.md", "docs/howto/plugins.md",
     "templates/kit/README.txt.j2", "templates/kit/verify.sh", "templates/kit/verify.ps1"],
)  # fmt: skip
def test_a_page_names_the_oldest_version(name):
    text = (ROOT / name).read_text("utf-8")
    assert set(re.findall(r"Python (3\.\d+)\b", text)) == {OLDEST}


def test_new_projects_and_plugins_require_the_oldest_version():
    line = f'requires-python = ">={OLDEST}"'
    assert line in (ROOT / "templates/new/pyproject.toml.j2").read_text("utf-8")
    assert f'_PYTHON = ">={OLDEST}"' in (ROOT / "packaging/latebind/ecosystems/plugin/pack.py").read_text("utf-8")


def test_the_workflow_tries_each_version_and_tests_the_oldest_and_the_newest():
    (step,) = [step for step in WORKFLOW["pythons"]["steps"] if "python-version" in step.get("with", {})]
    assert sorted(step["with"]["python-version"].split()) == sorted(SUPPORTED)
    tested = {row["python"] for row in WORKFLOW["tests"]["strategy"]["matrix"]["include"]}
    assert {OLDEST, SUPPORTED[-1]} <= tested <= {*SUPPORTED}


def test_a_failed_command_is_shown_and_fails(monkeypatch):
    python = own_interpreter()
    good = tutorial.Ran(command="latebind plan\n", status=0, seconds=1, output="")
    bad = tutorial.Ran(command="latebind pack\n", status=1, seconds=1, output="Traceback\n")
    assert describe(python, [good], 1, 2.0) == (f"passed  CPython {python.version}  1 of 1 commands, 2 s", True)
    line, succeeded = describe(python, [good, bad], 3, 2.0)
    assert not succeeded
    assert line.endswith("2 of 3 commands, 2 s\n$ latebind pack\nTraceback\n")
    assert describe(python, [], 3, 2.0)[1] is False


def test_a_version_that_cannot_be_had_is_not_run_by_name(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))  # without uv
    assert pythons.main(["3.99"]) == 0
    assert capsys.readouterr().out.startswith("not run  CPython 3.99: not installed here, and uv cannot fetch it")


@pytest.mark.skipif(sys.platform != "linux", reason="not run: the tutorial is for Linux")
def test_a_traceback_of_one_python_fails_the_run(monkeypatch, capsys, tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```bash\npython3 -c 'import nowhere'\n```\n", "utf-8")
    monkeypatch.setattr(tutorial, "PAGE", page)
    own = own_interpreter()
    assert find_python(own.minor) == own
    assert pythons.main([own.minor]) == 1
    output = capsys.readouterr().out
    assert f"FAILED  CPython {own.version}  1 of {1 + len(NEXT)} commands" in output
    assert "ModuleNotFoundError" in output
