"""Advice of the gate, of reports and of merging them: the named command closes what blocked."""

from __future__ import annotations

import json
import re
import shutil

import pytest

from tests.advice.following import list_commands, list_settings, write_setting
from tests.client import edit
from tests.programs import assert_success

pytestmark = [pytest.mark.slow, pytest.mark.builds]


@pytest.fixture(scope="module")
def verified(tmp_path_factory):
    """A new project with two test cases, packed and verified; tests take copies."""
    from tests.advice.conftest import start  # noqa: PLC0415

    folder = tmp_path_factory.mktemp("verified")
    assert_success(start("new", "engine", at=folder))
    project = folder / "engine"
    file = project / "latebind.toml"
    lines = file.read_text("utf-8").splitlines()
    kept = [line for line in lines if not line.startswith(("nuget = ", "c = "))]
    text = "\n".join('include = ["linux-x64"]' if line.startswith("include") else line for line in kept)
    head, _, _ = text.partition("own.onnxruntime.scenarios = ")
    file.write_text(text if head == text else f'{head}own.onnxruntime.scenarios = ["works"]\n', encoding="utf-8")
    assert_success(start("pack", at=project))
    assert_success(start("verify", at=project))
    return project


@pytest.fixture
def project(verified, tmp_path):
    return shutil.copytree(verified, tmp_path / "engine", symlinks=True)


def test_the_project_passes(project, start_in):
    assert_success(start_in("gate", at=project))


@pytest.mark.advice("Read {}, fix the cause, and run: latebind verify")
def test_a_test_case_that_failed(project, start_in, follow, advised):
    edit(project / "verify/smoke.py", "y == [2, 4, 7]", "y == [1]")
    assert start_in("verify", at=project).returncode == 1
    refused = start_in("gate", at=project)
    assert refused.returncode == 1
    log = advised(refused).partition("Read ")[2].partition(",")[0]
    assert (project / "reports" / log).is_file()
    edit(project / "verify/smoke.py", "y == [1]", "y == [2, 4, 7]")
    assert_success(follow(refused, at=project))
    assert_success(start_in("gate", at=project))


@pytest.mark.advice(
    "If it is a function of your library, export it: mark it in the sources, and add it to latebind_exports() in "
    "CMakeLists.txt, which hides what matches none of its patterns.",
    "Export the symbol: mark it in the sources, and in CMakeLists.txt, add it to latebind_exports(), which hides "
    "what matches none of its patterns. Or correct the package's `exports`; a name with a wildcard requires nothing.",
)
def test_a_function_that_the_library_hides(project, start_in, advised):
    """Audit and verify both say so, and the log of a test case ends with its result."""
    build = project / "native/CMakeLists.txt"
    edit(build, '"engine_*"', '"engine_r*"')
    named = ", ".join(f'"engine_{name}"' for name in ("open", "load", "run", "free", "*"))
    refused = start_in("pack", at=project)
    assert "latebind_exports() in CMakeLists.txt hides what matches none of its patterns." in refused.stderr
    edit(project / "latebind.toml", named, '"engine_*"')
    refused = start_in("verify", at=project)
    assert "undefined symbol: engine_open" in refused.stdout
    assert "latebind_exports()" in advised(refused)
    log = next((project / "reports/logs").glob("*works.log")).read_text("utf-8")
    assert re.search(r"^failed: .*undefined symbol: engine_open", log, re.MULTILINE)
    edit(project / "latebind.toml", '"engine_*"', named)
    refused = start_in("audit", at=project)
    assert "does not export engine_open, engine_load, engine_free, which" in refused.stdout
    assert "exports engine_run\n" in refused.stdout
    assert "latebind_exports()" in advised(refused)
    edit(build, '"engine_r*"', '"engine_r*" engine_open engine_load engine_free')
    assert_success(start_in("verify", at=project))
    assert_success(start_in("audit", at=project))


@pytest.mark.advice("Run latebind verify --target {} without -k, or merge the report that has the test case.")
def test_a_test_case_that_was_left_out(project, start_in, follow):
    assert_success(start_in("verify", "-k", "1.19", at=project))
    refused = start_in("gate", at=project)
    assert_success(follow(refused, at=project))
    assert_success(start_in("gate", at=project))


@pytest.mark.advice("Run latebind verify, or name the report of this version.")
def test_a_report_of_another_version(project, start_in, follow):
    edit(project / "latebind.toml", '"0.1.0"', '"0.2.0"')
    refused = start_in("gate", at=project)
    assert_success(follow(refused, at=project))
    assert_success(start_in("gate", at=project))


@pytest.mark.parametrize("text", [None, "", "{}", '{"cases": []}'])
@pytest.mark.advice("Run latebind verify, or give a verify.json that it wrote.")
def test_no_report(project, start_in, follow, text):
    report = project / "reports/verify.json"
    report.unlink()
    if text is not None:
        report.write_text(text, encoding="utf-8")
    refused = start_in("gate", at=project)
    assert refused.returncode == 2
    assert_success(follow(refused, at=project))
    assert_success(start_in("gate", at=project))


@pytest.mark.advice(
    "Run latebind verify {} --shard {}/{} (with --all if the other shares had it), and merge its report."
)
def test_a_share_that_is_missing(project, start_in, advised):
    assert_success(start_in("verify", "--target", "linux-x64", "--shard", "1/2", at=project))
    refused = start_in("gate", at=project)
    [[_, *words]] = list_commands(advised(refused))
    assert_success(start_in(*words, "--output", "reports/more", at=project))
    assert_success(start_in("verify", "--merge", "reports/verify.json", "reports/more/verify.json", at=project))
    assert_success(start_in("gate", at=project))


@pytest.mark.advice(
    "Add a consumer to [verify] and run latebind verify", 'write unverified = { "{}" = "REASON" } below [release] of {}'
)
def test_a_package_that_no_test_case_installs(project, start_in, advised):
    edit(project / "latebind.toml", "wheel = {", 'nuget = { id = "Engine" }\nwheel = {')
    assert_success(start_in("verify", at=project))
    refused = start_in("gate", at=project)
    assert refused.returncode == 1, refused.stdout
    value = list_settings(advised(refused))["unverified"]
    write_setting(project / "latebind.toml", "release", "unverified", value)
    assert_success(start_in("gate", at=project))


@pytest.mark.advice("Fix what the report says of {}, and run latebind verify")
def test_a_package_whose_test_cases_failed(project, start_in, follow):
    smoke = project / "verify/smoke.py"
    kept = smoke.read_text("utf-8")
    smoke.write_text("raise SystemExit(1)\n", encoding="utf-8")
    assert start_in("verify", at=project).returncode == 1
    refused = start_in("gate", at=project)
    smoke.write_text(kept, encoding="utf-8")
    assert_success(follow(refused, at=project))
    assert_success(start_in("gate", at=project))


@pytest.mark.advice("not in dist/: packages for {}\n  To pack all: latebind pack --target all")
def test_the_gate_names_what_is_not_packed(project, start_in, advised):
    edit(project / "latebind.toml", '"linux-x64"]', '"linux-x64", "linux-arm64"]')
    refused = start_in("gate", at=project)
    [[_, *words]] = list_commands(advised(refused.stderr))
    assert refused.returncode == 1
    assert_success(start_in(*words, at=project))
    assert "not in dist/" not in start_in("gate", at=project).stderr


def test_a_change_of_native_code_makes_the_sdist_out_of_date(project, start_in):
    source = project / "native/engine.c"
    source.write_text(source.read_text("utf-8") + "int broken\n", encoding="utf-8")
    assert start_in("pack", at=project).returncode == 2
    assert "out of date in dist/: wheel engine linux-x64, sdist engine\n" in start_in("audit", at=project).stderr


@pytest.mark.advice(
    "Below [[runtime]] of latebind.toml, write a minimum that the index has for this target and Python."
)
def test_a_minimum_that_no_index_has(project, start_in, advised):
    settings = (project / "latebind.toml").read_text("utf-8")
    edit(project / "latebind.toml", 'minimum = "1.19', 'minimum = "1.99')
    assert start_in("verify", at=project).returncode == 1
    refused = start_in("gate", at=project)
    assert refused.returncode == 1, refused.stdout
    assert advised(refused)
    (project / "latebind.toml").write_text(settings, encoding="utf-8")
    assert_success(start_in("verify", at=project))
    assert_success(start_in("gate", at=project))


@pytest.mark.advice(
    "Run latebind verify --target {} --output reports/{} with the same dist/ on a machine that runs this target, then "
    "here: latebind verify --merge reports/verify.json reports/{}/verify.json"
)
def test_a_target_that_the_report_lacks(project, start_in, advised):
    file = project / "reports/verify.json"
    report = json.loads(file.read_bytes())
    report["cases"] = [case for case in report["cases"] if case["target"] != "linux-x64"]
    file.write_text(json.dumps(report), encoding="utf-8")
    refused = start_in("gate", at=project)
    assert refused.returncode == 1
    for _, *words in list_commands(advised(refused)):
        assert_success(start_in(*words, at=project))
    assert_success(start_in("gate", at=project))
